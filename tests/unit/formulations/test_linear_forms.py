"""Assembly pair by pair, and accelerations as linear forms of q̈."""

from __future__ import annotations

import numpy as np
import pytest

import zoo
from kinpair.formulations import kinematics, popov
from kinpair.formulations.linear_forms import accelerations, applied, assembled, forms, totals
from kinpair.pairs import PAIRS
from kinpair.spatial.rotation import about

TREES = [zoo.tree(3, 12), zoo.tree(4, 12, floating=True), zoo.tree(5, 8, kinds=("universal", "planar"))]
STEP = 1e-200  # of the complex step


@pytest.fixture(params=TREES, ids=lambda m: m.name)
def mechanism(request):
    return request.param


@pytest.fixture
def motion(mechanism):
    return zoo.motion(mechanism, seed=2)


def rate_of(f, mechanism, q, qd, qdd):
    """d/dt f(q, q̇) along the motion."""
    return np.imag(f(q + 1j * STEP * mechanism.dq_dt(q, qd), qd + 1j * STEP * qdd)) / STEP


def summed(model, found, x):
    """Σ α_ik x_k and Σ β_ik x_k of one body."""
    parts = [(form.alpha @ x[model.v_span[k]], form.beta @ x[model.v_span[k]]) for k, form in found.items()]
    return sum((np.array(part) for part in parts), np.zeros((2, 3)))


def places(model, q):
    """O_i and C_i of every body, summed along the path."""
    placed, O = assembled(model, q), [np.zeros(3)]
    for i in model.moving:
        O.append(O[model.parent[i]] + placed[i].a)
    return O, [x + at.d for x, at in zip(O, placed, strict=True)]


def test_bodies_are_where_their_poses_say(mechanism, motion):
    model = mechanism.model
    placed, where, (O, C) = (f(model, motion.q) for f in (assembled, kinematics.poses, places))
    for i in model.moving:
        assert zoo.relative_error(placed[i].R, where[i].R) < 1e-14
        assert zoo.relative_error(O[i], where[i].a) < 1e-14
        assert zoo.relative_error(C[i], where[i].a + where[i].R @ model.body[i].d) < 1e-14


@pytest.mark.parametrize("kind", ["revolute", "helical", "cylindrical"])
def test_hinges_turn_by_the_formula_of_rodrigues(kind):
    """About the axis as the placed parent has it, from the zero position of the seat."""
    chain = zoo.tree(1, 5, kinds=(kind,), reach=1)
    q = zoo.motion(chain, seed=1).q
    placed = assembled(chain.model, q)
    for i in chain.model.moving:
        e, S = placed[i].S[:, 2], placed[i].S
        angle = q[chain.model.q_span[i]][0]
        assert np.abs(placed[i].R - about(e, angle) @ S).max() < 1e-14
        assert np.abs(placed[i].e[:, 0] - e).max() < 1e-14


def test_universal_joint_turns_twice_by_the_formula_of_rodrigues():
    chain = zoo.tree(1, 4, kinds=("universal",), reach=1)
    q = zoo.motion(chain, seed=1).q
    placed = assembled(chain.model, q)
    for i in chain.model.moving:
        first, second = q[chain.model.q_span[i]]
        S = placed[i].S
        half = about(S[:, 0], first) @ S
        assert np.abs(placed[i].R - about(half[:, 1], second) @ half).max() < 1e-14
        assert np.abs(placed[i].e - np.column_stack([S[:, 0], half[:, 1]])).max() < 1e-14


def test_accelerations_are_linear_forms_of_the_joint_accelerations(mechanism, motion):
    model, (q, qd, qdd) = mechanism.model, (motion.q, motion.qd, motion.qdd)
    placed = assembled(model, q)
    whole = accelerations(model, placed, q, qd, qdd)
    remainder = accelerations(model, placed, q, qd, 0 * qdd)
    for i, result in enumerate(forms(model, placed)):
        assert list(result) == model.path_to_ground(i)
        epsilon, w = summed(model, result, qdd)
        assert zoo.relative_error(epsilon + remainder[i].epsilon, whole[i].epsilon) < 1e-13
        assert zoo.relative_error(w + remainder[i].w, whole[i].w) < 1e-13


def test_coefficients_are_those_of_the_velocities(mechanism, motion):
    """ω_i = Σ α_ik q̇_k and v_Ci = Σ β_ik q̇_k, against the change of the mass centre."""
    model, (q, qd) = mechanism.model, (motion.q, motion.qd)
    placed = assembled(model, q)
    omega = [x.omega for x in accelerations(model, placed, q, qd, 0 * qd)]
    v = rate_of(lambda q, qd: np.array(places(model, q)[1]), mechanism, q, qd, qd)
    for i, result in enumerate(forms(model, placed)):
        turning, moving = summed(model, result, qd)
        assert zoo.relative_error(turning, omega[i]) < 1e-13
        assert zoo.relative_error(moving, v[i]) < 1e-13


def test_accelerations_are_the_change_of_the_velocities(mechanism, motion):
    model, (q, qd, qdd) = mechanism.model, (motion.q, motion.qd, motion.qdd)

    def velocities(q, qd):
        return np.array([summed(model, result, qd) for result in forms(model, assembled(model, q))])

    change = rate_of(velocities, mechanism, q, qd, qdd)
    result = accelerations(model, assembled(model, q), q, qd, qdd)
    assert zoo.relative_error(np.array([(x.epsilon, x.w) for x in result]), change) < 1e-12


def test_applied_wrench_keeps_its_power(mechanism, motion):
    """At C_i in inertial axes as at O_i in axes of the body."""
    model = mechanism.model
    placed, state = assembled(model, motion.q), kinematics.states(model, motion.q, motion.qd)
    w = np.array([0.3, -1.0, 2.0, 5.0, -4.0, 1.0])
    for i in model.moving:
        (at, omega, v), body = state[i], model.body[i]
        moved = applied(placed[i], w)
        power = moved[:3] @ (at.R @ omega) + moved[3:] @ (at.R @ (v + np.cross(omega, body.d)))
        assert power == pytest.approx(w[:3] @ omega + w[3:] @ v, rel=1e-12)


def test_totals_are_sums_over_all_that_a_body_carries(mechanism):
    model = mechanism.model
    values = [0.0, *(2.0**i for i in model.moving)]
    result = totals(model, values)
    for k in model.moving:
        assert result[k] == sum(values[i] for i in model.moving if k in model.path_to_ground(i))


def test_position_of_a_floating_base_enters_nowhere():
    """To the last bit, however far away."""
    floating = zoo.tree(4, 6, floating=True)
    s = zoo.motion(floating, seed=1)
    root = next(i for i in floating.model.moving if floating.model.body[i].pair.kind == "free")
    far = s.q.copy()
    far[floating.model.q_span[root].start] += 1e9
    assert (popov.mass_matrix(floating.model, far) == popov.mass_matrix(floating.model, s.q)).all()
    there, here = (
        popov.inverse_dynamics(floating.model, q, s.qd, s.qdd, kinematics.no_wrenches(floating.model))
        for q in (far, s.q)
    )
    assert (there == here).all()


def test_every_kind_of_pair_takes_part():
    assert {body.pair.kind for m in TREES for body in m.model.body[1:]} == set(PAIRS) - {"fixed"}
