"""Solves with a square matrix in an order given beforehand: A = L U, no search for pivots while it runs.

Who calls it has chosen the order of rows and columns, by `pivot_order` at a state like the one to come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, is_nothing

LARGE = 0.1  # a pivot may be this part of the largest entry left
NOTHING = 1e-12  # entries below this part are rounding


class LUFactors(NamedTuple):
    """Rows of L below the diagonal and of U above it; pivots and their reciprocals."""

    L: list[dict[int, Scalar]]
    U: list[dict[int, Scalar]]
    D: list[Scalar]
    over_D: list[Scalar]


def factor(A: Matrix | Iterable[Sequence[Scalar]]) -> LUFactors:
    """A = L (D + U), L with a unit diagonal, row after row."""
    L: list[dict[int, Scalar]] = []
    U: list[dict[int, Scalar]] = []
    D: list[Scalar] = []
    over_D: list[Scalar] = []
    for i, entries in enumerate(A):
        row = {j: x for j, x in enumerate(entries) if not is_nothing(x)}
        L.append({})
        for k in range(i):
            if k in row:
                a = row.pop(k) * over_D[k]
                L[i][k] = a
                for j, x in U[k].items():
                    row[j] = row.get(j, 0.0) - a * x
        D.append(row.pop(i, 0.0))
        over_D.append(np.divide(1.0, D[i]))
        U.append(row)
    return LUFactors(L, U, D, over_D)


def solve(factors: LUFactors, b: Vector) -> Vector:
    """x of A x = b."""
    n = len(factors.D)
    x: list[Scalar] = list(b)
    for i in range(n):
        for k, a in factors.L[i].items():
            x[i] = x[i] - a * x[k]
    for i in reversed(range(n)):
        for j, u in factors.U[i].items():
            x[i] = x[i] - u * x[j]
        x[i] = x[i] * factors.over_D[i]
    return array(x) if x else np.zeros(0)


def solve_transposed(factors: LUFactors, b: Vector) -> Vector:
    """x of Aᵀ x = b."""
    n = len(factors.D)
    x: list[Scalar] = list(b)
    for i in range(n):
        x[i] = x[i] * factors.over_D[i]
        for j, u in factors.U[i].items():
            x[j] = x[j] - u * x[i]
    for i in reversed(range(n)):
        for k, a in factors.L[i].items():
            x[k] = x[k] - a * x[i]
    return array(x) if x else np.zeros(0)


def solve_columns(factors: LUFactors, B: Matrix) -> Matrix:
    """X of A X = B, column by column."""
    X = [solve(factors, B[:, k]) for k in range(B.shape[1])]
    return array([list(x) for x in X]).T if B.size else np.zeros(B.shape)


Choice: TypeAlias = Callable[[np.ndarray], tuple[int, int]]


def the_largest(sizes: np.ndarray) -> tuple[int, int]:
    """Choose the pivot by complete pivoting."""
    i, j = np.unravel_index(int(sizes.argmax()), sizes.shape)
    return int(i), int(j)


def few_neighbours(sizes: np.ndarray) -> tuple[int, int]:
    """Choose, of the entries that are large enough, the one with the fewest others in its row and column, so that
    little is made that was not there (Markowitz 1957); the larger one of equals."""
    largest = sizes.max()
    there = sizes > NOTHING * largest
    neighbours = np.outer(there.sum(axis=1) - 1, there.sum(axis=0) - 1)
    price = np.where(sizes >= LARGE * largest, neighbours - 0.5 * sizes / largest, np.inf)
    i, j = np.unravel_index(int(price.argmin()), sizes.shape)
    return int(i), int(j)


def pivot_order(
    A: np.ndarray, tolerance: float = 1e-9, choose: Choice = the_largest
) -> tuple[list[int], list[int]]:
    """Rows and columns of a matrix of floats in the order of its pivots, as far as its rank goes."""
    left = np.array(A, dtype=float)
    rows, columns = list(range(left.shape[0])), list(range(left.shape[1]))
    largest = np.abs(left).max(initial=0.0)
    done = 0
    while done < min(left.shape):
        rest = np.abs(left[done:, done:])
        if not rest.max(initial=0.0) > tolerance * largest:
            break
        i, j = (done + k for k in choose(rest))
        left[[done, i]] = left[[i, done]]
        left[:, [done, j]] = left[:, [j, done]]
        rows[done], rows[i] = rows[i], rows[done]
        columns[done], columns[j] = columns[j], columns[done]
        left[done + 1 :, done:] -= np.outer(left[done + 1 :, done] / left[done, done], left[done, done:])
        done += 1
    return rows[:done], columns[:done]
