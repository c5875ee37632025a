"""Laws of regulators against the mechanism and against SciPy."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.linalg import expm, solve_continuous_are

import kinpair as kp

NAMES = ("double-pendulum", "planar-3r", "stanford-arm")


@cache
def case(name):
    """Mechanism without a compiler, and a state (q, qd) to be kept."""
    m = kp.example(name).reference
    q = m.start() + 0.3
    return m, q, np.zeros(m.nv)


def states(m, q, seed):
    rng = np.random.default_rng(seed)
    return q + 0.1 * rng.normal(size=m.nq), 0.2 * rng.normal(size=m.nv)


@pytest.mark.parametrize("damping", [0.4, 1.0])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_computed_torque_makes_the_error_a_damped_oscillation(name, seed, damping):
    m, q0, _ = case(name)
    regulator = kp.regulator.computed_torque(m, q0, frequency=3.0, damping=damping)
    q, qd = states(m, q0, seed)
    qdd = m.forward_dynamics(q, qd, regulator(0.0, q, qd))
    assert qdd == pytest.approx(9.0 * (q0 - q) - 6.0 * damping * qd, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("kind", ["inverse", "gravity", "none"])
@pytest.mark.parametrize("name", NAMES)
def test_without_an_error_a_pd_regulator_adds_its_feed_forward(name, kind):
    m, q, rest = case(name)
    regulator = kp.regulator.pd(m, q, kp=50.0, kd=7.0, feed_forward=kind)
    expected = {
        "inverse": m.inverse_dynamics(q, rest, rest),
        "gravity": m.gravity_forces(q),
        "none": rest,
    }[kind]
    assert regulator(0.0, q, rest) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_a_pd_regulator_is_a_spring_and_a_damper(name, seed):
    m, q0, rest = case(name)
    kp_, kd = np.arange(10.0, 10.0 + m.nv), np.arange(1.0, 1.0 + m.nv)
    regulator = kp.regulator.pd(m, q0, kp=kp_, kd=kd)
    q, qd = states(m, q0, seed)
    change = regulator(0.0, q, qd) - regulator(0.0, q0, rest)
    assert change == pytest.approx(kp_ * (q0 - q) - kd * qd, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("ratio", [0.5, 1.0])
def test_gains_by_frequency_are_those_of_the_inertia_of_each_joint(ratio):
    m, q, _ = case("double-pendulum")
    by_frequency = kp.regulator.pd(m, q, frequency=4.0, damping=ratio)
    H = np.diag(m.mass_matrix(q))
    by_gains = kp.regulator.pd(m, q, kp=16.0 * H, kd=8.0 * ratio * H)
    state = states(m, q, 3)
    assert by_frequency(0.0, *state) == pytest.approx(by_gains(0.0, *state), rel=1e-9)


@pytest.mark.parametrize("time", [0.0, 0.35, 0.8])
def test_along_a_motion_a_pd_regulator_gives_the_efforts_of_the_motion(time):
    m, q, _ = case("double-pendulum")
    motion = kp.motion.cycloid(q, q + 0.5, 0.8)
    regulator = kp.regulator.pd(m, motion, kp=50.0, kd=7.0)
    at = motion.at(time)
    tau = m.inverse_dynamics(at.q, at.qd, at.qdd)
    assert regulator(time, at.q, at.qd) == pytest.approx(tau, rel=1e-4, abs=1e-3)


@pytest.mark.parametrize("degree", [0.0, 1.5])
def test_gains_of_a_linear_quadratic_regulator_are_those_of_scipy(degree):
    m, q, rest = case("double-pendulum")
    model = kp.linearise(m, q, rest, u=m.gravity_forces(q))
    Q, R, n = np.diag([3.0, 2.0, 1.0, 0.5]), np.diag([1.0, 0.4]), 4
    S = solve_continuous_are(model.A + degree * np.eye(n), model.B, Q, R)
    K = np.linalg.solve(R, model.B.T @ S)
    regulator = kp.regulator.lqr(m, q, Q=Q, R=R, degree=degree)
    state = states(m, q, 5)
    x = np.concatenate([state[0] - q, state[1]])
    assert regulator(0.0, *state) == pytest.approx(m.gravity_forces(q) - K @ x, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("period", [0.01, 0.05])
def test_sampled_gains_leave_the_prescribed_stability(period):
    m, q, rest = case("double-pendulum")
    model = kp.linearise(m, q, rest, u=m.gravity_forces(q))
    regulator = kp.regulator.lqr(m, q, degree=1.0, sample_time=period)
    base = regulator(0.0, q, rest)
    step = np.eye(4) * 1e-3
    K = np.stack([(base - regulator(0.0, q + x[:2], x[2:])) / 1e-3 for x in step], axis=-1)
    blocks = np.block([[model.A, model.B], [np.zeros((2, 6))]])
    both = expm(blocks * period)
    closed = both[:4, :4] - both[:4, 4:] @ K
    assert np.abs(np.linalg.eigvals(closed)).max() < np.exp(-period)
