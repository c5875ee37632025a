"""Free-floating space robot (E9; data of Zhao et al. 2023, equations of motion corrected)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import closed
import kinpair as kp

INERTIA, M2, R, L = 260.42, 5.0, 4.0, 8.0
K, E = M2 * R * L, M2 * L**2
START, RATES = closed.start("space-robot"), np.array([0.1, -0.1, -0.1])


@pytest.fixture(scope="module")
def robot() -> kp.Mechanism:
    return kp.example("space-robot")


def test_mass_matrix_is_that_of_the_source(robot):
    theta, psi1, psi2 = 0.3, -0.4, 0.9
    c1, c2 = np.cos(psi1), np.cos(psi2)
    H = [
        [INERTIA + 2 * E + 2 * M2 * R**2 + 2 * K * (c1 + c2), -E - K * c1, -E - K * c2],
        [-E - K * c1, E, 0],
        [-E - K * c2, 0, E],
    ]
    assert robot.reference.mass_matrix([theta, psi1, psi2]) == pytest.approx(np.array(H), rel=1e-13)


def test_forces_are_the_corrected_ones(robot):
    q, (w, w1, w2) = np.array([0.3, -0.4, 0.9]), (0.5, -0.7, 0.2)
    s1, s2 = np.sin(q[1:])
    b = 2 * K * w * (w1 * s1 + w2 * s2) - K * (w1**2 * s1 + w2**2 * s2)
    expected = (-b, K * s1 * w**2, K * s2 * w**2)
    assert robot.reference.bias_forces(q, [w, w1, w2]) == pytest.approx(expected, rel=1e-12)


def test_momentum_and_energy_at_the_start(robot):
    assert robot.reference.momentum(START, RATES)[2] == pytest.approx(253.180438763306, abs=1e-11, rel=0)
    assert robot.reference.energy(START, RATES).kinetic == pytest.approx(20.444662584220, abs=1e-11, rel=0)


def test_it_accelerates_as_computed_and_the_constraint_needs_no_force(robot):
    qdd, lam = closed.motion(robot, START, RATES, np.zeros(3))
    assert qdd == pytest.approx((0.0236096808569, 0.0363329725555, 0.0363329725555), abs=1e-12, rel=0)
    assert lam == pytest.approx([0.0], abs=1e-13)


def test_the_row_of_the_momentum_is_the_first_row_of_the_motion(robot):
    A, psi, b = closed.constraints(robot, START, RATES)
    assert A[0] == pytest.approx(robot.reference.mass_matrix(START)[0], rel=1e-13)
    assert b == pytest.approx([-robot.reference.bias_forces(START, RATES)[0]], rel=1e-12)
    assert psi == [0.0]  # kept at whatever it is


GENERAL = ("multipliers", "udwadia-kalaba", "rosenberg-extended", "maggi", "partition")
NO_EFFORT = np.zeros(3)
REACHED = {  # time: theta, psi, their rates; both arms move alike
    10: (2.0691491850336, 0.2272198116416, 0.2443693188947, 0.1663524672388),
    20: (3.5963719016039, 0.1580090431415, 0.0515001731718, -0.1736576895073),
    30: (4.7956031453049, -0.4799649562614, 0.2204846150097, 0.1145130358045),
    40: (6.9766013651515, 0.6419784566038, 0.1422669486443, -0.0327950521348),
    50: (7.8019061754419, -0.6210322449398, 0.1305931689505, -0.0519004569987),
    60: (9.939392894144, 0.419154899067, 0.228292119884, 0.131249831573),
}
PRINTED_END = (9.572900147136, -0.293492486675, 0.236865611511, 0.151226690810)


def run(system, q, qd, solver: str = "multipliers"):
    """60 s without efforts."""
    n, effort = len(qd), np.zeros(len(qd))

    def slope(time: float, x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[n:], system.forward_dynamics(x[:n], x[n:], effort, solver=solver)])

    start = np.concatenate([q, qd])
    return solve_ivp(slope, (0, 60), start, method="DOP853", rtol=1e-13, atol=1e-13, dense_output=True)


def mirrored(values) -> np.ndarray:
    theta, psi, theta_rate, psi_rate = values
    return np.array([theta, psi, psi, theta_rate, psi_rate, psi_rate])


@pytest.mark.parametrize("solver", ["multipliers", "rosenberg-extended"])
def test_it_turns_to_the_computed_states_and_keeps_momentum_and_energy(robot, solver):
    result = run(robot, START, RATES, solver)
    for time, expected in REACHED.items():
        assert result.sol(time) == pytest.approx(mirrored(expected), abs=1e-11, rel=0)
    q, qd = result.y[:3].T, result.y[3:].T
    assert robot.momentum(q, qd)[:, 2] == pytest.approx(253.180438763306, abs=1e-11, rel=0)
    assert np.ptp(robot.energy(q, qd).kinetic) < 4e-12
    expected = robot.forward_dynamics(q, qd, NO_EFFORT, solver=solver)
    for other in (*GENERAL, "screw"):
        qdd = robot.forward_dynamics(q, qd, NO_EFFORT, solver=other)
        assert np.abs(qdd - expected).max() < 1e-13, other


def test_the_constraint_pushes_with_nothing_along_the_way(robot):
    """With the right forces the momentum row is the first row of the motion, so its multiplier is zero."""
    for q, qd in ((START, RATES), ([0.4, 0.9, -1.2], [0.3, -0.5, 0.2])):
        assert robot.constraint_forces(q, qd, NO_EFFORT).multipliers["momentum"] == pytest.approx(
            0, abs=1e-14
        )
        free = robot.without_constraints().forward_dynamics(q, qd, NO_EFFORT)
        assert robot.forward_dynamics(q, qd, NO_EFFORT) == pytest.approx(free, abs=1e-13)


ASYMMETRIC = np.array([np.pi / 36, -np.pi / 6, -np.pi / 3]), np.array([0.1, -0.1, 0.05])


def test_pinned_and_floating_bodies_differ_once_the_arms_do(robot):
    q, qd = ASYMMETRIC
    pinned = run(robot, q, qd).y[:, -1]
    expected = (7.727480919, -0.352733392, -0.023433768, 0.117324100, 0.118171909, -0.070821465)
    assert pinned == pytest.approx(expected, abs=1e-8, rel=0)

    body = run(floating(robot), np.array([0, 0, *q]), np.array([0, 0, *qd])).y[:, -1]
    expected = (7.925695711, 0.411113678, 0.868182478, 0.029371205, -0.192456596, -0.094602860)
    assert body[[2, 3, 4, 7, 8, 9]] == pytest.approx(expected, abs=1e-8, rel=0)
    assert body[:2] == pytest.approx((-3.869131385, 9.126307941), abs=1e-8, rel=0)


def floating(robot: kp.Mechanism) -> kp.Mechanism:
    """The same with a body of 25 kg that also glides in the plane, and nothing but its joints to obey."""
    from dataclasses import replace

    description = robot.without_constraints().model.description
    glides = tuple(
        replace(x, kind="planar", start=()) if x.name == "theta" else x for x in description.joints
    )
    return kp.build(replace(description, joints=glides))


@pytest.fixture(scope="module")
def printed() -> kp.System:
    return kp.example("space-robot-printed")


@pytest.mark.parametrize("solver", GENERAL)
def test_printed_forces_start_otherwise(printed, solver):
    qdd = printed.forward_dynamics(START, RATES, solver=solver)
    assert qdd == pytest.approx((0.0182368312158, 0.0268736478667, 0.0268736478667), abs=1e-12, rel=0)


def test_printed_forces_keep_momentum_and_not_energy(printed, robot):
    result = run(printed, START, RATES)
    assert result.y[:, -1] == pytest.approx(mirrored(PRINTED_END), abs=1e-11, rel=0)
    q, qd = result.y[:3].T, result.y[3:].T
    assert robot.momentum(q, qd)[:, 2] == pytest.approx(253.180438763306, rel=1e-13)
    seen = result.sol(np.linspace(0, 60, 6001))
    energy = robot.energy(seen[:3].T, seen[3:].T).kinetic
    assert energy.max() == pytest.approx(20.55651, abs=1e-5, rel=0)
    assert 0 < 19.98053 - energy.min() < 2e-4  # that is the lowest at the steps of an integration
    for other in GENERAL:
        qdd = printed.forward_dynamics(q, qd, solver=other)
        assert np.abs(qdd - printed.forward_dynamics(q, qd)).max() < 1e-13, other


def test_printed_forces_are_those_of_the_energy_less_the_change_of_mass(printed, robot):
    """F + Ṁq̇: what the source forgot is what it differs by from Lagrange's equation of the same T."""
    q, qd = np.array([0.3, -0.4, 0.9]), np.array([0.5, -0.7, 0.2])
    right = kp.System(printed.q_names, T=lambda q, qd, t: 0.5 * (qd @ (mass(q) @ qd)))
    assert right.terms(q, qd)[1] == pytest.approx(-robot.bias_forces(q, qd), abs=1e-12)
    h = 1e-6
    swept = (mass(q + h * qd) - mass(q - h * qd)) @ qd / (2 * h)
    assert printed.terms(q, qd)[1] - swept == pytest.approx(right.terms(q, qd)[1], abs=1e-7)
    assert np.abs(swept).max() > 10


def mass(q):
    c1, c2 = np.cos(q[1]), np.cos(q[2])
    body = INERTIA + 2 * E + 2 * M2 * R**2 + 2 * K * (c1 + c2)
    return np.array([[body, -E - K * c1, -E - K * c2], [-E - K * c1, E, 0.0], [-E - K * c2, 0.0, E]])
