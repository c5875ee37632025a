"""Where a run stands, kept in its file: two places, written in turn, so that one of them is always whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinpair.runs.files.slate import CHECKSUM, Column, RunFile, is_whole, signed

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
    """All that is needed to go on.

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


def column(state: tuple[int, ...], controller: tuple[int, ...], columns: int) -> Column:
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
    """Write the checkpoint of that number beside the one before it."""
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
