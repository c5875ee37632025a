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
    result = slack.solve(x, [1e-6] * len(x.b))
    assert result.qdd == pytest.approx(free + W @ lam, abs=1e-9)
    assert x.A @ result.qdd == pytest.approx(x.b, abs=1e-9)
    assert x.A.T @ result.lam == pytest.approx(x.A.T @ lam, abs=1e-8)


def test_with_independent_rows_it_is_the_plain_solve():
    x = problem(3, 3)
    plain, loose = SOLVERS["multipliers"](x), slack.solve(x, [1e-6] * len(x.b))
    assert loose.qdd == pytest.approx(plain.qdd, abs=1e-10)
    assert loose.lam == pytest.approx(plain.lam, abs=1e-8)


def test_rows_that_nearly_depend_on_others_do_not_accelerate():
    """A copy of a row, turned by 1e-4 and contradicting the row by as much, asks for accelerations of order one."""
    x, rng = problem(3, 3), np.random.default_rng(SEED)
    A = np.linalg.qr(x.A.T)[0].T
    A, b = np.vstack([A, A[0] + 1e-4 * rng.normal(size=N)]), np.append(x.b, x.b[0] + 1e-4)
    W, free = np.linalg.solve(x.M, A.T), np.linalg.solve(x.M, x.F)
    every, independent = (
        free + W @ (np.linalg.pinv(A @ W, rcond=cut, hermitian=True) @ (b - A @ free)) for cut in (0.0, 1e-4)
    )
    assert np.abs(every - independent).max() > 0.1
    solved = slack.solve(x._replace(A=A, b=b), [1e-5] * len(b))
    assert solved.qdd == pytest.approx(independent, abs=1e-11)


def test_accelerations_do_not_depend_on_the_units_of_rows():
    x, units = problem(2, 5), np.array([1.0, 1e3, 1e-3, 10.0, 0.1])
    metric, mixed = (
        slack.solve(y, list(1e-6 * size))
        for y, size in ((x, np.ones(5)), (x._replace(A=units[:, None] * x.A, b=units * x.b), units**2))
    )
    assert mixed.qdd == pytest.approx(metric.qdd, rel=1e-10)
    assert mixed.lam * units == pytest.approx(metric.lam, abs=1e-9)
