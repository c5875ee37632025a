"""One process at a time writes a file. The right to it ends with the process that holds it, however that ends."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from kinpair.errors import StorageError


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

    The lock is on a hidden file beside it, since HDF5 has its own on the file itself, and since a run may be moved to
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
    """Is a run being written to this file now?"""
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
