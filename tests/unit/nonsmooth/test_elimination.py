"""Elimination by nodes: it solves as LAPACK does, and a chain of contacts has the solution of its parts."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair.compiler.loops.functions import compiled
from kinpair.constraints.solve.elimination import Order, arrange, clear, factor_nodes, solve_nodes
from kinpair.constraints.solve.problem import Disc, Interval, described, solve
from kinpair.constraints.solve.scaling import find_entries


def problem(seed: int, count: int):
    """Contacts between bodies of three rates at random places of a chain, and the ground: D = J Jᵀ."""
    random = np.random.default_rng(seed)
    J = np.zeros((3 * count, 3 * count))
    for k in range(count):
        for body in (k, int(random.integers(count)) if k % 5 == 0 else max(k - 1, 0)):
            J[3 * k : 3 * k + 3, 3 * body : 3 * body + 3] += random.normal(size=(3, 3)) + 2.0 * np.eye(3)
    groups = [
        x for k in range(0, 3 * count, 3) for x in (Interval(k), Disc((k + 1, k + 2), mu=0.5, normal=k))
    ]
    return J @ J.T, random.normal(size=3 * count), groups


@pytest.mark.parametrize("seed", range(3))
def test_the_solution_is_that_of_lapack_and_nothing_outside_the_pattern_is_read(seed):
    D, g, groups = problem(seed, 12)
    n, p = len(g), described(D, g, groups)
    find_entries(p, p.starts, p.columns)
    o = Order(*(np.zeros(n, dtype=np.int64) for _ in range(8)), np.zeros(n * n, dtype=np.int64))
    nodes = compiled(arrange)(p, o)
    assert nodes == 12
    assert sorted(o.order[:nodes]) == list(range(12))
    K = np.full((n, n), np.nan)
    clear(K, o, nodes)
    assert np.isnan(K).any()
    matrix = np.where(D != 0.0, D + np.random.default_rng(seed).normal(size=(n, n)), 0.0)  # not symmetric
    matrix += 20.0 * np.eye(n)
    K[D != 0.0] = matrix[D != 0.0]
    x = g.copy()
    assert compiled(factor_nodes)(K, o, nodes)
    compiled(solve_nodes)(K, o, nodes, x)
    np.testing.assert_allclose(x, np.linalg.solve(matrix, g), rtol=0, atol=1e-13)


def test_contacts_that_do_not_act_on_each_other_have_the_solutions_of_their_parts():
    """90 rows in three parts are eliminated by nodes, 30 rows alone by LAPACK."""
    parts = [problem(seed, 10) for seed in range(3)]
    D = np.zeros((90, 90))
    for k, (own, _, _) in enumerate(parts):
        D[30 * k : 30 * k + 30, 30 * k : 30 * k + 30] = own
    groups = [x for k in range(0, 90, 3) for x in (Interval(k), Disc((k + 1, k + 2), mu=0.5, normal=k))]
    whole = solve(D, np.concatenate([g for _, g, _ in parts]), groups)
    assert whole.met
    for k, part in enumerate(parts):
        np.testing.assert_allclose(whole.c[30 * k : 30 * k + 30], solve(*part).c, rtol=0, atol=1e-9)
