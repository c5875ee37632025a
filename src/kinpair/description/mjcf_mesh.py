"""The meshes of an MJCF file: where they lie, their triangles, and the inertia of what they enclose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from kinpair.description.mesh_file import read_mesh
from kinpair.description.mjcf_defaults import Defaults
from kinpair.description.mjcf_orientation import wxyz
from kinpair.description.mjcf_settings import Settings
from kinpair.description.mjcf_xml import Tag
from kinpair.description.parts import Numbers
from kinpair.errors import DescriptionError
from kinpair.spatial.inertia import Inertia
from kinpair.spatial.pose import Pose

SMALLEST = 1e-14  # volume or area that counts as none, as in MuJoCo


@dataclass(frozen=True, slots=True)
class Mesh:
    """A <mesh> of the assets."""

    tag: Tag
    file: Path | None
    path: str
    scale: Numbers

    def solid(self) -> Inertia:
        """Volume as mass, centre, and inertia for a density of one; of a shell: area instead of volume."""
        measure = self.tag.word("inertia", _MEASURES, "legacy")
        corners = self._corners()
        if self.tag.text("inertia") == "convex":
            corners = self._hull(corners.reshape(-1, 3))
        if not measure(corners, _middle(corners)).sum() > SMALLEST:
            raise self.tag.error(
                "encloses no volume: its faces should be closed, and the corners of each counter-clockwise as seen "
                "from outside"
            )
        return _moments(corners, measure)

    def points(self) -> np.ndarray:
        """The vertices (n, 3) in axes of the geom."""
        return np.unique(self._corners().reshape(-1, 3), axis=0)

    def _corners(self) -> np.ndarray:
        """The triangles (n, 3, 3), their corners in axes of the geom."""
        raw = self._from_file() if self.tag.has("file") else self._written()
        R, a = self._reference()
        scaled = ((raw - a) @ R) * np.array(self.scale)
        return scaled if np.prod(self.scale) > 0.0 else scaled[:, ::-1]

    def _reference(self) -> tuple[np.ndarray, np.ndarray]:
        """Axes and origin of the mesh in what is written."""
        turn = np.array(self.tag.numbers("refquat", 4, default=(1.0, 0.0, 0.0, 0.0)))
        return wxyz(turn), np.array(self.tag.numbers("refpos", 3, default=(0.0, 0.0, 0.0)))

    def place(self) -> Pose:
        """Place of the scaled mesh in the geom; for a turned mesh one scale for all directions."""
        R, a = self._reference()
        return Pose(R.T, -(R.T @ a) * np.array(self.scale))

    def _from_file(self) -> np.ndarray:
        if self.file is None:
            raise self.tag.error(
                f"lies in {self.path!r}, which is not there, and a body takes its mass from it; "
                "put it there, or write an <inertial> in the body"
            )
        try:
            return read_mesh(self.file).corners
        except DescriptionError as reason:
            raise self.tag.error(f"cannot be read: {reason}") from None

    def _written(self) -> np.ndarray:
        points = np.array(self.tag.values("vertex"))
        faces = np.array(self.tag.values("face")).clip(-1, 2**31).astype(int)
        if not len(points) or len(points) % 3 or len(faces) % 3:
            raise self.tag.error(
                "has no file; write its vertex and face, three numbers each, or vertex alone for the hull"
            )
        if not len(faces):
            return self._hull(points.reshape(-1, 3))
        if faces.min() < 0 or faces.max() >= len(points) // 3:
            raise self.tag.error(
                f"has a face with corner {faces.max()}; there are {len(points) // 3} corners"
            )
        return points.reshape(-1, 3)[faces.reshape(-1, 3)]

    def _hull(self, points: np.ndarray) -> np.ndarray:
        """The triangles of the convex hull of points, corners counter-clockwise as seen from outside."""
        from scipy.spatial import ConvexHull, QhullError

        try:
            hull = ConvexHull(points)
        except (QhullError, ValueError):
            raise self.tag.error(f"has {len(points)} vertices that enclose no volume") from None
        corners = points[hull.simplices]
        inward = (_cross(corners) * hull.equations[:, :3]).sum(axis=1) < 0.0
        corners[inward] = corners[inward][:, ::-1]
        return corners


def meshes(root: Tag, settings: Settings, defaults: Defaults) -> dict[str, Mesh]:
    """The meshes by name."""
    by_name: dict[str, Mesh] = {}
    for asset in root.each("asset"):
        for tag in asset.each("mesh"):
            file = settings.mesh(tag.text("file")) if tag.has("file") else ""
            name = tag.text("name") or Path(file).stem
            tag = defaults.of(tag.called(f"mesh {name!r}").known(), "")
            if name in by_name:
                raise tag.error(f"exists already at {by_name[name].tag.where}; rename one of them", name=name)
            scale = tag.numbers("scale", 3, default=(1.0, 1.0, 1.0))
            by_name[name] = Mesh(tag, settings.files.find(file) if file else None, file, scale)
    return by_name


def _cross(corners: np.ndarray) -> np.ndarray:
    """Twice the area of each triangle along its outer normal (n, 3)."""
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


def _areas(corners: np.ndarray, apex: np.ndarray) -> np.ndarray:
    return np.sqrt((_cross(corners) ** 2).sum(axis=1)) / 2


def _volumes(corners: np.ndarray, apex: np.ndarray) -> np.ndarray:
    """Signed volumes of the pyramids from the apex to each triangle (n,)."""
    return ((corners[:, 0] - apex) * _cross(corners)).sum(axis=1) / 6


def _sizes(corners: np.ndarray, apex: np.ndarray) -> np.ndarray:
    """Mass and inertia without sign: too much for a mesh that is not convex, and what MuJoCo takes by default."""
    return np.abs(_volumes(corners, apex))


_Measure: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray]
_MEASURES: dict[str, _Measure] = {
    "legacy": _sizes,
    "exact": _volumes,
    "shell": _areas,
    "convex": _volumes,
}


def _middle(corners: np.ndarray) -> np.ndarray:
    """Centre of the surface (3,)."""
    areas = _areas(corners, corners[0, 0])
    return areas @ corners.mean(axis=1) / max(areas.sum(), np.finfo(float).tiny)


def _moments(corners: np.ndarray, measure: _Measure) -> Inertia:
    """Mass, centre and inertia of the triangles, or of the pyramids from one apex to them, for a density of one.

    The centre is found with the middle of the surface as apex, the rest with the centre as apex, as MuJoCo does: for
    a closed mesh that is the same. With the apex as origin, a pyramid with base corners x_k and volume w has
    ∫ x xᵀ = w (Σ x_k x_kᵀ + Σ x_k Σ x_kᵀ) / 20; a triangle of area w has 12 instead of 20.
    """
    hollow = measure is _areas
    middle = _middle(corners)
    first = measure(corners, middle)
    centres = corners.mean(axis=1) if hollow else 0.75 * corners.mean(axis=1) + 0.25 * middle
    com = first @ centres / first.sum()
    weights, x = measure(corners, com), corners - com
    sums = x.sum(axis=1)
    second = np.einsum("n,nki,nkj->ij", weights, x, x) + np.einsum("n,ni,nj->ij", weights, sums, sums)
    second /= 12.0 if hollow else 20.0
    return Inertia(float(weights.sum()), com, np.trace(second) * np.eye(3) - second)
