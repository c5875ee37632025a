"""What a run found, kept in memory, as a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from kinpair.mechanism import Energy
from kinpair.simulation.events.history import History, history_of
from kinpair.simulation.progress import Progress
from kinpair.simulation.ready import Run
from kinpair.simulation.result import Result
from kinpair.simulation.runs import Piece, joined
from kinpair.simulation.samples import residual_of, samples_of, singular_of
from kinpair.simulation.watch.balance import Energies
from kinpair.simulation.watch.singular_ends import ended_near
from kinpair.simulation.watch.trouble import status_of
from kinpair.simulation.watch.watchmen import Seen, looked_over


def collected(
    pieces: Iterator[Piece], run: Run, wish: bool | Callable[[float], Any] | None
) -> tuple[list[Piece], bool]:
    """All pieces, or those before an interruption."""
    found: list[Piece] = []
    with Progress(f"simulating {run.name}", wish) as told:
        try:
            for piece in pieces:
                found.append(piece)
                told(min(1.0, (piece.reached - run.time) / run.duration))
        except KeyboardInterrupt:
            run.hindrance = told.fault
            return found, True
    return found, isinstance(run.caller and run.caller.error, KeyboardInterrupt)


def as_result(
    ready: Any, pieces: list[Piece], interrupted: bool, options: Mapping[str, Any], took: float
) -> Result:
    """Everything computed; took: seconds."""
    run: Run = ready.run
    if not pieces:
        raise KeyboardInterrupt
    Y, W = joined([piece.Y for piece in pieces]), joined([piece.W for piece in pieces])
    found = samples_of(run.d, Y, W)
    last = pieces[-1]
    residual, singular = residual_of(run.d, W), singular_of(run.d, Y)
    if singular is None and isinstance(last.why, str) and len(last.times):
        singular = ended_near(run, last, Y[-1:], float(last.times[-1]))
    if singular is None and run.passages:
        singular = min(passage.at for passage in run.passages)
    time = np.concatenate([piece.times for piece in pieces])
    energy = Energy(found.pop("kinetic"), found.pop("potential"))
    energies = Energies(*energy, found["work"], found["loss"])
    seen = Seen(time, found["q"], found["qd"], found["tau"], energies, residual)
    status, failures = looked_over(run, *status_of(run, pieces, Y, interrupted), seen)
    return Result(
        mechanism=run.wish.mechanism,
        time=time,
        energy=energy,
        **found,
        start=run.begin_energy if len(time) and time[0] != run.time else None,
        history=_history(ready, pieces),
        residual=residual,
        singular=singular,
        status=status,
        integrator=run.wish.integrator.name,
        steps=last.steps,
        rejected=last.rejected,
        dt=last.dt,
        took=took,
        external=options["external"] or {},
        passive=run.wish.passive,
        parameters=run.wish.parameters,
        failures=failures,
        events=tuple(run.happened),
        springs=run.wish.bumpers is not None,
        options=options,
    )


def _history(ready: Any, pieces: list[Piece]) -> History | None:
    """Modes at the samples, where there may be more than one."""
    if ready.modes is None:
        return None
    numbers = [np.full(len(piece.times), piece.mode) for piece in pieces]
    return history_of(ready.run.name, ready.modes.entered, ready.modes.limits, numbers)
