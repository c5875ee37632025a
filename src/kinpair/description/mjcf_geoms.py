"""The geoms of an MJCF body: what they weigh and what they look like."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from kinpair.description.mjcf_mesh import Mesh
from kinpair.description.mjcf_orientation import between, pose
from kinpair.description.mjcf_settings import Settings
from kinpair.description.mjcf_solids import SOLIDS
from kinpair.description.mjcf_xml import YES_NO, Tag
from kinpair.description.parts import Numbers, Shape, origin
from kinpair.errors import DescriptionError, listed, nearest
from kinpair.spatial.inertia import NOTHING, Inertia
from kinpair.spatial.pose import Pose

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
