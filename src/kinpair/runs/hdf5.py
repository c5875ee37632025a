"""HDF5 files opened so that a damaged structure cannot hang or crash this process.

HDF5 may loop without end, or end the process, on a file whose structure is damaged. The structure of a run does not
change once it is created, so its digest is kept in a seal behind the last byte that HDF5 uses. A file whose seal fits
is opened at once. Every other file is first opened and walked through in a child process with a time limit.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import h5py

from kinpair.errors import InputError, StorageError

MARK = b"kinpair seal 1\n"
LENGTH = 8  # bytes of the length of a seal, at the very end of the file
LARGEST = 1 << 20  # bytes of a seal
LIMIT = 20.0  # seconds that a child process may take, most of them to import h5py on a busy machine
BLOCK = 1 << 20

PROBE = """
import sys
sys.path[:] = sys.argv[2:]
import h5py

def visit(name, thing):
    print(name, flush=True)
    dict(thing.attrs)
    if isinstance(thing, h5py.Dataset):
        thing.shape, thing.dtype, thing.chunks, thing.id.get_offset()
        if thing.size is not None and thing.size * thing.dtype.itemsize < 1 << 24:
            thing[()]
    else:
        list(thing.items())

with h5py.File(sys.argv[1], "r") as file:
    visit("", file)
    file.visititems(visit)
"""


def opened(path: Path) -> h5py.File:
    """Return the file, open for reading. StorageError: its structure is damaged; InputError: it is no HDF5 file."""
    try:
        if not _sealed(path) and h5py.is_hdf5(path):
            about = path.stat()
            if damage := _probe(path, about.st_size, about.st_mtime_ns):
                raise StorageError(*damage.args, **damage.parts)
        return h5py.File(path, "r")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file", path=str(path)) from None
    except StorageError:
        raise
    except OSError as problem:
        if path.is_dir():
            raise InputError(f"{path}: is a folder; give the file of a run (.h5)", path=str(path)) from None
        reason = os.strerror(problem.errno) if problem.errno else "it is no HDF5 file, or damaged"
        raise InputError(f"{path}: cannot be read ({reason})", path=str(path)) from None


def format_of(path: Path) -> Any:
    """Return the attribute `format` of an HDF5 file; None if it has none, or is no such file."""
    if not h5py.is_hdf5(path):
        return None
    with opened(path) as file:
        return file.attrs.get("format")


def seal(path: Path, data: Sequence[tuple[int, int]]) -> None:
    """Append a digest of all bytes but those of `data`, (offset, length) of datasets that change later [bytes]."""
    end = path.stat().st_size
    about = {"end": end, "data": sorted(data), "digest": _digest(path, end, data)}
    text = MARK + json.dumps(about).encode()
    with path.open("ab") as file:
        file.write(text + len(text).to_bytes(LENGTH, "little"))


def _sealed(path: Path) -> bool:
    """True if the file has a seal that fits."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if size < LENGTH:
            return False
        file.seek(size - LENGTH)
        length = int.from_bytes(file.read(LENGTH), "little")
        if not len(MARK) < length <= min(LARGEST, size - LENGTH):
            return False
        file.seek(size - LENGTH - length)
        text = file.read(length)
    try:
        about = json.loads(text.removeprefix(MARK)) if text.startswith(MARK) else {}
        end, data = int(about["end"]), [(int(offset), int(n)) for offset, n in about["data"]]
    except (ValueError, KeyError, TypeError):
        return False
    return end == size - LENGTH - length and about.get("digest") == _digest(path, end, data)


def _digest(path: Path, end: int, data: Sequence[tuple[int, int]]) -> str:
    checksum = hashlib.sha256(repr((end, sorted(data))).encode())
    with path.open("rb") as file:
        for start, stop in _gaps(end, data):
            file.seek(start)
            while start < stop and (block := file.read(min(BLOCK, stop - start))):
                checksum.update(block)
                start += len(block)
    return checksum.hexdigest()


def _gaps(end: int, data: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of bytes between those of `data`."""
    start = 0
    for offset, length in sorted(data):
        if start < offset:
            yield start, offset
        start = max(start, offset + length)
    if start < end:
        yield start, end


@lru_cache(maxsize=64)
def _probe(path: Path, size: int, changed: int) -> StorageError | None:
    """Walk through a file in a child process; return what is wrong with it. It is remembered by size and time."""
    if not sys.executable:
        return None
    arguments = [sys.executable, "-c", PROBE, str(path), *sys.path]
    try:
        child = subprocess.run(arguments, capture_output=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired as expired:
        return _damaged(path, expired.stdout, f"HDF5 did not finish reading it in {LIMIT:g} s")
    if child.returncode < 0:
        return _damaged(path, child.stdout, f"HDF5 crashes on it with signal {-child.returncode}")
    if child.returncode:
        reason = child.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        return _damaged(path, child.stdout, reason)
    return None


def _damaged(path: Path, visited: bytes | None, reason: str) -> StorageError:
    """Return the error; `visited` has a line for each part that was reached."""
    part = (visited or b"").decode("utf-8", "replace").rstrip("\n").rpartition("\n")[2]
    where = f" at {part!r}" if part else ""
    return StorageError(
        f"{path}: the structure of the file is damaged{where} ({reason}); use a copy from before the damage",
        path=str(path),
        part=part,
    )
