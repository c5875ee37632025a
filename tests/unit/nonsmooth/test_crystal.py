"""Spheres in a crystal: each touches twelve others, so contacts are redundant and all of them act on each other."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from kinpair.constraints.solve.problem import Disc, Group, Interval, solve

TALL, RADIUS, MU = 4, 0.5, 1.0


def crystal() -> tuple[np.ndarray, np.ndarray, list[Group]]:
    """D, rates of a step of 1 ms under gravity from random velocities, and groups of layers on a floor."""
    random = np.random.default_rng(0)
    layers = [np.arange(TALL - h % 2) + 0.5 * (h % 2) for h in range(TALL)]
    at = np.array([(x, y, h * np.sqrt(0.5)) for h, own in enumerate(layers) for x in own for y in own])
    mass = 10 ** random.uniform(-0.5, 0.5, len(at))
    near = [(a, b) for a, b in combinations(range(len(at)), 2) if np.linalg.norm(at[a] - at[b]) < 1.001]
    touching = near + [(a, -1) for a in range(len(at)) if at[a, 2] == 0.0]
    J = np.zeros((3 * len(touching), 6 * len(at)))
    for k, (a, b) in enumerate(touching):
        n = at[a] - at[b] if b >= 0 else np.array([0.0, 0.0, 1.0])
        side = np.cross(n, [0.3, 0.5, 0.8])
        axes = [n, side / np.linalg.norm(side), np.cross(n, side / np.linalg.norm(side))]
        for body, sign in ((a, 1.0), (b, -1.0)):
            if body >= 0:
                J[3 * k : 3 * k + 3, 6 * body : 6 * body + 3] = sign * np.array(axes)
                J[3 * k : 3 * k + 3, 6 * body + 3 : 6 * body + 6] = np.cross(-RADIUS * n, axes)
    weight = np.repeat(1.0 / mass, 6).reshape(-1, 6) * [1, 1, 1, *3 * [2.5 / RADIUS**2]]
    v = 1e-3 * random.normal(size=6 * len(at)) - 9.81e-3 * np.tile([0, 0, 1, 0, 0, 0], len(at))
    groups: list[Group] = []
    for k in range(0, len(J), 3):
        groups += [Interval(k), Disc((k + 1, k + 2), mu=MU, normal=k)]
    return (J * weight.ravel()) @ J.T, J @ v, groups


def test_a_crystal_is_solved_by_proximal_terms_that_fall():
    """Newton's method, sweeps and interior points alone end at 1e-4."""
    D, g, groups = crystal()
    assert len(g) == 3 * 196
    solution = solve(D, g, groups)
    assert solution.met
    normal, along = solution.x[::3], np.linalg.norm(solution.x.reshape(-1, 3)[:, 1:], axis=1)
    speed = solution.c.reshape(-1, 3)
    scale = np.abs(g).max()
    assert normal.min() >= 0.0
    assert speed[:, 0].min() > -1e-10 * scale
    assert (along <= MU * normal + 1e-10 * np.abs(normal).max()).all()
    assert np.abs(speed[:, 0] * normal).max() < 1e-10 * scale * normal.max()
    slides = np.linalg.norm(speed[:, 1:], axis=1) > 1e-9 * scale
    assert np.abs(along - MU * normal)[slides].max() < 1e-9 * normal.max()
