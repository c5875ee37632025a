"""What the description says a link looks like, as pieces; meshes are read once and kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from io import BytesIO
from pathlib import Path

import numpy as np

from kinpair.compiler.cache import Store
from kinpair.description.mesh_file import Triangles, read_mesh
from kinpair.description.package_uri import Files
from kinpair.description.parts import Description, Link, Shape
from kinpair.errors import DescriptionError, MissingExtraError
from kinpair.spatial.pose import Pose
from kinpair.viewer import surfaces
from kinpair.viewer.pieces import Piece
from kinpair.viewer.surfaces import Surface

KEPT = 256  # files
SLOW = (".dae", ".glb", ".gltf", ".obj", ".ply", ".off")
LEVELS = np.array([1 << 24, 1 << 16, 1 << 8, 1], dtype=np.uint32)  # four bytes as one number
SHAPES = {
    "box": surfaces.box,
    "sphere": surfaces.ball,
    "cylinder": surfaces.cylinder,
    "capsule": surfaces.capsule,
}


@dataclass(slots=True)
class Missing:
    """Meshes that could not be drawn: the link and the reason of each."""

    found: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def sentences(self) -> tuple[str, ...]:
        """One sentence for all of them."""
        if not self.found:
            return ()
        link, reason = self.found[0]
        more = f" ({len(self.found)} meshes in all)" if len(self.found) > 1 else ""
        return (f"link {link!r}: {reason}; drawn as a body of the same inertia{more}",)


def looks_of(link: Link, description: Description, missing: Missing) -> list[Piece]:
    """The shapes of a link as pieces, without those that cannot be read."""
    pieces: list[Piece] = []
    for shape in link.shapes:
        try:
            pieces += _pieces(link.name, shape, description)
        except (DescriptionError, MissingExtraError) as reason:
            missing.found.append((link.name, str(reason)))
    return pieces


def _pieces(link: str, shape: Shape, description: Description) -> list[Piece]:
    if shape.kind != "mesh":
        surface = SHAPES[shape.kind](*shape.size).moved(shape.origin.pose())
        return [Piece(link, surface, shape.colour)]
    triangles = _triangles(shape, description)
    scaled = Triangles(triangles.points * np.array(shape.size), triangles.faces, triangles.colours)
    return [
        Piece(link, surface, shape.colour or colour, is_mesh=True)
        for surface, colour in _by_colour(scaled, shape.origin.pose(), bool(np.prod(shape.size) < 0))
    ]


def _triangles(shape: Shape, description: Description) -> Triangles:
    folder = Path(description.source).absolute().parent if description.source else None
    file = Files(folder).find(shape.mesh)
    if file is None:
        raise DescriptionError(f"the mesh {shape.mesh!r} is not there")
    about = file.stat()
    return _kept(str(file), about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=KEPT)
def _kept(path: str, changed: int, size: int) -> Triangles:
    """Read again where a file has changed; Collada and such, whose reader takes seconds to load, are kept on disk."""
    if Path(path).suffix.lower() not in SLOW:
        return read_mesh(path)
    store, key = Store(), f"mesh\0{path}\0{changed}\0{size}"
    kept = store.get(key)
    if kept is not None:
        return unpacked(kept)
    triangles = read_mesh(path)
    store.put(key, packed(triangles))
    return triangles


def packed(triangles: Triangles) -> bytes:
    """As bytes that `unpacked` reads."""
    file = BytesIO()
    if triangles.colours is None:
        np.savez(file, points=triangles.points, faces=triangles.faces)
    else:
        np.savez(file, points=triangles.points, faces=triangles.faces, colours=triangles.colours)
    return file.getvalue()


def unpacked(raw: bytes) -> Triangles:
    """What was packed."""
    with np.load(BytesIO(raw), allow_pickle=False) as arrays:
        own: dict[str, np.ndarray] = dict(arrays)
    return Triangles(own["points"], own["faces"], own.get("colours"))


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
