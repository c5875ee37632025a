"""Singular mass matrix (E11; own data, method of Udwadia & Phohomsiri 2006).

Two masses 1 and 2 with springs 3, 4, 5 wall–1–2–wall, split at the first: coordinates x1, s, y with x2 = s + y, a
massless interface s, and the constraint s = x1.
"""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp

SOLVERS = ("multipliers", "udwadia-kalaba", "rosenberg-extended", "maggi", "partition")
Q0, STILL = np.array([0.2, 0.2, -0.3]), np.zeros(3)
EXPECTED = (-1.8, -1.8, 2.65)


def energy(q, qd, t):
    return 0.5 * qd[0] ** 2 + (qd[1] + qd[2]) ** 2


def springs(q, qd, t):
    return [-3 * q[0], -5 * (q[1] + q[2]), -4 * q[2] - 5 * (q[1] + q[2])]


HELD = {"name": "interface", "phi": lambda q, t: q[1] - q[0]}
BY_ENERGY = kp.System(["x1", "s", "y"], energy, springs, [HELD], name="split")
BY_TERMS = kp.System(
    ["x1", "s", "y"],
    M=lambda q, t: [[1.0, 0.0, 0.0], [0.0, 2.0, 2.0], [0.0, 2.0, 2.0]],
    F=springs,
    constraints=[{"A": lambda q, t: [[-1.0, 1.0, 0.0]]}],
    name="split",
)


@pytest.mark.parametrize("system", [BY_ENERGY, BY_TERMS], ids=["energy", "terms"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_accelerations_are_those_of_the_system_before_the_split(system, solver):
    for way in (system, system.reference):
        assert way.forward_dynamics(Q0, STILL, solver=solver) == pytest.approx(EXPECTED, abs=1e-14)


def test_terms_are_those_of_the_source():
    M, F, A, b = BY_ENERGY.terms(Q0, STILL)
    assert M.tolist() == [[1, 0, 0], [0, 2, 2], [0, 2, 2]]
    assert np.linalg.matrix_rank(M) == 2
    assert A.tolist() == [[-1, 1, 0]]
    assert b.tolist() == [0]
    assert F.tolist() == pytest.approx([-0.6, 0.5, 1.7], abs=1e-15)
    assert BY_TERMS.terms(Q0, STILL)[1] == pytest.approx(F, abs=1e-15)


def test_formula_of_udwadia_and_phohomsiri_gives_the_same():
    """q̈ = [(1 − A⁺A) M; A]⁺ [F; b], and by an auxiliary mass M + α AᵀA for any α."""
    M, F, A, b = BY_ENERGY.terms(Q0, STILL)
    stacked = np.vstack([(np.eye(3) - np.linalg.pinv(A) @ A) @ M, A])
    assert np.linalg.pinv(stacked) @ np.concatenate([F, b]) == pytest.approx(EXPECTED, abs=1e-13)
    for alpha in (0.1, 1.0, 30.0):
        auxiliary, force = M + alpha * A.T @ A, F + alpha * A.T @ b
        free, W = np.linalg.solve(auxiliary, force), np.linalg.solve(auxiliary, A.T)
        qdd = free + W @ np.linalg.solve(A @ W, b - A @ free)
        assert qdd == pytest.approx(EXPECTED, abs=1e-12)


def test_multiplier_is_the_force_in_the_cut():
    """m₁ ẍ₁ = −k₁ x₁ + λ₁: what mass 1 feels from the rest is its part of Aᵀλ."""
    forces = BY_ENERGY.constraint_forces(Q0, STILL)
    assert forces.unique
    assert forces.multipliers["interface"] == pytest.approx(1.2, abs=1e-13)


def test_forces_that_make_a_motion_make_it():
    """Any forces, the motion they make, and the least forces that make the same one."""
    arguments = np.array([0.3, -0.2, 0.7])
    qd = BY_ENERGY.velocities(Q0, {"x1": 0.5, "y": -0.1})
    qdd = BY_ENERGY.forward_dynamics(Q0, qd, arguments)
    assert BY_ENERGY.accelerations(Q0, qd, {"x1": qdd[0], "y": qdd[2]}) == pytest.approx(qdd, abs=1e-13)
    least = BY_ENERGY.inverse_dynamics(Q0, qd, qdd)
    assert np.linalg.norm(least) <= np.linalg.norm(arguments)
    assert BY_ENERGY.forward_dynamics(Q0, qd, least) == pytest.approx(qdd, abs=1e-12)
    driven = BY_ENERGY.inverse_dynamics(Q0, qd, qdd, actuators=("x1", "y"))
    assert driven[1] == 0.0
    assert BY_ENERGY.forward_dynamics(Q0, qd, driven) == pytest.approx(qdd, abs=1e-12)
