"""What a run found, kept in memory, as a result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kinpair.mechanism import Energy
from kinpair.runs.history import History, history_of
from kinpair.runs.judgement import interruptible
from kinpair.runs.progress import Progress
from kinpair.runs.result import Result
from kinpair.runs.samples import residual_of, samples_of, singular_of
from kinpair.simulation.driver.batch import BatchDriver
from kinpair.simulation.driver.driver import Driver
from kinpair.simulation.monitors.endings import nearest_singular, status_of
from kinpair.simulation.monitors.verdict import Energies, Seen, verdict
from kinpair.simulation.run import Piece, called_of
from kinpair.simulation.sample_memory import joined


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
        notes=tuple(called.sentence for called in called_of(run)),
    )


def _history(driver: Driver | BatchDriver, pieces: list[Piece]) -> History | None:
    """Modes at the samples, where there may be more than one."""
    if not driver.run.guarded:
        return None
    lead = () if driver.run.batch is None else (driver.run.batch,)
    numbers = [np.broadcast_to(piece.mode, (*lead, len(piece.times))) for piece in pieces]
    return history_of(driver.run.name, driver.modes.entered, driver.modes.limits, numbers)
