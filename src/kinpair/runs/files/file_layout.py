"""What a file of a run holds, and how a new one is made.

| in the file | what it is |
|---|---|
| `time`, `q`, `qd`, `tau`, `kinetic`, `potential`, `work`, `loss` | a sample a row; a batch is (samples, batch, ...) |
| `x`, `u`, `account` | internal states, inputs, energies of actuators and friction by name, where there are such |
| `slid`, `phase` | how far rates with dry friction have slid; 0 where they slide, 1 or 2 where they stick |
| `residual_position`, `residual_rate` | how far the constraints are off, where there are any |
| `singular` | pivot and time where the constraints were nearest to dependence; zeros if they were not near |
| `checkpoint` | two records of where the run stands; the larger of their `samples` is how many rows hold numbers |
| `status` | how it ended; of a batch, row 1 + k is how trajectory k ended, if it is not well |
| `start` | kinetic and potential energy at the start, where that need not be a sample |
| `events` | what happened on the way, as in `kinpair.Result.events`, where something was watched for |
| `mode` | the number of the one that held at a sample |
| `modes` | constraints and limits that hold in turn, and where each set was entered first |
| `mechanism` | its description as TOML |
| `options/` | everything that `kp.simulate` was given |
| `sample_checksums` | of chunks of samples, see `checksums.py` |
| `heading_checksums` | of everything that is written once |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from kinpair.description.toml_writer import to_toml
from kinpair.mechanism import Mechanism
from kinpair.model.digest import digest, has_functions
from kinpair.runs.files import checkpoint, checksums
from kinpair.runs.files import stored_events as storage_history
from kinpair.runs.files import stored_options as storage_options
from kinpair.runs.files.slate import CHECKSUM, Column, RunFile, create, signed
from kinpair.runs.files.stored_events import MODE, Room
from kinpair.runs.targets import FORMAT
from kinpair.runs.vectors import vectors_of
from kinpair.simulation.held import Residual, Singular
from kinpair.simulation.status import Status

VERSION = 3
WITHOUT_CHECKSUMS = 2  # version of earlier files, which can be read
STATUS = np.dtype([("name", "S32"), ("time", "<f8"), ("message", "S1024"), CHECKSUM])
SINGULAR = np.dtype([("pivot", "<f8"), ("time", "<f8"), CHECKSUM])
SCALARS = {"time": "s", "kinetic": "J", "potential": "J", "work": "J", "loss": "J"}
RESIDUALS = {"residual_position": "m or rad", "residual_rate": "m/s or rad/s"}  # under constraints
VECTORS = ("q", "qd", "tau", "x", "u", "account", "slid", "phase", "touching")
SAMPLES = (*SCALARS, *VECTORS, *RESIDUALS, MODE)
UNFINISHED = "running"  # name of the status until there is another


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """Sizes of a file: samples, trajectories (None: one), constraints or none, of what a checkpoint holds, room."""

    samples: int
    batch: int | None
    constrained: bool = False
    state: tuple[int, ...] = (0,)
    controller: tuple[int, ...] = (0,)
    room: Room | None = None
    passive: bool = True

    @property
    def lead(self) -> tuple[int, ...]:
        """In front of what belongs to a sample of one trajectory."""
        return (self.samples,) if self.batch is None else (self.samples, self.batch)


def new_file(
    path: Path,
    mechanism: Mechanism,
    options: Mapping[str, Any],
    shape: Shape,
    *,
    springs: bool = False,
    start: np.ndarray | None = None,
) -> RunFile:
    """A file for a run, under a hidden name; it says that the run is not finished.

    `springs`: at limits of joints. `start`: kinetic and potential energy (rows, 2) there.
    """
    columns = _columns(mechanism, options, shape)
    heading = _heading(mechanism, options, springs, start, [column.name for column in columns])
    run_file = create(path, columns, heading)
    put_status(run_file, Status(UNFINISHED, np.nan, ""))
    return run_file


def _columns(mechanism: Mechanism, options: Mapping[str, Any], shape: Shape) -> Sequence[Column]:
    samples = [Column("time", (shape.samples,), attributes={"units": SCALARS["time"]})]
    for name, entries in vectors_of(mechanism, options, passive=shape.passive).items():
        about = {"names": list(entries), "units": list(entries.values())}
        samples.append(Column(name, (*shape.lead, len(entries)), attributes=about))
    scalars = {**SCALARS, **(RESIDUALS if shape.constrained else {})}
    for name, unit in list(scalars.items())[1:]:
        samples.append(Column(name, shape.lead, attributes={"units": unit}))
    states = Column("status", (1 + (shape.batch or 0),), STATUS)
    passage = Column("singular", (1,), SINGULAR)
    if shape.room is not None:
        samples.append(Column(MODE, shape.lead, np.dtype("<i4")))
    history = storage_history.columns(mechanism, shape.room) if shape.room is not None else []
    names = [name for name in SAMPLES if any(name == column.name for column in samples)]
    stands = checkpoint.column(shape.state, shape.controller, len(names))
    return [states, passage, stands, *samples, *history, checksums.column(shape.samples, names)]


def _heading(
    mechanism: Mechanism,
    options: Mapping[str, Any],
    springs: bool,
    start: np.ndarray | None,
    columns: Sequence[str],
) -> Callable[[h5py.File], None]:
    def say(file: h5py.File) -> None:
        from kinpair import __version__

        written = datetime.now(UTC).isoformat(timespec="seconds")
        file.attrs.update({"format": FORMAT, "version": VERSION, "kinpair": __version__, "written": written})
        file.attrs["springs"] = springs
        if start is not None:
            file.create_dataset("start", data=start).attrs["names"] = ["kinetic", "potential"]
        model = mechanism.model
        kept = file.create_dataset(
            "mechanism", data="" if has_functions(model) else to_toml(model.description)
        )
        how = {"snap": model.options.snap, "merge_fixed": model.options.merge_fixed}
        kept.attrs.update({"name": mechanism.name, "digest": digest(model), **how})
        storage_options.put(file.create_group("options"), options)
        checksums.put_heading(file, columns)

    return say


def put_status(run_file: RunFile, status: Status, row: int = 0) -> None:
    """How the run, or (row - 1) a trajectory of it, ended."""
    kind = run_file.places["status"].dtype
    record = np.zeros(1, kind)
    record["name"], record["time"] = status.name.encode(), status.time
    record["message"] = status.message.encode()[: kind["message"].itemsize]
    run_file.write("status", signed(record), start=row)


def put_singular(run_file: RunFile, singular: Singular | None) -> None:
    """Where the constraints were nearest to dependence, if they came near to it."""
    if singular is None:
        return
    kind = run_file.places["singular"].dtype
    if kind.names is None:  # a file of an earlier version
        run_file.write("singular", np.array([singular]))
        return
    record = np.zeros(1, kind)
    record["pivot"], record["time"] = singular
    run_file.write("singular", signed(record))


def rows_first(x: np.ndarray, batch: bool) -> np.ndarray:
    """Samples in front: (batch, n, ...) as (n, batch, ...)."""
    return np.moveaxis(x, 1, 0) if batch else x


def residual_columns(residual: Residual | None) -> dict[str, np.ndarray]:
    """How far the constraints are off, by name of the dataset."""
    return dict(zip(RESIDUALS, residual, strict=True)) if residual is not None else {}
