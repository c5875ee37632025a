"""Three-wheel omni robot (E10; data of Zhao et al. 2023, in SI)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import closed
import kinpair as kp
from kinpair.algebra.lu import pivot_order
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.stacked import matrix
from kinpair.constraints.solvers import voronets
from kinpair.formulations import composite

I1, I2, M1, M2, R, L = 80e-6, 2080e-6, 0.2, 2.0, 0.02, 0.04
AZIMUTHS = np.radians([60, 180, -60])
START = closed.start("omni-robot")
RATES = np.array([1, 1, 2, -0.02 / 3, -0.02 / np.sqrt(3), -2 / 3])
IN_MM = np.array([1, 1, 1, 1e3, 1e3, 1])  # the source measures in millimetres


@pytest.fixture(scope="module")
def robot() -> kp.Mechanism:
    return kp.example("omni-robot")


def test_coordinates_are_in_the_order_of_the_source(robot):
    assert robot.q_names == ("psi1", "psi2", "psi3", "base.x", "base.y", "base.angle")


def test_mass_matrix_is_that_of_the_source(robot):
    H = np.diag([I1, I1, I1, 3 * M1 + M2, 3 * M1 + M2, I2 + 3 * M1 * L**2])
    assert robot.reference.mass_matrix(START) == pytest.approx(H, rel=1e-13, abs=1e-15)
    assert robot.reference.bias_forces(START, RATES) == pytest.approx(np.zeros(6), abs=1e-15)


def test_constraints_are_those_of_the_source_sign_by_sign(robot):
    q, qd = np.array([0.3, -0.2, 0.9, 0.1, 0.2, 0.7]), np.array([1, -2, 0.5, 0.3, -0.4, 1.1])
    A, psi, b = closed.constraints(robot, q, qd)
    s, c = np.sin(q[5] + AZIMUTHS), np.cos(q[5] + AZIMUTHS)
    expected = np.column_stack([-R * np.eye(3), s, -c, -L * np.ones(3)])
    assert pytest.approx(expected, abs=1e-15) == A
    assert psi == pytest.approx(expected @ qd, abs=1e-15)
    assert b == pytest.approx(-(qd[3] * c + qd[4] * s) * qd[5], abs=1e-15)


def test_exact_start_is_consistent_and_the_rounded_one_is_not(robot):
    rounded = np.array([1, 1, 2, -6.667e-3, -11.547e-3, -0.667])
    assert closed.constraints(robot, START, RATES)[1] == pytest.approx(np.zeros(3), abs=1e-16)
    off = 1e3 * closed.constraints(robot, START, rounded)[1]
    assert np.abs(off) == pytest.approx((0.0130000, 0.0135047, 0.0134953), abs=1e-6, rel=0)


def test_it_accelerates_as_computed(robot):
    qdd, _ = closed.motion(robot, START, RATES, 1e-6 * np.array([0.25, 0, 0, 0, 0, 0]))
    expected = (
        *(0.34554843675702, -0.34494067813633, 1.4224137931e-4),
        *(-0.79203485405466, 0.45977011494253, -1.25e-4),
    )
    assert IN_MM * qdd == pytest.approx(expected, abs=1e-13, rel=0)


SOLVERS = (
    *("multipliers", "udwadia-kalaba", "rosenberg-extended", "maggi"),
    *("partition", "voronets", "chaplygin", "screw"),
)
DRIVEN, IDLE = 1e-6 * np.array([0.25, 0, 0, 0, 0, 0]), np.zeros(6)
ROUNDED = np.array([1, 1, 2, -6.667e-3, -11.547e-3, -0.667])
ENDS = {  # rates at the start, efforts: coordinates and rates after 60 s, in millimetres
    "exact": (
        RATES,
        DRIVEN,
        (83.0286224688, 80.9911511204, 80.3302264108, -172.6108756231, 288.3948429083, -39.7014012244),
        (0.7933170505, 1.9464835778, 1.3051993717, 13.3385241204, 0.3656888778, -0.6741666667),
    ),
    "rounded": (
        ROUNDED,
        DRIVEN,
        (83.0123123528, 81.0084805362, 80.3292071111, -172.1236646985, 288.2714663713, -39.7214012244),
        (0.7867920273, 1.9410903728, 1.3171175999, 13.3393113261, 0.3377323355, -0.6745),
    ),
    "idle": (
        RATES,
        IDLE,
        (82.7581470862, 80.3179372512, 79.9239156627, -176.2601125397, 290.7500105570, -39.4764012244),
        (0.8640298799, 1.9780448542, 1.1579252659, 13.3160926821, 0.6778299638, -0.6666666667),
    ),
}


def run(robot, qd: np.ndarray, tau: np.ndarray, solver: str = "multipliers", end: float = 60.0):
    def slope(time: float, x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[6:], robot.forward_dynamics(x[:6], x[6:], tau, solver=solver)])

    start = np.concatenate([START, qd])
    return solve_ivp(slope, (0, end), start, method="DOP853", rtol=1e-13, atol=1e-16, dense_output=True)


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_accelerates_as_computed(robot, solver):
    qdd = robot.forward_dynamics(START, RATES, DRIVEN, solver=solver)
    expected = (
        *(0.34554843675702, -0.34494067813633, 1.4224137931e-4),
        *(-0.79203485405466, 0.45977011494253, -1.25e-4),
    )
    assert IN_MM * qdd == pytest.approx(expected, abs=1e-12, rel=0)


@pytest.mark.parametrize("name", ENDS)
def test_it_rolls_to_the_computed_state(robot, name):
    """And every other solver sees the same accelerations along the way; residuals of the start stay what they were."""
    qd, tau, expected, rates = ENDS[name]
    result = run(robot, qd, tau)
    assert IN_MM * result.y[:6, -1] == pytest.approx(expected, abs=1e-9, rel=0)
    assert IN_MM * result.y[6:, -1] == pytest.approx(rates, abs=1e-9, rel=0)
    residual = [closed.constraints(robot, x[:6], x[6:])[1] for x in result.y.T[:: len(result.t) // 10]]
    assert np.ptp(residual, axis=0) == pytest.approx(np.zeros(3), abs=1e-15)
    q, qd = result.y[:6].T, result.y[6:].T
    if name != "rounded":
        reference = robot.forward_dynamics(q, qd, tau)
        for other in SOLVERS:
            result = robot.forward_dynamics(q, qd, tau, solver=other)
            assert np.abs(result - reference).max() < 1e-11, other  # pivots go down to 1e-4: eps / 1e-4


def test_residual_of_the_rounded_start_is_carried_along(robot):
    result = run(robot, ROUNDED, DRIVEN)
    off = 1e3 * closed.constraints(robot, result.y[:6, -1], result.y[6:, -1])[1]
    assert np.abs(off) == pytest.approx((0.0130000, 0.0135047, 0.0134953), abs=1e-6, rel=0)


def test_energy_gained_is_the_work_of_the_wheel(robot):
    result = run(robot, RATES, DRIVEN)
    energy = [sum(robot.energy(x[:6], x[6:])) for x in (result.y[:, 0], result.y[:, -1])]
    work = 1e9 * DRIVEN[0] * (result.y[0, -1] - result.y[0, 0])  # kg mm²/s²
    assert 1e9 * (energy[1] - energy[0]) / 1e3 == pytest.approx(20.507155617, abs=1e-8, rel=0)
    assert work / 1e3 == pytest.approx(20.507155617, abs=1e-8, rel=0)


def test_without_drive_it_runs_on_a_circle(robot):
    """κ = μ/m_e = 3/29: radius 193.333333 mm, once round in 91.106186954 s; straight on by Hamel's mistake."""
    period = 91.106186954
    result = run(robot, RATES, IDLE, end=period)
    turned = result.sol(np.linspace(0, period, 13)[:-1])
    x, y = 1e3 * turned[3], 1e3 * turned[4]
    middle = np.array([x.mean(), y.mean()])
    radius = np.hypot(x - middle[0], y - middle[1])
    assert radius == pytest.approx(np.full(12, 193.333333333), abs=1e-6, rel=0)
    assert result.y[3:5, -1] == pytest.approx(START[3:5], abs=1e-9)
    assert result.y[9:11, -1] == pytest.approx(RATES[3:5], abs=1e-9)


