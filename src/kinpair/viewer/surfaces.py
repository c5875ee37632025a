"""Surfaces of solids as triangles, fewer triangles of the same form, and the parts of a scene.

Surfaces of solids as triangles: what pages, reports and still pictures draw.

Every corner counts counter-clockwise from outside. Points are shared where a surface is smooth and are not where
it has an edge, so that the mean of the triangles' normals at a point is the normal to shade with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import pi

import numpy as np

from kinpair.description.parts import Numbers
from kinpair.spatial.pose import Pose

AROUND = 24  # corners of what is round
_BOX = np.array(
    [
        [[1, -1, -1], [1, 1, -1], [1, 1, 1], [1, -1, 1]],
        [[-1, 1, -1], [-1, -1, -1], [-1, -1, 1], [-1, 1, 1]],
        [[1, 1, -1], [-1, 1, -1], [-1, 1, 1], [1, 1, 1]],
        [[-1, -1, -1], [1, -1, -1], [1, -1, 1], [-1, -1, 1]],
        [[-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]],
        [[-1, 1, -1], [1, 1, -1], [1, -1, -1], [-1, -1, -1]],
    ],
    dtype=float,
)


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """Points (p, 3) [m] and the corners of each triangle as numbers of points (n, 3)."""

    points: np.ndarray
    faces: np.ndarray

    def moved(self, pose: Pose) -> Surface:
        """Return the surface at another place."""
        return Surface(self.points @ pose.R.T + pose.a, self.faces)

    def normals(self) -> np.ndarray:
        """Outer normals at the points (p, 3): the mean over the triangles that meet there, by area."""
        a, b, c = (self.points[self.faces[:, k]] for k in range(3))
        across = np.cross(b - a, c - a)
        sums = np.zeros_like(self.points)
        for k in range(3):
            for axis in range(3):
                sums[:, axis] += np.bincount(self.faces[:, k], across[:, axis], len(sums))
        lengths = np.sqrt((sums**2).sum(axis=1, keepdims=True))
        return sums / np.where(lengths > 0.0, lengths, 1.0)


def joined(*parts: Surface) -> Surface:
    """Several surfaces as one."""
    starts = np.cumsum([0, *(len(x.points) for x in parts)])
    return Surface(
        np.concatenate([x.points for x in parts]),
        np.concatenate([x.faces + start for x, start in zip(parts, starts, strict=False)]),
    )


def _grid(rows: np.ndarray, closed: bool = True) -> Surface:
    """A surface through rows (r, k, 3) of points, each row closed or open, the rows in the direction of a
    right-hand screw."""
    r, k, _ = rows.shape
    i, j = np.meshgrid(np.arange(r - 1), np.arange(k if closed else k - 1), indexing="ij")
    a, b = i * k + j, i * k + (j + 1) % k
    c, d = a + k, b + k
    faces = np.stack([np.stack([a, b, d], axis=-1), np.stack([a, d, c], axis=-1)]).reshape(-1, 3)
    return Surface(rows.reshape(-1, 3), faces)


def _circle(count: int = AROUND) -> np.ndarray:
    angle = np.linspace(0.0, 2 * pi, count, endpoint=False)
    return np.stack([np.cos(angle), np.sin(angle), np.zeros(count)], axis=1)


def box(x: float, y: float, z: float) -> Surface:
    """Edges x, y, z about the origin."""
    points = (_BOX * np.array([x, y, z]) / 2).reshape(-1, 3)
    first = 4 * np.arange(6)[:, None]
    return Surface(points, np.concatenate([first + np.array([0, 1, 2]), first + np.array([0, 2, 3])]))


def revolved(profile: np.ndarray, around: int = AROUND) -> Surface:
    """A profile (k, 2) of radii and heights, upwards along z, turned about z."""
    rows = profile[:, :1, None] * _circle(around)[None] + profile[:, 1:, None] * np.array([0.0, 0.0, 1.0])
    return _grid(rows)


def ball(radius: float) -> Surface:
    """A sphere about the origin."""
    return ellipsoid(radius, radius, radius)


def ellipsoid(x: float, y: float, z: float) -> Surface:
    """Semi-axes x, y, z about the origin."""
    angle = np.linspace(-pi / 2, pi / 2, AROUND // 2 + 1)
    unit = revolved(np.stack([np.cos(angle), np.sin(angle)], axis=1))
    return Surface(unit.points * np.array([x, y, z]), unit.faces)


def cylinder(radius: float, length: float) -> Surface:
    """Cylinder along z about the origin, with both ends."""
    h = length / 2
    profiles = ([[0.0, -h], [radius, -h]], [[radius, -h], [radius, h]], [[radius, h], [0.0, h]])
    return joined(*(revolved(np.array(profile)) for profile in profiles))


def capsule(radius: float, length: float) -> Surface:
    """A cylinder along z whose ends are halves of a sphere; the length does not count these."""
    angle = np.linspace(-pi / 2, pi / 2, AROUND // 2 + 2)
    heights = radius * np.sin(angle) + np.sign(angle) * length / 2
    return revolved(np.stack([radius * np.cos(angle), heights], axis=1))


def ring(radius: float, thickness: float) -> Surface:
    """A torus about z: radius of its centre line, and of its rounding."""
    angle = np.linspace(-pi, pi, AROUND // 2 + 1)
    return revolved(np.stack([radius + thickness * np.cos(angle), thickness * np.sin(angle)], axis=1))


def between(start: np.ndarray, end: np.ndarray, radius: float) -> Surface:
    """A capsule from one point to another."""
    along = np.asarray(end, dtype=float) - start
    length = float(np.sqrt(along @ along))
    return capsule(radius, length).moved(Pose(axes_along(along), (np.asarray(start) + end) / 2))


def tube(path: np.ndarray, radius: float, around: int = 8) -> Surface:
    """Tube along a path (k, 3) of points; the ends are open."""
    along = np.gradient(path, axis=0)
    rows = [point + radius * _circle(around) @ axes_along(d).T for point, d in zip(path, along, strict=True)]
    return _grid(np.array(rows))


def coil(length: float, radius: float, turns: int = 8) -> Surface:
    """A spring along z from the origin, with straight ends."""
    s = np.linspace(0.0, 1.0, 16 * turns + 1)
    inside = np.clip((s - 0.1) / 0.8, 0.0, 1.0)
    width = radius * np.minimum(1.0, 20.0 * np.minimum(inside, 1.0 - inside))
    angle = 2 * pi * turns * inside
    path = np.stack([width * np.cos(angle), width * np.sin(angle), length * s], axis=1)
    return tube(path, 0.18 * radius, around=6)


def axes_along(direction: np.ndarray) -> np.ndarray:
    """A rotation whose third axis has this direction; none where it has no length."""
    length = float(np.sqrt(direction @ direction))
    if not length > 0.0:
        return np.eye(3)
    z = direction / length
    other = np.eye(3)[int(np.abs(z).argmin())]
    x = np.cross(other, z)
    x /= np.sqrt(x @ x)
    return np.stack([x, np.cross(z, x), z], axis=1)


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


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A surface fixed to a link, in its axes; colour red, green, blue, opacity from 0 to 1, empty: that of the link.

    `layer`: visual, joints, loops, springs or actuators; a page shows and hides layers.
    """

    link: str
    surface: Surface
    colour: Numbers = ()
    layer: str = "visual"
    is_mesh: bool = False

    def in_colour(self, colour: Numbers) -> Piece:
        """Return the piece, coloured where it has no colour of its own."""
        return self if self.colour else replace(self, colour=colour)


@dataclass(frozen=True, slots=True, eq=False)
class Connector:
    """A spring, rope or rod between a point of one link and a point of another, each in the axes of its link."""

    name: str
    kind: str
    parent: str
    start: np.ndarray
    child: str
    end: np.ndarray
    radius: float
    colour: Numbers
    layer: str

    def ends(self, poses: Mapping[str, Pose]) -> tuple[np.ndarray, np.ndarray]:
        """Both points in the world."""
        parent, child = poses[self.parent], poses[self.child]
        return parent.R @ self.start + parent.a, child.R @ self.end + child.a
