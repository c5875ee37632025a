"""Convex polygons in a plane: hulls, how far points are inside, and axes of the plane."""

from __future__ import annotations

import numpy as np


def hull(points: np.ndarray) -> np.ndarray:
    """Corners (k, 2) of the convex hull of points (n, 2), anticlockwise (Andrew's chains)."""
    every = sorted({(float(x), float(y)) for x, y in points})
    if len(every) < 3:
        return np.array(every)
    lower, upper = _chain(every), _chain(every[::-1])
    return np.array(lower[:-1] + upper[:-1])


def _chain(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    chain: list[tuple[float, float]] = []
    for p in points:
        while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0.0:
            chain.pop()
        chain.append(p)
    return chain


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def margin(corners: np.ndarray, point: np.ndarray) -> float:
    """Distance of a point (2,) to the border of a convex polygon: positive inside, negative outside."""
    along = np.roll(corners, -1, axis=0) - corners
    to = point - corners
    part = np.clip((to * along).sum(1) / np.maximum((along**2).sum(1), 1e-300), 0.0, 1.0)
    nearest = np.sqrt(((to - part[:, None] * along) ** 2).sum(1)).min()
    if len(corners) < 3:
        return -float(nearest)
    inside = along[:, 0] * to[:, 1] - along[:, 1] * to[:, 0] >= 0.0
    return float(nearest if inside.all() else -nearest)


def plane_axes(normal: np.ndarray) -> np.ndarray:
    """Two directions (3, 2) in a plane: forward, nearest to the world's x, and left of it."""
    x = np.array([1.0, 0.0, 0.0]) if abs(normal[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    forward = x - (x @ normal) * normal
    forward = forward / np.sqrt(forward @ forward)
    return np.stack([forward, np.cross(normal, forward)], axis=1)
