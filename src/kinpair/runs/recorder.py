"""A run written to its file as it goes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.compiler.patience import Progress
from kinpair.errors import InputError
from kinpair.runs.files import checksums
from kinpair.runs.files.checksums import Checkpoint, SampleWriter
from kinpair.runs.files.file_layout import (
    EVENTS,
    MODE,
    MODES,
    RESIDUALS,
    SAMPLES,
    UNFINISHED,
    Shape,
    checksum,
    event_rows,
    fits,
    mode_rows,
    new_file,
    put_singular,
    put_status,
    residual_columns,
    room_for,
    rows_first,
    wider,
)
from kinpair.runs.files.stored import Stored, read_file, refuse_unfinished
from kinpair.runs.hdf5 import RunFile, enlarged, mapped
from kinpair.runs.judgement import interruptible
from kinpair.runs.load import result_of
from kinpair.runs.record import as_text, residual_of, samples_of, singular_of
from kinpair.simulation.held import Residual, Singular
from kinpair.simulation.monitors.endings import nearest_singular, status_of
from kinpair.simulation.monitors.verdict import Energies, Seen, verdict
from kinpair.simulation.run import Piece, Run
from kinpair.simulation.status import Status

if TYPE_CHECKING:
    from kinpair.mechanism import Mechanism
    from kinpair.runs.result import Result
    from kinpair.simulation.driver.batch import BatchDriver
    from kinpair.simulation.driver.driver import Driver
    from kinpair.simulation.modes.modes import Entry


class DiskError(Exception):
    """The disk refused; `reason` in words."""

    def __init__(self, problem: OSError) -> None:
        self.reason = os.strerror(problem.errno) if problem.errno else str(problem)
        super().__init__(self.reason)


def begun(driver: Driver | BatchDriver, path: Path, every: float) -> Recorder:
    """A new file for a run that is about to start."""
    refuse_unfinished(path)
    run = driver.run
    memory, start = _controller(run), driver.memory()
    room = room_for(driver.names) if run.guarded else None
    shape = Shape(run.samples, run.batch, bool(run.d.enforcement.residuals), start.shape, memory.shape, room)
    shape = replace(shape, passive=run.d.passive)
    begin = run.begin_energy if driver.begin_energy is None else driver.begin_energy
    about: dict[str, Any] = {"springs": run.springs, "start": begin, "groups": run.groups}
    run_file = new_file(path, run.mechanism, run.options, shape, **about)
    stands = Checkpoint(0, 0, 0, 0, 0.0, 0.0, start, memory)
    recorder = Recorder(driver, run_file, stands, 0, every)
    try:
        _commit(recorder, path)
        _commit(recorder, path)  # both places have room on the disk
    except InputError:
        run_file.discard()
        raise
    run_file.publish()
    return recorder


def continued(driver: Driver | BatchDriver, stored: Stored, every: float) -> Recorder:
    """The file of a run that goes on from its last checkpoint."""
    run_file = RunFile(stored.path)
    recorder = Recorder(driver, run_file, stored.stands, stored.number, every)
    recorder.failures |= stored.failures()
    put_status(run_file, Status(UNFINISHED, np.nan, ""))
    if (stored.stands.row, stored.stands.event) != (stored.stands.samples, stored.stands.events):
        _commit(recorder, stored.path)  # rows behind the state are written again
    return recorder


def _commit(recorder: Recorder, path: Path) -> None:
    """Commit before a run starts or goes on; InputError where the disk refuses."""
    try:
        recorder.commit()
    except DiskError as problem:
        raise InputError(f"{path}: cannot be written ({problem.reason})", path=str(path)) from None


def _controller(run: Run) -> np.ndarray:
    """The memory of the user's controller: numbers in its attribute `state`, if it has one."""
    state = getattr(run.torque.function, "state", None)
    if state is None or callable(state):
        return np.zeros(0)
    try:
        return np.array(state, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            f"{run.name}: {run.torque.word}.state is {type(state).__name__}; a checkpoint keeps numbers: an array, or "
            "a list"
        ) from None


