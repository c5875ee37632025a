"""Factors of a mass matrix with the sparsity of a tree, and solves with rows that end at few bodies. Loop functions.

    H = Lᵀ Δ L,   ŷ = Δ^(−½) L⁻ᵀ Jᵀ,   D = J H⁻¹ Jᵀ = ŷᵀ ŷ,   H⁻¹ Jᵀ λ = L⁻¹ Δ^(−½) ŷ λ                   (CN1)

The row of a body has entries for the rates on its path to the ground only, and so has ŷ. Rows A of loops and drives are
eliminated from ŷ: with an orthonormal basis Q of the rows ŷ of A,

    ŷ ← ŷ − Qᵀ Q ŷ                                                                                         (CN2)
"""

from __future__ import annotations

import math
from typing import NamedTuple

from kinpair.compiler.loops.kinds import Integers, Matrix, Vector

DEPENDENT = 1e-10  # of its length: a row of A that the others imply


class Tree(NamedTuple):
    """Rates as a tree: parent of each (−1 on the ground), all rates from the tips inward, and their places there;
    the last rate of each body (−1 of the ground), and the rate at the ground below each rate."""

    parent: Integers
    inward: Integers
    place: Integers
    last: Integers
    root: Integers


def factor(H: Matrix, t: Tree) -> bool:
    """Replace H by L below and Δ on the diagonal, see (T1); False where a pivot is not positive."""
    for s in range(len(t.inward)):
        k = t.inward[s]
        if not H[k, k] > 0.0:
            return False
        i = t.parent[k]
        while i >= 0:
            a = H[k, i] / H[k, k]
            j = i
            while j >= 0:
                H[i, j] -= a * H[k, j]
                j = t.parent[j]
            H[k, i] = a
            i = t.parent[i]
    return True


def path(t: Tree, first: int, second: int, rates: Integers) -> int:
    """Write the rates on the paths of two rates to the ground, from the tips inward; return their number."""
    i, j, n = first, second, 0
    while i >= 0 or j >= 0:
        k = i if i >= 0 and (j < 0 or t.place[i] <= t.place[j]) else j
        rates[n] = k
        n += 1
        if i == k:
            i = t.parent[i]
        if j == k:
            j = t.parent[j]
    return n


def respond(H: Matrix, t: Tree, rates: Integers, y: Vector) -> None:
    """Replace a row J, with entries at some rates from the tips inward, by ŷ.    (CN1)"""
    for s in range(len(rates)):
        k = rates[s]
        value = y[k]
        if value != 0.0:
            i = t.parent[k]
            while i >= 0:
                y[i] -= H[k, i] * value
                i = t.parent[i]
            y[k] = value / math.sqrt(H[k, k])


def outward(H: Matrix, t: Tree, y: Vector) -> None:
    """Replace ŷ λ by L⁻¹ Δ^(−½) ŷ λ.    (CN1)"""
    for s in range(len(t.inward) - 1, -1, -1):
        k = t.inward[s]
        total = y[k] / math.sqrt(H[k, k])
        i = t.parent[k]
        while i >= 0:
            total -= H[k, i] * y[i]
            i = t.parent[i]
        y[k] = total


def orthonormal(Q: Matrix, L: Matrix) -> int:
    """Replace rows by an orthonormal basis Q of them, and L by R⁻¹ L with R Q the rows that are not implied by others;
    return the number of rows of Q, which come first."""
    n, rank = Q.shape[1], 0
    for r in range(len(Q)):
        size = 0.0
        for k in range(n):
            size += Q[r, k] * Q[r, k]
        if rank < r:
            Q[rank], L[rank] = Q[r], L[r]
        for _ in range(2):  # twice is enough
            for s in range(rank):
                total = 0.0
                for k in range(n):
                    total += Q[s, k] * Q[rank, k]
                for k in range(n):
                    Q[rank, k] -= total * Q[s, k]
                for k in range(L.shape[1]):
                    L[rank, k] -= total * L[s, k]
        left = 0.0
        for k in range(n):
            left += Q[rank, k] * Q[rank, k]
        if left > DEPENDENT * DEPENDENT * size:
            for k in range(n):
                Q[rank, k] /= math.sqrt(left)
            for k in range(L.shape[1]):
                L[rank, k] /= math.sqrt(left)
            rank += 1
    return rank


def eliminate(Q: Matrix, first: int, last: int, y: Vector) -> None:
    """Remove from y its components along some rows of Q.    (CN2)"""
    for r in range(first, last):
        total = 0.0
        for k in range(len(y)):
            total += Q[r, k] * y[k]
        for k in range(len(y)):
            y[k] -= total * Q[r, k]
