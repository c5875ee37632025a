"""The constraints of a model are made once and belong to it alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinpair as kp
from kinpair.constraints.rows import build
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.stacked import matrix
from kinpair.model.symbols import with_symbols


@pytest.fixture
def four_bar() -> kp.Mechanism:
    return kp.example("four-bar")


def test_a_model_answers_with_the_same_constraints(four_bar):
    assert constraints_of(four_bar.model) is constraints_of(four_bar.model)


def test_nothing_is_made_again_by_what_is_computed(four_bar, monkeypatch):
    q = four_bar.start()
    four_bar.velocities(q)

    def refuse(*_: object) -> None:
        raise AssertionError("made again")

    monkeypatch.setattr(build, "_constraints", refuse)
    still = np.zeros(four_bar.nv)
    for solver in four_bar.solvers:
        four_bar.forward_dynamics(q, still, still, solver=solver)
    four_bar.inverse_dynamics(q, still, four_bar.accelerations(q, still))


def test_other_models_have_their_own(four_bar):
    model = four_bar.model
    more = four_bar.with_constraints(kp.constraint.drive("motor", four_bar.q_names[0], "t"))
    assert [x.name for x in constraints_of(more.model)] == [
        *(x.name for x in constraints_of(model)),
        "motor",
    ]
    assert constraints_of(replace(model, singular_mass=True)) is not constraints_of(model)


def test_rows_follow_the_values_of_each_model(four_bar):
    """The offset of a joint replaced twice: each model sees its own, and the first one stays as it was."""
    model, q = four_bar.model, four_bar.start()
    joint = model.joint_names[2]
    before = matrix(model, constraints_of(model), q, 0.0)
    longer, shorter = (with_symbols(model, {f"{joint}.x": x}) for x in (0.7, 0.5))
    first = matrix(longer, constraints_of(longer), q, 0.0)
    second = matrix(shorter, constraints_of(shorter), q, 0.0)
    assert np.abs(np.asarray(first - second, dtype=float)).max() > 0.1
    assert (matrix(model, constraints_of(model), q, 0.0) == before).all()
