"""Arrays of numbers, symbols and columns; solves over them."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair.algebra import ldl
from kinpair.algebra.arrays import array, assemble, columns, congruence, rows
from opaque import hide, reveal

RNG = np.random.default_rng(5)


def positive(n: int) -> np.ndarray:
    A = RNG.normal(size=(n, n))
    return A @ A.T + n * np.eye(n)


def test_numbers_make_float_arrays_and_symbols_object_arrays():
    assert array([1.0, 2.0]).dtype == float
    assert array([[1.0, 2.0], [3.0, 4j]]).dtype == complex
    assert array([1.0, *hide(np.ones(1))]).dtype == object


def test_columns_stay_whole_inside_an_array():
    x = array([[np.ones(3), 0.0], [1.0, np.zeros(3)]])
    assert x.shape == (2, 2)
    assert x[0, 0].shape == (3,)


def test_columns_and_rows_undo_each_other():
    x = RNG.normal(size=(4, 3))
    assert (rows(columns(x), 4) == x).all()
    assert rows(np.array([1.0, 2.0]), 3).tolist() == [[1.0, 2.0]] * 3


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_solve_undoes_the_product(n):
    A, x = positive(n), RNG.normal(size=(n, 2))
    factors = ldl.factor(A)
    assert np.abs(ldl.solve_columns(factors, A @ x) - x).max() < 1e-12
    pivots = ldl.pivots(factors)
    assert (pivots > 0).all()
    assert np.prod(pivots) == pytest.approx(np.linalg.det(A))
    assert np.abs(ldl.solve(A, A @ x[:, 0])[0] - x[:, 0]).max() < 1e-12


def test_solve_runs_on_symbols():
    A, b = positive(4), RNG.normal(size=4)
    x, pivots = ldl.solve(hide(A), hide(b))
    assert reveal(x) == pytest.approx(np.linalg.solve(A, b))
    assert reveal(pivots) == pytest.approx(ldl.solve(A, b)[1])


def test_solve_of_nothing_is_nothing():
    factors = ldl.factor(np.zeros((0, 0)))
    assert ldl.solve_columns(factors, np.zeros((0, 3))).shape == (0, 3)
    assert ldl.pivots(factors).shape == (0,)


def test_a_lost_pivot_is_seen_not_raised():
    with np.errstate(all="ignore"):
        _, pivots = ldl.solve(np.array([[1.0, 1.0], [1.0, 1.0]]), np.ones(2))
    assert pivots[1] == 0


def test_congruence_is_symmetric_to_the_last_bit():
    B, M = RNG.normal(size=(6, 6)), positive(6)
    S = congruence(B, M)
    assert (S == S.T).all()
    assert np.abs(S - B.T @ M @ B).max() < 1e-12
    assert np.abs(reveal(congruence(hide(B), hide(M))) - S).max() < 1e-12


def test_blocks_decide_the_kind_of_an_assembled_matrix():
    spot = slice(0, 1)
    assert assemble((2, 2), []).dtype == float
    assert assemble((2, 2), [(spot, spot, np.eye(1) * 1j)]).dtype == complex
    assert assemble((2, 2), [(spot, spot, hide(np.eye(1)))])[1, 1] == 0
