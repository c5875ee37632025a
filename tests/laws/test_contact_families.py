"""Families of contact problems in time steps: the law of Coulomb holds in each step, and warm starts need few steps.

A step of h has c = J v⁺ and v⁺ = v + G (h f + Jᵀ x), with G the response of the mechanism (inverse mass, loops
eliminated). Positions are fixed, forces vary by a tenth. The laws are checked with NumPy, group by group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from kinpair.compiler.loops.functions import compiled
from kinpair.constraints.solve import problem as nonsmooth
from kinpair.constraints.solve.chain import PLAN
from kinpair.constraints.solve.problem import Disc, Interval, described
from kinpair.constraints.solve.scaling import solve_rows

CODE = compiled(solve_rows)
SOLVED = 1e-10
STEPS = 24
DT = 1e-2


class Scene(NamedTuple):
    """Response G (nv, nv), rows J (n, nv), groups, the force f (nv,) on average, and if it varies as a whole."""

    G: np.ndarray
    J: np.ndarray
    groups: list
    force: np.ndarray
    as_a_whole: bool = False


def at_point(r: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Rows (3, 6) of the velocity of a point along axes, from the twist [ω; v]."""
    x, y, z = r
    return axes @ np.hstack([np.array([[0, z, -y], [-z, 0, x], [y, -x, 0]]), np.eye(3)])


def frame(normal: np.ndarray) -> np.ndarray:
    """Normal and two tangents as rows."""
    n = normal / np.linalg.norm(normal)
    first = np.cross(n, np.eye(3)[np.abs(n).argmin()])
    first /= np.linalg.norm(first)
    return np.array([n, first, np.cross(n, first)])


def contacts(count: int, mu: float) -> list:
    return [x for k in range(0, 3 * count, 3) for x in (Interval(k), Disc((k + 1, k + 2), mu=mu, normal=k))]


UP = frame(np.array([0.0, 0.0, 1.0]))
CORNERS = np.array([[a, b] for a in (-0.5, 0.5) for b in (-0.3, 0.3)])


def box_inertia(mass: float) -> np.ndarray:
    return mass * np.array([0.04, 0.06, 0.08, 1.0, 1.0, 1.0])


def box_on_a_plane(random: np.random.Generator) -> Scene:
    J = np.vstack([at_point(np.array([*c, -0.1]), UP) for c in CORNERS])
    push = np.array([0, 0, 0, *random.uniform(-4, 4, 2), -9.81])
    return Scene(np.diag(1.0 / box_inertia(1.0)), J, contacts(4, 0.5), push)


def stack(random: np.random.Generator) -> Scene:
    """Four boxes, each ten times as heavy as the one below."""
    masses = 10.0 ** np.arange(4)
    J = np.zeros((48, 24))
    for k in range(4):
        for i, corner in enumerate(CORNERS):
            rows = slice(12 * k + 3 * i, 12 * k + 3 * i + 3)
            J[rows, 6 * k : 6 * k + 6] = at_point(np.array([*corner, -0.1]), UP)
            if k:
                J[rows, 6 * k - 6 : 6 * k] = -at_point(np.array([*corner, 0.1]), UP)
    weight = np.concatenate([m * np.array([0, 0, 0, 0, 0, -9.81]) for m in masses])
    weight[9] += random.uniform(-3, 3)
    return Scene(
        np.diag(np.concatenate([1.0 / box_inertia(m) for m in masses])), J, contacts(16, 0.6), weight
    )


def response(random: np.random.Generator, n: int) -> np.ndarray:
    """Inverse mass of a random mechanism, eigenvalues from 1 to 100."""
    Q, _ = np.linalg.qr(random.normal(size=(n, n)))
    return Q @ np.diag(np.geomspace(1.0, 100.0, n)) @ Q.T


def humanoid_on_eight_points(random: np.random.Generator) -> Scene:
    """Two feet with four points each, on a body of 24 rates."""
    feet = [random.normal(size=(6, 24)) for _ in range(2)]
    J = np.vstack(
        [at_point(np.array([0.2 * a, 0.2 * b, -0.05]), UP) @ foot for foot in feet for a, b in CORNERS]
    )
    G = response(random, 24)
    down = -np.linalg.lstsq(J[::3] @ G, np.full(8, 5.0), rcond=None)[0]
    return Scene(G, J, contacts(8, 0.7), down + 0.1 * random.normal(size=24))


def hand_with_twelve_contacts(random: np.random.Generator) -> Scene:
    """Four fingers of three joints, three points each, hold a body from four sides: forces inside all cones balance."""
    J, G = np.zeros((36, 18)), np.zeros((18, 18))
    G[:6, :6] = np.diag(1.0 / (0.2 * np.array([0.002, 0.002, 0.002, 1.0, 1.0, 1.0])))
    force = np.array([0, 0, 0, 0, 0, -0.2 * 9.81, *[0.0] * 12])
    for finger in range(4):
        own = slice(6 + 3 * finger, 9 + 3 * finger)
        G[own, own] = response(random, 3)
        angle = 0.5 * np.pi * finger
        outward = np.array([np.cos(angle), np.sin(angle), 0.0])
        axes = frame(-outward)
        tip = np.eye(3) + 0.2 * random.normal(size=(3, 3))
        twist = np.vstack(
            [3.0 * random.normal(size=(3, 3)), tip]
        )  # of the last link, by the rates of three joints
        for i in range(3):
            rows = slice(9 * finger + 3 * i, 9 * finger + 3 * i + 3)
            offset = 0.01 * random.normal(size=3)
            J[rows, :6] = at_point(0.04 * outward + offset, axes)
            J[rows, own] = -at_point(offset, axes) @ twist
    pressed = np.tile([2.0, 0.0, 0.0], 12)
    pressed -= np.linalg.pinv(J[:, :6].T) @ (J[:, :6].T @ pressed + force[:6])
    assert (np.hypot(pressed[1::3], pressed[2::3]) < 0.7 * pressed[::3]).all()
    force[6:] = -J[:, 6:].T @ pressed
    return Scene(G, J, contacts(12, 0.7), force, as_a_whole=True)


