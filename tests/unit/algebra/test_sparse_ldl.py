"""Symmetric solves that skip what is nothing, in the order of least degree; and the same along a tree."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair.algebra import sparse_ldl, tree_ldl
from opaque import hide, reveal

RNG = np.random.default_rng(12)


def positive(n: int, present: np.ndarray) -> np.ndarray:
    A = np.where(present, RNG.normal(size=(n, n)), 0.0)
    A = A + A.T
    return A + (1.0 + np.abs(A).sum(0).max()) * np.eye(n)


def by_rows(S: np.ndarray) -> dict[int, dict[int, float]]:
    return {i: {j: S[i, j] for j in range(len(S)) if S[i, j] or i == j} for i in range(len(S))}


@pytest.mark.parametrize("n", [1, 3, 8, 20])
@pytest.mark.parametrize("density", [0.1, 0.5, 1.0])
def test_solve_undoes_the_product(n, density):
    S, x = positive(n, RNG.uniform(size=(n, n)) < density), RNG.normal(size=n)
    factors = sparse_ldl.factor(by_rows(S))
    assert sparse_ldl.solve(factors, S @ x) == pytest.approx(x, abs=1e-12)
    assert np.prod(list(factors.D.values())) == pytest.approx(np.linalg.det(S))
    assert factors.scale == {i: S[i, i] for i in range(n)}
    assert sorted(factors.order) == list(range(n))


def test_a_chain_is_eliminated_without_new_entries():
    n = 30
    S = 2.5 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    factors = sparse_ldl.factor(by_rows(S))
    assert sum(len(column) for column in factors.L.values()) == n - 1


def test_a_star_is_eliminated_from_its_tips():
    """Eliminating the centre first would fill the whole matrix."""
    n = 12
    S = 20.0 * np.eye(n)
    S[0, 1:] = S[1:, 0] = 1.0
    factors = sparse_ldl.factor(by_rows(S))
    assert 0 in factors.order[-2:]
    assert sum(len(column) for column in factors.L.values()) == n - 1


def test_entries_that_are_nothing_are_left_out_and_symbols_stay():
    S = positive(5, np.tri(5, k=-3, dtype=bool))
    full = {i: {j: S[i, j] for j in range(5)} for i in range(5)}
    plain = sparse_ldl.factor(full)
    assert plain.L == sparse_ldl.factor(by_rows(S)).L
    b = RNG.normal(size=5)
    symbols = {i: {j: hide(np.array([x]))[0] for j, x in row.items()} for i, row in by_rows(S).items()}
    result = sparse_ldl.solve(sparse_ldl.factor(symbols), hide(b))
    assert reveal(result) == pytest.approx(np.linalg.solve(S, b))


def test_solve_of_nothing_is_nothing():
    assert sparse_ldl.solve(sparse_ldl.factor({}), np.zeros(0)).shape == (0,)


PARENTS = [[-1, 0, 1, 2, 3], [-1, -1, -1], [-1, 0, 0, 1, 1, 2, -1, 6]]


def tree_matrix(parent: list[int]) -> np.ndarray:
    """Positive, with entries only between a row and its ancestors."""
    n = len(parent)
    L = np.eye(n)
    for k in range(n):
        i = k
        while (i := parent[i]) >= 0:
            L[k, i] = RNG.normal()
    return L.T @ np.diag(RNG.uniform(1, 3, n)) @ L


@pytest.mark.parametrize("parent", PARENTS, ids=str)
def test_factors_along_a_tree_solve_and_come_apart_into_two_sweeps(parent):
    H, x = tree_matrix(parent), RNG.normal(size=len(parent))
    factors = tree_ldl.factor(H, parent, list(range(len(parent)))[::-1])
    assert tree_ldl.solve(factors, H @ x) == pytest.approx(x, abs=1e-12)
    y = tree_ldl.swept_inward(factors, H @ x)
    halfway = {k: y[k] * factors.over_D[k] for k in range(len(y))}
    assert tree_ldl.swept_outward(factors, halfway) == pytest.approx(x, abs=1e-12)
    energy = np.sum(np.array(y) ** 2 / tree_ldl.pivots(factors))
    assert energy == pytest.approx(x @ H @ x)


def test_what_stands_outside_a_branch_stays_nothing_in_a_sweep():
    """A row of constraints touches its own branch alone: the sparsity that makes many loops cheap."""
    parent = [-1, 0, -1, 2]
    factors = tree_ldl.factor(tree_matrix(parent), parent, [3, 2, 1, 0])
    y = tree_ldl.swept_inward(factors, np.array([0.0, 1.0, 0.0, 0.0]))
    assert y[2:] == [0.0, 0.0]
    assert y[0] != 0.0
