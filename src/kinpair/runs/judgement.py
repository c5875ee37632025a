"""The result of a run, and what becomes of one that did not go well.

| end of the run | one motion | batch |
|---|---|---|
| a function of the user, or the disk, failed | `RunError`; `error.run` is the result | `RunError` |
| Ctrl-C | the result, status `interrupted`; within `whole_runs`, `KeyboardInterrupt` | the same |
| any other exception that is not an error, such as `SystemExit` | raised again, with the result at `run` | the same |
| early, for a reason of the motion; or in doubt | the result, and one `RunWarning` | the same; rows have their status |
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinpair.compiler.patience import Progress, ProgressError
from kinpair.errors import RunError, RunWarning, caller_level, described
from kinpair.results import Energy
from kinpair.runs.record import History, history_of, residual_of, samples_of, singular_of
from kinpair.runs.result import Result
from kinpair.simulation.driver.driver import Driver
from kinpair.simulation.monitors.endings import nearest_singular, status_of
from kinpair.simulation.monitors.verdict import Energies, Seen, verdict
from kinpair.simulation.run import Piece, Run, called_of
from kinpair.simulation.sample_memory import joined
from kinpair.simulation.status import FAILED, INTERRUPTED

if TYPE_CHECKING:
    from kinpair.simulation.driver.batch import BatchDriver

_whole: ContextVar[bool] = ContextVar("whole runs", default=False)


class Outcome(NamedTuple):
    """A run that has ended: its result, what was raised in it, and whether it was only read from its file."""

    run: Result
    raised: BaseException | None = None
    read: bool = False

    @property
    def judged(self) -> Result:
        """The result; raises or warns as the table above says."""
        run, raised, read = self
        if read:
            return run
        if raised is not None and not isinstance(raised, Exception | KeyboardInterrupt):
            with suppress(AttributeError):
                raised.run = run  # type: ignore[attr-defined]
            raise raised
        name, status = run.mechanism.name, run.status
        hindered = status.name == INTERRUPTED and isinstance(raised, Exception)
        if status.name in FAILED or hindered:
            message = f"{status.message[:1].lower()}{status.message[1:]}"
            raise RunError(
                f"{name}: {message}; error.run has the samples before", run=run, time=status.time
            ) from raised
        if status.name == INTERRUPTED:
            if _whole.get():
                raise KeyboardInterrupt
            return run
        if not status.ok:
            warnings.warn(f"{name}: {status.message}", RunWarning, stacklevel=caller_level())
        return run


@contextmanager
def whole_runs() -> Generator[None]:
    """Raise `KeyboardInterrupt` where a run is interrupted: inside, one run is a part of some other work."""
    token = _whole.set(True)
    try:
        yield
    finally:
        _whole.reset(token)


@contextmanager
def interruptible(run: Run) -> Generator[None]:
    """Keep what interrupts the run, so that what was computed can be returned; errors are raised."""
    try:
        yield
    except ProgressError as failed:
        run.error, run.hindrance = failed.__cause__, str(failed)
    except Exception:
        raise
    except BaseException as interrupt:
        run.error = interrupt
    raised = run.raised
    if (
        raised is not None
        and run.interrupted
        and not run.hindrance
        and not isinstance(raised, KeyboardInterrupt)
    ):
        run.hindrance = described(raised)


def driver_of(run: Run, *, whole: bool = True) -> Driver | BatchDriver:
    """Return the driver of a run; that of batches with guards is imported for them."""
    if run.batch is None or not run.guarded:
        return Driver(run, whole=whole)
    from kinpair.simulation.driver.batch import BatchDriver

    return BatchDriver(run, whole)


def collected(driver: Driver | BatchDriver, progress: bool | Callable[[float], Any] | None) -> list[Piece]:
    """Return all pieces, or those before an interruption."""
    run, pieces = driver.run, list[Piece]()
    with Progress(f"simulating {run.name}", progress) as report, interruptible(run):
        for piece in driver.pieces():
            pieces.append(piece)
            report(min(1.0, (piece.reached - run.time) / run.duration))
    return pieces


def as_result(driver: Driver | BatchDriver, pieces: list[Piece], took: float) -> Result:
    """Return everything computed as a result; took: seconds."""
    run, options = driver.run, driver.run.options
    if not pieces:
        raise run.raised or KeyboardInterrupt
    Y, W = joined([piece.Y for piece in pieces]), joined([piece.W for piece in pieces])
    samples = samples_of(run.d, Y, W)
    last = pieces[-1]
    residual, singular = residual_of(run.d, W), nearest_singular(run, singular_of(run.d, Y), pieces, Y)
    time = np.concatenate([piece.times for piece in pieces])
    energy = Energy(samples.pop("kinetic"), samples.pop("potential"))
    energies = Energies(*energy, samples["work"], samples["loss"])
    begin = driver.begin_energy if len(time) else None
    seen = Seen(time, samples["q"], samples["qd"], samples["tau"], energies, residual, begin)
    status, failures = verdict(run, *status_of(run, pieces, Y), seen)
    return Result(
        mechanism=run.mechanism,
        time=time,
        energy=energy,
        **samples,
        start=begin,
        history=_history(driver, pieces),
        residual=residual,
        singular=singular,
        status=status,
        integrator=run.integrator.name,
        steps=last.steps,
        rejected=last.rejected,
        dt=last.dt,
        took=took,
        external=options["external"] or {},
        passive=run.d.passive,
        parameters=run.d.parameters,
        failures=failures,
        events=tuple(sorted(run.event_log, key=lambda x: x.time) if run.d.touching else run.event_log),
        springs=run.springs,
        options=options,
        notes=(*([run.reason] if run.reason else []), *(called.sentence for called in called_of(run))),
    )


def _history(driver: Driver | BatchDriver, pieces: list[Piece]) -> History | None:
    """Modes at the samples, where there may be more than one."""
    if not driver.run.guarded:
        return None
    lead = () if driver.run.batch is None else (driver.run.batch,)
    numbers = [np.broadcast_to(piece.mode, (*lead, len(piece.times))) for piece in pieces]
    return history_of(driver.run.name, driver.modes.entered, driver.modes.limits, numbers)
