"""Solves with a symmetric matrix that has the sparsity of a tree, in a fixed order, without fill-in.

Entry (k, i) is zero unless i is k or one of its ancestors, or k one of those of i. Eliminating from the tips,
H = Lᵀ D L with unit L that has entries (k, i) for ancestors i of k only (Featherstone 2005).

    a = H_ki / D_k,   H_ij ← H_ij − a H_kj,   L_ki = a      i, j: ancestors of k, j not below i     (T1)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, is_nothing


class TreeFactors(NamedTuple):
    """H = Lᵀ D L: rows of L by ancestor, pivots and their reciprocals, and the order from tip to root."""

    L: dict[int, dict[int, Scalar]]
    D: dict[int, Scalar]
    over_D: dict[int, Scalar]
    inward: Sequence[int]


def factor(H: Matrix, parent: Sequence[int], inward: Sequence[int]) -> TreeFactors:
    """`parent` of each row, −1 for a root; `inward`: all rows, each before its parent."""
    up = {k: _ancestors(k, parent) for k in inward}
    rows: dict[int, dict[int, Scalar]] = {k: {i: H[k, i] for i in (k, *up[k])} for k in inward}
    over_D: dict[int, Scalar] = {}
    L: dict[int, dict[int, Scalar]] = {}
    for k in inward:
        row = rows[k]
        over_D[k] = np.divide(1.0, row[k])
        L[k] = {}
        for n, i in enumerate(up[k]):
            a = row[i] * over_D[k]  # (T1)
            for j in (i, *up[k][n + 1 :]):
                rows[i][j] = rows[i][j] - a * row[j]
            L[k][i] = a
    return TreeFactors(L, {k: rows[k][k] for k in inward}, over_D, inward)


def solve(factors: TreeFactors, b: Vector) -> Vector:
    """x of Lᵀ D L x = b."""
    y = swept_inward(factors, b)
    return swept_outward(factors, {k: y[k] * factors.over_D[k] for k in factors.inward})


def swept_inward(factors: TreeFactors, b: Vector) -> list[Scalar]:
    """y of Lᵀ y = b; entries that are nothing stay nothing."""
    y: list[Scalar] = list(b)
    for k in factors.inward:
        if not is_nothing(y[k]):
            for i, a in factors.L[k].items():
                y[i] = y[i] - a * y[k]
    return y


def swept_outward(factors: TreeFactors, y: Mapping[int, Scalar]) -> Vector:
    """x of L x = y."""
    x = dict(y)
    for k in reversed(factors.inward):
        for i, a in factors.L[k].items():
            x[k] = x[k] - a * x[i]
    return array([x[k] for k in range(len(x))]) if x else np.zeros(0)


def pivots(factors: TreeFactors) -> Vector:
    """D in the order of the rows."""
    D = [factors.D[k] for k in range(len(factors.D))]
    return array(D) if D else np.zeros(0)


def _ancestors(k: int, parent: Sequence[int]) -> list[int]:
    ancestors: list[int] = []
    while (k := parent[k]) >= 0:
        ancestors.append(k)
    return ancestors
