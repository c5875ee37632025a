"""Extended Rosenberg embedding and Udwadia–Kalaba: the identities (26)–(41) of Zhao et al. 2023, as corrected.

On random M, F, A and b. Two of the printed formulas are wrong by as much as their value; they are shown to be.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from kinpair.constraints.solvers import SOLVERS, Problem
from kinpair.constraints.solvers.embedding import rosenberg
from kinpair.constraints.solvers.problem import full

EXACT = 1e-11  # rounding of solves with matrices of condition below 1e3


class Custom(NamedTuple):
    """Random M, F, A, b in blocks: 1 the dependent coordinates, 2 the others."""

    M: np.ndarray
    F: np.ndarray
    A: np.ndarray
    b: np.ndarray
    l: int

    @property
    def blocks(self):
        l = self.l
        return self.M[:l, :l], self.M[:l, l:], self.M[l:, :l], self.M[l:, l:]

    @property
    def K(self):
        return np.linalg.solve(self.A[:, : self.l], self.A[:, self.l :])

    @property
    def X(self):
        M11, M12, M21, M22 = self.blocks
        return self.K.T @ M11 @ self.K - self.K.T @ M12 - M21 @ self.K + M22

    @property
    def problem(self) -> Problem:
        order = tuple(range(self.l))
        return Problem(self.M, self.F, self.A, self.b, *full(len(self.F)), order, order)


@pytest.fixture(params=[(3, 1), (6, 3), (12, 6), (12, 10)], ids=str)
def given(request) -> Custom:
    n, l = request.param
    rng = np.random.default_rng(n + l)
    root = rng.normal(size=(n, n))
    A = rng.normal(size=(l, n)) + 3 * np.eye(l, n)
    return Custom(root @ root.T + n * np.eye(n), rng.normal(size=n), A, rng.normal(size=l), l)


def off(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def virtual(x: Custom) -> np.ndarray:
    """Z of δq = Z δq₂."""
    return np.vstack([-x.K, np.eye(len(x.F) - x.l)])


def by_kkt(x: Custom) -> tuple[np.ndarray, np.ndarray]:
    """q̈ and λ of the whole system, by LAPACK."""
    n, l = len(x.F), x.l
    whole = np.block([[x.M, -x.A.T], [x.A, np.zeros((l, l))]])
    result = np.linalg.solve(whole, np.concatenate([x.F, x.b]))
    return result[:n], result[n:]


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_solves_the_whole_system(given, name):
    qdd, lam = by_kkt(given)
    result = SOLVERS[name](given.problem)
    assert off(result.qdd, qdd) < EXACT
    assert off(result.lam, lam) < EXACT


def test_reduced_mass_is_the_mass_of_the_virtual_displacements(given):
    Z = virtual(given)
    assert off(given.X, Z.T @ given.M @ Z) < EXACT
    assert np.abs(given.A @ Z).max() < EXACT


def test_rosenberg_alone_holds_and_leaves_accelerations_open(given):
    """(16): n − l equations in n unknowns, true of the right accelerations."""
    E, f = rosenberg(given.problem)
    qdd, _ = by_kkt(given)
    assert E.shape == (len(given.F) - given.l, len(given.F))
    assert np.abs(E.astype(float) @ qdd - f.astype(float)).max() < EXACT * np.abs(given.F).max() * 10


def test_extended_equations_give_the_accelerations(given):
    """(33), (34)."""
    M11, _, M21, _ = given.blocks
    l, K = given.l, given.K
    over_A1_b = np.linalg.solve(given.A[:, :l], given.b)
    right = given.F[l:] - K.T @ given.F[:l] + (K.T @ M11 - M21) @ over_A1_b
    qdd2 = np.linalg.solve(given.X, right)
    assert off(np.concatenate([over_A1_b - K @ qdd2, qdd2]), by_kkt(given)[0]) < EXACT


def test_multipliers_follow_from_the_embedding(given):
    """A₁ᵀλ by blocks."""
    M11, M12, _, _ = given.blocks
    l, K, X = given.l, given.K, given.X
    F1, F2 = given.F[:l], given.F[l:]
    W = M12 - M11 @ K
    over_A1_b = np.linalg.solve(given.A[:, :l], given.b)
    right = (M11 - W @ np.linalg.solve(X, W.T)) @ over_A1_b + W @ np.linalg.solve(X, F2 - K.T @ F1) - F1
    assert off(np.linalg.solve(given.A[:, :l].T, right), by_kkt(given)[1]) < EXACT


def test_constraint_force_is_that_of_udwadia_and_kalaba(given):
    """M^{1/2}(A M^{-1/2})⁺(b − A M⁻¹F) = Aᵀλ."""
    w, V = np.linalg.eigh(given.M)
    half, over_half = (V * np.sqrt(w)) @ V.T, (V / np.sqrt(w)) @ V.T
    miss = given.b - given.A @ np.linalg.solve(given.M, given.F)
    force = half @ np.linalg.pinv(given.A @ over_half) @ miss
    assert off(force, given.A.T @ by_kkt(given)[1]) < EXACT


def test_equation_31_holds_as_corrected_and_not_as_printed(given):
    M11, M12, M21, _ = given.blocks
    l, K, X = given.l, given.K, given.X
    A1, F1, F2 = given.A[:, :l], given.F[:l], given.F[l:]
    W = M12 - M11 @ K
    Minv_AT = np.linalg.solve(given.M, given.A.T)
    left = np.linalg.solve(given.A @ Minv_AT, Minv_AT.T @ given.F)
    corrected = np.linalg.solve(A1.T, F1 - W @ np.linalg.solve(X, F2 - K.T @ F1))
    assert off(corrected, left) < EXACT
    inner = (M21 @ np.linalg.inv(M11) - K.T) @ F1
    printed = np.linalg.solve(A1.T, W @ np.linalg.solve(X, inner) - F1)
    assert off(printed, left) > 0.1


def test_equation_36_holds_as_corrected_and_not_as_printed(given):
    """The first block of M q̈, the paper's Z."""
    M11, M12, M21, _ = given.blocks
    l, K, X = given.l, given.K, given.X
    F1, F2 = given.F[:l], given.F[l:]
    W = M12 - M11 @ K
    over_A1_b = np.linalg.solve(given.A[:, :l], given.b)
    qdd, _ = by_kkt(given)
    first = (given.M @ qdd)[:l]
    corrected = M11 @ over_A1_b - W @ np.linalg.solve(X, W.T @ over_A1_b + K.T @ F1 - F2)
    assert off(corrected, first) < EXACT
    free = (given.M @ by_kkt(given._replace(b=0 * given.b))[0])[:l]  # the part of F alone
    printed = -W @ np.linalg.solve(X, (M21 @ np.linalg.inv(M11) - K.T) @ F1)
    assert off(printed, free) > 0.1


