"""HDF5 files that damage cannot crash, and files whose structure is complete before the first number.

HDF5 may loop without end, or end the process, on a file whose structure is damaged. The structure of a run does not
change once it is created, so its digest is kept in a seal behind the last byte that HDF5 uses. A file whose seal fits
is opened at once. Every other file is first opened and walked through in a child process with a time limit.

An HDF5 file whose structure is complete before the first number is written.

All datasets have their full length and their place in the file from the beginning; the file is sparse, so what is not
written takes no room. Numbers then go to their places by plain writes, and no write touches the structure: whatever
moment a process is killed at, and whatever a full disk refuses, the file can be opened. Nothing here knows what the
numbers mean.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any
from zlib import crc32

import h5py
import numpy as np

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


PAGE = 4096  # datasets begin at multiples of this
SMALL = 512  # bytes of one that need not
ROWS = 1 << 14  # copied at a time
MOST_WORDS = 500  # of an attribute, which holds 64 kB; more are a dataset of their own, such as `q names`
CHECKSUM = ("checksum", "<u4")  # last field of a record, over all others


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A dataset: its name, shape and type, and what is said of it."""

    name: str
    shape: tuple[int, ...]
    dtype: Any = np.float64
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Place:
    """Place where a dataset begins in its file [bytes], its shape and type."""

    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def row(self) -> int:
        """Bytes of one row."""
        return int(np.prod(self.shape[1:], dtype=int)) * self.dtype.itemsize


def create(path: Path, columns: Sequence[Column], say: Callable[[h5py.File], None]) -> RunFile:
    """A new file under a name of its own, ready to be written; `say` adds what is said once. See `RunFile.publish`."""
    try:
        return _created(path, columns, say)
    except OSError as problem:
        raise unwritable(path, problem) from None


def _created(path: Path, columns: Sequence[Column], say: Callable[[h5py.File], None]) -> RunFile:
    hidden = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with h5py.File(hidden, "w", alignment_threshold=SMALL, alignment_interval=PAGE) as file:
            for column in columns:
                _allocate(file, column)
            say(file)
            data = [_extent(file, column.name) for column in columns]
        seal(hidden, data)
        return RunFile(hidden, path)
    except BaseException:
        _forget(hidden)
        raise


def enlarged(run_file: RunFile, wider: Mapping[str, tuple[int, Any]], filled: Mapping[str, int]) -> RunFile:
    """Rewrite the file in its place, with other rows and types for some datasets.

    held: rows that hold numbers, where not all of them do; the others are not copied. OSError where the disk refuses.
    """
    with opened(run_file.file) as old:
        parts: Any = old
        columns: list[Column] = []
        for name, place in run_file.places.items():
            rows, kind = wider.get(name, (place.shape[0], place.dtype))
            columns.append(Column(name, (rows, *place.shape[1:]), kind, dict(parts[name].attrs)))

        def say(file: h5py.File) -> None:
            file.attrs.update(dict(old.attrs))
            for name in parts.keys() - run_file.places.keys():
                old.copy(name, file)

        new = _created(run_file.path, columns, say)
    try:
        for name, place in run_file.places.items():
            rows = filled.get(name, place.shape[0])
            for start in range(0, rows, ROWS):
                new.write(name, run_file.read(name, start, min(rows, start + ROWS)), start)
        new.flush()
        os.replace(new.file, new.path)
    except BaseException:
        new.discard()
        raise
    new.file = new.path
    run_file.close()
    return new


def _forget(file: Path) -> None:
    with suppress(OSError):
        file.unlink()


def _allocate(file: h5py.File, column: Column) -> None:
    how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    how.set_layout(h5py.h5d.CONTIGUOUS)
    how.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    how.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    kind = h5py.h5t.py_create(np.dtype(column.dtype), logical=True)
    h5py.h5d.create(file.id, column.name.encode(), kind, h5py.h5s.create_simple(column.shape), how)
    for key, value in column.attributes.items():
        if isinstance(value, list) and len(value) > MOST_WORDS:
            file.create_dataset(f"{column.name} {key}", data=np.array([x.encode() for x in value]))
        else:
            file[column.name].attrs[key] = value


