"""Protection of a stored run: checksums of its parts, and two checkpoints written in turn.

Checksums of a stored run: one for each part of the heading, one for each chunk of each column of samples.

The dataset `sample_checksums` has a row for each full chunk of `CHUNK` samples, with one number for each column. The
checksums of the last chunk, while it is not full, are part of a checkpoint. So a checkpoint and the checksums of the
samples that it counts always fit, whenever a process is killed. `heading_checksums` is a text (JSON).
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import h5py
import numpy as np

from kinpair.errors import KinpairError, StorageError, listed
from kinpair.runs.hdf5 import CHECKSUM, Column, Place, RunFile, is_whole, mapped, signed

CHUNK = 128  # samples
TABLE, HEADING = "sample_checksums", "heading_checksums"
OPTIONS = "options/"


class Sums(NamedTuple):
    """Names of the columns of samples, and the checksums of their full chunks (chunks, columns)."""

    names: tuple[str, ...]
    table: np.ndarray


def column(samples: int, names: Sequence[str]) -> Column:
    """Return the dataset for the checksums of full chunks (chunks, columns)."""
    shape = (max(1, samples // CHUNK), len(names))
    return Column(TABLE, shape, np.dtype("<u4"), attributes={"names": list(names), "chunk": CHUNK})


class SampleWriter:
    """Appends samples to a file, with their checksums if it has room for them.

    rows: samples in the file; tail (columns,): checksums of the last chunk, zeros where it is empty.
    """

    def __init__(self, run_file: RunFile, names: Sequence[str], rows: int = 0) -> None:
        self.names = [name for name in names if name in run_file.places]
        self.rows = rows
        self.tail = np.zeros(len(self.names) if TABLE in run_file.places else 0, "<u4")
        first = rows - rows % CHUNK
        for k in range(len(self.tail)):
            self.tail[k] = crc32(run_file.read(self.names[k], first, rows).tobytes())

    def append(self, run_file: RunFile, samples: Mapping[str, np.ndarray]) -> None:
        """Write rows (n, ...) of every column; OSError where the disk refuses, and then nothing has changed."""
        rows = self.rows + len(samples["time"])
        blank = {
            name: np.zeros((rows - self.rows, *run_file.places[name].shape[1:]))
            for name in self.names
            if name not in samples
        }
        columns = {**samples, **blank}
        for name in self.names:
            run_file.write(name, columns[name], self.rows)
        if len(self.tail):
            every = [
                self._chunks(run_file.places[name], columns[name], k) for k, name in enumerate(self.names)
            ]
            sums = np.array(every, "<u4").T  # (chunks, columns), the last one not full
            run_file.write(TABLE, sums[:-1], self.rows // CHUNK)
            self.tail = sums[-1]
        self.rows = rows

    def _chunks(self, place: Place, rows: np.ndarray, k: int) -> list[int]:
        """Return the checksums of the chunks that end in these rows, and of what is left behind them."""
        data = memoryview(np.ascontiguousarray(rows, dtype=place.dtype).tobytes())
        sums, row = [int(self.tail[k])], place.row
        filled, start = self.rows % CHUNK, 0
        while start < len(rows):
            stop = min(len(rows), start + CHUNK - filled)
            sums[-1] = crc32(data[start * row : stop * row], sums[-1])
            filled += stop - start
            if filled == CHUNK:
                sums.append(0)
                filled = 0
            start = stop
        return sums


def check_samples(
    path: Path, places: Mapping[str, Place], written: Sums, tail: np.ndarray, samples: int
) -> None:
    """Compare the samples of a file with their checksums; StorageError names the column and the samples."""
    if not samples:
        return
    full = samples // CHUNK
    sums = np.vstack([written.table[:full], tail]) if samples % CHUNK else written.table[:full]
    for k, name in enumerate(written.names):
        row = places[name].row
        column: Any = np.ascontiguousarray(mapped(path, places[name], samples))
        data = memoryview(column).cast("B") if row else b""
        for chunk, checksum in enumerate(sums[:, k].tolist()):
            start, stop = chunk * CHUNK, min(samples, (chunk + 1) * CHUNK)
            if crc32(data[start * row : stop * row]) != checksum:
                raise _changed_samples(path, places, name, start, stop)


def _changed_samples(
    path: Path, places: Mapping[str, Place], name: str, start: int, stop: int
) -> StorageError:
    time = mapped(path, places["time"], stop)
    return StorageError(
        f"{path}: {name}: samples {start} to {stop - 1} (t = {time[start]:.9g} s to {time[-1]:.9g} s) are not "
        "those that were written: a number was edited, or the file is damaged; use a copy from before, or "
        "simulate again",
        path=str(path),
        part=name,
        samples=(start, stop),
    )


def put_heading(file: h5py.File, columns: Sequence[str]) -> None:
    """Write the checksums of everything in a file but the numbers of the datasets `columns`."""
    file.create_dataset(HEADING, data=json.dumps(dict(_heading(file, columns))))


def check_heading(path: Path, file: h5py.File) -> None:
    """Compare the heading of a file with its checksums; StorageError names the parts that differ."""
    kept: Any = file.get(HEADING)
    if kept is None:
        raise lacking(path, HEADING)
    written: dict[str, int] = json.loads(kept.asstr()[()])
    found = dict(_heading(file, [str(name) for name in file if name not in written]))
    lost = [name for name in written if name not in found]
    if lost:
        raise lacking(path, *lost)
    differing = [name for name, checksum in written.items() if found[name] != checksum]
    differing += [name for name in found if name.startswith(OPTIONS) and name not in written]
    if differing:
        raise edited(path, *differing)


@contextmanager
def sound(path: Path) -> Generator[None]:
    """Raise StorageError where a file makes no sense in another respect than those that are checked by name."""
    try:
        yield
    except KinpairError:
        raise
    except (
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        ArithmeticError,
        OSError,
        RuntimeError,
    ) as problem:
        raise StorageError(
            f"{path}: cannot be read as a run ({problem}); use a copy from before, or simulate again",
            path=str(path),
        ) from None


def edited(path: Path, *names: str) -> StorageError:
    """Return the error for parts that do not have their checksums."""
    return _wrong(path, names, "not what was written: edited, or the file is damaged")


def lacking(path: Path, *names: str) -> StorageError:
    """Return the error for parts that a file of a run must have."""
    return _wrong(path, names, "missing in this file of a run")


def _wrong(path: Path, names: Sequence[str], problem: str) -> StorageError:
    verb = "is" if len(names) == 1 else "are"
    return StorageError(
        f"{path}: {listed(names, 3)} {verb} {problem}; use a copy from before, or simulate again",
        path=str(path),
        part=names[0],
    )


def _heading(file: h5py.File, columns: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield name and checksum of every attribute and dataset, but of the numbers of `columns`."""
    parts: list[tuple[str, Any]] = [("", file)]
    file.visititems(lambda name, part: parts.append((name, part)))
    for name, part in parts:
        if name == HEADING:
            continue
        for key, value in part.attrs.items():
            yield f"{name}/{key}".lstrip("/"), _checksum(value)
        if isinstance(part, h5py.Dataset) and name not in columns:
            yield name, _checksum(part[()])


