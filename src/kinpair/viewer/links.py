"""Surfaces of links: as the description draws them, and of links that it does not draw, alone or in long chains.

Meshes are read once and kept, coarser where they have more triangles than a picture can show. A mechanism of many
links is drawn as one rod a link, from its joint to the joints that it holds: a chain of ten thousand links is a line
in a picture, where markers of joints and shapes of links would hide each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from kinpair.compiler.cache import Store, all_sources
from kinpair.description.files import Files
from kinpair.description.mesh_file import Triangles, read_mesh
from kinpair.description.parts import Description, Joint, Link, Numbers, Shape
from kinpair.errors import DescriptionError, MissingExtraError
from kinpair.spatial.pose import Pose
from kinpair.viewer import surfaces
from kinpair.viewer.looks import LINK_COLOURS
from kinpair.viewer.surfaces import Piece, Surface, between, ellipsoid, reduced, shared_out, tube

KEPT = 256  # files
MOST = 250_000  # triangles of a mesh
MOST_TOGETHER = 1_000_000  # triangles of a mechanism
SLOW = (".dae", ".glb", ".gltf", ".obj", ".ply", ".off")
LEVELS = np.array([1 << 24, 1 << 16, 1 << 8, 1], dtype=np.uint32)  # four bytes as one number
SHAPES = {
    "box": surfaces.box,
    "sphere": surfaces.ball,
    "cylinder": surfaces.cylinder,
    "capsule": surfaces.capsule,
}
BONE, MARKER = 0.012, 0.022  # radii of rods and of joints, as parts of the size of the scene
SEVERAL, SHARE = (
    12,
    0.1,
)  # above so many joints a marker is no thicker than this part of the usual distance of two
LEAST, MOST_OF_SIZE = 0.5, 0.3  # semi-axes of a solid: at least so many bones, at most this part of the size
MANY = 400  # joints: above, a mechanism is drawn as rods
RADIUS = 0.003  # of a rod, as a part of the size of the scene
CORNERS = 6  # of the section of a rod
COLOUR: Numbers = (*LINK_COLOURS[0], 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """The triangles of a file as they are drawn, and how many triangles the file has."""

    triangles: Triangles
    count: int


@dataclass(slots=True)
class Meshes:
    """Meshes of a mechanism: link and reason of each that could not be read, link and number of
    triangles of each that was read."""

    missing: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    counts: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])

    def sentences(self, drawn: int) -> tuple[str, ...]:
        """Write one sentence on all missing meshes and one on all coarser ones; `drawn`: triangles that are left."""
        lines: list[str] = []
        if self.missing:
            link, reason = self.missing[0]
            more = f" ({len(self.missing)} meshes in all)" if len(self.missing) > 1 else ""
            lines.append(f"link {link!r}: {reason}; drawn as a body of the same inertia{more}")
        total = sum(count for _, count in self.counts)
        if drawn < total:
            link, largest = max(self.counts, key=lambda x: x[1])
            own, left, every = (f"{x:_}".replace("_", " ") for x in (largest, drawn, total))
            lines.append(
                f"link {link!r}: its mesh has {own} triangles; the meshes are drawn with {left} triangles of {every}. "
                "Use a mesh with fewer triangles to choose the details"
            )
        return tuple(lines)


def looks_of(links: Iterable[Link], description: Description, meshes: Meshes) -> dict[str, list[Piece]]:
    """Return the shapes of each link as pieces, without those that cannot be read; all together no more triangles than
    a picture can show."""
    looks: dict[str, list[Piece]] = {}
    for link in links:
        looks[link.name] = []
        for shape in link.shapes:
            try:
                looks[link.name] += _pieces(link.name, shape, description, meshes)
            except (DescriptionError, MissingExtraError) as reason:
                meshes.missing.append((link.name, str(reason)))
    every = [x for pieces in looks.values() for x in pieces]
    surfaces = iter(shared_out([x.surface for x in every], MOST_TOGETHER))
    return {name: [replace(x, surface=next(surfaces)) for x in pieces] for name, pieces in looks.items()}


def _pieces(link: str, shape: Shape, description: Description, meshes: Meshes) -> list[Piece]:
    if shape.kind != "mesh":
        surface = SHAPES[shape.kind](*shape.size).moved(shape.origin.pose())
        return [Piece(link, surface, shape.colour)]
    mesh = _mesh(shape, description)
    meshes.counts.append((link, mesh.count))
    triangles = mesh.triangles
    scaled = Triangles(triangles.points * np.array(shape.size), triangles.faces, triangles.colours)
    return [
        Piece(link, surface, shape.colour or colour, is_mesh=True)
        for surface, colour in _by_colour(scaled, shape.origin.pose(), bool(np.prod(shape.size) < 0))
    ]


def _mesh(shape: Shape, description: Description) -> Mesh:
    folder = Path(description.source).absolute().parent if description.source else None
    file = Files(folder).find(shape.mesh)
    if file is None:
        raise DescriptionError(f"the mesh {shape.mesh!r} is not there")
    about = file.stat()
    return _kept(str(file), about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=KEPT)
def _kept(path: str, changed: int, size: int) -> Mesh:
    """Read again where a file has changed; Collada and such, whose reader takes seconds to load, are kept on disk."""
    if Path(path).suffix.lower() not in SLOW:
        return _read(path)
    store, key = Store(), f"mesh\0{all_sources()}\0{path}\0{changed}\0{size}\0{MOST}"
    kept = store.get(key)
    if kept is not None:
        return unpacked(kept)
    mesh = _read(path)
    store.put(key, packed(mesh))
    return mesh


def _read(path: str) -> Mesh:
    """Read the mesh of a file, with at most `MOST` triangles."""
    triangles = read_mesh(path)
    count = len(triangles.faces)
    if count <= MOST:
        return Mesh(triangles, count)
    surface, origin = reduced(Surface(triangles.points, triangles.faces), MOST)
    colours = None if triangles.colours is None else triangles.colours[origin]
    return Mesh(Triangles(surface.points, surface.faces, colours), count)


def packed(mesh: Mesh) -> bytes:
    """Pack as bytes that `unpacked` reads."""
    file, own = BytesIO(), mesh.triangles
    colours = np.zeros((0, 4)) if own.colours is None else own.colours
    np.savez(file, points=own.points, faces=own.faces, colours=colours, count=np.array(mesh.count))
    return file.getvalue()


def unpacked(raw: bytes) -> Mesh:
    """Unpack what was packed."""
    with np.load(BytesIO(raw), allow_pickle=False) as arrays:
        own: dict[str, np.ndarray] = dict(arrays)
    colours = own["colours"] if len(own["colours"]) else None
    return Mesh(Triangles(own["points"], own["faces"], colours), int(own["count"]))


def _by_colour(triangles: Triangles, pose: Pose, mirrored: bool) -> list[tuple[Surface, tuple[float, ...]]]:
    """One surface for each colour of the file; without colours, one."""
    faces = triangles.faces[:, ::-1] if mirrored else triangles.faces
    points = triangles.points @ pose.R.T + pose.a
    if triangles.colours is None:
        return [(Surface(points, faces), ())]
    levels = np.rint(255.0 * triangles.colours).astype(np.uint32)
    _, first, which = np.unique(levels @ LEVELS, return_index=True, return_inverse=True)
    return [
        (_alone(points, faces[which == k]), tuple(triangles.colours[n].tolist())) for k, n in enumerate(first)
    ]


def _alone(points: np.ndarray, faces: np.ndarray) -> Surface:
    """The surface without the points that it does not use."""
    used = np.zeros(len(points), dtype=bool)
    used[faces] = True
    return Surface(points[used], (np.cumsum(used) - 1)[faces])


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """Size of a mechanism at its start [m], its middle, and the thickness to draw it."""

    size: float
    centre: np.ndarray
    bone: float
    marker: float

    @staticmethod
    def of(description: Description, home: Mapping[str, Pose], looks: Mapping[str, Sequence[Piece]]) -> Sizes:
        """Compute sizes from the joints, the mass centres and what is drawn."""
        points = [home[link.name].R @ np.array(link.com) + home[link.name].a for link in description.links]
        points += [home[joint.child].a for joint in description.joints]
        points += [home[j.parent].R @ np.array(j.origin.xyz) + home[j.parent].a for j in description.joints]
        corners = [
            corners_of(piece.surface) @ home[piece.link].R.T + home[piece.link].a
            for pieces in looks.values()
            for piece in pieces
        ]
        every = np.concatenate([[*points, np.zeros(3)], *corners])
        low, high = every.min(axis=0), every.max(axis=0)
        size = float(np.sqrt(((high - low) ** 2).sum())) or 1.0
        thin = min(1.0, _room(description) / (MARKER * size))
        return Sizes(size, (low + high) / 2, thin * BONE * size, thin * MARKER * size)


def _room(description: Description) -> float:
    """Largest radius of markers that leave most of each link to be seen [m]; infinite where there are few joints."""
    lengths = [float(np.linalg.norm(x.origin.xyz)) for x in description.joints if any(x.origin.xyz)]
    return SHARE * float(np.median(lengths)) if len(lengths) > SEVERAL else np.inf


def corners_of(surface: Surface) -> np.ndarray:
    """The corners of the box around a surface (8, 3)."""
    low, high = surface.points.min(axis=0), surface.points.max(axis=0)
    choice = np.array([[i >> k & 1 for k in range(3)] for i in range(8)])
    return np.where(choice == 1, high, low)


@dataclass(frozen=True, slots=True, eq=False)
class Around:
    """Neighbours of each link, by its name: joints that move it, joints that it holds, constraints on it."""

    moved: Mapping[str, list[Joint]]
    holding: Mapping[str, list[Joint]]
    closing: Mapping[str, list[Any]]

    @staticmethod
    def of(description: Description) -> Around:
        """Collect neighbours from all joints and constraints."""
        moved, holding, closing = (defaultdict[str, list[Any]](list) for _ in range(3))
        for joint in description.joints:
            moved[joint.child].append(joint)
            holding[joint.parent].append(joint)
        for x in description.constraints:
            closing[getattr(x, "child", "")].append(x)
        return Around(moved, holding, closing)

    def held_by(self, link: str) -> Sequence[Joint]:
        """The joints that a link holds."""
        return self.holding.get(link, ())

    def is_moved(self, link: str) -> bool:
        """True if a link moves on its parent."""
        return any(x.kind != "fixed" for x in self.moved.get(link, ()))


def by_inertia(part: Link, sizes: Sizes) -> list[Piece]:
    """The solid ellipsoid of the same mass and inertia: I_x = m (b² + c²) / 5. Nothing for a link without mass."""
    if not part.mass > 0.0:
        return []
    moments, axes = np.linalg.eigh(part.tensor())
    squares = 2.5 * (moments.sum() - 2 * moments) / part.mass
    semi = np.clip(np.sqrt(np.maximum(squares, 0.0)), LEAST * sizes.bone, MOST_OF_SIZE * sizes.size)
    R = axes * np.sign(np.linalg.det(axes))
    return [Piece(part.name, ellipsoid(*semi).moved(Pose(R, np.array(part.com))))]


def bones(around: Around, part: Link, sizes: Sizes) -> list[Piece]:
    """Rods from where a link is supported to its mass centre, and to the joints and closures that it supports."""
    link = part.name
    held = [joint.child_origin.pose().inverse().a for joint in around.moved.get(link, ())]
    ends = [np.array(joint.origin.xyz) for joint in around.held_by(link)]
    ends += [np.array(x.child_origin.xyz) for x in around.closing.get(link, ())]
    if part.mass > 0.0:
        ends.append(np.array(part.com))
    starts = held or [np.zeros(3)]
    pairs = [(start, end) for start in starts for end in ends]
    return [
        Piece(link, between(start, end, sizes.bone))
        for start, end in pairs
        if np.abs(start - end).max() > 1e-9 * sizes.size
    ]


def is_long(description: Description) -> bool:
    """True if a mechanism is drawn as rods."""
    return len(description.joints) > MANY


def rods(description: Description, around: Around, sizes: Sizes) -> Iterator[Piece]:
    """The rods of all links; links with equal data share their surfaces."""
    surfaces: dict[tuple[float, ...], Surface] = {}
    for link in description.links:
        for end in _ends(link, around.held_by(link.name)):
            if end not in surfaces:
                surfaces[end] = tube(np.array([(0.0, 0.0, 0.0), end]), RADIUS * sizes.size, CORNERS)
            yield Piece(link.name, surfaces[end], COLOUR)


def _ends(link: Link, joints: Sequence[Joint]) -> list[tuple[float, ...]]:
    """Joints that the link supports; of the last link of a chain, twice the distance to its mass centre."""
    ends = [joint.origin.xyz for joint in joints] or [tuple(2.0 * x for x in link.com)]
    return [end for end in dict.fromkeys(ends) if any(end)]