def hamel(robot: kp.Mechanism, q, qd, tau, **mistake: bool) -> np.ndarray:
    """q̈ by Voronets' equations, with the term left out that substituting the constraints into T loses."""
    model, constraints = robot.model, constraints_of(robot.model)
    order, dependent = pivot_order(robot.constraint_matrix(q)[:, :3])

    def rows(x):
        return matrix(model, constraints, x, 0.0)

    return voronets.solve(
        lambda x: composite.mass_matrix(model, x), rows, tau, q, qd, order, dependent, **mistake
    )[0]


def test_putting_the_constraints_into_the_energy_gives_another_robot(robot):
    """Hamel's paradox: the force μ θ̇ across the path is lost, and the robot would run straight on."""
    mu, m_e = 3 * I1 / (2 * R**2), 3 * M1 + M2 + 3 * I1 / (2 * R**2)
    assert (mu, m_e) == pytest.approx((0.3, 2.9))
    right = robot.forward_dynamics(START, RATES, IDLE)
    assert hamel(robot, START, RATES, IDLE) == pytest.approx(right, abs=1e-13)
    wrong = hamel(robot, START, RATES, IDLE, keep_paradox=True)
    assert wrong[3:] == pytest.approx(np.zeros(3), abs=1e-16)
    v, acceleration = complex(*RATES[3:5]), complex(*right[3:5])
    assert acceleration == pytest.approx(1j * mu / m_e * RATES[5] * v, abs=1e-16)
    assert abs(acceleration) > 9e-4


