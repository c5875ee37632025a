"""Slopes of the solution: differences, closed forms, boundaries between phases, and never NaN."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair.compiler.loops.functions import compiled
from kinpair.constraints.solve import problem as nonsmooth
from kinpair.constraints.solve.derivatives import slopes
from kinpair.constraints.solve.problem import Disc, Interval, Part, described, solve

SLOPES = compiled(slopes)
STEP = 1e-6  # of central differences: errors of STEP² and 1e-14/STEP


def slope(D, g, groups, x, code=SLOPES):
    """∂x/∂g, at a boundary or not, found or not."""
    p, S = described(D, g, groups), np.zeros(D.shape)
    return S, *code(p, nonsmooth.empty_like(p), x, nonsmooth.memory(len(g)), S)


def mixed(seed: int):
    """Limits, levels, contacts, a ball, and a sleeve under load, with D positive definite and nonsymmetric."""
    random = np.random.default_rng(seed)
    groups: list = [Interval(0), Interval(1, -0.4, 0.7)]
    for row in (2, 5):
        groups += [Interval(row), Disc((row + 1, row + 2), mu=0.6, normal=row)]
    groups += [Disc((8, 9, 10), level=0.5)]
    load = (Part(0.1 * random.normal(size=(2, 13)), random.normal(size=2)),)
    groups += [Disc((11, 12), level=0.1, mu=0.3, load=load)]
    B = random.normal(size=(20, 13))
    D = B.T @ B / 13.0 + 0.05 * random.normal(size=(13, 13))
    return D, random.normal(size=13), groups


@pytest.mark.parametrize("seed", range(12))
def test_slopes_are_those_of_differences(seed):
    D, g, groups = mixed(seed)
    x = solve(D, g, groups).x
    S, boundary, found = slope(D, g, groups, x)
    assert found
    assert not boundary
    random = np.random.default_rng(seed)
    for _ in range(3):
        dg, dD = random.normal(size=13), 0.1 * random.normal(size=(13, 13))
        ends = [solve(D + t * dD, g + t * dg, groups, start=x).x for t in (STEP, -STEP)]
        difference = (ends[0] - ends[1]) / (2.0 * STEP)
        np.testing.assert_allclose(
            S @ (dg + dD @ x), difference, rtol=0, atol=1e-6 * (1 + np.abs(difference).max())
        )


@pytest.mark.parametrize("seed", range(6))
def test_machine_code_gives_the_bits_of_the_reference(seed):
    D, g, groups = mixed(seed)
    x = solve(D, g, groups).x
    fast, slow = slope(D, g, groups, x), slope(D, g, groups, x, code=slopes)
    np.testing.assert_array_equal(fast[0], slow[0])
    assert fast[1:] == slow[1:]


def test_a_block_that_sticks_or_slides_has_the_slopes_of_coulomb():
    """D = 1: at rest x = −g; sliding along the first tangent x_t = −μ x_n d, whose direction turns with g_t/|g_t|."""
    groups = [Interval(0), Disc((1, 2), mu=0.5, normal=0)]
    sticks = slope(np.eye(3), np.array([-1.0, 0.2, 0.1]), groups, np.array([1.0, -0.2, -0.1]))
    np.testing.assert_allclose(sticks[0], -np.eye(3), atol=1e-14)
    slides = slope(np.eye(3), np.array([-1.0, 2.0, 0.0]), groups, np.array([1.0, -0.5, 0.0]))
    np.testing.assert_allclose(slides[0], [[-1, 0, 0], [0.5, 0, 0], [0, 0, -0.25]], atol=1e-14)
    opens = slope(np.eye(3), np.array([0.5, 2.0, 0.0]), groups, np.zeros(3))
    assert not opens[0].any()
    assert [x[1:] for x in (sticks, slides, opens)] == [(False, True)] * 3


@pytest.mark.parametrize(
    ("g", "x"),
    [([0.0, 1.0, 0.0], [0.0, 0.0, 0.0]), ([-1.0, 0.5, 0.0], [1.0, -0.5, 0.0])],
    ids=["touches without force", "at the cone without motion"],
)
def test_a_contact_between_two_phases_is_at_the_boundary(g, x):
    groups = [Interval(0), Disc((1, 2), mu=0.5, normal=0)]
    S, boundary, found = slope(np.eye(3), np.array(g), groups, np.array(x))
    assert (boundary, found) == (True, True)
    assert np.isfinite(S).all()


@pytest.mark.parametrize("seed", range(4))
def test_velocities_of_a_plate_on_redundant_feet_have_the_slopes_of_differences(seed):
    """D = J G Jᵀ of rank 6 with 24 rows: x is not unique, c is. Changes of g are J dv."""
    random = np.random.default_rng(seed)
    J = random.normal(size=(24, 6))
    J[::3] += 3.0 * random.normal(size=6)
    groups = [x for k in range(0, 24, 3) for x in (Interval(k), Disc((k + 1, k + 2), mu=0.3, normal=k))]
    D, g = J @ J.T, J @ random.normal(size=6)
    solution = solve(D, g, groups)
    S, boundary, found = slope(D, g, groups, solution.x)
    assert found
    assert not boundary
    dg = J @ random.normal(size=6)
    ends = [solve(D, g + t * dg, groups, start=solution.x).c for t in (STEP, -STEP)]
    difference = (ends[0] - ends[1]) / (2.0 * STEP)
    np.testing.assert_allclose(D @ (S @ dg) + dg, difference, rtol=0, atol=1e-7 * np.abs(dg).max())


def test_slopes_are_never_nan():
    """Touchdown, zero rates, rows without response, redundant rows, and numbers that are not finite."""
    random = np.random.default_rng(5)
    groups = [x for k in range(0, 9, 3) for x in (Interval(k), Disc((k + 1, k + 2), mu=0.4, normal=k))]
    for trial in range(2000):
        J = random.normal(size=(9, int(random.integers(1, 10))))
        J[random.random(9) < 0.2] = 0.0
        g = J @ random.normal(size=J.shape[1]) * (random.random() < 0.8)
        g[random.random(9) < 0.3] = 0.0
        x = np.where(random.random(9) < 0.4, 0.0, random.normal(size=9))
        x[0] = np.nan if trial % 50 == 0 else x[0]
        S, _, found = slope(J @ J.T, g, groups, x)
        assert np.isfinite(S).all()
        assert found or not S.any()
