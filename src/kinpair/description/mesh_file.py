"""Files of surfaces: their triangles, for the inertia of what they enclose and for pictures.

STL, OBJ and MuJoCo's MSH are read here; Collada and others by trimesh. Nothing is fetched, and a file that is
larger than `LARGEST`, packed or unpacked, is refused before it is read.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from kinpair.errors import DescriptionError, MissingExtraError, installs, listed

LARGEST = 256 * 2**20  # bytes of a file
_STL_HEAD, _STL_FACE = 84, np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
_VERTEX = re.compile(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)")
_UNIT = re.compile(rb"<unit\b[^>]*\bmeter\s*=\s*[\"']([^\"']+)[\"']")


@dataclass(frozen=True, slots=True, eq=False)
class Triangles:
    """Points (p, 3), corners of each triangle as numbers of points (n, 3), and its colour (n, 4) in 0 to 1, if any."""

    points: np.ndarray
    faces: np.ndarray
    colours: np.ndarray | None = None

    @property
    def corners(self) -> np.ndarray:
        """The triangles (n, 3, 3)."""
        return self.points[self.faces]


Reader: TypeAlias = Callable[[bytes], Triangles | None]


def read_mesh(path: str | os.PathLike[str]) -> Triangles:
    """The triangles of a file in the units and axes it is written in; of Collada in metres.

    DescriptionError says why a file is not read, MissingExtraError what to install for Collada.
    """
    file = Path(path)
    read = READERS.get(file.suffix.lower())
    if read is None:
        raise DescriptionError(
            f"{file}: meshes {f'named *{file.suffix}' if file.suffix else 'without an ending'} are not read; "
            f"kinpair reads {listed(READERS)}",
            path=str(file),
        )
    raw = _bytes(file)
    try:
        triangles = read(raw)
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError):
        triangles = None  # words that are no numbers, corners that are not there
    if triangles is None or not len(triangles.faces) or not np.isfinite(triangles.points).all():
        raise DescriptionError(f"{file}: is not a {file.suffix.lower()} file with faces", path=str(file))
    return triangles


def _bytes(file: Path) -> bytes:
    """Read what is in the file, unpacked, if that is not too much."""
    try:
        _check_size(file, file.stat().st_size)
        raw = file.read_bytes()
    except OSError as reason:
        raise DescriptionError(f"{file}: cannot be read ({reason.strerror})", path=str(file)) from None
    return _unpacked(file, raw) if raw[:4] == b"PK\3\4" else raw


def _check_size(file: Path, size: int, unpacked: str = "") -> None:
    if size > LARGEST:
        raise DescriptionError(
            f"{file}: has {size / 2**20:.0f} MB{unpacked}; meshes of up to {LARGEST // 2**20} MB are read. "
            "Give a mesh with fewer triangles",
            path=str(file),
            size=size,
        )


def _unpacked(file: Path, raw: bytes) -> bytes:
    """The Collada document in an archive; never more than the archive says, which is checked."""
    try:
        with zipfile.ZipFile(BytesIO(raw)) as archive:
            _check_size(file, sum(member.file_size for member in archive.infolist()), " unpacked")
            documents = [x for x in archive.infolist() if x.filename.lower().endswith(".dae")]
            return archive.read(documents[0]) if documents else b""
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError):
        return b""


def _soup(corners: np.ndarray) -> Triangles:
    """Triangles that share no point."""
    return Triangles(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))


def _stl(raw: bytes) -> Triangles | None:
    """Binary STL: a head, the number of triangles, then 50 bytes each; or the same as text."""
    count = int.from_bytes(raw[80:_STL_HEAD], "little")
    if len(raw) >= _STL_HEAD + count * _STL_FACE.itemsize and count:
        return _soup(np.frombuffer(raw, _STL_FACE, count, _STL_HEAD)["corners"].astype(float))
    if not raw.lstrip().startswith(b"solid"):
        return None
    return _soup(np.array(_VERTEX.findall(raw), dtype=float).reshape(-1, 3, 3))


def _obj(raw: bytes) -> Triangles | None:
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
    return _indexed(np.array(points), np.array(faces)) if points and faces else None


def _msh(raw: bytes) -> Triangles | None:
    """MuJoCo's own: four counts, then corners, normals, texture (floats), and three corners a face (integers)."""
    if len(raw) < 16:
        return None
    corners, normals, texture, faces = (int(n) for n in np.frombuffer(raw, "<i4", 4))
    start = 16 + 4 * (3 * corners + 3 * normals + 2 * texture)
    if min(corners, normals, texture, faces) < 0 or len(raw) != start + 12 * faces:
        return None
    points = np.frombuffer(raw, "<f4", 3 * corners, 16).astype(float).reshape(-1, 3)
    return _indexed(points, np.frombuffer(raw, "<i4", 3 * faces, start).reshape(-1, 3))


def _indexed(points: np.ndarray, faces: np.ndarray) -> Triangles | None:
    """None where a face has a corner that is not there."""
    outside = faces.min(initial=0) < 0 or faces.max(initial=-1) >= len(points)
    return None if outside else Triangles(points, faces.astype(int))


def _collada(raw: bytes) -> Triangles | None:
    """Collada, in metres. Its axes are taken as written, as other readers of URDF do, whatever is said to be up."""
    if b"<!DOCTYPE" in raw or b"<!ENTITY" in raw:
        return None
    unit = _UNIT.search(raw)
    triangles = _by_trimesh("dae")(raw)
    if triangles is None or unit is None:
        return triangles
    return Triangles(triangles.points * float(unit[1]), triangles.faces, triangles.colours)


def _by_trimesh(kind: str) -> Reader:
    def read(raw: bytes) -> Triangles | None:
        try:
            import trimesh

            if kind == "dae":
                import collada  # type: ignore[import-untyped]  # noqa: F401
        except ImportError:
            raise MissingExtraError(
                f"meshes of the kind .{kind} need trimesh; {installs('view')}",
                extra="view",
            ) from None
        try:
            scene: Any = trimesh.load_scene(BytesIO(raw), file_type=kind)
        except Exception:  # whatever a parser makes of a broken file
            return None
        return _joined([x for x in scene.dump() if isinstance(x, trimesh.Trimesh)])

    return read


def _joined(parts: list[Any]) -> Triangles | None:
    """Several surfaces as one, each triangle in the colour of its part."""
    if not parts:
        return None
    starts = np.cumsum([0, *(len(x.vertices) for x in parts)])
    return Triangles(
        np.concatenate([np.asarray(x.vertices, dtype=float) for x in parts]),
        np.concatenate([np.asarray(x.faces) + start for x, start in zip(parts, starts, strict=False)]),
        np.concatenate([np.tile(_colour(x), (len(x.faces), 1)) for x in parts]),
    )


def _colour(part: Any) -> np.ndarray:
    """Choose one colour (4,) for a part, that of its material."""
    material = getattr(part.visual, "material", None)
    main = getattr(material, "main_color", None) if material is not None else part.visual.main_color
    return np.array([0.7, 0.7, 0.72, 1.0]) if main is None else np.asarray(main, dtype=float) / 255.0


READERS: dict[str, Reader] = {
    ".stl": _stl,
    ".obj": _obj,
    ".dae": _collada,
    ".zae": _collada,
    ".msh": _msh,
    ".ply": _by_trimesh("ply"),
    ".glb": _by_trimesh("glb"),
    ".off": _by_trimesh("off"),
}