def test_driven_accelerations_are_those_of_the_reduced_equation(robot):
    """m_e v̇ − i μ θ̇ v = −(i/r) Σ e^{i(θ + α_j)} Q_j, and θ̈ = −(r L / Y₂) Σ Q_j."""
    mu = 3 * I1 / (2 * R**2)
    m_e = 3 * M1 + M2 + mu
    Y2 = I2 * R**2 + 3 * M1 * L**2 * R**2 + 3 * I1 * L**2
    q, Q = np.array([0.3, -0.2, 0.9, 0.1, 0.2, 0.7]), np.array([1e-4, -2e-4, 3e-4])
    qd = robot.velocities(q, {"base.x": 0.1, "base.y": -0.2, "base.angle": 0.8})
    qdd = robot.forward_dynamics(q, qd, [*Q, 0, 0, 0])
    pull = -1j / R * (np.exp(1j * (q[5] + AZIMUTHS)) @ Q)
    v = complex(*qd[3:5])
    assert complex(*qdd[3:5]) == pytest.approx((pull + 1j * mu * qd[5] * v) / m_e, abs=1e-14)
    assert qdd[5] == pytest.approx(-R * L / Y2 * Q.sum(), abs=1e-14)


def test_accelerations_are_the_closed_forms_of_the_source(robot):
    """q̈₁ = (R₁F + R₂b)/(Y₁Y₂), q̈₂ = R₃F + R₄b with Y₃ put right and Y₄ = Y₅."""
    q, qd = np.array([0.3, -0.2, 0.9, 0.1, 0.2, 0.7]), np.array([1, -2, 0.5, 0.3, -0.4, 1.1])
    F = 1e-3 * np.array([1.0, -2.0, 0.5, 0.3, 0.8, -0.7])
    s, c = np.sin(q[5] + AZIMUTHS), np.cos(q[5] + AZIMUTHS)
    b = -(qd[3] * c + qd[4] * s) * qd[5]
    Y1, Y2 = 3 * I1 + (6 * M1 + 2 * M2) * R**2, I2 * R**2 + 3 * M1 * L**2 * R**2 + 3 * I1 * L**2
    Y3 = (3 * M1 + 2 * M2) * L**2 - I2
    Y4 = -R * ((6 * M1 + 2 * M2) * Y2 - I1 * Y3)
    R1 = np.full((3, 3), R**2 * Y3) + np.diag([2 * Y2 + L**2 * Y1 - R**2 * Y3] * 3)
    R1 = np.column_stack([R1, 2 * R * Y2 * s, -2 * R * Y2 * c, np.full(3, -R * L * Y1)])
    R2 = np.full((3, 3), R * I1 * Y3) + np.diag([Y4 - R * I1 * Y3] * 3)
    R3 = np.zeros((3, 6))
    R3[0, :3], R3[1, :3], R3[2, :3] = 2 * R * s / Y1, -2 * R * c / Y1, -R * L / Y2
    R3[0, 3] = R3[1, 4] = 2 * R**2 / Y1
    R3[2, 5] = R**2 / Y2
    expected = np.concatenate([(R1 @ F + R2 @ b) / (Y1 * Y2), R3 @ F + I1 / R * R3[:, :3] @ b])
    assert robot.forward_dynamics(q, qd, F) == pytest.approx(expected, rel=1e-12)
