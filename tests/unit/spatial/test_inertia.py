"""Inertia of joined and moved bodies, by way of clouds of points."""

from __future__ import annotations

import numpy as np

from kinpair.spatial.inertia import NOTHING, Inertia, defect, joined
from kinpair.spatial.rotation import from_rpy


def cloud(points: np.ndarray, masses: np.ndarray) -> Inertia:
    m = masses.sum()
    d = masses @ points / m
    r = points - d
    I = sum(k * ((x @ x) * np.eye(3) - np.outer(x, x)) for k, x in zip(masses, r, strict=True))
    return Inertia(m, d, I)


def same(a: Inertia, b: Inertia) -> bool:
    close = {"rtol": 1e-12, "atol": 1e-13}
    return bool(np.isclose(a.m, b.m) and np.allclose(a.d, b.d, **close) and np.allclose(a.I, b.I, **close))


RNG = np.random.default_rng(1)
POINTS, MASSES = RNG.normal(size=(12, 3)), RNG.uniform(0.1, 2, 12)


def test_joining_parts_gives_the_whole():
    parts = [cloud(POINTS[k : k + 4], MASSES[k : k + 4]) for k in (0, 4, 8)]
    assert same(joined(parts), cloud(POINTS, MASSES))


def test_moving_a_body_moves_its_points():
    R, a = from_rpy(0.3, -1.0, 2.0), np.array([1.0, 2.0, -3.0])
    assert same(cloud(POINTS, MASSES).moved(R, a), cloud(POINTS @ R.T + a, MASSES))


def test_inertia_about_the_origin():
    I = sum(k * ((x @ x) * np.eye(3) - np.outer(x, x)) for k, x in zip(MASSES, POINTS, strict=True))
    assert np.allclose(cloud(POINTS, MASSES).about_origin(), I, rtol=1e-12)


def test_nothing_joins_to_nothing():
    assert same(joined([]), NOTHING)
    assert same(joined([NOTHING, NOTHING]), NOTHING)
    assert same(joined([cloud(POINTS, MASSES), NOTHING]), cloud(POINTS, MASSES))


def test_real_bodies_have_no_defect():
    assert defect(cloud(POINTS, MASSES).I) is None
    assert defect(np.zeros((3, 3))) is None
    assert defect(np.diag([0.0, 1.0, 1.0])) is None


def test_defects_are_told():
    assert defect(np.diag([1.0, 1.0, 3.0])) == (
        "breaks the triangle inequality (principal moments 1, 1, 3: the largest exceeds the sum of the others)"
    )
    assert defect(np.diag([-1.0, 1.0, 1.0])) == "is not positive (principal moments -1, 1, 1)"


def test_tensor_with_products_is_judged_by_its_principal_moments():
    R = from_rpy(1.0, 0.4, -0.7)
    assert defect(R @ np.diag([1.0, 1.0, 1.9]) @ R.T) is None
