"""A result written to a file at once."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from kinpair.description.text import file_path
from kinpair.runs.files import checkpoint
from kinpair.runs.files.checkpoint import Checkpoint
from kinpair.runs.files.checksums import SampleWriter
from kinpair.runs.files.claims import claimed
from kinpair.runs.files.file_layout import (
    SAMPLES,
    VECTORS,
    Shape,
    new_file,
    put_singular,
    put_status,
    residual_columns,
    rows_first,
)
from kinpair.runs.files.slate import unwritable
from kinpair.runs.files.stored import refuse_unfinished
from kinpair.runs.files.stored_events import (
    EVENTS,
    MODE,
    MODES,
    checksum,
    event_rows,
    mode_rows,
    room_for,
)
from kinpair.runs.record import Record
from kinpair.runs.targets import RUN, target


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
        checkpoint.put(run_file, 1, stands)
        run_file.flush()
    except OSError as problem:
        run_file.discard()
        raise unwritable(file, problem) from None
    run_file.publish()
    run_file.close()
