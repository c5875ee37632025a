"""Derivatives of the inverse dynamics: closed form, chain rule on the recorded equations, complex steps."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.robots import robot

import kinpair as kp
import zoo
from kinpair.compiler.trace import trace
from kinpair.evaluation import kernels
from kinpair.evaluation.quantities.request import request_of
from kinpair.formulations import effort_derivatives as closed

FIXED = tuple(
    kind for kind in zoo.KINDS if kind not in ("universal", "planar")
)  # p is fixed in axes of the child
TREES = [
    *(zoo.tree(60 + k, n, kinds=FIXED, floating=bool(k % 2)) for k, n in enumerate((1, 3, 6, 10))),
    *(zoo.tree(70 + k, 2, kinds=(kind,), reach=1) for k, kind in enumerate(FIXED) if kind != "fixed"),
]
AGREES = 1e-13  # of the largest entry: both have rounding alone


@pytest.mark.parametrize("m", TREES, ids=str)
def test_the_closed_form_is_the_complex_step(m):
    """Lean bodies too, whose masses are regrouped."""
    assert closed.serves(m.model)
    s = zoo.motion(m, 5)
    expected = m.reference.inverse_dynamics_derivatives(s.q, s.qd, s.qdd, passive=False)
    found = closed.effort_derivatives(m.model, s.q, s.qd, s.qdd)
    for a, b in zip(found, expected, strict=True):
        assert zoo.relative_error(np.asarray(a, dtype=float), b) <= AGREES


@pytest.mark.parametrize("kind", ["universal", "planar"])
def test_pairs_whose_axes_move_are_left_to_the_chain_rule(kind):
    assert not closed.serves(zoo.tree(1, 2, kinds=(kind,), reach=1).model)


def counted(m: kp.Mechanism, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Operations as they are compiled, and by the chain rule."""
    request = request_of("inverse_dynamics_derivatives")
    shapes = {"q": (m.nq,), "qd": (m.nv,), "qdd": (m.nv,)}

    def total() -> int:
        program = trace(
            lambda *x: kernels.effort_derivatives(m.model, request, *x, {}), shapes, name="slopes"
        )
        return program.count["total"]

    own = total()
    with monkeypatch.context() as patch:
        patch.setattr(kernels, "_in_closed_form", lambda *_: None)
        return own, total()


@pytest.mark.parametrize(
    "name", ["double-pendulum", "cart-pole", "scara", "kr5", "five-bar", "bicycle", "biped"]
)
def test_no_mechanism_has_more_operations_than_by_the_chain_rule(name, monkeypatch):
    """Springs, dampers and friction of the examples included."""
    own, chained = counted(kp.example(name), monkeypatch)
    assert own <= chained


@pytest.mark.parametrize(("label", "part"), [("Talos", 0.6), ("Talos, free", 0.45)])
def test_a_humanoid_has_half_of_the_operations(label, part, monkeypatch):
    own, chained = counted(robot(label).load(), monkeypatch)
    assert own < part * chained
