"""The tuple of elements of a model, and its sums."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import kinpair as kp
import zoo
from kinpair.forces.element import Element, Instant
from kinpair.forces.elements import as_efforts, couples_branches, elements_of, losses
from kinpair.forces.springs import LimitSpring
from kinpair.formulations import kinematics
from kinpair.model.state import State
from kinpair.spatial.pose import HOME

END = LimitSpring("end", (0, 1), 0, 0, 1.0, 0.0, 10.0, 1.0)


def rails(**spring) -> kp.Mechanism:
    """Two slides side by side, and a slide on the second; a spring between the links named."""
    b = kp.Builder("rails").link("a", mass=1.0).link("b", mass=2.0).link("c", mass=3.0)
    b.joint("x", "prismatic", "ground", "a", axis="x", damping=2.0, friction=0.5)
    b.joint("y", "prismatic", "ground", "b", axis="y", stiffness=5.0, rest=0.1)
    b.joint("z", "prismatic", "b", "c", axis="z")
    if spring:
        b.spring("s", damping=1.0, **spring)
    return kp.build(b)


def test_every_number_of_the_description_is_an_element():
    model = rails(parent="a", child="c").model
    assert [(x.name, x.bodies) for x in elements_of(model)] == [
        ("x.damping", (0, 1)),
        ("y.stiffness", (0, 2)),
        ("x.friction", (0, 1)),
        ("s", (1, 3)),
    ]
    assert elements_of(model) is not None
    assert elements_of(model)[0] is elements_of(model)[0]  # made once
    assert elements_of(model, passive=False) == ()


def test_what_a_run_adds_acts_without_the_description_too():
    model = replace(rails().model, added=(END,))
    assert elements_of(model)[-1] is END
    assert elements_of(model, passive=False) == (END,)
    assert pickle.loads(pickle.dumps(model)).added == (END,)


def test_losses_go_by_name():
    result = losses(
        rails(parent="a", child="ground").model, State(np.array([0.3, 0, 0]), np.array([-2.0, 1, 1]))
    )
    assert result == pytest.approx({"x.damping": 8.0, "x.friction": 1.0, "s": 4.0})


@pytest.mark.parametrize(
    ("ends", "between"),
    [(("b", "c"), False), (("ground", "c"), False), (("a", "b"), True), (("a", "c"), True)],
)
def test_a_spring_between_branches_fills_the_matrix(ends, between):
    assert couples_branches(rails(parent=ends[0], child=ends[1]).model) == between
    assert not couples_branches(rails(parent=ends[0], child=ends[1]).model, passive=False)


def test_wrenches_as_efforts_are_what_jacobians_make_of_them():
    m = zoo.tree(5, 8)
    s = zoo.motion(m, 5)
    rng = np.random.default_rng(5)
    w = [np.zeros(6), *rng.normal(size=(len(m.model.moving), 6))]
    at = Instant(m.model, State(s.q, s.qd))
    expected = np.zeros(m.nv)
    for i in m.model.moving:
        place = replace(m.model.places[m.model.names[i]], pose=HOME)
        J = kinematics.jacobian(m.model, s.q, place)
        R = at.bodies[i].pose.R
        expected += J.T @ np.concatenate([R @ w[i][:3], R @ w[i][3:]])
    assert zoo.relative_error(as_efforts(m.model, s.q, w), expected) < 1e-12


def test_an_element_that_says_nothing_does_nothing():
    class Idle(Element):
        name, bodies = "idle", (0, 1)

    m = rails()
    state = [0.1, 0.2, 0.3], [1.0, 2.0, 3.0], [0.4, 0.5, 0.6]
    idle = kp.Mechanism(replace(m.model, added=(Idle(),)), compiled=False)
    assert (idle.inverse_dynamics(*state) == m.reference.inverse_dynamics(*state)).all()
    assert idle.energy(*state[:2]) == m.reference.energy(*state[:2])
    at = Instant(m.model, State(*map(np.array, state[:2])))
    assert (Idle().losses(at), Idle().switches(at), Idle().sticks, Idle().jumps) == ({}, {}, (), False)
    assert Idle().rates(at).shape == (0,)
