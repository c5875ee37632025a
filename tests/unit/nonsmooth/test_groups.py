"""Discs, loads and contacts: the laws of the problem itself, closed forms, and the reference."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair.constraints.solve import problem as nonsmooth
from kinpair.constraints.solve.chain import PLAN
from kinpair.constraints.solve.problem import Disc, Interval, Part, described, solve
from kinpair.constraints.solve.scaling import solve_rows
from kinpair.errors import InputError

FINE = 1e-9  # of c and x against their scale: 1e-12 of the scaled problem, scales that differ by 1e2


def radius(group: Disc, x: np.ndarray) -> float:
    """R of a group."""
    load = 0.0 if group.normal is None else x[group.normal]
    if group.load:
        load = sum(part.weights[0] * part.value(x) for part in group.load)
    return group.level + group.mu * load


def assert_satisfied(D, g, groups, result) -> None:
    """(NS2), group by group: in the set, and −c in its normal cone."""
    assert result.met
    size_c = np.abs(D).max() * np.abs(result.x).max() + np.abs(g).max()
    size_x = np.abs(result.x).max() + np.abs(g).max() / np.diag(D).max()
    np.testing.assert_allclose(result.c, D @ result.x + g, rtol=0, atol=1e-12 * size_c)
    for group in groups:
        if isinstance(group, Interval):
            x, c = result.x[group.row], result.c[group.row]
            assert group.lo <= x <= group.hi
            assert c >= -FINE * size_c or x == group.hi
            assert c <= FINE * size_c or x == group.lo
            continue
        x, c, R = result.x[list(group.rows)], result.c[list(group.rows)], radius(group, result.x)
        if group.direction is not None:
            np.testing.assert_allclose(x, -R * np.array(group.direction), rtol=0, atol=FINE * size_x)
            continue
        speed = np.linalg.norm(c)
        assert np.linalg.norm(x) <= R + FINE * size_x
        if speed > 1e-6 * size_c:  # it moves: on the boundary, against c
            np.testing.assert_allclose(x, -R * c / speed, rtol=0, atol=1e-5 * size_x)
        assert x @ c + R * speed == pytest.approx(0.0, abs=FINE * size_x * size_c)  # most dissipation


def mixed(seed: int) -> tuple[np.ndarray, np.ndarray, list]:
    """Limits, levels, contacts, a sleeve under load and a ball, coupled by a random positive definite D."""
    random = np.random.default_rng(seed)
    contacts = int(random.integers(1, 4))
    groups: list = [Interval(0), Interval(1, -0.4, 0.7)]
    row = 2
    for _ in range(contacts):
        groups += [Interval(row), Disc((row + 1, row + 2), mu=random.uniform(0, 1.2), normal=row)]
        row += 3
    groups.append(Disc((row, row + 1, row + 2), level=random.uniform(0, 1)))
    row += 3
    n = row + 2
    load = (Part(random.normal(size=(2, n)) * 0.2, random.normal(size=2)),)
    groups.append(Disc((row, row + 1), level=0.1, mu=random.uniform(0, 0.4), load=load))
    B = random.normal(size=(n + 4, n))
    scale = 10.0 ** random.uniform(-0.5, 0.5, n)
    return (B.T @ B) * np.outer(scale, scale), random.normal(size=n) * 3.0 * scale, groups


@pytest.mark.parametrize("seed", range(40))
def test_multipliers_are_in_their_sets_and_velocities_in_the_normal_cones(seed):
    D, g, groups = mixed(seed)
    assert_satisfied(D, g, groups, solve(D, g, groups))


def compare_with_reference(seeds) -> None:
    """The machine code takes the same steps as the plain Python of the chain."""
    for seed in seeds:
        p, results = described(*mixed(seed)), []
        for code in (nonsmooth._code(), solve_rows):
            x, memory = np.zeros(len(p.g)), nonsmooth.memory(len(p.g))
            verdict = code(p, nonsmooth.empty_like(p), x, memory, np.array(PLAN), nonsmooth.TOLERANCE)
            results.append((x, *verdict, memory.counts.tolist()))
        np.testing.assert_array_equal(results[0][0], results[1][0])
        assert results[0][1:] == results[1][1:]


def test_machine_code_gives_the_bits_of_the_reference():
    compare_with_reference([*range(12), 2010, 2992])  # the last two have another √ in the scale by math.hypot


@pytest.mark.long(reason="ten thousand problems of the same family in plain Python")
def test_machine_code_gives_the_bits_of_the_reference_on_ten_thousand_problems():
    compare_with_reference(range(10_000))


def test_a_block_on_a_plane_stops_or_slides_by_coulomb():
    """Mass 2 falls with 1 m/s and slides with v: Λ_n = 2, and friction takes at most μ Λ_n of its momentum."""
    for mu in (0.0, 0.2, 0.5, 0.8):
        for angle in (0.0, 0.7, 2.5):
            v = 0.5 * np.array([np.cos(angle), np.sin(angle)])
            groups = [Interval(0), Disc((1, 2), mu=mu, normal=0)]
            result = solve(np.eye(3) / 2.0, np.array([-1.0, *v]), groups)
            assert result.x[0] == pytest.approx(2.0, abs=1e-14)
            left = max(0.0, 0.5 - mu)
            assert result.c[1:] == pytest.approx(v / 0.5 * left, abs=1e-14)


def test_an_open_contact_has_no_friction():
    result = solve(np.eye(3), np.array([0.3, 1.0, 2.0]), [Interval(0), Disc((1, 2), mu=0.5, normal=0)])
    assert result.x.tolist() == [0.0, 0.0, 0.0]
    assert result.c.tolist() == [0.3, 1.0, 2.0]


def test_a_group_that_slides_has_the_friction_of_its_own_load():
    """x = −(L + μ |a x + b|) d, of one row: a linear equation."""
    level, mu, a, b = 0.2, 0.3, 0.5, 4.0
    load = (Part(np.array([[a]]), np.array([b])),)
    group = Disc((0,), level=level, mu=mu, load=load, direction=(1.0,))
    result = solve(np.array([[2.0]]), np.array([1.0]), [group])
    assert result.x[0] == pytest.approx(-(level + mu * b) / (1.0 + mu * a), abs=1e-14)


@pytest.mark.parametrize("feet", [4, 8])
@pytest.mark.parametrize("seed", range(4))
def test_a_plate_on_more_feet_than_it_needs(seed, feet):
    """D has rank 6, and how feet share the weight decides how a plate that turns slides. The same share is selected
    from every start, to the tolerance 1e-12 over the proximal term 1e-8."""
    random = np.random.default_rng(seed)
    angles = 2 * np.pi * np.arange(feet) / feet + random.uniform(-0.2, 0.2, feet)
    points = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(feet)])
    rows, groups = [], []
    for k, p in enumerate(points):
        skew = np.array([[0, p[2], -p[1]], [-p[2], 0, p[0]], [p[1], -p[0], 0]])
        rows += [np.hstack([skew[i], np.eye(3)[i]]) for i in (2, 0, 1)]  # velocity of p: ω × p + v
        groups += [Interval(3 * k), Disc((3 * k + 1, 3 * k + 2), mu=0.6, normal=3 * k)]
    J = np.array(rows)
    G = np.diag(1.0 / np.array([0.4, 0.5, 0.8, 2.0, 2.0, 2.0]))
    twist = np.array([*random.normal(size=3) * 0.2, *random.normal(size=2), -1.5])
    D, g = J @ G @ J.T, J @ twist
    result = solve(D, g, groups)
    assert_satisfied(D, g, groups, result)
    again = solve(D, g, groups, start=random.uniform(0, 1, 3 * feet))
    np.testing.assert_allclose(again.x, result.x, rtol=0, atol=1e-4 * np.abs(result.x).max())
    np.testing.assert_allclose(again.c, result.c, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("group", "reason"),
    [
        (Disc((0, 1), mu=-0.1, name="sole"), "its level or its coefficient of friction is negative"),
        (Disc((0, 1), level=-1.0, name="sole"), "its level or its coefficient of friction is negative"),
        (Interval(0, 1.0, -1.0, "sole"), "its lower bound is above its upper one"),
    ],
)
def test_groups_that_make_no_sense_are_named(group, reason):
    with pytest.raises(InputError, match=f"bounded row 'sole': {reason}"):
        solve(np.eye(2), np.ones(2), [group])
