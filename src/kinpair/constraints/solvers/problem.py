"""Input and output of a solver.

M q̈ = F + Aᵀ λ,   A q̈ = b                                                                   (CS1)

Rates that are locked, h = 1, drop out of it: with P = 1 − h,

M_ij ← P_i M_ij P_j  for i ≠ j,   F ← P F,   A ← A P,   so that q̈ = 0 where h = 1            (CS17)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import NamedTuple, TypeAlias

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.algebra.choice import minimum


class Problem(NamedTuple):
    """M (n, n) with the sparsity of a tree, F (n), A (l, n) of full rank, b (l).

    `parent` and `inward` say which tree: see `algebra.tree_ldl`; a chain is a full matrix. `rows` and `dependent`
    are the order in which an embedding eliminates: rows of A, and the rates found from them. `scales` (n) are what
    inertias are judged by, see `model/inertia_scales.py`; the diagonal of M where there are none. With `damping` (l)
    rows that are nearly lost get small multipliers, see `multipliers.py`.
    """

    M: Matrix
    F: Vector
    A: Matrix
    b: Vector
    parent: Sequence[int]
    inward: Sequence[int]
    rows: Sequence[int] = ()
    dependent: Sequence[int] = ()
    scales: Sequence[Scalar] = ()
    damping: Sequence[Scalar] = ()

    @property
    def inertias(self) -> Sequence[Scalar]:
        """Scale of the pivots of the mass matrix, a number for each rate."""
        return self.scales or list(np.diag(self.M))


def with_held(problem: Problem, held: Vector) -> Problem:
    """The problem with rates locked: `held` (n) is 1 for these, 0 for the others."""
    free = [1.0 - h for h in held]
    M = masked(problem.M, held)
    F = array([f * p for f, p in zip(problem.F, free, strict=True)])
    rows = [[a * p for a, p in zip(row, free, strict=True)] for row in problem.A]  # (CS17)
    return problem._replace(M=M, F=F, A=array(rows) if rows else problem.A)


def masked(M: Matrix, held: Vector) -> Matrix:
    """M without what couples rates that are locked to others; its diagonal stays.    (CS17)"""
    free = [1.0 - h for h in held]
    pairs = [[x if i == j else x * free[i] * free[j] for j, x in enumerate(row)] for i, row in enumerate(M)]
    return array(pairs)


class Accelerations(NamedTuple):
    """q̈ (n), multipliers λ (l), and the soundness of both solves: smallest pivot of the mass matrix, and of the
    constraints, as a part of the entry it came from."""

    qdd: Vector
    lam: Vector
    soundness: Vector


Solver: TypeAlias = Callable[[Problem], Accelerations]


def full(n: int) -> tuple[list[int], list[int]]:
    """The tree of a matrix without zeros: a chain."""
    return list(range(-1, n - 1)), list(range(n))[::-1]


def soundest(pivots: Sequence[Scalar], scales: Sequence[Scalar]) -> Scalar:
    """The smallest pivot as a part of its scale; one where there is none."""
    ratios = [np.divide(p, s) for p, s in zip(pivots, scales, strict=True)]
    return reduce(minimum, ratios, 1.0)
