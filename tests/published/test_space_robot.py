"""Free-floating space robot (E9; data of Zhao et al. 2023, equations of motion corrected)."""

from __future__ import annotations

import numpy as np
import pytest

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


def test_it_accelerates_as_computed_and_the_condition_needs_no_force(robot):
    qdd, lam = closed.motion(robot, START, RATES, np.zeros(3))
    assert qdd == pytest.approx((0.0236096808569, 0.0363329725555, 0.0363329725555), abs=1e-12, rel=0)
    assert lam == pytest.approx([0.0], abs=1e-13)


def test_the_row_of_the_momentum_is_the_first_row_of_the_motion(robot):
    A, psi, b = closed.conditions(robot, START, RATES)
    assert A[0] == pytest.approx(robot.reference.mass_matrix(START)[0], rel=1e-13)
    assert b == pytest.approx([-robot.reference.bias_forces(START, RATES)[0]], rel=1e-12)
    assert psi == [0.0]  # kept at whatever it is
