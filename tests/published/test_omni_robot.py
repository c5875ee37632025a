"""Three-wheel omni robot (E10; data of Zhao et al. 2023, in SI)."""

from __future__ import annotations

import numpy as np
import pytest

import closed
import kinpair as kp

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


def test_conditions_are_those_of_the_source_sign_by_sign(robot):
    q, qd = np.array([0.3, -0.2, 0.9, 0.1, 0.2, 0.7]), np.array([1, -2, 0.5, 0.3, -0.4, 1.1])
    A, psi, b = closed.conditions(robot, q, qd)
    s, c = np.sin(q[5] + AZIMUTHS), np.cos(q[5] + AZIMUTHS)
    expected = np.column_stack([-R * np.eye(3), s, -c, -L * np.ones(3)])
    assert pytest.approx(expected, abs=1e-15) == A
    assert psi == pytest.approx(expected @ qd, abs=1e-15)
    assert b == pytest.approx(-(qd[3] * c + qd[4] * s) * qd[5], abs=1e-15)


def test_exact_start_is_consistent_and_the_rounded_one_is_not(robot):
    rounded = np.array([1, 1, 2, -6.667e-3, -11.547e-3, -0.667])
    assert closed.conditions(robot, START, RATES)[1] == pytest.approx(np.zeros(3), abs=1e-16)
    off = 1e3 * closed.conditions(robot, START, rounded)[1]
    assert np.abs(off) == pytest.approx((0.0130000, 0.0135047, 0.0134953), abs=1e-6, rel=0)


def test_it_accelerates_as_computed(robot):
    qdd, _ = closed.motion(robot, START, RATES, 1e-6 * np.array([0.25, 0, 0, 0, 0, 0]))
    expected = (
        *(0.34554843675702, -0.34494067813633, 1.4224137931e-4),
        *(-0.79203485405466, 0.45977011494253, -1.25e-4),
    )
    assert IN_MM * qdd == pytest.approx(expected, abs=1e-13, rel=0)