class Recorder:
    """Writes pieces of a run. What it has committed is in the file, whatever happens next."""

    def __init__(
        self, driver: Driver | BatchDriver, run_file: RunFile, stands: Checkpoint, number: int, every: float
    ) -> None:
        self.run, self.run_file, self.number, self.every = driver.run, run_file, number, every
        self.begin = driver.begin_energy
        self.entered: Sequence[Entry] = driver.modes.entered
        self.samples = SampleWriter(run_file, SAMPLES, stands.row)
        self.kept = {EVENTS: stands.event, MODES: stands.modes}
        rows = {name: n for name, n in self.kept.items() if name in run_file.places}
        self.sums = {name: checksum(run_file, name, 0, n) for name, n in rows.items()}
        self.stands = replace(stands, samples=stands.row, steps=0, all_rejected=0)
        self.counts: dict[str, Any] = {}
        self.failures: dict[int, Status] = {}
        self.singular: Singular | None = None
        self._before, self._began = stands.took, perf_counter()
        self._last = perf_counter()

    @property
    def rows(self) -> int:
        """Number of samples in the file."""
        return self.samples.rows

    def __call__(self, piece: Piece) -> None:
        """Samples to the file, and, when it is time, a checkpoint."""
        self._write(piece)
        self._note_failures(piece)
        self.counts = {"steps": piece.steps, "all_rejected": piece.rejected, "dt": piece.dt}
        self.singular = singular_of(self.run.d, piece.Y) or self.singular
        if piece.steps and piece.good and piece.memory is not None:
            self.stands = Checkpoint(
                self.rows,
                self.rows,
                piece.steps,
                piece.rejected,
                piece.dt,
                0.0,
                piece.memory,
                self._memory(),
                event=len(self.run.event_log),
            )
        if perf_counter() - self._last > self.every:
            self.commit()

    def _memory(self) -> np.ndarray:
        memory, kept = _controller(self.run), self.stands.controller
        if memory.shape != kept.shape:
            raise InputError(
                f"{self.run.name}: {self.run.torque.word}.state has shape {memory.shape} and had {kept.shape} at "
                "the start; a checkpoint has room for as many numbers as there were"
            )
        return memory

    def _write(self, piece: Piece) -> None:
        batch = self.run.batch is not None
        columns = samples_of(self.run.d, piece.Y, piece.W)
        columns |= residual_columns(residual_of(self.run.d, piece.W))
        places = self.run_file.places
        samples = {name: rows_first(x, batch) for name, x in columns.items() if name in places}
        samples["time"] = piece.times
        if MODE in self.run_file.places:
            mode = np.asarray(piece.mode, dtype="<i4")
            samples[MODE] = rows_first(mode, batch) if batch else np.broadcast_to(mode, len(piece.times))
        done, n = 0, len(piece.times)
        refused: OSError | None = None
        while n:
            try:
                some = {name: x[done : done + n] for name, x in samples.items()}
                self.samples.append(self.run_file, some)
            except OSError as problem:  # as many rows as there is room for
                n, refused = n // 2, problem
                continue
            done += n
            n = min(n, len(piece.times) - done)
        if refused is not None:
            raise DiskError(refused)

    def _note_failures(self, piece: Piece) -> None:
        if isinstance(piece.why, str):
            return
        lost = {row for row, why in enumerate(piece.why) if why != "more"}
        if lost <= self.failures.keys():
            return
        self.note(status_of(self.run, [piece], piece.Y)[1])

    def note(self, failures: Mapping[int, Status]) -> None:
        """Rows of a batch that are not well; the first reason stays."""
        for row, status in failures.items():
            if row not in self.failures:
                self.failures[row] = status
                put_status(self.run_file, status, 1 + row)

    @property
    def batch(self) -> int:
        """Trajectories of a batch, else 0."""
        return self.run_file.places["status"].shape[0] - 1

    def read(self, name: str) -> np.ndarray:
        """The samples written so far, as a result has them."""
        column = mapped(self.run_file.path, self.run_file.places[name], self.rows)
        return np.moveaxis(column, 0, 1) if self.batch and name != "time" else column

    @property
    def seen(self) -> Seen:
        """The samples written so far, to be looked over."""
        residual = Residual(*map(self.read, RESIDUALS)) if self.run.d.enforcement.residuals else None
        energies = Energies(*map(self.read, Energies._fields))
        time, q, qd, tau = (self.read(name) for name in ("time", "q", "qd", "tau"))
        return Seen(time, q, qd, tau, energies, residual, self.begin)

    def commit(self) -> None:
        """Write everything so far to the disk, then the checkpoint that says so."""
        took = self._before + perf_counter() - self._began
        try:
            self._write_history()
            self.run_file.flush()
            kept = {
                "samples": self.rows,
                "took": took,
                "events": self.kept[EVENTS],
                "modes": self.kept[MODES],
                "tail": self.samples.tail,
                "history": np.array([self.sums.get(name, 0) for name in (EVENTS, MODES)], "<u4"),
            }
            checksums.put(self.run_file, self.number + 1, replace(self.stands, **kept))
        except OSError as problem:
            raise DiskError(problem) from None
        self.number += 1
        self._last = perf_counter()

    def _write_history(self) -> None:
        """Events and modes that are not in the file yet; where it has no room for them, it gets more."""
        if EVENTS not in self.run_file.places:
            return
        events = self.run.event_log[self.kept[EVENTS] :]
        modes = [as_text(x) for x in self.entered[self.kept[MODES] :]]
        places = self.run_file.places
        new = {
            EVENTS: event_rows(places[EVENTS].dtype, events),
            MODES: mode_rows(places[MODES].dtype, modes),
        }
        if not all(fits(places[name], self.kept[name], rows) for name, rows in new.items()):
            room = {name: wider(places[name], self.kept[name], rows) for name, rows in new.items()}
            samples = dict.fromkeys((name for name in places if name in SAMPLES), self.rows)
            self.run_file = enlarged(self.run_file, room, {**samples, **self.kept})
            self.sums = {name: checksum(self.run_file, name, 0, n) for name, n in self.kept.items()}
        for name, rows in new.items():
            start, stop = self.kept[name], self.kept[name] + len(rows)
            self.run_file.write(name, rows, start)
            self.sums[name] = checksum(self.run_file, name, start, stop, self.sums[name])
            self.kept[name] = stop

    def end(self, status: Status | None) -> None:
        """Write as much as the disk takes; None: the run stopped for a reason that is not its own."""
        if status is not None:
            self.stands = replace(self.stands, **self.counts)
        try:
            self.commit()
            if status is not None:
                put_singular(self.run_file, self.singular)
                put_status(self.run_file, status)
                self.run_file.flush()
        except (DiskError, OSError):
            pass  # what was committed before is there
        finally:
            self.run_file.close()


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