def _checksum(value: Any) -> int:
    if isinstance(value, h5py.Empty):
        return crc32(b"empty")
    array = np.asarray(value)
    content = repr(array.tolist()).encode() if array.dtype.kind in "OSU" else array.tobytes()
    return crc32(content, crc32(repr(array.shape).encode()))


NAME = "checkpoint"
NUMBERS = (
    "number",
    "samples",
    "row",
    "step",
    "rejected",
    "events",
    "event",
    "modes",
    "steps",
    "all_rejected",
)
ARRAYS = ("state", "controller", "tail", "history")


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """Data that are needed to continue.

    samples: rows of the file that hold numbers; row and step: samples and steps before the state; state: what
    the loop hands from one chunk to the next, (ny + nu,), (batch, ny + nu), or the memory of an adaptive run;
    controller: `torque.state`, where there is such. events and modes: rows of these datasets that hold something;
    event: events before the state. steps and all_rejected: of a run that ended behind the state, all it took; else 0.
    tail (columns,): checksums of the samples in the last chunk; history (2,): of the rows of events and of modes.
    """

    samples: int
    row: int
    step: int
    rejected: int
    dt: float
    took: float
    state: np.ndarray = field(default_factory=lambda: np.zeros(0))
    controller: np.ndarray = field(default_factory=lambda: np.zeros(0))
    events: int = 0
    event: int = 0
    modes: int = 0
    steps: int = 0
    all_rejected: int = 0
    tail: np.ndarray = field(default_factory=lambda: np.zeros(0, "<u4"))
    history: np.ndarray = field(default_factory=lambda: np.zeros(2, "<u4"))


def checkpoint_column(state: tuple[int, ...], controller: tuple[int, ...], columns: int) -> Column:
    """Return a dataset with room for two checkpoints of a file with this number of columns of samples."""
    return Column(NAME, (2,), _kind(state, controller, columns))


def _kind(state: tuple[int, ...], controller: tuple[int, ...], columns: int) -> Any:
    arrays = {"state": state, "controller": controller}
    return np.dtype(
        [
            *((name, "<i8") for name in NUMBERS),
            *((name, "<f8") for name in ("dt", "took")),
            *((name, "<f8", shape) for name, shape in arrays.items() if np.prod(shape)),
            ("tail", "<u4", (columns,)),
            ("history", "<u4", (2,)),
            CHECKSUM,
        ]
    )


def put(run_file: RunFile, number: int, checkpoint: Checkpoint) -> None:
    """Write the checkpoint of that number next to the one before it."""
    record = np.zeros(1, run_file.places[NAME].dtype)
    record["number"] = number
    for name in list(record.dtype.names or ())[1:-1]:
        record[name] = getattr(checkpoint, name)
    run_file.write(NAME, signed(record), start=number % 2)


def latest(records: np.ndarray) -> tuple[int, Checkpoint] | None:
    """The last checkpoint that is whole, and its number; None: there is none."""
    whole = [record for record in records if record["number"] and is_whole(record)]
    if not whole:
        return None
    r = max(whole, key=lambda record: record["number"])
    arrays: dict[str, Any] = {name: np.array(r[name]) for name in ARRAYS if name in r.dtype.names}
    checkpoint = Checkpoint(
        **{name: int(r[name]) for name in NUMBERS[1:] if name in r.dtype.names},
        dt=float(r["dt"]),
        took=float(r["took"]),
        **arrays,
    )
    return int(r["number"]), checkpoint
