"""Voronets' and Chaplygin's equations: Lagrange's, written for the independent rates alone.

The constraints are solved for the dependent rates, q̇₁ = B(q) u with u = q̇₂, so q̇ = Z u, Z = [B; 1]. With the kinetic
energy of the allowed motions T* = ½ uᵀ(ZᵀMZ)u, D_ν the derivative along column ν of Z and Θ = (M Z u)₁:

    d/dt ∂T*/∂u_ν − D_ν T* − Θ·(d/dt B_ν − D_ν(B u)) = Z_νᵀ Q                                    (CS14)
    q̈₂ = u̇,   q̈₁ = B u̇ + d/dt(B) u                                                             (CS15)

The last term on the left is what is lost if the constraints are put into T before differentiating (Hamel's paradox).
Chaplygin's equations are these where neither M, Q nor B depends on the dependent coordinates, so that D_ν is ∂/∂q₂ν.
Constraints: rates that are dq/dt, rows without a term a and without time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kinpair.algebra import ldl, lu
from kinpair.algebra.arrays import Matrix, Vector, array, symmetric
from kinpair.algebra.jet import gradient, rate


def solve(
    mass: Callable[[Vector], Matrix],
    rows: Callable[[Vector], Matrix],
    Q: Vector,
    q: Vector,
    qd: Vector,
    order: Sequence[int],
    dependent: Sequence[int],
    *,
    only_independent: bool = False,
    keep_paradox: bool = False,
) -> tuple[Vector, Vector]:
    """q̈ of (CS14), (CS15), and the pivots of ZᵀMZ.

    `only_independent` differentiates by q₂ alone, as Chaplygin does.

    `keep_paradox` leaves out the last term: what one gets by putting the constraints into T. It is wrong unless
    the constraints are holonomic, and is here to be shown wrong.
    """
    one, n = list(dependent), len(q)
    two = [k for k in range(n) if k not in one]
    u = qd[two]

    def B(q: Vector) -> Matrix:
        A = rows(q)
        return -lu.solve_columns(lu.factor(A[np.ix_(list(order), one)]), A[np.ix_(list(order), two)])

    def Z(q: Vector) -> Matrix:
        entries = np.zeros((n, len(two)), dtype=object)
        entries[one], entries[two] = B(q), np.eye(len(two))
        return entries

    def momentum(q: Vector) -> Vector:
        columns = Z(q)
        return columns.T @ (mass(q) @ (columns @ u))

    def energy(q: Vector) -> object:
        return 0.5 * (momentum(q) @ u)

    here, M = Z(q), mass(q)
    along = _seen(here, one, only_independent)
    path = along @ u
    right = here.T @ Q - rate(momentum, (q,), (path,))
    right = right + array([rate(energy, (q,), (along[:, nu],)) for nu in range(len(two))])
    if not keep_paradox:
        theta = (M @ (here @ u))[one]
        changing = rate(B, (q,), (path,))
        carried = [rate(lambda x: B(x) @ u, (q,), (along[:, nu],)) for nu in range(len(two))]
        right = right + array([theta @ (changing[:, nu] - carried[nu]) for nu in range(len(two))])  # (CS14)
    X = symmetric(here.T @ (M @ here))
    ud, pivots = ldl.solve(X, right)
    qdd1 = here[one] @ ud + rate(lambda x: B(x) @ u, (q,), (here @ u,))  # (CS15)
    qdd = dict(zip((*one, *two), (*qdd1, *ud), strict=True))
    return array([qdd[k] for k in range(n)]), pivots


def _seen(Z: Matrix, one: list[int], only_independent: bool) -> Matrix:
    """The directions of D_ν: columns of Z, the dependent coordinates left alone for Chaplygin."""
    X = Z.copy()
    if only_independent:
        X[one] = 0.0
    return X


def applied(mass: Callable[[Vector], Matrix], F: Vector, q: Vector, qd: Vector) -> Vector:
    """Q, the forces that F = Q − Ṁq̇ + ∂T/∂q contains; T = ½ q̇ᵀ M q̇."""
    swept = rate(lambda x: mass(x) @ qd, (q,), (qd,))
    return F + swept - gradient(lambda x: 0.5 * (qd @ (mass(x) @ qd)), q)
