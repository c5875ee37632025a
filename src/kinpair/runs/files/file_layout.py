"""Layout of a file of a run: its options, its events and modes, its datasets.

What a simulation was given, in a group of an HDF5 file: numbers as datasets, words as attributes.

A function cannot be kept; its name is, so that it can be asked for. Of events, which are functions, it is a dict by
their names.

What a file of a run holds, and how a new one is made.

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
| `events` | what happened during the run, as in `kinpair.Result.events`, where something was watched for |
| `mode` | the number of the one that was active at a sample |
| `modes` | constraints and limits that hold in turn, and where each set was entered first |
| `mechanism` | its description as TOML |
| `options/` | everything that `kp.simulate` was given |
| `sample_checksums` | of chunks of samples, see `checksums.py` |
| `heading_checksums` | of everything that is written once |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zlib import crc32

import h5py
import numpy as np

from kinpair.description.toml_writer import to_toml
from kinpair.mechanism import Mechanism
from kinpair.model.digest import digest, has_functions
from kinpair.runs.files import checksums
from kinpair.runs.files import checksums as checkpoint
from kinpair.runs.hdf5 import CHECKSUM, Column, Place, RunFile, create, signed
from kinpair.runs.record import Entered, vectors_of
from kinpair.runs.targets import FORMAT
from kinpair.simulation.events.events import Event, EventRecord
from kinpair.simulation.events.limits import Limits
from kinpair.simulation.given import Missing
from kinpair.simulation.held import Residual, Singular
from kinpair.simulation.status import Status

EVENTS, MODES, MODE = "events", "modes", "mode"
FIRST = 1024  # events for which a new file has room,
FEW, SHORT = 16, 512  # and modes, and bytes of the text of one


@dataclass(frozen=True, slots=True)
class Room:
    """Rows for events and modes, and bytes for the name of an event and the text of a mode."""

    events: int
    name: int
    modes: int = 0
    text: int = 1


def room_for(names: Iterable[str], events: int = FIRST, modes: int = FEW) -> Room:
    """Room of a new file; names: those that events may have."""
    return Room(events, max((len(name.encode()) for name in names), default=1), modes, SHORT)


def columns(mechanism: Mechanism, room: Room) -> list[Column]:
    """Datasets of the columns."""
    nq, nv = mechanism.nq, mechanism.nv
    event = [
        ("time", "<f8"),
        ("name", f"S{room.name}"),
        ("q", "<f8", (nq,)),
        ("qd", "<f8", (nv,)),
        ("qd_before", "<f8", (nv,)),
        ("lost", "<f8"),
        ("beta", "<f8"),
        ("row", "<i8"),
    ]
    mode = [("time", "<f8"), ("q", "<f8", (nq,)), ("mode", f"S{room.text}")]
    result = [Column(EVENTS, (room.events,), np.dtype(event))]
    return result + ([Column(MODES, (room.modes,), np.dtype(mode))] if room.modes else [])


def event_rows(kind: Any, events: Sequence[EventRecord]) -> np.ndarray:
    """Return rows (n,) of the type of the dataset; files of earlier versions have fewer fields."""
    values = [{**asdict(x), "name": x.name.encode()} for x in events]
    return np.array([tuple(x[name] for name in kind.names) for x in values], kind)


def events_in(rows: np.ndarray) -> tuple[EventRecord, ...]:
    """Read events that `event_rows` wrote."""
    return tuple(
        EventRecord(
            float(row["time"]),
            row["name"].decode(),
            np.array(row["q"]),
            np.array(row["qd"]),
            np.array(row["qd_before"]),
            float(row["lost"]),
            float(row["beta"]) if "beta" in (rows.dtype.names or ()) else 1.0,
            int(row["row"]) if "row" in (rows.dtype.names or ()) else 0,
        )
        for row in rows
    )


def mode_rows(kind: Any, entered: Sequence[Entered]) -> np.ndarray:
    """Rows (n,) of the type of the dataset, or of a wider one where a text is longer."""
    texts = [x.text.encode() for x in entered]
    longest = max((len(text) for text in texts), default=0)
    if longest > kind["mode"].itemsize:
        kind = np.dtype([(key, f"S{2 * longest}" if key == "mode" else kind[key]) for key in kind.names])
    return np.array([(x.time, x.q, text) for x, text in zip(entered, texts, strict=True)], kind)


def modes_in(rows: np.ndarray) -> tuple[Entered, ...]:
    """Read modes that `mode_rows` wrote."""
    return tuple(Entered(float(row["time"]), np.array(row["q"]), row["mode"].decode()) for row in rows)


def checksum(run_file: RunFile, name: str, start: int, stop: int, before: int = 0) -> int:
    """Return the checksum of rows of events or modes up to `stop`; `before`: that of the rows up to `start`."""
    return crc32(run_file.read(name, start, stop).tobytes(), before)


def fits(place: Place, start: int, rows: np.ndarray) -> bool:
    """True if there is room for rows from `start` on."""
    return start + len(rows) <= place.shape[0] and rows.dtype.itemsize <= place.dtype.itemsize


def wider(place: Place, start: int, rows: np.ndarray) -> tuple[int, Any]:
    """Rows and type with room for these rows, and for as many again."""
    kind = rows.dtype if rows.dtype.itemsize > place.dtype.itemsize else place.dtype
    return max(place.shape[0], 2 * (start + len(rows))), kind


def put(group: h5py.Group, options: Mapping[str, Any]) -> None:
    """Write everything given, but what is None."""
    for key, value in options.items():
        if value is not None:
            _put(group, key, value)


def _put(group: h5py.Group, key: str, value: Any) -> None:
    if isinstance(value, Limits):
        put(group.create_group(key), {"limits": True, **asdict(value)})
    elif isinstance(value, Event) or (isinstance(value, list | tuple) and _are_events(value)):
        every: Any = (value,) if isinstance(value, Event) else value
        _put(group, key, {event.name: event.function for event in every})
    elif callable(value) or isinstance(value, Missing):
        kept = value if isinstance(value, Missing) else _missing(value)
        about = {"function": kept.name, "called": kept.called, "sample_time": kept.sample_time}
        group.create_group(key).attrs.update({name: x for name, x in about.items() if x is not None})
    elif isinstance(value, Mapping):
        inner = group.create_group(key)
        inner.attrs["names"] = [str(name) for name in value] or h5py.Empty("S1")
        put(inner, {str(k): x for k, x in enumerate(value.values())})
    elif isinstance(value, tuple) and any(np.ndim(x) != np.ndim(value[0]) for x in value):
        inner = group.create_group(key)
        inner.attrs["several"] = len(value)
        put(inner, {str(k): x for k, x in enumerate(value)})
    elif np.ndim(value) == 0:
        group.attrs[key] = value
    else:
        group.create_dataset(key, data=np.asarray(value, dtype=float))


def _are_events(value: Any) -> bool:
    return all(isinstance(x, Event) for x in value) and bool(value)


def _missing(function: Any) -> Missing:
    own = getattr(function, "__qualname__", None)
    every = getattr(function, "sample_time", None)
    return Missing(own or type(function).__qualname__, own is None, None if every is None else float(every))


def get(group: h5py.Group) -> dict[str, Any]:
    """Read what `put` was given; `Missing` where there was a function."""
    words = {key: _plain(value) for key, value in group.attrs.items() if key not in ("names", "several")}
    return words | {key: _get(value) for key, value in group.items()}


def _get(value: Any) -> Any:
    if isinstance(value, h5py.Dataset):
        return value[()]
    if "function" in value.attrs:
        facts = (_plain(value.attrs.get(name)) for name in ("function", "called", "sample_time"))
        return Missing(*facts)
    inner = get(value)
    if inner.pop("limits", False):
        return Limits(**inner)
    if "several" in value.attrs:
        return tuple(inner[str(k)] for k in range(int(value.attrs["several"])))
    names = value.attrs["names"]
    return {} if isinstance(names, h5py.Empty) else {name: inner[str(k)] for k, name in enumerate(names)}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


VERSION = 3
GROUPS = "groups"  # names of the row groups of a checkpoint
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
        """Axes in front of what belongs to a sample of one trajectory."""
        return (self.samples,) if self.batch is None else (self.samples, self.batch)


def new_file(
    path: Path,
    mechanism: Mechanism,
    options: Mapping[str, Any],
    shape: Shape,
    *,
    springs: bool = False,
    start: np.ndarray | None = None,
    groups: Sequence[str] = (),
) -> RunFile:
    """A file for a run, under a hidden name; it says that the run is not finished.

    `springs`: at limits of joints. `start`: kinetic and potential energy (rows, 2) there. `groups`: names of the row
    groups whose phases and directions a checkpoint holds, in its order.
    """
    columns = _columns(mechanism, options, shape)
    heading = _heading(mechanism, options, springs, start, groups, [column.name for column in columns])
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
    history = columns(mechanism, shape.room) if shape.room is not None else []
    names = [name for name in SAMPLES if any(name == column.name for column in samples)]
    stands = checkpoint.checkpoint_column(shape.state, shape.controller, len(names))
    return [states, passage, stands, *samples, *history, checksums.column(shape.samples, names)]


def _heading(
    mechanism: Mechanism,
    options: Mapping[str, Any],
    springs: bool,
    start: np.ndarray | None,
    groups: Sequence[str],
    columns: Sequence[str],
) -> Callable[[h5py.File], None]:
    def say(file: h5py.File) -> None:
        from kinpair import __version__

        written = datetime.now(UTC).isoformat(timespec="seconds")
        file.attrs.update({"format": FORMAT, "version": VERSION, "kinpair": __version__, "written": written})
        file.attrs["springs"] = springs
        if groups:
            file.create_dataset(GROUPS, data=np.array([x.encode() for x in groups]))
        if start is not None:
            file.create_dataset("start", data=start).attrs["names"] = ["kinetic", "potential"]
        model = mechanism.model
        kept = file.create_dataset(
            "mechanism", data="" if has_functions(model) else to_toml(model.description)
        )
        how = {"snap": model.options.snap, "merge_fixed": model.options.merge_fixed}
        kept.attrs.update({"name": mechanism.name, "digest": digest(model), **how})
        put(file.create_group("options"), options)
        checksums.put_heading(file, columns)

    return say


def put_status(run_file: RunFile, status: Status, row: int = 0) -> None:
    """Write how the run, or (row - 1) a trajectory of it, ended."""
    kind = run_file.places["status"].dtype
    record = np.zeros(1, kind)
    record["name"], record["time"] = status.name.encode(), status.time
    record["message"] = status.message.encode()[: kind["message"].itemsize]
    run_file.write("status", signed(record), start=row)


def put_singular(run_file: RunFile, singular: Singular | None) -> None:
    """Write where the constraints were nearest to dependence, if they came near to it."""
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
    """Residuals of the constraints, by name of the dataset."""
    return dict(zip(RESIDUALS, residual, strict=True)) if residual is not None else {}
