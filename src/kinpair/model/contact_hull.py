"""Convex hulls of meshes and points, for contact: vertices, faces, thickness; what a mesh differs from its hull in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinpair.description.mesh_file import read_mesh
from kinpair.description.parts import Contact
from kinpair.description.warning_list import WarningList, at
from kinpair.errors import DescriptionError

OPEN = 1e-3  # sum of the areas of triangles as vectors, of the sum of their sizes
HOLLOW = 1e-2  # volume that the hull adds, of its own volume
SAME_FACE = 9  # digits of normals and distances of triangles that are one face


@dataclass(frozen=True, slots=True, eq=False)
class Hull:
    """Vertices (n, 3), faces (m, 4) as n·x + e ≤ 0, and the smallest width between parallel planes of a face."""

    vertices: np.ndarray
    faces: np.ndarray
    thickness: float


def hull_of(geom: Contact, warnings: WarningList) -> Hull:
    """Return the hull of the mesh or points of a geom; a mesh that is not closed or convex is reported."""
    part = f"{at(geom.where)}contact {geom.name!r}"
    if geom.shape == "hull":
        return _hull(np.array(geom.size).reshape(-1, 3), part)
    triangles = read_mesh(geom.mesh).corners * np.array(geom.size)
    hull = _hull(triangles.reshape(-1, 3), part)
    if not geom.convex and (reason := _difference(triangles, hull)):
        warnings.add(f"{part}: the mesh {geom.mesh!r} {reason}; its convex hull touches", contact=geom.name)
    return hull


def _hull(points: np.ndarray, part: str) -> Hull:
    from scipy.spatial import ConvexHull, QhullError

    try:
        convex = ConvexHull(points)
    except (QhullError, ValueError):
        raise DescriptionError(
            f"{part}: its {len(points)} points enclose no volume; give four or more"
        ) from None
    vertices = points[convex.vertices]
    _, first = np.unique(convex.equations.round(SAME_FACE), axis=0, return_index=True)
    faces = convex.equations[np.sort(first)]
    widths = -(vertices @ faces[:, :3].T + faces[:, 3]).min(axis=0)
    return Hull(np.ascontiguousarray(vertices), np.ascontiguousarray(faces), float(widths.min()))


def _difference(triangles: np.ndarray, hull: Hull) -> str:
    """Return how a mesh differs from its hull; empty where it does not."""
    areas = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]) / 2
    if np.linalg.norm(areas.sum(axis=0)) > OPEN * np.linalg.norm(areas, axis=1).sum():
        return "is not closed"
    middle = hull.vertices.mean(axis=0)
    volume = abs(float(((triangles[:, 0] - middle) * areas).sum())) / 3
    from scipy.spatial import ConvexHull

    whole = float(ConvexHull(hull.vertices).volume)
    return "is not convex" if whole - volume > HOLLOW * whole else ""
