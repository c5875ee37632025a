"""Pieces of surface of a link by the description; meshes are read once and kept, coarser where they have
more triangles than a picture can show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from io import BytesIO
from pathlib import Path

import numpy as np

from kinpair.compiler.cache import Store, all_sources
from kinpair.description.mesh_file import Triangles, read_mesh
from kinpair.description.package_uri import Files
from kinpair.description.parts import Description, Link, Shape
from kinpair.errors import DescriptionError, MissingExtraError
from kinpair.spatial.pose import Pose
from kinpair.viewer import surfaces
from kinpair.viewer.surfaces import Piece, Surface, reduced, shared_out

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
