"""Symmetric solves that skip what is nothing: S = L D Lᵀ, rows in an order that makes little new.

The order is that of least degree: the row with the fewest neighbours left is eliminated next (Tinney & Walker 1967).
It depends only on which entries are plain zeros, not on the values of the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array, is_nothing

Rows = Mapping[int, Mapping[int, Scalar]]


class SparseFactors(NamedTuple):
    """Rows in the order of elimination; columns of L below the diagonal; pivots, their reciprocals, old diagonal."""

    order: list[int]
    L: dict[int, dict[int, Scalar]]
    D: dict[int, Scalar]
    over_D: dict[int, Scalar]
    scale: dict[int, Scalar]


def factor(S: Rows) -> SparseFactors:
    """The factors of a symmetric S given by rows, entries that are nothing left out."""
    left = {i: {j: x for j, x in row.items() if i == j or not is_nothing(x)} for i, row in S.items()}
    scale = {i: row[i] for i, row in left.items()}
    order: list[int] = []
    L: dict[int, dict[int, Scalar]] = {}
    D: dict[int, Scalar] = {}
    over_D: dict[int, Scalar] = {}
    while left:
        k = min(left, key=lambda i: (len(left[i]), i))
        row = left.pop(k)
        D[k] = row.pop(k)
        over_D[k] = np.divide(1.0, D[k])
        L[k] = {i: x * over_D[k] for i, x in row.items()}
        for i, a in L[k].items():
            del left[i][k]
            for j, x in row.items():
                if j >= i:
                    left[i][j] = left[j][i] = left[i].get(j, 0.0) - a * x
        order.append(k)
    return SparseFactors(order, L, D, over_D, scale)


def solve(factors: SparseFactors, b: Vector) -> Vector:
    """x of L D Lᵀ x = b."""
    x: dict[int, Scalar] = dict(enumerate(b))
    for k in factors.order:
        for i, a in factors.L[k].items():
            x[i] = x[i] - a * x[k]
    for k in reversed(factors.order):
        x[k] = x[k] * factors.over_D[k]
        for i, a in factors.L[k].items():
            x[k] = x[k] - a * x[i]
    return array([x[k] for k in range(len(x))]) if x else np.zeros(0)
