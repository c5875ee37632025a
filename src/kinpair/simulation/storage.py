"""Results on disk: what a file of a run holds, how it is written at once, and how it is read.

| in the file | what it is |
|---|---|
| `time`, `q`, `qd`, `tau`, `kinetic`, `potential`, `work`, `loss` | a sample a row; a batch is (samples, batch, ...) |
| `checkpoint` | two records of where the run stands; the larger of their `samples` is how many rows hold numbers |
| `status` | how it ended; of a batch, row 1 + k is how trajectory k ended, if it did not arrive |
| `mechanism` | its description as TOML |
| `options/` | everything that `kp.simulate` was given |
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from kinpair.description.doubts import Doubts
from kinpair.description.toml_reader import parse_toml
from kinpair.description.toml_writer import to_toml
from kinpair.errors import DescriptionError, DescriptionWarning, InputError
from kinpair.loading import build
from kinpair.mechanism import Energy, Mechanism
from kinpair.model.digest import digest
from kinpair.simulation import checkpoint, storage_options
from kinpair.simulation.checkpoint import Checkpoint
from kinpair.simulation.result import Result, Status
from kinpair.simulation.storage_file import Column, Place, Slate, create, mapped, opened, places, unwritable
from kinpair.simulation.storage_options import Missing
from kinpair.simulation.units import units

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMAT, VERSION = "kinpair run", 1
STATUS = np.dtype([("name", "S32"), ("time", "<f8"), ("message", "S1024")])
SCALARS = {"time": "s", "kinetic": "J", "potential": "J", "work": "J", "loss": "J"}
VECTORS = {"q": "q_names", "qd": "v_names", "tau": "v_names"}
UNFINISHED = "running"  # name of the status until there is another


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """Sizes of a file: samples, trajectories (None: one), and of what a checkpoint holds."""

    samples: int
    batch: int | None
    state: tuple[int, ...] = (0,)
    controller: tuple[int, ...] = (0,)

    @property
    def lead(self) -> tuple[int, ...]:
        """In front of what belongs to a sample of one trajectory."""
        return (self.samples,) if self.batch is None else (self.samples, self.batch)


def new_file(path: Path, mechanism: Mechanism, options: Mapping[str, Any], shape: Shape) -> Slate:
    """A file for a run, under a hidden name; it says that the run is not finished."""
    slate = create(path, list(_columns(mechanism, shape)), _heading(mechanism, options))
    put_status(slate, Status(UNFINISHED, np.nan, ""))
    return slate


def _columns(mechanism: Mechanism, shape: Shape) -> Sequence[Column]:
    said = units(mechanism.model)
    samples = [Column("time", (shape.samples,), attributes={"units": SCALARS["time"]})]
    for name, names in VECTORS.items():
        entries = list(getattr(mechanism, names))
        about = {"names": entries, "units": said[name]}
        samples.append(Column(name, (*shape.lead, len(entries)), attributes=about))
    for name, unit in list(SCALARS.items())[1:]:
        samples.append(Column(name, shape.lead, attributes={"units": unit}))
    states = Column("status", (1 + (shape.batch or 0),), STATUS)
    return [states, checkpoint.column(shape.state, shape.controller), *samples]


def _heading(mechanism: Mechanism, options: Mapping[str, Any]) -> Callable[[h5py.File], None]:
    def say(file: h5py.File) -> None:
        from kinpair import __version__

        written = datetime.now(UTC).isoformat(timespec="seconds")
        file.attrs.update({"format": FORMAT, "version": VERSION, "kinpair": __version__, "written": written})
        try:
            text = to_toml(mechanism.model.description)
        except DescriptionError as reason:  # it holds functions
            text = ""
            file.attrs["no_mechanism"] = str(reason)
        kept = file.create_dataset("mechanism", data=text)
        how = mechanism.model.options
        kept.attrs.update({"name": mechanism.name, "snap": how.snap, "merge_fixed": how.merge_fixed})
        kept.attrs["digest"] = digest(mechanism.model)
        storage_options.put(file.create_group("options"), options)

    return say


def put_status(slate: Slate, status: Status, row: int = 0) -> None:
    """How the run, or (row - 1) a trajectory of it, ended."""
    record = np.zeros(1, STATUS)
    room = STATUS["message"].itemsize
    record[0] = (status.name.encode(), status.time, status.message.encode()[:room])
    slate.write("status", record, start=row)


def rows_first(x: np.ndarray, batch: bool) -> np.ndarray:
    """Samples in front: (batch, n, ...) as (n, batch, ...)."""
    return np.moveaxis(x, 1, 0) if batch else x


# at once


def save(run: Result, path: str | os.PathLike[str]) -> Path:
    """Write a result; the file gets its name when it is complete."""
    target = Path(path)
    refuse_unfinished(target)
    batch = len(run.q) if run.q.ndim == 3 else None
    slate = new_file(target, run.mechanism, run.options, Shape(len(run.time), batch))
    try:
        arrays = {"q": run.q, "qd": run.qd, "tau": run.tau, "work": run.work, "loss": run.loss}
        for name, x in {**arrays, **run.energy._asdict()}.items():
            slate.write(name, rows_first(x, batch is not None))
        slate.write("time", run.time)
        for row, status in {0: run.status, **{1 + k: s for k, s in run.failures.items()}}.items():
            put_status(slate, status, row)
        stands = Checkpoint(len(run.time), 0, run.steps, run.rejected, run.dt, run.took, np.zeros(0))
        checkpoint.put(slate, 1, stands)
        slate.flush()
    except OSError as problem:
        slate.discard()
        raise unwritable(target, problem) from None
    slate.publish()
    slate.close()
    return target


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

    @property
    def finished(self) -> bool:
        """Has it reached its end?"""
        return self.statuses["name"][0] == b"done"

    @property
    def batch(self) -> int | None:
        """Trajectories."""
        return len(self.statuses) - 1 or None

    def column(self, name: str) -> np.ndarray:
        """Its samples, as a result has them; read where they are looked at."""
        found = mapped(self.path, self.places[name], self.stands.samples)
        return np.moveaxis(found, 0, 1) if self.batch and name != "time" else found

    def status(self) -> Status:
        """How it ended."""
        found = _status(self.statuses[0])
        if found.name != UNFINISHED:
            return found
        times = self.column("time")
        reached = float(times[-1]) if len(times) else float(self.options.get("time", 0.0))
        return Status(
            "unfinished",
            reached,
            f"Unfinished at t = {reached:.9g} s: the run goes on, or was killed; kp.resume({str(self.path)!r}) goes on",
        )

    def failures(self) -> dict[int, Status]:
        """Rows of a batch that did not arrive."""
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
        about["no_mechanism"] = file.attrs.get("no_mechanism", "")
        found = checkpoint.latest(parts["checkpoint"][:])
        statuses = parts["status"][:]
    number, stands = found or (0, Checkpoint(0, 0, 0, 0, 0.0, 0.0, np.zeros(0)))
    return Stored(target, options, text, about, places(target), number, stands, statuses)


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
        **{name: stored.column(name) for name in ("time", "q", "qd", "tau", "work", "loss")},
        energy=Energy(stored.column("kinetic"), stored.column("potential")),
        status=stored.status(),
        integrator=str(options.get("integrator", "")),
        steps=stands.step,
        rejected=stands.rejected,
        dt=stands.dt,
        took=stands.took,
        external=external,
        passive=bool(options.get("passive", True)),
        parameters=tuple(options.get("parameters") or ()),
        failures=stored.failures(),
        options=options,
    )


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
            f"again: mechanism=... ({about['no_mechanism']})"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)  # told when the run was made
        description = parse_toml(stored.description, source=f"{stored.path}: mechanism", doubts=Doubts())
        return build(description, snap=float(about["snap"]), merge_fixed=bool(about["merge_fixed"]))


def refuse_unfinished(path: Path) -> None:
    """A run that can go on is not overwritten."""
    try:
        stored = read_file(path) if path.is_file() and h5py.is_hdf5(path) else None
    except (InputError, OSError):
        return
    if stored is not None and stored.stands.state.size and not stored.finished:
        raise InputError(
            f"{path}: holds a run that is not finished ({stored.status().message}); go on with it, delete it, or take "
            "another name",
            path=str(path),
        )
