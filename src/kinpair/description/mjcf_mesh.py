"""The meshes of an MJCF file: where they lie, their triangles, and the inertia of what they enclose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np

from kinpair.description.mjcf_defaults import Defaults
from kinpair.description.mjcf_orientation import wxyz
from kinpair.description.mjcf_settings import Settings
from kinpair.description.mjcf_xml import Tag
from kinpair.description.parts import Numbers
from kinpair.spatial.inertia import Inertia

SMALLEST = 1e-14  # volume or area that counts as none, as in MuJoCo
_STL_HEAD, _STL_FACE = 84, np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])


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
        if measure is None:
            raise self.tag.error(
                'wants inertia="convex", its hull, which is not computed; write inertia="exact", '
                "or an <inertial> in the body"
            )
        corners = self._corners()
        if not measure(corners, _middle(corners)).sum() > SMALLEST:
            raise self.tag.error(
                "encloses no volume: its faces should be closed, and the corners of each counter-clockwise as seen "
                "from outside"
            )
        return _moments(corners, measure)

    def _corners(self) -> np.ndarray:
        """The triangles (n, 3, 3), their corners in axes of the geom."""
        raw = self._from_file() if self.tag.has("file") else self._written()
        moved = raw - np.array(self.tag.numbers("refpos", 3, default=(0.0, 0.0, 0.0)))
        turned = moved @ wxyz(np.array(self.tag.numbers("refquat", 4, default=(1.0, 0.0, 0.0, 0.0))))
        scaled = turned * np.array(self.scale)
        return scaled if np.prod(self.scale) > 0.0 else scaled[:, ::-1]

    def _from_file(self) -> np.ndarray:
        if self.file is None:
            raise self.tag.error(
                f"lies in {self.path!r}, which is not there, and a body takes its mass from it; "
                "put it there, or write an <inertial> in the body"
            )
        read = _FILES.get(self.file.suffix.lower())
        try:
            corners = read(self.file.read_bytes()) if read else None
        except (ValueError, IndexError):  # words that are no numbers, corners that are not there
            corners = None
        if corners is None or not len(corners) or not np.isfinite(corners).all():
            raise self.tag.error(
                f"lies in {self.path!r}, which is no binary STL, no OBJ and no MSH with faces"
            )
        return corners

    def _written(self) -> np.ndarray:
        points = np.array(self.tag.values("vertex"))
        faces = np.array(self.tag.values("face")).clip(-1, 2**31).astype(int)
        if not len(points) or not len(faces) or len(points) % 3 or len(faces) % 3:
            raise self.tag.error(
                "has no file and not both vertex and face, three numbers each; its hull is not computed"
            )
        if faces.min() < 0 or faces.max() >= len(points) // 3:
            raise self.tag.error(
                f"has a face with corner {faces.max()}; there are {len(points) // 3} corners"
            )
        return points.reshape(-1, 3)[faces.reshape(-1, 3)]


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


def _stl(raw: bytes) -> np.ndarray | None:
    """Binary STL: a head, the number of triangles, then 50 bytes each."""
    count = int.from_bytes(raw[80:_STL_HEAD], "little")
    if len(raw) < _STL_HEAD + count * _STL_FACE.itemsize:
        return None
    return np.frombuffer(raw, _STL_FACE, count, _STL_HEAD)["corners"].astype(float)


def _obj(raw: bytes) -> np.ndarray | None:
    """OBJ: lines `v x y z` and `f a b c ...`, corners counted from 1, or from the end if negative."""
    points: list[list[float]] = []
    faces: list[list[int]] = []
    for line in raw.decode("utf-8", "replace").splitlines():
        head, *words = line.split() or [""]
        if head == "v":
            points.append([float(word) for word in words[:3]])
        elif head == "f":
            corners = [int(word.partition("/")[0]) for word in words]
            corners = [k - 1 if k > 0 else len(points) + k for k in corners]
            faces += [[corners[0], b, c] for b, c in pairwise(corners[1:])]
    return np.array(points)[np.array(faces)] if points and faces else None


def _msh(raw: bytes) -> np.ndarray | None:
    """MuJoCo's own: four counts, then corners, normals, texture (floats), and three corners a face (integers)."""
    if len(raw) < 16:
        return None
    corners, normals, texture, faces = (int(n) for n in np.frombuffer(raw, "<i4", 4))
    start = 16 + 4 * (3 * corners + 3 * normals + 2 * texture)
    if min(corners, normals, texture, faces) < 0 or len(raw) != start + 12 * faces:
        return None
    points = np.frombuffer(raw, "<f4", 3 * corners, 16).astype(float).reshape(-1, 3)
    return points[np.frombuffer(raw, "<i4", 3 * faces, start).reshape(-1, 3)]


_FILES: dict[str, Callable[[bytes], np.ndarray | None]] = {".stl": _stl, ".obj": _obj, ".msh": _msh}


def _cross(corners: np.ndarray) -> np.ndarray:
    """Twice the area of each triangle along its outer normal (n, 3)."""
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


def _areas(corners: np.ndarray, apex: np.ndarray) -> np.ndarray:
    return np.sqrt((_cross(corners) ** 2).sum(axis=1)) / 2


def _volumes(corners: np.ndarray, apex: np.ndarray) -> np.ndarray:
    """Signed volumes of the pyramids from the apex to each triangle (n,)."""
    return ((corners[:, 0] - apex) * _cross(corners)).sum(axis=1) / 6


def _sizes(corners: np.ndarray, apex: np.ndarray) -> np.ndarray:
    """The same without sign: too much for a mesh that is not convex, and what MuJoCo takes by default."""
    return np.abs(_volumes(corners, apex))


_Measure: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray]
_MEASURES: dict[str, _Measure | None] = {
    "legacy": _sizes,
    "exact": _volumes,
    "shell": _areas,
    "convex": None,
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
