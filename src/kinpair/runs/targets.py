"""Where outputs may go: to a file of the right ending, that is new or of the same kind and ours."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kinpair.errors import InputError

FORMAT = "kinpair run"  # of an HDF5 file, as it says itself
GENERATOR = '<meta name="generator" content="kinpair">'  # of a page
DRAWN = b"Matplotlib"  # in a picture that was drawn, not taken
EDGE = 8192  # bytes at the beginning and the end of a file that tell what it is


@dataclass(frozen=True, slots=True)
class Kind:
    """What is written: its name, the endings of its files, and whether a file that is there is such a thing."""

    name: str
    endings: tuple[str, ...]
    ours: Callable[[Path], bool]


def _is_run(path: Path) -> bool:
    from kinpair.runs.hdf5 import format_of  # importing h5py is slow

    return format_of(path) == FORMAT


def _says(mark: bytes) -> Callable[[Path], bool]:
    """Does a file say so near its beginning or its end? An empty one says nothing, and nothing is lost with it."""

    def says(path: Path) -> bool:
        with path.open("rb") as file:
            head = file.read(EDGE)
            file.seek(max(0, path.stat().st_size - EDGE))
            return mark in head or mark in file.read()

    return says


RUN = Kind("run", (".h5", ".hdf5"), _is_run)
PAGE = Kind("page", (".html", ".htm"), _says(GENERATOR.encode()))
FILM = Kind("film", (".gif", ".mp4"), _says(b"kinpair"))
PICTURE = Kind("picture", (".png", ".svg", ".pdf"), _says(DRAWN))


def target(path: str | os.PathLike[str], kind: Kind) -> Path:
    """The file to write, links followed; InputError where something else is there."""
    chosen = Path(path)
    file = Path(os.path.realpath(chosen)) if chosen.is_symlink() else chosen
    if file.is_dir():
        raise _refused(chosen, "cannot be written (Is a directory); give the name of a file", kind)
    if file.is_symlink() or (file.exists() and not file.is_file()):
        raise _refused(chosen, "cannot be written (it is not a file); give another name", kind)
    if chosen.suffix.lower() not in kind.endings:
        *some, last = kind.endings
        raise _refused(
            chosen, f"a {kind.name} is written to a file that ends in {', '.join(some)} or {last}", kind
        )
    if file.exists() and file.stat().st_size and not _ours(file, kind):
        raise _refused(
            chosen,
            f"holds something else than a {kind.name} of kinpair; delete it, or give another name",
            kind,
        )
    return file


def _ours(file: Path, kind: Kind) -> bool:
    try:
        return kind.ours(file)
    except (OSError, InputError):
        return False


def _refused(path: Path, why: str, kind: Kind) -> InputError:
    return InputError(f"{path}: {why}", path=str(path), kind=kind.name)
