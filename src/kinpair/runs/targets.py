"""Files that may be written, and by one process at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kinpair.errors import InputError, StorageError


def locked(file: int) -> bool:
    """Take the lock of an open file; False: another holds it. True too where the system has no locks."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


@contextmanager
def claimed(path: Path) -> Generator[None]:
    """The right to write a run to this file, while the block lasts; StorageError: another process has it.

    The lock is on a hidden file next to it, since HDF5 has its own on the file itself, and since a run may be moved to
    a larger file. Where the folder takes no such file, a new run is refused later, and an old one goes on unlocked.
    """
    beside = _beside(path)
    try:
        descriptor = _lock(beside)
    except OSError:
        yield
        return
    if descriptor is None:
        raise StorageError(
            f"{path}: another process is writing this run; wait for it, or take another name", path=str(path)
        )
    try:
        yield
    finally:
        beside.unlink(missing_ok=True)
        os.close(descriptor)


def busy(path: Path) -> bool:
    """True if a run is being written to this file now."""
    try:
        file = os.open(_beside(path), os.O_RDWR)
    except OSError:
        return False
    try:
        return not locked(file)
    finally:
        os.close(file)


def _beside(path: Path) -> Path:
    real = Path(os.path.realpath(path))
    return real.with_name(f".{real.name}.lock")


def _lock(beside: Path) -> int | None:
    """The hidden file, open and locked; None: another holds it. One that its holder removed meanwhile is no lock."""
    while True:
        file = os.open(beside, os.O_RDWR | os.O_CREAT, 0o666)
        if not locked(file):
            os.close(file)
            return None
        try:
            if os.path.samestat(os.fstat(file), os.stat(beside)):
                return file
        except FileNotFoundError:
            pass
        os.close(file)


FORMAT = "kinpair run"  # of an HDF5 file, as it says itself
GENERATOR = '<meta name="generator" content="kinpair">'  # of a page
DRAWN = b"Matplotlib"  # in a picture that was drawn, not taken
EDGE = 8192  # bytes at the beginning and the end of a file that tell what it is


@dataclass(frozen=True, slots=True)
class Kind:
    """Kind of a file: its name, the endings of its files, and whether a file that is there is such a thing."""

    name: str
    endings: tuple[str, ...]
    ours: Callable[[Path], bool]


def _is_run(path: Path) -> bool:
    from kinpair.runs.hdf5 import format_of  # importing h5py is slow

    return format_of(path) == FORMAT


def _says(mark: bytes) -> Callable[[Path], bool]:
    """True if a file says so near its beginning or its end. An empty one says nothing, and nothing is lost with it."""

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
