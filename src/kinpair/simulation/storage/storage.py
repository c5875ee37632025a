"""Results on disk: written at once, and read; `storage_layout.py` has what is in a file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from kinpair.description.doubts import Doubts
from kinpair.description.toml_reader import parse_toml
from kinpair.errors import DescriptionWarning, InputError
from kinpair.loading import build
from kinpair.mechanism import Energy, Mechanism
from kinpair.model.digest import digest
from kinpair.simulation.events.events import Happening
from kinpair.simulation.events.history import Entered, History
from kinpair.simulation.events.limits import limits_given, limits_of
from kinpair.simulation.events.mode_text import Known
from kinpair.simulation.result import Result, Status
from kinpair.simulation.storage import checkpoint, storage_options
from kinpair.simulation.storage.checkpoint import Checkpoint
from kinpair.simulation.storage.claims import busy, claimed
from kinpair.simulation.storage.storage_file import Place, mapped, opened, places, unwritable
from kinpair.simulation.storage.storage_history import (
    EVENTS,
    MODE,
    MODES,
    event_rows,
    events_in,
    mode_rows,
    modes_in,
    room_for,
)
from kinpair.simulation.storage.storage_layout import (
    RESIDUALS,
    UNFINISHED,
    VERSION,
    Shape,
    new_file,
    put_singular,
    put_status,
    residual_columns,
    rows_first,
)
from kinpair.simulation.storage.storage_options import Missing
from kinpair.simulation.storage.targets import FORMAT, RUN, target
from kinpair.simulation.watch.residual import Residual, Singular

CUT = ("unfinished", "interrupted", "not saved")  # not ended by themselves: they are kept


def save(run: Result, path: str | os.PathLike[str]) -> Path:
    """Write a result; the file gets its name when it is complete."""
    if not isinstance(path, str | os.PathLike):  # type: ignore[redundant-expr]
        raise InputError(f"save takes the path of a file, not {path!r}", argument="path")
    file = target(path, RUN)
    with claimed(file):
        _write(run, file)
    return Path(path)


def _write(run: Result, file: Path) -> None:
    refuse_unfinished(file)
    batch = len(run.q) if run.q.ndim == 3 else None
    history = run.history
    many = (len(run.events), len(history.entered)) if history is not None else (0, 0)
    room = room_for((x.name for x in run.events), *many) if history is not None else None
    shape = Shape(len(run.time), batch, run.residual is not None, room=room)
    slate = new_file(file, run.mechanism, run.options, shape, springs=run.springs, start=run.start)
    try:
        arrays = {"q": run.q, "qd": run.qd, "tau": run.tau, "work": run.work, "loss": run.loss}
        for name, x in {**arrays, **run.energy._asdict(), **residual_columns(run.residual)}.items():
            slate.write(name, rows_first(x, batch is not None))
        slate.write("time", run.time)
        put_singular(slate, run.singular)
        for row, status in {0: run.status, **{1 + k: s for k, s in run.failures.items()}}.items():
            put_status(slate, status, row)
        if history is not None:
            slate.write(EVENTS, event_rows(slate.places[EVENTS].dtype, run.events))
            slate.write(MODES, mode_rows(slate.places[MODES].dtype, history.entered))
            slate.write(MODE, history.number.astype("<i4"))
        numbers = len(run.time), 0, run.steps, run.rejected, run.dt, run.took
        stands = Checkpoint(*numbers, np.zeros(0), events=many[0], modes=many[1])
        checkpoint.put(slate, 1, stands)
        slate.flush()
    except OSError as problem:
        slate.discard()
        raise unwritable(file, problem) from None
    slate.publish()
    slate.close()


# back


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
    events: tuple[Happening, ...] = ()
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
        found = mapped(self.path, self.places[name], self.stands.samples)
        return np.moveaxis(found, 0, 1) if self.batch and name != "time" else found

    def status(self, *, ours: bool = False) -> Status:
        """How it ended; `ours`: the right to write the file is held by who asks."""
        found = _status(self.statuses[0])
        if found.name != UNFINISHED:
            return found
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
        if file.attrs.get("format") != FORMAT:
            raise InputError(
                f"{target}: is an HDF5 file, but not of a run; kp.simulate(..., save=) writes such"
            )
        if file.attrs["version"] != VERSION:
            raise InputError(
                f"{target}: has format {file.attrs['version']}; this kinpair reads format {VERSION}"
            )
        options = storage_options.get(parts["options"])
        kept = parts["mechanism"]
        about, text = dict(kept.attrs), kept.asstr()[()]
        found = checkpoint.latest(parts["checkpoint"][:])
        statuses = parts["status"][:]
        number, stands = found or (0, Checkpoint(0, 0, 0, 0, 0.0, 0.0, np.zeros(0)))
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


def load_run(path: str | os.PathLike[str], *, mechanism: Mechanism | None = None) -> Result:
    """The result in a file that `run.save(path)` or `kp.simulate(..., save=path)` wrote.

    Its arrays are read from the file where they are looked at, so it may be larger than the memory. The mechanism is
    built from the description in the file; give it where that holds Python functions.
    """
    stored = read_file(path)
    return result_of(stored, mechanism_of(stored, mechanism), wrenches_of(stored))


def wrenches_of(stored: Stored, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Applied wrenches; functions are left out unless given again."""
    kept = stored.options.get("external") or {}
    again = {**kept, **(given or {})}
    return {name: w for name, w in again.items() if not isinstance(w, Missing)}


