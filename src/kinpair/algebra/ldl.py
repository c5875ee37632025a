"""Symmetric solves in a fixed order, without pivoting and without a branch on a value.

A = L D Lᵀ with unit lower-triangular L. Where A is positive definite every pivot D_i is positive;
the pivots come back with the factors so that the caller, who knows what the rows mean, can judge them.
"""

from __future__ import annotations

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array


def factor(A: Matrix) -> tuple[list[list[Scalar]], list[Scalar]]:
    """Rows of L below the diagonal, and the pivots D, of A = L D Lᵀ (upper half of A is not read)."""
    L: list[list[Scalar]] = []
    D: list[Scalar] = []
    for i in range(A.shape[0]):
        row: list[Scalar] = []
        scaled: list[Scalar] = []  # L_ij D_j
        for j in range(i):
            s = A[i, j]
            for k in range(j):
                s = s - scaled[k] * L[j][k]
            scaled.append(s)
            row.append(np.divide(s, D[j]))
        pivot = A[i, i]
        for k in range(i):
            pivot = pivot - scaled[k] * row[k]
        L.append(row)
        D.append(pivot)
    return L, D


def solve_factored(L: list[list[Scalar]], D: list[Scalar], b: Vector) -> Vector:
    """x of L D Lᵀ x = b for one right-hand side."""
    n = len(D)
    y: list[Scalar] = []
    for i in range(n):
        s = b[i]
        for k in range(i):
            s = s - L[i][k] * y[k]
        y.append(s)
    x: list[Scalar] = [np.divide(y[i], D[i]) for i in range(n)]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            x[i] = x[i] - L[k][i] * x[k]
    return array(x) if x else np.zeros(0)


def solve(A: Matrix, B: Matrix) -> tuple[Matrix, Vector]:
    """X of A X = B for a vector or the columns of a matrix B, and the pivots of A."""
    L, D = factor(A)
    pivots = array(D) if D else np.zeros(0)
    if B.ndim == 1:
        return solve_factored(L, D, B), pivots
    X = [solve_factored(L, D, B[:, k]) for k in range(B.shape[1])]
    if not X or not D:
        return np.zeros(B.shape), pivots
    return array([list(x) for x in X]).T, pivots
