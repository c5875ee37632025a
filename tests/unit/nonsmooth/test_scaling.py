"""Scaling, and the problem in its own units as other loop functions call it."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair.compiler.loops.functions import compiled
from kinpair.constraints.solve import problem as nonsmooth
from kinpair.constraints.solve.chain import PLAN
from kinpair.constraints.solve.problem import Disc, Interval, Problem, Scaling, described, solve
from kinpair.constraints.solve.scaling import largest_response, solve_rows

CODE = compiled(solve_rows)


def contact(seed: int) -> tuple[np.ndarray, np.ndarray, list]:
    """Two contacts, a ball and a level, coupled by a random positive definite D."""
    random = np.random.default_rng(seed)
    B = random.normal(size=(14, 10))
    groups = [
        *(x for k in (0, 3) for x in (Interval(k), Disc((k + 1, k + 2), mu=0.4, normal=k))),
        Disc((6, 7, 8), level=0.3),
        Interval(9, -0.2, 0.5),
    ]
    return B.T @ B, random.normal(size=10), groups


@pytest.mark.parametrize("count", [2, 3])
def test_the_largest_response_is_the_largest_eigenvalue(count):
    for seed in range(20):
        B = np.random.default_rng(seed).normal(size=(count + 1, count + 1)) * 10.0 ** (seed - 10)
        D = B if seed % 2 else B.T @ B
        own = D[1:, 1:]
        expected = np.linalg.eigvalsh(0.5 * (own + own.T)).max()
        assert largest_response(D, 1, count) == pytest.approx(expected, abs=1e-14 * np.abs(own).max())
    assert largest_response(2.0 * np.eye(4), 1, count) == 2.0


@pytest.mark.parametrize("seed", range(5))
def test_scales_are_those_of_the_definition(seed):
    """(NS3) with NumPy: unit diagonal, λmax = 1 of each disc, |g|∞ = 1."""
    D, g, groups = contact(seed)
    own = Scaling(D, g, groups)
    for rows in ([0], [3], [9], [1, 2], [4, 5], [6, 7, 8]):
        assert np.linalg.eigvalsh(own.problem.D[np.ix_(rows, rows)]).max() == pytest.approx(1.0, abs=1e-14)
    assert np.abs(own.problem.g).max() == pytest.approx(1.0, abs=1e-15)
    np.testing.assert_allclose(own.problem.D * np.outer(own.T, own.T), D, rtol=1e-14)
    np.testing.assert_allclose(own.problem.g * own.T * own.gamma, g, rtol=1e-14)


def in_larger_arrays(p: Problem, room: int) -> Problem:
    """The same problem as views of arrays with room for more rows and groups."""
    views = []
    for x in p:
        larger = np.full([n + room for n in x.shape], -7, dtype=x.dtype)
        view = larger[tuple(slice(n) for n in x.shape)]
        view[...] = x
        views.append(view)
    return Problem(*views)


@pytest.mark.parametrize("seed", range(8))
def test_views_of_larger_arrays_give_the_same_bits(seed):
    D, g, groups = contact(seed)
    expected = solve(D, g, groups)
    n, p = len(g), in_larger_arrays(described(D, g, groups), 5)
    s, m = in_larger_arrays(nonsmooth.empty_like(p), 3), nonsmooth.memory(n + 4)
    s = s._replace(table=p.table, parts=p.parts, starts=p.starts, columns=p.columns)
    m = m._replace(vectors=m.vectors[:, :n], J=m.J[:n, :n], active=m.active[:n], regular=m.regular[:n, :n])
    x = np.zeros(n + 2)
    residual, _, met = CODE(p, s, x[:n], m, np.array(PLAN), nonsmooth.TOLERANCE)
    np.testing.assert_array_equal(x, [*expected.x, 0.0, 0.0])
    assert (residual, met) == (expected.residual, expected.met)


@pytest.mark.parametrize("seed", range(8))
def test_a_start_that_satisfies_the_problem_is_returned_at_once(seed):
    D, g, groups = contact(seed)
    p, m, x = described(D, g, groups), nonsmooth.memory(10), solve(D, g, groups).x
    before = x.copy()
    _, rounds, met = CODE(p, nonsmooth.empty_like(p), x, m, np.array(PLAN), nonsmooth.TOLERANCE)
    assert (rounds, met, m.counts[0]) == (0, True, 0)
    np.testing.assert_allclose(x, before, rtol=0, atol=1e-14 * np.abs(before).max())


@pytest.mark.parametrize("where", ["D", "g"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite_end_at_once_with_zeros(where, value):
    D, g, groups = contact(0)
    p, m, x = described(D, g, groups), nonsmooth.memory(10), np.ones(10)
    getattr(p, where)[-1] = value
    assert CODE(p, nonsmooth.empty_like(p), x, m, np.array(PLAN), nonsmooth.TOLERANCE) == (np.inf, 0, False)
    assert not x.any()