def loops_and_joint_friction(random: np.random.Generator) -> Scene:
    """Contacts of a mechanism of 14 rates with four loop rows eliminated, five joints that stick, and two limits."""
    M, A = np.linalg.inv(response(random, 14)), random.normal(size=(4, 14))
    Z = np.linalg.svd(A)[2][4:].T
    G = Z @ np.linalg.inv(Z.T @ M @ Z) @ Z.T
    J = np.vstack([random.normal(size=(12, 14)), np.eye(14)[:7]])
    levels = random.uniform(0.01, 0.1, 5) * DT
    friction = [Interval(12 + k, -level, level) for k, level in enumerate(levels)]
    return Scene(G, J, [*contacts(4, 0.5), *friction, Interval(17), Interval(18)], random.normal(size=14))


FAMILIES = (
    box_on_a_plane,
    stack,
    humanoid_on_eight_points,
    hand_with_twelve_contacts,
    loops_and_joint_friction,
)


def assert_coulomb(groups: list, D: np.ndarray, g: np.ndarray, x: np.ndarray, c: np.ndarray) -> None:
    """In its set, and −c in the normal cone: c ≥ 0 where x is at its lower end, and most dissipation in a disc."""
    T = np.sqrt(np.maximum(np.diag(D), 1e-14 * np.diag(D).max()))
    scale = np.abs(g / T).max()
    x, c = x * T / scale, c / T / scale
    for group in groups:
        if isinstance(group, Interval):
            lo, hi = group.lo * T[group.row] / scale, group.hi * T[group.row] / scale
            own, rate = x[group.row], c[group.row]
            assert lo - SOLVED <= own <= hi + SOLVED
            assert abs(own - np.clip(own - rate, lo, hi)) <= SOLVED
            continue
        rows = list(group.rows)
        R = group.mu * x[group.normal] * T[rows[0]] / T[group.normal]
        unit = T[rows] / T[rows[0]]
        pull, speed = x[rows] / unit, np.linalg.norm(c[rows] * unit)
        assert np.linalg.norm(pull) <= R + 10 * SOLVED
        assert abs(pull @ (c[rows] * unit) + R * speed) <= 10 * SOLVED * (1.0 + R)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.__name__.replace("_", " "))
def test_each_step_satisfies_the_laws_and_warm_starts_need_few_newton_steps(family):
    newton: list[int] = []
    for seed in range(3):
        random = np.random.default_rng(seed)
        scene = family(random)
        D, n = scene.J @ scene.G @ scene.J.T, len(scene.J)
        v, x, memory = np.zeros(len(scene.G)), np.zeros(n), nonsmooth.memory(n)
        sway = 0.1 * scene.force * random.normal(size=1 if scene.as_a_whole else len(scene.G))
        for step in range(STEPS):
            free = v + DT * scene.G @ (scene.force + sway * np.sin(2.0 * np.pi * step / STEPS))
            g = scene.J @ free
            p = described(D, g, scene.groups)
            residual, _, met = CODE(
                p, nonsmooth.empty_like(p), x, memory, np.array(PLAN), nonsmooth.TOLERANCE
            )
            assert met
            assert residual <= SOLVED
            assert_coulomb(scene.groups, D, g, x, D @ x + g)
            v = free + scene.G @ scene.J.T @ x
            if step:
                newton.append(int(memory.counts[0]))
    assert np.median(newton) <= 3


def test_the_forces_on_a_box_at_rest_are_its_weight_and_its_push():
    """Four points share m g h and the push −h f, whatever the shares are."""
    scene = box_on_a_plane(np.random.default_rng(2))
    push = np.array([0.0, 0.0, 0.0, 2.0, -1.0, -9.81])
    D, g = scene.J @ scene.G @ scene.J.T, scene.J @ scene.G @ push * DT
    solution = nonsmooth.solve(D, g, scene.groups)
    np.testing.assert_allclose(scene.J.T @ solution.x, -push * DT, rtol=0, atol=1e-12)
    np.testing.assert_allclose(solution.c, 0.0, atol=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_stacks_with_random_velocities_are_solved_from_a_cold_start(seed):
    """Redundant points that slide in all directions, mass ratio 1000; v is random, so that g is in the range of J."""
    random = np.random.default_rng(seed)
    scene = stack(random)
    D, g = scene.J @ scene.G @ scene.J.T, scene.J @ random.normal(size=len(scene.G))
    solution = nonsmooth.solve(D, g, scene.groups)
    assert solution.residual <= SOLVED
    assert_coulomb(scene.groups, D, g, solution.x, solution.c)
