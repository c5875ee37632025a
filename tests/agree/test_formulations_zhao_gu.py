"""Zhao & Gu's matrices in full: velocities, the terms quadratic in them, reactions that do no work, both equations."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import closed
import kinpair as kp
import zoo
from kinpair.formulations import kinematics, zhao_gu
from kinpair.formulations.zhao_gu_bodies import (
    jacobians,
    motions,
    placed,
    products,
    stacked,
    velocity_matrices,
)
from kinpair.formulations.zhao_gu_reactions import distribution_matrix, drives, massless
from kinpair.spatial.rotation import cross

TREES = [
    *zoo.random_trees(seed=31, sizes=(1, 4, 9)),
    *zoo.random_trees(seed=32, sizes=(1, 6), floating=True),
]


@pytest.fixture(params=TREES, ids=lambda m: m.name)
def tree(request) -> kp.Mechanism:
    return request.param


def centre_velocities(m: kp.Mechanism, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """v of the mass centres in inertial axes, then ω in axes of the bodies: from the states of all bodies."""
    state = kinematics.states(m.model, q, qd)[1:]
    bodies = m.model.body[1:]
    v = [x.pose.R @ (x.v + cross(x.omega, b.d)) for x, b in zip(state, bodies, strict=True)]
    return np.concatenate([*v, *(x.omega for x in state)])


def test_velocities_are_linear_in_the_rates(tree):
    s = zoo.motion(tree, 1)
    J = stacked(tree.model, jacobians(tree.model, s.q, placed(tree.model, s.q)))
    assert zoo.relative_error(J @ s.qd, centre_velocities(tree, s.q, s.qd)) < 1e-13


def test_velocity_terms_are_matrices_of_the_coordinates_alone(tree):
    """k = K(Y) Π; and J̄ Ÿ + k is the derivative of the velocities, by a complex step along the motion."""
    s, model = zoo.motion(tree, 2), tree.model
    at = placed(model, s.q)
    moved, J = motions(model, s.q, s.qd, at), stacked(model, jacobians(model, s.q, at))
    K_T, K_R = velocity_matrices(model, s.q)
    squares = np.array([s.qd[a] * s.qd[b] for a, b in products(model.nv)])
    k = np.concatenate([*(x.k_T for x in moved[1:]), *(x.k_R for x in moved[1:])])
    K = np.concatenate([*K_T[1:], *K_R[1:]])
    assert K.shape == (6 * len(model.moving), model.nv * (model.nv + 1) // 2)
    assert zoo.relative_error(K @ squares, k) < 1e-12
    step = 1e-200
    rates = kinematics.dq_dt(model, s.q, s.qd)
    ahead = centre_velocities(tree, s.q + 1j * step * rates, s.qd + 1j * step * s.qdd)
    assert zoo.relative_error(J @ s.qdd + k, np.imag(ahead) / step) < 1e-12


def test_reactions_do_no_work_and_fill_the_space(tree):
    s, model = zoo.motion(tree, 3), tree.model
    x = zhao_gu.equations(model, s.q, s.qd, s.qdd)
    assert np.abs(x.J.T @ x.Q).max(initial=0.0) < 1e-14
    assert np.linalg.matrix_rank(np.concatenate([x.J, x.Q], axis=1)) == 6 * len(model.moving)
    D = distribution_matrix(model, drives(model, s.q, placed(model, s.q)))
    in_order = [k for i in model.moving for k in range(model.v_span[i].start, model.v_span[i].stop)]
    assert np.abs(x.J.T @ D - np.eye(model.nv)[:, in_order]).max() < 1e-14


def test_motion_and_reaction_equation_are_newtons_and_eulers(tree):
    """Both solved on their own against one solve for Ÿ and g."""
    s = zoo.motion(tree, 4)
    x = zhao_gu.equations(tree.model, s.q, s.qd, s.qdd, [np.zeros(6), *np.ones((len(tree.model.moving), 6))])
    at_once = np.linalg.solve(np.concatenate([x.M @ x.J, -x.Q], axis=1), x.q_e - x.q_c)
    apart = np.concatenate([np.linalg.solve(*equation) for equation in (x.motion, x.reaction)])
    assert zoo.relative_error(apart, at_once) < 1e-9


def test_bodies_without_mass_have_reactions_too():
    """A cross without mass, and a thin rod that turns about its own axis."""
    b = kp.Builder("wrist").link("cross")
    b.link("rod", mass=1.0, com=[0.1, 0, 0], inertia=[0, 0.02, 0.02])
    b.link("hand", mass=0.4, com=[0, 0.1, 0], inertia=[0.01, 0.02, 0.02])
    b.joint("a", "revolute", "ground", "cross", axis="x")
    b.joint("b", "revolute", "cross", "rod", axis=(1, 1, 0))
    b.joint("c", "spherical", "rod", "hand", xyz=[0.2, 0, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        m = kp.build(b).reference
    assert massless(m.model) == ["cross", "rod"]
    s = zoo.motion(m)
    expected = m.reactions(s.q, s.qd, s.qdd)
    for joint, w in m.reactions(s.q, s.qd, s.qdd, method="zhao-gu").items():
        assert zoo.relative_error(w, expected[joint]) < 1e-13


def test_rods_of_a_plane_linkage_need_no_inertia_about_themselves():
    assert massless(kp.example("four-bar").model) == []
    assert massless(kp.example("space-robot").model) == ["arm1", "arm2"]


@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "omni-robot", "gripper"])
def test_cut_joints_carry_their_multipliers(name):
    """λ before any acceleration is known; by multipliers afterwards."""
    m = kp.example(name)
    q = m.assemble(closed.start(name))
    rng = np.random.default_rng(5)
    qd, tau = m.velocities(q, guess=rng.normal(size=m.nv)), rng.normal(size=m.nv)
    expected = m.forward_dynamics(q, qd, tau)
    assert zoo.relative_error(m.forward_dynamics(q, qd, tau, solver="zhao-gu"), expected) < 1e-10
    assert "zhao-gu" in m.solvers
