"""A run written to its file as it goes, and what the file then says of its end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from kinpair.mechanism import Mechanism
from kinpair.runs.files.stored import Stored, read_file
from kinpair.runs.judgement import interruptible
from kinpair.runs.load import result_of
from kinpair.runs.progress import Progress
from kinpair.runs.recorder import DiskError, Recorder
from kinpair.runs.result import Result
from kinpair.simulation.monitors.endings import nearest_singular, status_of
from kinpair.simulation.monitors.verdict import verdict
from kinpair.simulation.run import Piece
from kinpair.simulation.status import Status

NONE = np.zeros((0, 0))


def stream(
    recorder: Recorder, pieces: Iterable[Piece], progress: bool | Callable[[float], Any] | None
) -> Stored:
    """Run to the end, or as far as it goes; what the file then holds."""
    run, path = recorder.run, recorder.run_file.path
    sampled = last = _standing(recorder)
    refused = ""
    status: Status | None = None
    try:
        try:
            with Progress(f"simulating {run.name}", progress) as report, interruptible(run):
                for piece in pieces:
                    recorder(piece)
                    last = _light(piece)
                    sampled = last if len(piece.times) else sampled
                    report(min(1.0, (piece.reached - run.time) / run.duration))
        except DiskError as problem:
            refused = problem.reason
        status = _status(recorder, [sampled, last], refused)
    finally:
        recorder.end(status)
    return read_file(path)


def _light(piece: Piece) -> Piece:
    """A piece without its samples but the last time, and without the failures of single rows, which are noted."""
    why = piece.why if isinstance(piece.why, str) else ["more"] * len(piece.why)
    return replace(piece, times=piece.times[-1:].copy(), Y=NONE, W=NONE, why=why, memory=None)


def _standing(recorder: Recorder) -> Piece:
    """A piece that stands for all those before."""
    run, rows = recorder.run, recorder.rows
    times = np.array(recorder.read("time")[rows - 1 : rows]) if rows else np.zeros(0)
    why: Any = ["more"] * recorder.batch if recorder.batch else "more"
    return Piece(times, NONE, NONE, why, np.zeros(recorder.batch), run.time, 0, 0, 0.0)


def _status(recorder: Recorder, seen: list[Piece], refused: str) -> Status:
    run, path = recorder.run, recorder.run_file.path
    last = [recorder.read(name) for name in ("q", "qd")] if not recorder.batch else []
    states = np.concatenate([x[-1:] for x in last], axis=-1) if last else recorder.read("q")
    recorder.singular = nearest_singular(run, recorder.singular, seen, states)
    own = status_of(run, seen, states)[0]
    if not refused:
        status, failures = verdict(run, own, recorder.failures, recorder.seen)
        recorder.note(failures)
        return status
    times = recorder.read("time")
    reached = float(times[-1]) if len(times) else run.time
    return Status(
        "not saved",
        reached,
        f"Stopped at t = {reached:.9g} s: {path}: {refused}; the file holds all samples up to then, and "
        f"kp.resume({str(path)!r}) goes on when there is room",
    )


def saved(stored: Stored, mechanism: Mechanism, options: Mapping[str, Any]) -> Result:
    """The file as the result of what was given."""
    return replace(result_of(stored, mechanism, options["external"] or {}), options=options)
