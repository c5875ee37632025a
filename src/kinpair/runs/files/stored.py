"""A file of a run as it is read: what it says, and where its numbers are; `file_layout.py` has what is in it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from kinpair.errors import InputError
from kinpair.runs.files import checkpoint
from kinpair.runs.files import stored_options as storage_options
from kinpair.runs.files.checkpoint import Checkpoint
from kinpair.runs.files.claims import busy
from kinpair.runs.files.file_layout import (
    RESIDUALS,
    UNFINISHED,
    VERSION,
)
from kinpair.runs.files.slate import Place, mapped, opened, places
from kinpair.runs.files.stored_events import (
    EVENTS,
    MODES,
    events_in,
    modes_in,
)
from kinpair.runs.history import Entered
from kinpair.runs.targets import FORMAT
from kinpair.simulation.events.events import EventRecord
from kinpair.simulation.residual import Singular
from kinpair.simulation.status import Status

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

    @property
    def finished(self) -> bool:
        """Has it reached its end, or an event that stops it?"""
        return _status(self.statuses[0]).finished

    @property
    def batch(self) -> int | None:
        """Trajectories."""
        return len(self.statuses) - 1 or None

    @property
    def constrained(self) -> bool:
        """Were there constraints to hold?"""
        return set(RESIDUALS) <= self.places.keys()

    @property
    def from_start(self) -> bool:
        """Is the start itself a sample?"""
        time = self.column("time")
        return not len(time) or float(time[0]) == float(self.options.get("time", 0.0))

    def column(self, name: str) -> np.ndarray:
        """Its samples, as a result has them; read where they are looked at."""
        rows = mapped(self.path, self.places[name], self.stands.samples)
        return np.moveaxis(rows, 0, 1) if self.batch and name != "time" else rows

    def status(self, *, ours: bool = False) -> Status:
        """How it ended; `ours`: the right to write the file is held by who asks."""
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
    """What a file of a run says."""
    target = Path(path)
    with opened(target) as file:
        parts: Any = file
        if (form := file.attrs.get("format")) != FORMAT:
            what = f"a {form} file" if form else "an HDF5 file"
            raise InputError(f"{target}: is {what}, but not of a run; kp.simulate(..., save=) writes such")
        if file.attrs["version"] != VERSION:
            raise InputError(
                f"{target}: has format {file.attrs['version']}; this kinpair reads format {VERSION}"
            )
        options = storage_options.get(parts["options"])
        kept = parts["mechanism"]
        about, text = dict(kept.attrs), kept.asstr()[()]
        newest = checkpoint.latest(parts["checkpoint"][:])
        statuses = parts["status"][:]
        number, stands = newest or (0, Checkpoint(0, 0, 0, 0, 0.0, 0.0, np.zeros(0)))
        events = events_in(parts[EVENTS][: stands.events]) if EVENTS in parts else ()
        modes = modes_in(parts[MODES][: stands.modes]) if MODES in parts else ()
        pivot, when = parts["singular"][0]
        springs = bool(file.attrs["springs"])
        start = parts["start"][:] if "start" in parts else None
    passage = Singular(float(pivot), float(when)) if pivot else None
    return Stored(
        target,
        options,
        text,
        about,
        places(target),
        number,
        stands,
        statuses,
        events,
        modes,
        passage,
        springs,
        start,
    )


def refuse_unfinished(path: Path) -> None:
    """A run that was cut off and can go on is not overwritten; the right to write the file is held."""
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
