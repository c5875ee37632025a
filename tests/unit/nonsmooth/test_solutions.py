"""The chain and all choices find the same solutions, of problems with every kind of group and of load."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from kinpair.constraints.solve import problem as nonsmooth
from kinpair.constraints.solve import solutions
from kinpair.constraints.solve.chain import PLAN
from kinpair.constraints.solve.problem import Disc, Interval, Part, Scaling, described, solve
from kinpair.constraints.solve.residual import LINEAR, SQUARE, residual
from kinpair.constraints.solve.scaling import solve_rows

SEEDS = range(30)
SAME = 1e-6  # of x against the largest: 1e-12 in the scaled problem, and conditions up to 1e4


@cache
def mixed(seed: int, strength: float) -> tuple[np.ndarray, np.ndarray, list]:
    """A limit, an interval with different ends under load, a jump, a disc under load, a group that slides."""
    random = np.random.default_rng(seed)
    n, jump = 6, 6

    def part(rows: int, weights: tuple[float, float] = (1.0, 1.0), **shape: float) -> Part:
        A = np.zeros((rows, n + 1))
        A[:, :n] = 0.3 * random.normal(size=(rows, n))
        return Part(A, random.normal(size=rows), tuple(strength * w for w in weights), **shape)

    limit = 0.5
    square = part(1, (0.3, 0.3), shape=SQUARE, limit=limit)
    step = Part(np.eye(n + 1)[jump:], np.zeros(1), (0.4 * strength,) * 2, LINEAR)
    uneven = part(1, (0.2, -0.2), shape=LINEAR), part(1, (0.3, 0.3))  # ends that stay in order: |y| ≥ |y|
    uneven = (Part(uneven[1].A, uneven[1].b, uneven[0].weights, LINEAR), uneven[1])
    groups = [
        Interval(0),
        Interval(1, -0.3, 0.6, load=(part(2, (0.3, 0.5)), part(1, (0.2, 0.1)))),
        Interval(2, -0.1, 0.1, load=(square, step, *uneven)),
        Disc((3, 4), level=0.2, mu=0.4, load=(part(2), part(3))),
        Disc((5,), level=0.1, mu=0.3, load=(part(2),), direction=(1.0,)),
        Interval(jump, 0.0, 1.0, jump=True),
    ]
    B = random.normal(size=(n + 3, n))
    D, g = np.zeros((n + 1, n + 1)), np.zeros(n + 1)
    D[:n, :n], g[:n] = B.T @ B, 2.0 * random.normal(size=n)
    D[jump], g[jump] = -square.A[0], limit - square.b[0]  # (NS11)
    return D, g, groups


def apart(x: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(x - other).max() / max(1.0, np.abs(x).max()))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_chain_finds_one_of_the_solutions_that_all_choices_lead_to(seed):
    D, g, groups = mixed(seed, 1.0)
    result, every = solve(D, g, groups), solutions.every(D, g, groups)
    assert result.met
    assert every
    assert min(apart(own.x, result.x) for own in every) <= SAME


@pytest.mark.parametrize("seed", SEEDS)
def test_where_one_solution_is_proved_all_choices_and_all_starts_lead_to_it(seed):
    D, g, groups = mixed(seed, 0.05)
    rows = [0, 1, 3, 4, 5]  # without the load that jumps; the disc has two rows and is taken as two intervals
    some = [
        groups[0],
        Interval(1, -0.3, 0.6, load=groups[1].load),
        Interval(2, -0.2, 0.2),
        Interval(3, -0.3, 0.1),
    ]
    cut = [
        type(x)(x.row, x.lo, x.hi, load=tuple(Part(p.A[:, rows], p.b, p.weights) for p in x.load))
        for x in some
    ] + [Disc((4,), level=0.1, direction=(-1.0,))]
    D, g = D[np.ix_(rows, rows)], g[rows]
    assert solutions.is_unique(D, cut)
    (only,) = solutions.every(D, g, cut)
    random = np.random.default_rng(seed)
    for _ in range(3):
        result = solve(D, g, cut, random.normal(size=5))
        assert result.met
        assert apart(only.x, result.x) <= SAME


@pytest.mark.parametrize("seed", SEEDS)
def test_the_loops_and_numpy_compute_the_same_residual(seed):
    D, g, groups = mixed(seed, 1.0)
    p = Scaling(D, g, groups).problem
    x = np.random.default_rng(seed).normal(size=len(g))
    z, F = np.zeros(len(g)), np.zeros(len(g))
    worst = residual(p, x, z, F)
    np.testing.assert_allclose(
        solutions.residuals(p, x[:, None])[:, 0], F, rtol=0, atol=1e-13 * (1.0 + worst)
    )


def compare_with_reference(seeds) -> None:
    """The machine code takes the same steps as the plain Python of the chain."""
    for seed in seeds:
        p, results = described(*mixed(seed, 1.0)), []
        for code in (nonsmooth._code(), solve_rows):
            x, memory = np.zeros(len(p.g)), nonsmooth.memory(len(p.g))
            verdict = code(p, nonsmooth.empty_like(p), x, memory, np.array(PLAN), nonsmooth.TOLERANCE)
            results.append((x, *verdict, memory.counts.tolist()))
        np.testing.assert_array_equal(results[0][0], results[1][0])
        assert results[0][1:] == results[1][1:]


def test_machine_code_gives_the_bits_of_the_reference_for_every_load():
    compare_with_reference(range(8))


@pytest.mark.long(reason="a thousand problems of the same family in plain Python")
def test_machine_code_gives_the_bits_of_the_reference_for_every_load_on_a_thousand_problems():
    compare_with_reference(range(1000))


def test_a_load_that_jumps_is_between_both_sides_at_the_jump():
    """One row x with D = 1, |x| ≤ 1 + θ, y = −x and a jump where y passes 1.5.

    Pushed by g = 4, x is at its lower end. Without the jump x = −1, y = 1 < 1.5: this is a solution, θ = 0. With it
    x = −2, y = 2 > 1.5 is another one, θ = 1. Between them x = −1.5 with θ = ½: three, as the jump helps itself.
    With y = x + 3 the jump works against itself: x = −1 has y = 2, x = −2 has y = 1, and θ = ½ is the only one.
    """
    step = Part(np.array([[0.0, 1.0]]), np.zeros(1), (1.0, 1.0), LINEAR)
    groups = [Interval(0, -1.0, 1.0, load=(step,)), Interval(1, 0.0, 1.0, jump=True)]
    helps = np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([4.0, 1.5])
    found = sorted(tuple(own.x.round(12)) for own in solutions.every(*helps, groups))
    assert found == [(-2.0, 1.0), (-1.5, 0.5), (-1.0, 0.0)]
    against = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([4.0, 1.5 - 3.0])
    (only,) = solutions.every(*against, groups)
    assert only.x == pytest.approx([-1.5, 0.5], abs=1e-12)
    result = solve(*against, groups)
    assert result.met
    assert result.x == pytest.approx([-1.5, 0.5], abs=1e-12)