def _extent(file: h5py.File, name: str) -> tuple[int, int]:
    """Return where the numbers of a dataset begin in the file and how many there are [bytes]."""
    dataset: Any = file[name]
    return dataset.id.get_offset() or 0, dataset.id.get_storage_size()


def places(path: Path) -> dict[str, Place]:
    """Places of the datasets of a file, those that have a place."""
    with opened(path) as file:
        every = {name: thing for name, thing in file.items() if isinstance(thing, h5py.Dataset)}
        return {
            name: Place(thing.id.get_offset() or 0, thing.shape, thing.dtype)
            for name, thing in every.items()
            if thing.chunks is None and thing.shape
        }


def unwritable(path: Path, problem: OSError) -> InputError:
    """Error that says why a file was not written."""
    reason = os.strerror(problem.errno) if problem.errno else str(problem)
    return InputError(f"{path}: cannot be written ({reason})", path=str(path))


class RunFile:
    """A file of this kind, open for numbers."""

    def __init__(self, file: Path, path: Path | None = None) -> None:
        self.file, self.path = file, path or file
        self.places = places(file)
        try:
            self._descriptor = os.open(file, os.O_RDWR | getattr(os, "O_BINARY", 0))
        except OSError as problem:
            raise unwritable(self.path, problem) from None

    def write(self, name: str, rows: np.ndarray, start: int = 0) -> None:
        """Rows (n, ...) of a dataset from row `start` on; OSError where the disk refuses."""
        place = self.places[name]
        if rows.shape[1:] != place.shape[1:]:
            raise ValueError(
                f"{name}: rows of shape {rows.shape[1:]}, and the file has room for {place.shape[1:]}"
            )
        data = memoryview(np.ascontiguousarray(rows, dtype=place.dtype).tobytes())
        at = place.offset + start * place.row
        while data:
            written = os.pwrite(self._descriptor, data, at)
            data, at = data[written:], at + written

    def read(self, name: str, start: int, stop: int) -> np.ndarray:
        """Rows of a dataset; zeros where none were written."""
        place = self.places[name]
        data = os.pread(self._descriptor, (stop - start) * place.row, place.offset + start * place.row)
        whole = data.ljust((stop - start) * place.row, b"\0")
        return np.frombuffer(whole, place.dtype).reshape(stop - start, *place.shape[1:])

    def flush(self) -> None:
        """Make sure that everything written so far is on the disk itself."""
        os.fsync(self._descriptor)

    def publish(self) -> None:
        """Give the file its name, in place of another that may have had it."""
        try:
            os.replace(self.file, self.path)
        except OSError as problem:
            self.discard()
            raise unwritable(self.path, problem) from None
        self.file = self.path

    def discard(self) -> None:
        """There shall be no such file."""
        self.close()
        _forget(self.file)

    def close(self) -> None:
        """No more numbers."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def signed(records: np.ndarray) -> np.ndarray:
    """Return records (n,) whose field `checksum`, if they have it, is set."""
    for record in records if "checksum" in (records.dtype.names or ()) else ():
        record["checksum"] = _checksum(record)
    return records


def is_whole(record: Any) -> bool:
    """True if a record has the checksum that fits, or none."""
    return "checksum" not in record.dtype.names or int(record["checksum"]) == _checksum(record)


def has_damage(records: np.ndarray) -> bool:
    """True if a record was written and is not whole: torn when a process was killed, or edited."""
    return any(any(record.tobytes()) and not is_whole(record) for record in records)


def _checksum(record: Any) -> int:
    return crc32(record.tobytes()[: -np.dtype(CHECKSUM[1]).itemsize])


def mapped(path: Path, place: Place, rows: int) -> np.ndarray:
    """The first rows of a dataset, read from the file where they are looked at."""
    if not rows or not place.row:
        return np.zeros((rows, *place.shape[1:]), place.dtype)
    return np.memmap(path, place.dtype, "r", place.offset, (rows, *place.shape[1:]))
