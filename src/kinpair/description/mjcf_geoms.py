"""The geoms of an MJCF body: their meshes, looks and inertia, and the inertia of the body, written or of its geoms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from kinpair.description.mesh_file import read_mesh
from kinpair.description.mjcf_settings import TURNS, Settings, between, pose, wxyz
from kinpair.description.mjcf_solids import SOLIDS
from kinpair.description.mjcf_xml import YES_NO, Defaults, Tag
from kinpair.description.parts import Numbers, Shape, origin
from kinpair.errors import DescriptionError, listed, nearest
from kinpair.spatial.inertia import NOTHING, Inertia, tensor
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


_WEIGHTLESS = ("plane", "hfield")
_MESHED = ("mesh", "sdf")
TYPES = (*SOLIDS, *_MESHED, *_WEIGHTLESS)
HIDDEN_GROUP = 3.0
WATER = 1000.0  # density of a geom that gives none [kg/m³], or [kg/m²] of a shell


def kind(geom: Tag) -> str:
    """The type of a geom."""
    written = geom.text("type", "sphere")
    if written not in TYPES:
        raise geom.error(
            f"has the unknown type {written!r}; {nearest(written, TYPES)}Types: {listed(TYPES)}", type=written
        )
    return written


def inertia(geom: Tag, frame: Pose, settings: Settings, meshes: Mapping[str, Mesh]) -> Inertia:
    """Mass, mass centre and inertia of a geom in its body; `frame` is what it is written in."""
    what = kind(geom)
    low, high = settings.groups
    if what in _WEIGHTLESS or not low <= geom.number("group", 0.0) <= high or geom.text("mass") == "0":
        return NOTHING
    one = meshed(geom, meshes).solid() if what in _MESHED else _solid(geom, what)
    density = geom.number("density", WATER)
    if geom.has("mass"):
        density = _density(geom, one.m)
    at = frame @ pose(geom, settings)
    return Inertia(density * one.m, one.d, density * one.I).moved(at.R, at.a)


def _density(geom: Tag, volume: float) -> float:
    mass = geom.number("mass", 0.0)
    if mass < 0.0:
        raise geom.error(f"has mass {mass:g} kg; a mass is zero or positive", mass=mass)
    if mass and not volume > 0.0:
        raise geom.error(f"has mass {mass:g} kg and no volume; give it a size", mass=mass)
    return mass / volume if mass else 0.0


def _solid(geom: Tag, what: str) -> Inertia:
    if geom.has("mesh"):
        raise geom.error(
            f"is a {what} fitted to the mesh {geom.text('mesh')!r}, which is not computed; write its size, or an "
            "<inertial> in the body"
        )
    _, solid, shell = SOLIDS[what]
    measure = shell if geom.word("shellinertia", YES_NO, "false") else solid
    volume, moments = measure(*_size(geom, what))
    return Inertia(volume, np.zeros(3), np.diag(moments))


def whole_size(geom: Tag, what: str) -> Numbers:
    """The size of a solid as a Shape has it: radii, lengths and edges in full."""
    return _WHOLE[what](_size(geom, what))


def _size(geom: Tag, what: str) -> Numbers:
    """Radii and half lengths, the length along z from `fromto` if there is one."""
    count = SOLIDS[what][0]
    written = geom.numbers("size", 1, 3)
    if geom.has("fromto"):
        if count == 1:
            raise geom.error(f"is a {what} with fromto; a {what} has no length", type=what)
        written = (*written[:1] * (count - 1), between(geom)[1])
    if len(written) < count or min(written[:count]) <= 0.0:
        raise geom.error(f"has {_count_of(written)}; a {what} takes {count}, all positive", type=what)
    return written[:count]


def _count_of(size: Numbers) -> str:
    return f"size {' '.join(f'{x:g}' for x in size)}" if size else "no size"


def meshed(geom: Tag, meshes: Mapping[str, Mesh]) -> Mesh:
    name = geom.text("mesh")
    if name not in meshes:
        raise geom.unknown("mesh", name, meshes)
    return meshes[name]


def colours(root: Tag) -> dict[str, Numbers]:
    """Materials that have a colour, by name."""
    materials = (tag for asset in root.each("asset") for tag in asset.each("material"))
    return {tag.text("name"): colour for tag in materials if (colour := _rgba(tag))}


def _rgba(tag: Tag) -> Numbers:
    """The colour that is written; none where it cannot be read, since nothing but pictures depends on it."""
    try:
        colour = tag.values("rgba")
    except DescriptionError:
        return ()
    return tuple(min(max(x, 0.0), 1.0) for x in colour) if len(colour) == 4 else ()


def shape(
    geom: Tag, frame: Pose, settings: Settings, meshes: Mapping[str, Mesh], materials: Mapping[str, Numbers]
) -> Shape | None:
    """Shape of a geom; None for planes, height fields, ellipsoids and what is fitted to a mesh, and for groups
    that MuJoCo's viewer hides, which are for collisions."""
    what = kind(geom)
    if geom.number("group", 0.0) >= HIDDEN_GROUP:
        return None
    colour = _rgba(geom) or materials.get(geom.text("material"), ())
    at = origin(frame @ pose(geom, settings))
    if what == "mesh":
        mesh = meshed(geom, meshes)
        if not mesh.path:
            return None
        at = origin(frame @ pose(geom, settings) @ mesh.place())
        return Shape("mesh", mesh.scale, at, str(mesh.file or mesh.path), geom.where, colour)
    if what not in _WHOLE or what == "ellipsoid" or geom.has("mesh"):
        return None
    return Shape(what, whole_size(geom, what), at, where=geom.where, colour=colour)


