"""Symmetric solves in a fixed order, without pivoting and without a branch on a value.

A = L D Lᵀ with unit lower-triangular L. Where A is positive definite every pivot D_i is positive;
the pivots come back with the factors so that the caller, who knows what the rows mean, can judge them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array


class Factors(NamedTuple):
    """A = L D Lᵀ: rows of L below the diagonal, pivots D, and their reciprocals."""

    L: list[list[Scalar]]
    D: list[Scalar]
    over_D: list[Scalar]


def factor(A: Matrix) -> Factors:
    """The factors of A, whose upper half is not read."""
    L: list[list[Scalar]] = []
    D: list[Scalar] = []
    over_D: list[Scalar] = []
    for i in range(A.shape[0]):
        row: list[Scalar] = []
        scaled: list[Scalar] = []  # L_ij D_j
        for j in range(i):
            s = A[i, j]
            for k in range(j):
                s = s - scaled[k] * L[j][k]
            scaled.append(s)
            row.append(s * over_D[j])
        pivot = A[i, i]
        for k in range(i):
            pivot = pivot - scaled[k] * row[k]
        L.append(row)
        D.append(pivot)
        over_D.append(np.divide(1.0, pivot))
    return Factors(L, D, over_D)


def solve_factored(factors: Factors, b: Vector) -> Vector:
    """x of L D Lᵀ x = b for one right-hand side."""
    L, _, over_D = factors
    n = len(over_D)
    y: list[Scalar] = []
    for i in range(n):
        s = b[i]
        for k in range(i):
            s = s - L[i][k] * y[k]
        y.append(s)
    x: list[Scalar] = [y[i] * over_D[i] for i in range(n)]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            x[i] = x[i] - L[k][i] * x[k]
    return array(x) if x else np.zeros(0)


def solve_columns(factors: Factors, B: Matrix) -> Matrix:
    """X of A X = B for the columns of a matrix B."""
    X = [solve_factored(factors, B[:, k]) for k in range(B.shape[1])]
    return array([list(x) for x in X]).T if B.size else np.zeros(B.shape)


def pivots(factors: Factors) -> Vector:
    """The pivots as a vector."""
    return array(factors.D) if factors.D else np.zeros(0)


def solve(A: Matrix, b: Vector) -> tuple[Vector, Vector]:
    """x of A x = b, and the pivots of A."""
    factors = factor(A)
    return solve_factored(factors, b), pivots(factors)