def test_compliance_of_the_rows_is_inverted_by_the_embedding(given):
    """(A M⁻¹Aᵀ)⁻¹ = A₁⁻ᵀ (M₁₁ − W X⁻¹Wᵀ) A₁⁻¹ with W = M₁₂ − M₁₁K: what multiplies b in λ."""
    M11, M12, _, _ = given.blocks
    W = M12 - M11 @ given.K
    over_A1 = np.linalg.inv(given.A[:, : given.l])
    embedded = over_A1.T @ (M11 - W @ np.linalg.solve(given.X, W.T)) @ over_A1
    assert off(embedded, np.linalg.inv(given.A @ np.linalg.solve(given.M, given.A.T))) < EXACT


def test_both_methods_answer_forces_by_the_same_matrix(given):
    """Z X⁻¹Zᵀ = M⁻¹ − M⁻¹Aᵀ(A M⁻¹Aᵀ)⁻¹A M⁻¹: accelerations that forces cause under the constraints."""
    Z = virtual(given)
    inverse = np.linalg.inv(given.M)
    slip = given.A @ inverse
    kept = inverse - slip.T @ np.linalg.solve(slip @ given.A.T, slip)
    assert off(Z @ np.linalg.solve(given.X, Z.T), kept) < EXACT


def test_both_methods_answer_b_by_the_same_matrix(given):
    """M⁻¹Aᵀ(A M⁻¹Aᵀ)⁻¹ = (1 − Z X⁻¹ZᵀM) [A₁⁻¹; 0]: accelerations that the rows themselves demand."""
    Z = virtual(given)
    n, l = len(given.F), given.l
    Minv_AT = np.linalg.solve(given.M, given.A.T)
    particular = np.vstack([np.linalg.inv(given.A[:, :l]), np.zeros((n - l, l))])
    embedded = particular - Z @ np.linalg.solve(given.X, Z.T @ given.M @ particular)
    assert off(embedded, Minv_AT @ np.linalg.inv(given.A @ Minv_AT)) < EXACT


def test_pseudo_inverse_of_full_rank_rows_needs_no_square_root(given):
    """(A M^{-1/2})⁺ = M^{-1/2}Aᵀ(A M⁻¹Aᵀ)⁻¹."""
    w, V = np.linalg.eigh(given.M)
    over_half = (V / np.sqrt(w)) @ V.T
    right = over_half @ given.A.T @ np.linalg.inv(given.A @ np.linalg.solve(given.M, given.A.T))
    assert off(np.linalg.pinv(given.A @ over_half), right) < EXACT


def test_second_block_of_the_inertia_forces_follows_from_the_first(given):
    """(M q̈)₂ = F₂ + Kᵀ((M q̈)₁ − F₁): rows (16) once more, the constraint force does no virtual work."""
    l = given.l
    inertia = given.M @ by_kkt(given)[0]
    assert off(given.F[l:] + given.K.T @ (inertia[:l] - given.F[:l]), inertia[l:]) < EXACT
