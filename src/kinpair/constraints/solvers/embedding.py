"""Embedding: the virtual displacements that the constraints allow, q = (q₁ dependent, q₂ independent).

A = [A₁ A₂] with A₁ square, in an order of rows and columns chosen by pivoting at a state nearby:

    K = A₁⁻¹ A₂,   Z = [−K; 1],   δq = Z δq₂                                                     (CS7)
    Zᵀ (M q̈ − F) = 0                                   Rosenberg: n − l equations, no q̈ yet      (CS8)
    X = Zᵀ M Z = KᵀM₁₁K − KᵀM₁₂ − M₂₁K + M₂₂                                                     (CS9)
    q̈₂ = X⁻¹ [F₂ − KᵀF₁ + (KᵀM₁₁ − M₂₁) A₁⁻¹b],   q̈₁ = A₁⁻¹b − K q̈₂    extended Rosenberg       (CS10)
    A₁ᵀ λ = (M q̈ − F)₁                                                                          (CS11)

after Zhao et al. 2023, eqs 16, 33, 34. Maggi's equations take the same Z as the coefficients of kinematic
characteristics u, q̇ = Z u + z; with u = q̇₂ they read

    X u̇ = Zᵀ (F − M γ),   q̈ = Z u̇ + γ,   γ = (A₁⁻¹b, 0)                                          (CS12)

and the partition into minimal coordinates solves for q̇₂ alone, q̈₁ following from the rows:

    (M₂₂ − M₂₁K − Kᵀ(M₁₂ − M₁₁K)) q̈₂ = F₂ − KᵀF₁ − (M₂₁ − KᵀM₁₁) A₁⁻¹b,   A₁ q̈₁ = b − A₂ q̈₂      (CS13)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kinpair.algebra import ldl, lu
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, symmetric
from kinpair.constraints.solvers.problem import Accelerations, Problem, soundest


class Parts(NamedTuple):
    """A problem in the order of its embedding."""

    one: list[int]  # dependent rates
    two: list[int]  # independent rates
    A1: lu.LUFactors
    K: Matrix
    over_A1_b: Vector  # A₁⁻¹ b


def parts(x: Problem) -> Parts:
    """A₁, K and A₁⁻¹b in the order of the problem.    (CS7)"""
    one = list(x.dependent)
    two = [k for k in range(len(x.F)) if k not in one]
    rows = list(x.rows)
    A1 = lu.factor(x.A[np.ix_(rows, one)])
    return Parts(one, two, A1, lu.solve_columns(A1, x.A[np.ix_(rows, two)]), lu.solve(A1, x.b[rows]))


def virtual(x: Problem, p: Parts) -> Matrix:
    """Z (n, n − l): displacements the constraints allow, one column an independent rate.    (CS7)"""
    Z = np.zeros((len(x.F), len(p.two)), dtype=object)
    Z[p.one] = -p.K
    Z[p.two] = np.eye(len(p.two))
    return Z


def rosenberg(x: Problem) -> tuple[Matrix, Vector]:
    """ZᵀM (n − l, n) and ZᵀF (n − l): the reduced equations, which leave l accelerations open.    (CS8)"""
    Z = virtual(x, parts(x))
    return Z.T @ x.M, Z.T @ x.F


def rosenberg_extended(x: Problem) -> Accelerations:
    """q̈ by (CS10), λ by (CS11)."""
    p = parts(x)
    M11, M12, M22 = x.M[np.ix_(p.one, p.one)], x.M[np.ix_(p.one, p.two)], x.M[np.ix_(p.two, p.two)]
    W = M12 - M11 @ p.K
    X = symmetric(M22 - M12.T @ p.K - p.K.T @ W)  # (CS9)
    right = x.F[p.two] - p.K.T @ x.F[p.one] - W.T @ p.over_A1_b
    factors = ldl.factor(X)
    qdd2 = ldl.solve_factored(factors, right)  # (CS10)
    return _completed(x, p, factors.D, qdd2, p.over_A1_b - p.K @ qdd2)


def maggi(x: Problem) -> Accelerations:
    """Solve from the coefficients of the characteristics.    (CS12)"""
    p = parts(x)
    Z = virtual(x, p)
    gamma = np.zeros(len(x.F), dtype=object)
    gamma[p.one] = p.over_A1_b
    X = symmetric(Z.T @ (x.M @ Z))
    factors = ldl.factor(X)
    ud = ldl.solve_factored(factors, Z.T @ (x.F - x.M @ gamma))
    qdd = Z @ ud + gamma
    return _completed(x, p, factors.D, qdd[p.two], qdd[p.one])


def partition(x: Problem) -> Accelerations:
    """Independent rates first, the dependent ones from the rows.    (CS13)"""
    p = parts(x)
    M1, M2 = x.M[p.one], x.M[p.two]
    reduced = M2 - p.K.T @ M1  # rows of the independent rates
    X = symmetric(reduced[:, p.two] - reduced[:, p.one] @ p.K)
    factors = ldl.factor(X)
    right = x.F[p.two] - p.K.T @ x.F[p.one] - reduced[:, p.one] @ p.over_A1_b
    qdd2 = ldl.solve_factored(factors, right)
    rows = list(x.rows)
    qdd1 = lu.solve(p.A1, x.b[rows] - x.A[np.ix_(rows, p.two)] @ qdd2)  # (CS13)
    return _completed(x, p, factors.D, qdd2, qdd1)


def _completed(x: Problem, p: Parts, pivots: Sequence[Scalar], qdd2: Vector, qdd1: Vector) -> Accelerations:
    by_rate = dict(zip((*p.one, *p.two), (*qdd1, *qdd2), strict=True))
    qdd = array([by_rate[k] for k in range(len(x.F))]) if by_rate else np.zeros(0)
    return _with_forces(x, p, qdd, pivots)


def completed(x: Problem, qdd: Vector, pivots: Sequence[Scalar]) -> Accelerations:
    """Accelerations found otherwise, by these pivots of X, with their multipliers.    (CS11)"""
    return _with_forces(x, parts(x), qdd, pivots)


def _scales(x: Problem, p: Parts) -> list[Scalar]:
    """Scales of the pivots of X: what (CS9) would be if nothing in it cancelled."""
    inertias = x.inertias
    of_one = [inertias[k] for k in p.one]
    columns = [sum((k * k * m for k, m in zip(column, of_one, strict=True)), 0.0) for column in p.K.T]
    return [inertias[k] + column for k, column in zip(p.two, columns, strict=True)]


def _with_forces(x: Problem, p: Parts, qdd: Vector, pivots: Sequence[Scalar]) -> Accelerations:
    pull = (x.M @ qdd - x.F)[p.one] if p.one else np.zeros(0)
    lam_rows = lu.solve_transposed(p.A1, pull)  # (CS11)
    by_row = dict(zip(x.rows, lam_rows, strict=True))
    lam = array([by_row[k] for k in range(len(x.b))]) if len(x.b) else np.zeros(0)
    sizes = [_size(x.A[row]) for row in x.rows]
    of_rows = soundest([np.abs(d) for d in p.A1.D], sizes)
    return Accelerations(qdd, lam, array([soundest(pivots, _scales(x, p)), of_rows]))


def _size(row: Vector) -> object:
    """Length of a row of A, by which its pivot is judged."""
    return np.sqrt(row @ row)
