"""Multipliers of all rows from the efforts that the constraints make, compiled.

Rows of A are scaled to length one, short ones less. Of the independent ones A_K = R Q, with orthonormal rows in Q and R
lower triangular; of the redundant ones A_D = T A_K. r = H q̈ + h − τ are the efforts that the constraints make:

    Rᵀ μ = Q r                                        A_Kᵀ μ = r, or as near as can be           (RE1)
    T R = A_D Qᵀ                                                                                 (RE2)
    (1 + T Tᵀ) λ_D = T μ,   λ_K = μ − Tᵀ λ_D          the least λ of all rows                    (RE3)

With r of all motion, τ = 0, (RE1) leaves r − Aᵀλ as small as can be: these are the least efforts that make the motion.
What redundant rows carry against each other are the columns of N, N_K = −Tᵀ, N_D = 1: AᵀN = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from kinpair.algebra import ldl
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, is_nothing
from kinpair.algebra.choice import less, maximum, minimum, where
from kinpair.constraints.quantities.equations import largest
from kinpair.constraints.solvers.rank_revealing import SHORT

INDEPENDENT = 1e-4  # what a row of length one must have beyond the others
REDUNDANT = 1e-8  # what a redundant row may have beyond the others


class Multipliers(NamedTuple):
    """λ of all rows, pairs (smaller, larger) that hold where it is sound, and how much of the load of a redundant row
    each could carry: zero where λ is unique."""

    lam: Vector
    sound: tuple[tuple[Scalar, Scalar], ...]
    shared: Vector


def least_multipliers(A: Matrix, kept: Sequence[int], r: Vector) -> Multipliers:
    """λ of (RE3) for all rows of A, of which those kept are independent."""
    x = _split(A, kept)
    mu = x.basis.solved(r)
    of_others = _shared(x.T, mu)
    of_kept = [
        m - sum((t[n] * y for t, y in zip(x.T, of_others, strict=True)), 0.0) for n, m in enumerate(mu)
    ]
    lam, most = x.in_order(of_kept, of_others), [largest(column) for column in zip(*x.T, strict=True)]
    shares = dict(zip((*kept, *x.others), (*most, *[1.0] * len(x.T)), strict=False))
    shortest = reduce(minimum, x.basis.diagonal, 1.0)
    return Multipliers(
        lam,
        ((INDEPENDENT, shortest), (largest(x.beyond), REDUNDANT)),
        array([shares.get(k, 0.0) if x.T else 0.0 for k in range(len(A))]) if len(A) else np.zeros(0),
    )


def self_stresses(A: Matrix, kept: Sequence[int]) -> list[Vector]:
    """Columns of N (rows,): what each redundant row carries against those kept."""
    x = _split(A, kept)
    units = np.eye(len(x.others))
    return [x.in_order([-t for t in row], list(unit)) for row, unit in zip(x.T, units, strict=True)]


class _Split(NamedTuple):
    """Rows by their lengths: the basis of those kept, the others, T, and what they have beyond the basis."""

    kept: Sequence[int]
    others: Sequence[int]
    sizes: list[Scalar]
    basis: _Basis
    T: list[list[Scalar]]
    beyond: list[Scalar]

    def in_order(self, of_kept: Sequence[Scalar], of_others: Sequence[Scalar]) -> Vector:
        """Multipliers of scaled rows as those of the rows themselves (rows,)."""
        by_row = dict(zip((*self.kept, *self.others), (*of_kept, *of_others), strict=True))
        lam = [np.divide(by_row[k], size) for k, size in enumerate(self.sizes)]
        return array(lam) if lam else np.zeros(0)


def _split(A: Matrix, kept: Sequence[int]) -> _Split:
    sizes = _lengths(A)
    rows = [_scaled(row, size) for row, size in zip(A, sizes, strict=True)]
    basis = _Basis()
    for k in kept:
        basis.add(rows[k])
    others = [k for k in range(len(rows)) if k not in set(kept)]
    return _Split(kept, others, sizes, basis, *_combinations(basis, [rows[k] for k in others]))


def _lengths(A: Matrix) -> list[Scalar]:
    """As `rank_revealing.lengths`."""
    squares = [_dot(row, row) for row in A]
    longest = reduce(maximum, squares, 0.0)
    least = where(less(0.0, longest), SHORT * SHORT * longest, 1.0)
    return [np.sqrt(maximum(x, least)) for x in squares]


def _scaled(row: Vector, size: Scalar) -> list[Scalar]:
    over = np.divide(1.0, size)
    return [0.0 if is_nothing(x) else x * over for x in row]


def _dot(x: Sequence[Scalar], y: Sequence[Scalar]) -> Scalar:
    pairs = zip(x, y, strict=True)
    return sum((a * b for a, b in pairs if not (is_nothing(a) or is_nothing(b))), 0.0)


def _less(x: Sequence[Scalar], c: Scalar, q: Sequence[Scalar]) -> list[Scalar]:
    """x − c q."""
    return [a if is_nothing(b) else a - c * b for a, b in zip(x, q, strict=True)]


class _Basis:
    """Rows of Q and R, one after the other (modified Gram–Schmidt)."""

    def __init__(self) -> None:
        self.Q: list[list[Scalar]] = []
        self.R: list[list[Scalar]] = []

    @property
    def diagonal(self) -> list[Scalar]:
        """Of R: what each row had beyond those before."""
        return [row[k] for k, row in enumerate(self.R)]

    def parts(self, row: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        """Of a vector along the rows of Q, and what is left of it."""
        rest, along = list(row), list[Scalar]()
        for q in self.Q:
            c = _dot(q, rest)
            along.append(c)
            if not is_nothing(c):
                rest = _less(rest, c, q)
        return along, rest

    def add(self, row: Sequence[Scalar]) -> None:
        """One row more."""
        along, rest = self.parts(row)
        size = np.sqrt(_dot(rest, rest))
        self.Q.append(_scaled(array(rest), size))
        self.R.append([*along, size])

    def solved(self, r: Vector) -> list[Scalar]:
        """μ of (RE1)."""
        y, _ = self.parts(list(r))
        return self._back(y)

    def combination(self, along: Sequence[Scalar]) -> list[Scalar]:
        """A row of T, from its parts along Q.    (RE2)"""
        return self._back(along)

    def _back(self, y: Sequence[Scalar]) -> list[Scalar]:
        """x of Rᵀ x = y."""
        x: list[Scalar] = [0.0] * len(y)
        for k in reversed(range(len(y))):
            later = sum((self.R[j][k] * x[j] for j in range(k + 1, len(y))), 0.0)
            x[k] = np.divide(y[k] - later, self.R[k][k])
        return x


def _combinations(basis: _Basis, rows: Sequence[Sequence[Scalar]]) -> tuple[list[list[Scalar]], list[Scalar]]:
    """T, and the length of what each row has beyond the basis."""
    T, beyond = list[list[Scalar]](), list[Scalar]()
    for row in rows:
        along, rest = basis.parts(row)
        T.append(basis.combination(along))
        beyond.append(np.sqrt(_dot(rest, rest)))
    return T, beyond


def _shared(T: Sequence[Sequence[Scalar]], mu: Sequence[Scalar]) -> list[Scalar]:
    """λ_D of (RE3)."""
    if not T:
        return []
    S = array([[_dot(a, b) + (1.0 if i == j else 0.0) for j, b in enumerate(T)] for i, a in enumerate(T)])
    return list(ldl.solve(S, array([_dot(t, mu) for t in T]))[0])