def result_of(stored: Stored, mechanism: Mechanism, external: Mapping[str, Any]) -> Result:
    """The file as a result."""
    stands, options = stored.stands, stored.options
    return Result(
        mechanism=mechanism,
        time=stored.column("time"),
        q=stored.column("q"),
        qd=stored.column("qd"),
        tau=stored.column("tau"),
        work=stored.column("work"),
        loss=stored.column("loss"),
        energy=Energy(stored.column("kinetic"), stored.column("potential")),
        status=stored.status(),
        integrator=str(options.get("integrator", "")),
        steps=max(stands.step, stands.steps),
        rejected=max(stands.rejected, stands.in_vain),
        dt=stands.dt,
        took=stands.took,
        external=external,
        passive=bool(options.get("passive", True)),
        parameters=tuple(options.get("parameters") or ()),
        failures=stored.failures(),
        options=options,
        events=stored.events,
        springs=stored.springs,
        singular=stored.singular,
        start=None if stored.from_start else stored.start,
        history=_history(stored, mechanism),
        residual=Residual(*map(stored.column, RESIDUALS)) if stored.constrained else None,
    )


def _history(stored: Stored, mechanism: Mechanism) -> History | None:
    if MODE not in stored.places:
        return None
    limits = limits_given(mechanism, stored.options.get("limits", "ignore"))
    known = Known(str(stored.path), limits_of(mechanism, limits) if limits.unilateral else (), ())
    return History(stored.column(MODE), stored.modes, known)


def mechanism_of(stored: Stored, given: Mechanism | None = None) -> Mechanism:
    """The mechanism of a file: built from its description, or the one given, if it is the same."""
    about = stored.about
    if given is not None:
        if digest(given.model) != about["digest"]:
            raise InputError(
                f"{stored.path}: the run was of another {about['name']!r} than the mechanism given, "
                f"{given.name!r}: their equations differ"
            )
        return given
    if not stored.description:
        raise InputError(
            f"{stored.path}: the mechanism {about['name']!r} holds Python functions, which a file cannot; give it "
            "again: mechanism=..."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)  # told when the run was made
        description = parse_toml(stored.description, source=f"{stored.path}: mechanism", doubts=Doubts())
        return build(description, snap=float(about["snap"]), merge_fixed=bool(about["merge_fixed"]))


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
