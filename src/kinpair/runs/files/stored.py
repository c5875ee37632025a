"""Files of runs as they are read, and a result written to a file at once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from warnings import warn
from zlib import crc32

import h5py
import numpy as np

from kinpair.description.fields import counted
from kinpair.description.files import file_path
from kinpair.errors import InputError, StorageWarning, caller_level
from kinpair.runs.files import checksums
from kinpair.runs.files import file_layout as storage_options
from kinpair.runs.files.checksums import (
    TABLE,
    Checkpoint,
    SampleWriter,
    Sums,
    check_heading,
    check_samples,
    edited,
    lacking,
    sound,
)
from kinpair.runs.files.file_layout import (
    EVENTS,
    GROUPS,
    MODE,
    MODES,
    RESIDUALS,
    SAMPLES,
    SCALARS,
    UNFINISHED,
    VECTORS,
    VERSION,
    WITHOUT_CHECKSUMS,
    Shape,
    checksum,
    event_rows,
    events_in,
    mode_rows,
    modes_in,
    new_file,
    put_singular,
    put_status,
    residual_columns,
    room_for,
    rows_first,
)
from kinpair.runs.hdf5 import Place, has_damage, mapped, opened, places, unwritable
from kinpair.runs.record import Entered, Record
from kinpair.runs.targets import FORMAT, RUN, busy, claimed, target
from kinpair.simulation.events.events import EventRecord
from kinpair.simulation.held import Singular
from kinpair.simulation.status import Status

SAMPLES_OF_ALL = (*SCALARS, "q", "qd", "tau")  # columns that every run has
REQUIRED = ("options", "mechanism", "checkpoint", "status", "singular", *SAMPLES_OF_ALL)
ABOUT = ("name", "digest", "snap", "merge_fixed")  # attributes of the mechanism
NUMBERS = (*SAMPLES_OF_ALL, "x", "u")  # columns that are finite in a run that ended well
CUT = ("unfinished", "interrupted", "not saved")  # not ended by themselves: they are kept


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """A file of a run as it is read: what it says, and where its numbers are."""

    path: Path
    options: dict[str, Any]
    description: str
    about: dict[str, Any]
    places: dict[str, Place]
    number: int
    stands: Checkpoint
    statuses: np.ndarray
    events: tuple[EventRecord, ...] = ()
    modes: tuple[Entered, ...] = ()
    singular: Singular | None = None
    springs: bool = False
    start: np.ndarray | None = None
    sums: Sums | None = None
    groups: tuple[str, ...] | None = None  # names of the row groups in a checkpoint; None: an earlier file

    @property
    def finished(self) -> bool:
        """True if it has reached its end, or an event that stops it."""
        return _status(self.statuses[0]).finished

    @property
    def batch(self) -> int | None:
        """Number of trajectories."""
        return len(self.statuses) - 1 or None

    @property
    def constrained(self) -> bool:
        """True if there were constraints."""
        return set(RESIDUALS) <= self.places.keys()

    @property
    def from_start(self) -> bool:
        """True if the start itself is a sample."""
        time = self.column("time")
        return not len(time) or float(time[0]) == float(self.options.get("time", 0.0))

    def check(self) -> None:
        """Compare all samples with their checksums, and warn of those that are not finite in a run that ended well.

        StorageError names the column and the samples that are missing or are not what was written.
        """
        with sound(self.path):
            names = self.sums.names if self.sums is not None else SAMPLES_OF_ALL
            if lost := [name for name in names if name not in self.places]:
                raise lacking(self.path, *lost)
            short = [name for name in names if self.places[name].shape[0] < self.stands.samples]
            if short:
                raise lacking(self.path, *(f"samples of {name}" for name in short))
            if self.sums is not None:
                check_samples(self.path, self.places, self.sums, self.stands.tail, self.stands.samples)
            self._report_non_finite()

    def _report_non_finite(self) -> None:
        """Warn of the first number that is not finite, where the run says that all is well."""
        well = _status(self.statuses[0]).ok and not self.failures()
        for name in (name for name in NUMBERS if well and name in self.places):
            rows = mapped(self.path, self.places[name], self.stands.samples)
            with np.errstate(all="ignore"):
                if np.isfinite(np.sum(rows)):
                    continue
            wrong = np.argwhere(~np.isfinite(rows))
            if len(wrong):
                first = tuple(wrong[0].tolist())
                where = ", ".join(map(str, first))
                warn(
                    f"{self.path}: {name}[{where}] is {rows[first]:g} ({len(wrong)} in all are not finite), "
                    "although the run ended well: the file was edited or is damaged; simulate again",
                    StorageWarning,
                    stacklevel=caller_level(),
                )
                return

    def column(self, name: str) -> np.ndarray:
        """Samples of a column, as a result has them; read where they are looked at."""
        rows = mapped(self.path, self.places[name], self.stands.samples)
        return np.moveaxis(rows, 0, 1) if self.batch and name != "time" else rows

    def status(self, *, ours: bool = False) -> Status:
        """Status of its end; `ours`: the right to write the file belongs to the caller."""
        own = _status(self.statuses[0])
        if own.name != UNFINISHED:
            return own
        times = self.column("time")
        reached = float(times[-1]) if len(times) else float(self.options.get("time", 0.0))
        written = "a process is at work on it"
        killed = f"the process that wrote it was killed; kp.resume({str(self.path)!r}) goes on"
        why = written if not ours and busy(self.path) else killed
        return Status("unfinished", reached, f"Unfinished at t = {reached:.9g} s: {why}")

    def failures(self) -> dict[int, Status]:
        """Rows of a batch that are not well."""
        return {k: _status(x) for k, x in enumerate(self.statuses[1:]) if x["name"]}


def _status(record: Any) -> Status:
    name, message = (record[key].decode("utf-8", "ignore") for key in ("name", "message"))
    return Status(name, float(record["time"]), message)


def read_file(path: str | os.PathLike[str]) -> Stored:
    """Return what a file of a run says. StorageError: a part of it is missing, edited or damaged."""
    target = Path(path)
    with opened(target) as file, sound(target):
        if (form := file.attrs.get("format")) != FORMAT:
            what = f"a {form} file" if form else "an HDF5 file"
            raise InputError(f"{target}: is {what}, but not of a run; kp.simulate(..., save=) writes such")
        version = _version(target, file)
        lost = [name for name in REQUIRED if name not in file]
        lost += [f"mechanism/{key}" for key in ABOUT if not lost and key not in file["mechanism"].attrs]
        if lost or "springs" not in file.attrs:
            raise lacking(target, *(lost or ["springs"]))
        if version != WITHOUT_CHECKSUMS:
            check_heading(target, file)
        return _read(target, file)


def _version(path: Path, file: h5py.File) -> int:
    version = file.attrs.get("version")
    if version is None:
        raise lacking(path, "version")
    if version not in (WITHOUT_CHECKSUMS, VERSION):
        raise InputError(
            f"{path}: has format {version}; this kinpair reads formats {WITHOUT_CHECKSUMS} and {VERSION}"
        )
    return int(version)


def _read(path: Path, file: h5py.File) -> Stored:
    parts: Any = file
    statuses, records, passage = (parts[name][:] for name in ("status", "checkpoint", "singular"))
    number, stands = _standing(path, records, finished=_status(statuses[0]).name != UNFINISHED)
    for name, rows in (("status", statuses), ("singular", passage)):
        if rows.dtype.names and has_damage(rows):
            raise edited(path, name)
    lost = [EVENTS] if MODE in parts and EVENTS not in parts else []
    if lost := [*lost, *(name for name, n in _history_rows(stands) if n and name not in parts)]:
        raise lacking(path, *lost)
    history = [parts[name][:n] if name in parts else None for name, n in _history_rows(stands)]
    if TABLE in parts:
        _check_history(path, history, stands)
    events, modes = history
    pivot, when = list(passage[0])[:2]
    return Stored(
        path,
        storage_options.get(parts["options"]),
        parts["mechanism"].asstr()[()],
        dict(parts["mechanism"].attrs),
        places(path),
        number,
        stands,
        statuses,
        events_in(events) if events is not None else (),
        modes_in(modes) if modes is not None else (),
        Singular(float(pivot), float(when)) if pivot else None,
        bool(file.attrs["springs"]),
        parts["start"][:] if "start" in parts else None,
        _sums(parts),
        tuple(x.decode() for x in parts[GROUPS][:]) if GROUPS in parts else None,
    )


def _standing(path: Path, records: np.ndarray, finished: bool) -> tuple[int, Checkpoint]:
    """Return the last whole checkpoint and its number; one that was torn is passed over if a run is not finished."""
    newest = checksums.latest(records)
    damaged = has_damage(records) and not busy(path)
    if newest is None or (finished and damaged):
        raise edited(path, "checkpoint")
    if damaged:
        warn(
            f"{path}: the last checkpoint is damaged; the one before it is used, with "
            f"{counted(newest[1].samples, 'sample')}",
            StorageWarning,
            stacklevel=caller_level(),
        )
    return newest


def _history_rows(stands: Checkpoint) -> tuple[tuple[str, int], ...]:
    return (EVENTS, stands.events), (MODES, stands.modes)


def _check_history(path: Path, history: Sequence[np.ndarray | None], stands: Checkpoint) -> None:
    for (name, _), rows, stored_sum in zip(_history_rows(stands), history, stands.history, strict=True):
        if rows is not None and crc32(rows.tobytes()) != stored_sum:
            raise edited(path, name)


def _sums(parts: Any) -> Sums | None:
    """Return the names of the columns of samples and the checksums of their full chunks; None: the file has none."""
    if TABLE not in parts:
        return None
    return Sums(tuple(map(str, parts[TABLE].attrs["names"])), parts[TABLE][:])


def refuse_unfinished(path: Path) -> None:
    """A run that was cut off and can go on is not overwritten; the right to write the file belongs to the caller."""
    try:
        stored = read_file(path) if path.is_file() and h5py.is_hdf5(path) else None
    except (InputError, OSError):
        return
    if stored is None or not stored.stands.state.size:
        return
    status = stored.status(ours=True)
    if status.name in CUT:
        raise InputError(
            f"{path}: holds a run that is not finished ({status.message}); go on with it, delete it, or take "
            "another name",
            path=str(path),
        )


def save(run: Record, path: str | os.PathLike[str]) -> Path:
    """Write a result; the file gets its name when it is complete."""
    file = target(file_path(path, "save"), RUN)
    with claimed(file):
        _write(run, file)
    return Path(path)


def _write(run: Record, file: Path) -> None:
    refuse_unfinished(file)
    batch = len(run.q) if run.q.ndim == 3 else None
    history = run.history
    many = (len(run.events), len(history.entered)) if history is not None else (0, 0)
    room = room_for((x.name for x in run.events), *many) if history is not None else None
    shape = Shape(len(run.time), batch, run.residual is not None, room=room, passive=run.passive)
    run_file = new_file(file, run.mechanism, run.options, shape, springs=run.springs, start=run.start)
    try:
        known = {name: getattr(run, name) for name in VECTORS if name in run_file.places}
        arrays = {**known, "work": run.work, "loss": run.loss, **run.energy._asdict()}
        arrays |= residual_columns(run.residual)
        samples = {name: rows_first(x, batch is not None) for name, x in arrays.items()}
        samples["time"] = run.time
        sums = np.zeros(2, "<u4")
        if history is not None:
            run_file.write(EVENTS, event_rows(run_file.places[EVENTS].dtype, run.events))
            run_file.write(MODES, mode_rows(run_file.places[MODES].dtype, history.entered))
            samples[MODE] = rows_first(history.number.astype("<i4"), batch is not None)
            sums[:] = [checksum(run_file, name, 0, n) for name, n in zip((EVENTS, MODES), many, strict=True)]
        writer = SampleWriter(run_file, SAMPLES)
        writer.append(run_file, samples)
        put_singular(run_file, run.singular)
        for row, status in {0: run.status, **{1 + k: s for k, s in run.failures.items()}}.items():
            put_status(run_file, status, row)
        numbers = len(run.time), 0, run.steps, run.rejected, run.dt, run.took
        stands = Checkpoint(*numbers, events=many[0], modes=many[1], tail=writer.tail, history=sums)
        checksums.put(run_file, 1, stands)
        run_file.flush()
    except OSError as problem:
        run_file.discard()
        raise unwritable(file, problem) from None
    run_file.publish()
    run_file.close()
