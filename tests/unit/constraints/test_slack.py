"""Rows of any rank: the same accelerations as by a pseudo-inverse."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair.constraints.solvers import SOLVERS, Problem, slack
from kinpair.constraints.solvers.problem import full

N, SEED = 6, 11


def problem(rank: int, rows: int) -> Problem:
    """A positive M and rows of a rank that do not contradict each other."""
    rng = np.random.default_rng(SEED)
    root = rng.normal(size=(N, N))
    A = rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, N))
    return Problem(root @ root.T + N * np.eye(N), rng.normal(size=N), A, A @ rng.normal(size=N), *full(N))


@pytest.mark.parametrize(("rank", "rows"), [(1, 3), (2, 5), (3, 3), (0, 2)])
def test_accelerations_are_those_of_the_pseudo_inverse(rank, rows):
    x = problem(rank, rows)
    W = np.linalg.solve(x.M, x.A.T)
    free = np.linalg.solve(x.M, x.F)
    lam = np.linalg.pinv(x.A @ W, rcond=1e-10, hermitian=True) @ (x.b - x.A @ free)
    result = slack.solve(x, 1e-6)
    assert result.qdd == pytest.approx(free + W @ lam, abs=1e-9)
    assert x.A @ result.qdd == pytest.approx(x.b, abs=1e-9)
    assert x.A.T @ result.lam == pytest.approx(x.A.T @ lam, abs=1e-8)


def test_with_independent_rows_it_is_the_plain_solve():
    x = problem(3, 3)
    plain, loose = SOLVERS["multipliers"](x), slack.solve(x, 1e-6)
    assert loose.qdd == pytest.approx(plain.qdd, abs=1e-10)
    assert loose.lam == pytest.approx(plain.lam, abs=1e-8)
