"""Fewer triangles: points that fall into one cell of a grid become one point, and triangles without area vanish."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinpair.viewer.surfaces import Surface

COARSER = 1.3  # from one grid to the next


def simplified(surface: Surface, most: int) -> Surface:
    """The surface with at most so many triangles, as fine as a grid of cubes allows; itself where it has no more."""
    if len(surface.faces) <= most:
        return surface
    span = float(np.ptp(surface.points, axis=0).max()) or 1.0
    cell = span / (2.0 * np.sqrt(max(most, 1)))
    while (
        len((result := clustered(surface, cell)).faces) > most
    ):  # in one cell there is one point, and no triangle
        cell *= COARSER
    return result


def clustered(surface: Surface, cell: float) -> Surface:
    """Points of each cell [m] at their mean."""
    places = np.floor((surface.points - surface.points.min(axis=0)) / cell).astype(np.int64)
    _, which = np.unique(places, axis=0, return_inverse=True)
    which = which.ravel()
    counts = np.bincount(which)
    points = np.stack([np.bincount(which, surface.points[:, k]) / counts for k in range(3)], axis=1)
    faces = which[surface.faces]
    a, b, c = faces.T
    kept = faces[(a != b) & (b != c) & (c != a)]
    if not len(kept):
        return Surface(points, np.zeros((0, 3), dtype=int))
    _, first = np.unique(np.sort(kept, axis=1), axis=0, return_index=True)
    return Surface(points, kept[np.sort(first)])


def shared_out(surfaces: Sequence[Surface], most: int) -> list[Surface]:
    """Several surfaces with at most so many triangles together: small ones whole, large ones in equal parts of the
    rest."""
    counts = np.array([len(x.faces) for x in surfaces])
    if counts.sum() <= most:
        return list(surfaces)
    low, high = 0, int(counts.max())
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if np.minimum(counts, middle).sum() <= most else (low, middle)
    return [simplified(x, max(low, 12)) for x in surfaces]
