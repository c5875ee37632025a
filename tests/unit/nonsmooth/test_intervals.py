"""Multipliers within bounds: against all choices of sides, closed forms, and the laws of the problem itself."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from kinpair.constraints.rows.bounded import BOUNDS, BoundedRow, stacked
from kinpair.constraints.solve import problem as nonsmooth
from kinpair.constraints.solve.problem import Solution, intervals
from kinpair.errors import InputError


def solve(D, g, lo, hi, names=(), start=None) -> Solution:
    """The problem whose sets are all intervals."""
    return nonsmooth.solve(D, g, intervals(lo, hi, names), start)


ROUNDING = 1e-9  # of c against |D| |x| + |g|: 1e-12 in the scaled problem, and scales that differ by 1e2


def enumerated(D: np.ndarray, g: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """c of the solution, by trying which rows are at their lower bound, between, or at their upper one."""
    n = len(g)
    sides = [[s for s in (0, 1, 2) if s == 1 or np.isfinite((lo, None, hi)[s][k])] for k in range(n)]
    best, least = np.full(n, np.nan), np.inf
    for choice in product(*sides):
        side = np.array(choice)
        x = np.where(side == 0, lo, np.where(side == 2, hi, 0.0))
        free = side == 1
        if free.any():
            right = -(g + D @ x)[free]
            x[free] = np.linalg.lstsq(D[np.ix_(free, free)], right, rcond=None)[0]
        c = D @ x + g
        step = x - np.clip(x - c / np.diag(D), lo, hi)
        wrong = np.abs(np.diag(D) * step).max()
        if wrong < least:
            best, least = c, wrong
    assert least < 1e-9 * (1.0 + np.abs(g).max())
    return best


def obeys(D: np.ndarray, g: np.ndarray, lo: np.ndarray, hi: np.ndarray, found: Solution) -> None:
    """The signs of (NS2)."""
    size = np.abs(D) @ np.abs(found.x) + np.abs(g) + np.abs(g).max()
    assert found.met
    assert (lo <= found.x).all()
    assert (found.x <= hi).all()
    assert (np.abs(found.c) <= ROUNDING * size)[(lo < found.x) & (found.x < hi)].all()
    assert (found.c >= -ROUNDING * size)[found.x == lo].all()
    assert (found.c <= ROUNDING * size)[(found.x == hi) & (lo < hi)].all()


def problem(seed: int, n: int, rank: int, *, boxes: bool) -> tuple[np.ndarray, ...]:
    """D of a rank with rows of different sizes, and a g for which there is a solution."""
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(rank, n)) * 10.0 ** rng.uniform(-1, 1, size=n)
    D = B.T @ B
    g = D @ rng.normal(size=n) if rank < n else rng.normal(size=n)
    lo, hi = (-rng.uniform(0, 1, n), rng.uniform(0, 1, n)) if boxes else (np.zeros(n), np.full(n, np.inf))
    return D, g, lo, hi


@pytest.mark.parametrize("boxes", [False, True], ids=["signs", "boxes"])
@pytest.mark.parametrize("n", [1, 2, 4, 6, 8])
@pytest.mark.parametrize("seed", range(4))
def test_rates_are_those_of_the_right_choice_among_all(seed, n, boxes):
    count = min(n, 6) if boxes else n  # three sides a row: 3^6 choices
    for rank in {max(1, count // 2), count}:
        D, g, lo, hi = problem(seed, count, rank, boxes=boxes)
        result = solve(D, g, lo, hi)
        obeys(D, g, lo, hi, result)
        size = np.abs(D).max() * np.abs(result.x).max() + np.abs(g).max()
        assert np.abs(result.c - enumerated(D, g, lo, hi)).max() <= ROUNDING * size


@pytest.mark.parametrize("boxes", [False, True], ids=["signs", "boxes"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rank", [100, 200, 203])
def test_two_hundred_rows(seed, rank, boxes):
    D, g, lo, hi = problem(seed, 200, rank, boxes=boxes)
    obeys(D, g, lo, hi, solve(D, g, lo, hi))


@pytest.mark.parametrize("seed", range(6))
def test_the_start_does_not_matter(seed):
    """Of many solutions the same one is selected: rounding 1e-15 over the proximal term 1e-8 is left."""
    D, g, lo, hi = problem(seed, 12, 5, boxes=seed % 2 == 0)
    rng = np.random.default_rng(seed)
    result = solve(D, g, lo, hi)
    for _ in range(3):
        start = rng.uniform(0.0, 2.0, 12) * np.abs(result.x).max()
        again = solve(D, g, lo, hi, start=start)
        assert again.met
        assert np.abs(again.x - result.x).max() <= 1e-6 * np.abs(result.x).max()


def test_starting_at_the_solution_stays_there():
    D, g, lo, hi = problem(3, 10, 10, boxes=True)
    result = solve(D, g, lo, hi)
    again = solve(D, g, lo, hi, start=result.x)
    assert again.x == pytest.approx(result.x, abs=1e-12 * np.abs(result.x).max())


def test_a_single_row_pushes_as_much_as_it_must_and_not_beyond_its_bounds():
    D, free = np.array([[4.0]]), np.inf
    for g, lo, hi, x in (
        (-2.0, 0.0, free, 0.5),
        (2.0, 0.0, free, 0.0),
        (-2.0, -0.3, 0.3, 0.3),
        (2.0, -0.3, 0.3, -0.3),
        (1.0, -0.3, 0.3, -0.25),
        (2.0, -free, free, -0.5),
        (2.0, 0.1, 0.1, 0.1),
    ):
        result = solve(D, np.array([g]), np.array([lo]), np.array([hi]))
        assert result.x[0] == pytest.approx(x, abs=1e-15)
        assert result.c[0] == pytest.approx(4.0 * x + g, abs=1e-14)


def test_a_block_sticks_until_the_pull_exceeds_the_level():
    """mass 2, pulled by F against a level of 3: a = 0 up to F = 3, then (F − 3)/2."""
    for pull in (-5.0, -3.0, -1.0, 0.0, 2.0, 3.0, 4.0):
        row = stacked([BoundedRow("slide", 0.0, 0.0, np.array([1.0]), "stick", 3.0)], 1)
        result = solve(row.N @ row.N.T / 2.0, np.array([pull / 2.0]), row.lo, row.hi, row.names)
        assert result.c[0] == pytest.approx(np.sign(pull) * max(abs(pull) - 3.0, 0.0) / 2.0, abs=1e-14)


def test_a_plate_on_four_points_shares_its_weight():
    """A square plate on its corners, mass 1, one row redundant: the shortest forces are equal."""
    corners = np.array([(x, y) for x in (-1, 1) for y in (-1, 1)], dtype=float)
    N = np.column_stack([np.ones(4), corners[:, 1], -corners[:, 0]])  # of vz, ωx, ωy
    D = N @ np.diag([1.0, 3.0, 3.0]) @ N.T
    result = solve(D, np.full(4, -9.81), np.zeros(4), np.full(4, np.inf))
    assert result.met
    assert result.x == pytest.approx(np.full(4, 9.81 / 4), rel=1e-7)  # the proximal term is 1e-8
    assert np.abs(result.c).max() < 1e-11


def test_a_row_said_many_times_shares_its_force():
    N = np.tile([1.0, 2.0], (7, 1))
    result = solve(N @ N.T, np.full(7, -1.0), np.zeros(7), np.full(7, np.inf))
    assert result.met
    assert 5.0 * result.x.sum() == pytest.approx(1.0, rel=1e-12)
    assert np.ptp(result.x) < 1e-7


def test_a_problem_without_a_solution_says_so():
    free = np.full(2, np.inf)
    dead = solve(np.zeros((2, 2)), np.array([-1.0, 1.0]), np.zeros(2), free)
    assert not dead.met
    assert dead.residual > 0.1
    against = solve(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([-1.0, -2.0]), np.zeros(2), free)
    assert not against.met


def test_no_rows_are_a_solution():
    nothing = np.zeros(0)
    result = solve(np.zeros((0, 0)), nothing, nothing, nothing)
    assert result.met
    assert result.x.shape == (0,)


@pytest.mark.parametrize("where", ["D", "g"])
def test_a_row_that_is_not_a_number_is_named(where):
    D, g = np.eye(3), np.ones(3)
    if where == "D":
        D[1, 2] = np.nan
    else:
        g[1] = np.inf
    with pytest.raises(InputError) as refused:
        solve(D, g, np.zeros(3), np.full(3, np.inf), ("a", "b", "c"))
    assert str(refused.value) == "bounded row 'b': its response or its rate is not a number"


def test_bounds_and_responses_that_make_no_sense_are_named():
    with pytest.raises(InputError, match="bounded row 1: its lower bound is above its upper one"):
        solve(np.eye(2), np.ones(2), np.array([0.0, 2.0]), np.ones(2))
    with pytest.raises(InputError, match="bounded row 0: its response to its own force is negative"):
        solve(np.diag([-1.0, 1.0]), np.ones(2), np.zeros(2), np.ones(2))


def test_bounds_by_kind_of_row():
    assert BOUNDS["limit"](5.0) == (0.0, np.inf)
    assert BOUNDS["normal"](5.0) == (0.0, np.inf)
    assert BOUNDS["stick"](5.0) == (-5.0, 5.0)


def test_rows_are_stacked_in_order():
    rows = [
        BoundedRow("a", 0.1, -1.0, np.array([1.0, 0.0])),
        BoundedRow("b", 0.0, 2.0, np.array([0.0, -1.0])),
    ]
    built = stacked(rows, 2)
    assert (built.names, built.gaps.tolist(), built.rates.tolist()) == (("a", "b"), [0.1, 0.0], [-1.0, 2.0])
    assert built.N.tolist() == [[1.0, 0.0], [0.0, -1.0]]
    second = built.some([1])
    assert (second.names, second.N.tolist(), second.lo.tolist()) == (("b",), [[0.0, -1.0]], [0.0])
    assert stacked([], 3).N.shape == (0, 3)
