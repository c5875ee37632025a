"""Angles and strokes of the links as coordinates, for every pair: efforts and reactions beside Newton and Euler."""

from __future__ import annotations

import re

import numpy as np
import pytest

import kinpair as kp
import zoo
from kinpair.formulations import kinematics, lagrange_euler, lagrange_links, newton_euler, popov_euler
from kinpair.formulations.linear_forms import assembled
from kinpair.pairs import PAIRS

TREES = [
    *(zoo.tree(20 + k, 3, kinds=(kind,)) for k, kind in enumerate(PAIRS) if kind != "fixed"),
    zoo.tree(3, 12),
    zoo.tree(4, 10, floating=True),
]


@pytest.fixture(params=TREES, ids=lambda m: f"{m.name}, {m.model.body[1].pair.kind}")
def m(request):
    return request.param


def tolerance(model, q) -> float:
    """η̈ has 1/sin² ϑ: rounding grows by it."""
    sines = [np.hypot(*at.R[:2, 2]) for at in assembled(model, q)[1:]]
    return 1e-13 * len(sines) / min(sines) ** 2


def test_efforts_and_reactions_are_those_of_newton_and_euler(m):
    s, model = zoo.motion(m, seed=3), m.model
    w = [np.random.default_rng(i).normal(size=6) for i in range(len(model.parent))]
    state = (model, s.q, s.qd, s.qdd, w)
    near = tolerance(model, s.q)
    assert near < 1e-9
    assert (
        zoo.relative_error(lagrange_links.inverse_dynamics(*state), newton_euler.inverse_dynamics(*state))
        < near
    )
    result, expected = lagrange_links.reactions(*state), newton_euler.reactions(*state)
    for x, y in zip(result[1:], expected[1:], strict=True):
        assert zoo.relative_error(x, y) < near


def test_of_ball_joints_the_forces_along_the_angles_are_those_of_free_ones():
    model = zoo.tree(2, 3, kinds=("spherical",)).model
    rng = np.random.default_rng(model.nv)
    angles = rng.uniform(0.4, 2.6, size=model.nv), rng.normal(size=model.nv), rng.normal(size=model.nv)
    q, qd, qdd = lagrange_euler.to_internal(model, *angles)
    links = popov_euler.links(model, q, qd, qdd)
    turned = lagrange_euler.links(model, *angles)
    result = lagrange_links.forces(model, turned, links, kinematics.no_wrenches(model))
    expected = lagrange_euler.inverse_dynamics(model, *angles)
    for i in model.moving:
        assert zoo.relative_error(result[i].eta, expected[model.v_span[i]]) < 1e-12


def test_it_compiles():
    m = TREES[0]
    s, model = zoo.motion(m, seed=3), m.model

    def efforts(q, qd, qdd):
        return lagrange_links.inverse_dynamics(model, q, qd, qdd, kinematics.no_wrenches(model))

    result = kp.compile(efforts, s.q, s.qd, s.qdd)(s.q, s.qd, s.qdd)
    assert zoo.relative_error(result, m.inverse_dynamics(s.q, s.qd, s.qdd, passive=False)) < tolerance(
        model, s.q
    )


def test_links_without_such_angles_are_refused_by_name():
    arm = kp.example("planar-3r")
    q = np.array([0.3, -0.4, 0.5])
    start = "planar-3r: |det Π| = 0.0e+00 of link 'link1' in the sequence 'zxz'"
    with pytest.raises(kp.SingularError, match=f"^{re.escape(start)}"):
        lagrange_links.inverse_dynamics(arm.model, q, q, q, kinematics.no_wrenches(arm.model))
