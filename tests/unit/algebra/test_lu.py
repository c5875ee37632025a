"""Solves with square matrices in an order given beforehand, and the order of complete pivoting."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair.algebra import lu
from opaque import hide, reveal

RNG = np.random.default_rng(11)


def sound(n: int) -> np.ndarray:
    """A matrix whose pivots in natural order are far from zero."""
    return RNG.normal(size=(n, n)) + 3 * n * np.eye(n)


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_solves_undo_the_product(n):
    A, X = sound(n), RNG.normal(size=(n, 3))
    factors = lu.factor(A)
    assert lu.solve(factors, A @ X[:, 0]) == pytest.approx(X[:, 0], abs=1e-13)
    assert lu.solve_transposed(factors, A.T @ X[:, 1]) == pytest.approx(X[:, 1], abs=1e-13)
    assert lu.solve_columns(factors, A @ X) == pytest.approx(X, abs=1e-13)
    assert np.prod(factors.D) == pytest.approx(np.linalg.det(A))


def test_zeros_that_are_known_are_skipped():
    A = np.diag([2.0, 3.0, 4.0])
    A[2, 0] = 1.0
    factors = lu.factor(A)
    assert factors.L == [{}, {}, {0: 0.5}]
    assert factors.U == [{}, {}, {}]
    assert lu.solve(factors, np.array([2.0, 3.0, 5.0])).tolist() == [1.0, 1.0, 1.0]


def test_solves_run_on_symbols():
    A, b = sound(4), RNG.normal(size=4)
    factors = lu.factor(hide(A))
    assert reveal(lu.solve(factors, hide(b))) == pytest.approx(np.linalg.solve(A, b))
    assert reveal(lu.solve_transposed(factors, hide(b))) == pytest.approx(np.linalg.solve(A.T, b))


def test_solve_of_nothing_is_nothing():
    factors = lu.factor(np.zeros((0, 0)))
    assert lu.solve(factors, np.zeros(0)).shape == (0,)
    assert lu.solve_transposed(factors, np.zeros(0)).shape == (0,)
    assert lu.solve_columns(factors, np.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize(("shape", "rank"), [((3, 5), 3), ((5, 5), 3), ((6, 4), 2), ((4, 4), 0)])
def test_pivot_order_finds_as_many_rows_and_columns_as_the_rank(shape, rank):
    A = RNG.normal(size=(shape[0], rank)) @ RNG.normal(size=(rank, shape[1]))
    rows, columns = lu.pivot_order(A)
    assert len(rows) == len(columns) == rank
    assert len(set(rows)) == len(set(columns)) == rank
    assert np.linalg.matrix_rank(A[np.ix_(rows, columns)]) == rank


def test_pivot_order_takes_the_largest_entry_first_and_suits_the_factors():
    A = RNG.normal(size=(5, 5))
    A[3, 1] = 40.0
    rows, columns = lu.pivot_order(A)
    assert (rows[0], columns[0]) == (3, 1)
    ordered = A[np.ix_(rows, columns)]
    factors = lu.factor(ordered)
    assert lu.solve(factors, ordered @ np.ones(5)) == pytest.approx(np.ones(5), abs=1e-12)
    sizes = np.abs(factors.D)
    assert (sizes[:-1] >= sizes[1:] * 0.1).all()  # complete pivoting: no pivot far above the one before
    assert all(np.abs(list(row.values())).max(initial=0.0) <= 1.0 + 1e-12 for row in factors.L)


def test_few_neighbours_come_first_where_they_are_large_enough():
    """A full row and a full column: with the others first, nothing is made that was not there."""
    A = np.eye(4)
    A[0], A[:, 0] = 1.5, 1.5
    rows, columns = lu.pivot_order(A, choose=lu.few_neighbours)
    assert 0 not in (*rows[:2], *columns[:2])
    left = lu.factor(A[np.ix_(rows, columns)])
    assert sum(len(row) for row in (*left.L, *left.U)) == 6
    A[1, 1] = 0.1  # a tenth of the largest is 0.15
    assert lu.pivot_order(A, choose=lu.few_neighbours)[0][0] != 1


def test_pivot_order_of_nothing_is_nothing():
    assert lu.pivot_order(np.zeros((0, 3))) == ([], [])
    assert lu.pivot_order(np.zeros((2, 3))) == ([], [])
