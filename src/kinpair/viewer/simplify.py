"""Fewer triangles: points that fall into one cell of a grid become one point, and triangles without area vanish."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinpair.viewer.surfaces import Surface

COARSER = 1.3  # from one grid to the next, at least
CAREFUL = 0.9  # of the size of cells at which the number of triangles should fit


def simplified(surface: Surface, most: int) -> Surface:
    """Return a surface with at most `most` triangles, as fine as a grid allows; itself where it has no more."""
    return reduced(surface, most)[0]


def reduced(surface: Surface, most: int) -> tuple[Surface, np.ndarray]:
    """Return a surface with at most `most` triangles, and the number that each of them had before (n,)."""
    origin = np.arange(len(surface.faces))
    if len(surface.faces) <= most:
        return surface, origin
    span = float(np.ptp(surface.points, axis=0).max()) or 1.0
    cell = span / (2.0 * np.sqrt(max(most, 1)))
    while len(surface.faces) > most:  # ends: in one cell there is one point, and no triangle
        surface, kept = clustered(surface, cell)
        origin = origin[kept]
        cell *= max(COARSER, CAREFUL * np.sqrt(len(surface.faces) / max(most, 1)))
    return surface, origin


def clustered(surface: Surface, cell: float) -> tuple[Surface, np.ndarray]:
    """Return the surface with the points of each cell [m] at their mean, and the numbers of the triangles left (n,)."""
    _, which = np.unique(_cells(surface.points, cell), return_inverse=True)
    which = which.ravel()
    counts = np.bincount(which)
    points = np.stack([np.bincount(which, surface.points[:, k]) / counts for k in range(3)], axis=1)
    faces = which[surface.faces]
    a, b, c = faces.T
    kept = np.flatnonzero((a != b) & (b != c) & (c != a))
    kept = kept[_first_of_each(faces[kept])]
    return Surface(points, faces[kept]), kept


def _cells(points: np.ndarray, cell: float) -> np.ndarray:
    """Return a whole number for the cell of each point (p,)."""
    low = points.min(axis=0)
    counts = np.floor(np.ptp(points, axis=0) / cell).astype(np.int64) + 1
    number = np.zeros(len(points), dtype=np.int64)
    for k in range(3):
        number *= counts[k]
        number += np.floor((points[:, k] - low[k]) / cell).astype(np.int64)
    return number


def _first_of_each(faces: np.ndarray) -> np.ndarray:
    """Return the numbers of triangles (n, 3) without those whose three corners an earlier one has."""
    corners = np.sort(faces, axis=1).T
    order = np.lexsort(corners)
    same = np.all([x[order][1:] == x[order][:-1] for x in corners], axis=0)
    return np.sort(order[np.concatenate([[True], ~same])]) if len(faces) else order


def shared_out(surfaces: Sequence[Surface], most: int) -> list[Surface]:
    """Return several surfaces with at most `most` triangles together: small ones whole, large ones in equal parts of
    the rest."""
    counts = np.array([len(x.faces) for x in surfaces])
    if counts.sum() <= most:
        return list(surfaces)
    low, high = 0, int(counts.max())
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if np.minimum(counts, middle).sum() <= most else (low, middle)
    return [simplified(x, max(low, 12)) for x in surfaces]