_WHOLE: dict[str, Callable[[Numbers], Numbers]] = {
    "sphere": lambda size: size,
    "ellipsoid": lambda size: size,
    "capsule": lambda size: (size[0], 2 * size[1]),
    "cylinder": lambda size: (size[0], 2 * size[1]),
    "box": lambda size: tuple(2 * x for x in size),
}


def written(inertial: Tag, settings: Settings) -> Inertia:
    """Read <inertial>, in axes of the body."""
    for needed in ("pos", "mass"):
        if not inertial.has(needed):
            raise inertial.error(f'has <inertial> without {needed}; write <inertial pos="..." mass="...">')
    if inertial.has("fullinertia"):
        if any(inertial.has(turn) for turn in TURNS) or inertial.has("diaginertia"):
            raise inertial.error(
                "has fullinertia, which is in axes of the body: no turn and no diaginertia next to it"
            )
        moments = tensor(inertial.numbers("fullinertia", 6))
    else:
        moments = np.diag(inertial.numbers("diaginertia", 3, default=(0.0, 0.0, 0.0)))
        if not inertial.has("diaginertia"):
            inertial.warn("has <inertial> without diaginertia or fullinertia; taken as zero")
    at = pose(inertial, settings)
    return Inertia(inertial.number("mass", 0.0), np.zeros(3), moments).moved(at.R, at.a)


def bounded(body: Inertia, settings: Settings) -> Inertia:
    """Return the inertia with at least the mass and principal moments of <compiler>, and balanced where that is
    asked for."""
    if not (settings.least_mass or settings.least_inertia or settings.balance):
        return body
    moments, axes = np.linalg.eigh(body.I)
    moments = np.maximum(moments, settings.least_inertia)
    if settings.balance and moments[0] + moments[1] < moments[2]:
        moments = np.full(3, moments.mean())
    mass = max(float(body.m), settings.least_mass)
    return Inertia(mass, body.d, axes @ np.diag(moments) @ axes.T)


def scale(bodies: Iterable[Inertia], settings: Settings) -> float:
    """The factor that gives all bodies together the mass of <compiler settotalmass>."""
    total = float(sum(body.m for body in bodies))
    return settings.total_mass / total if settings.total_mass > 0.0 and total else 1.0
