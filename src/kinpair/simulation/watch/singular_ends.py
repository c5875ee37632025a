"""Runs that end at a singular position: where it is, and which of the last samples are no motion any more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kinpair.constraints.rank_revealing import lengths
from kinpair.formulations import kinematics
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.watch.residual import WORST, Singular

if TYPE_CHECKING:
    from kinpair.simulation.ready import Run
    from kinpair.simulation.runs import Piece

SINGULAR = 1e-2  # smallest singular value of the scaled rows that is worth a word
STEPS, LOOKS, THIRDS = 20, 80, 40  # how far before and behind the last state, at how many positions
LOST = ("not finite", "not converged", "collapsed", "exhausted", "endless")


def without_ruins(d: Dynamics, pieces: Iterator[Piece]) -> Iterator[Piece]:
    """The same pieces; of one that ends in no numbers, without the last samples whose loops lie in pieces."""
    holds = d.held is not None and d.held.way in ("project", "baumgarte") and d.held.ask.kept
    for piece in pieces:
        if not holds or piece.why != "not finite" or not len(piece.times):
            yield piece
            continue
        fine = np.flatnonzero(piece.W[:, -2] < WORST)
        n = int(fine[-1]) + 1 if len(fine) else 0
        yield replace(piece, times=piece.times[:n], Y=piece.Y[:n], W=piece.W[:n])


def ended_near(run: Run, piece: Piece, state: np.ndarray, since: float) -> Singular | None:
    """A singular position that the last state, at `since`, leads to, where a run has ended before its time.

    The state (1, at least nq + nv) is carried on by its rates; the pivot is the square of the smallest singular value
    of the rows, each of length one.
    """
    if piece.why not in LOST or not len(state):
        return None
    reach = max(float(np.max(piece.trouble)) - since, STEPS * piece.dt)
    return singular_near(run, state[0], since, reach)


def singular_near(run: Run, state: np.ndarray, since: float, reach: float) -> Singular | None:
    """A singular position within so short a time of a state, carried on by its rates."""
    closure, held, model = run.wish.mechanism.closure, run.d.held, run.d.model
    if closure is None or held is None or not held.ask.kept:
        return None
    q, qd = state[: model.nq], state[model.nq : model.nq + model.nv]
    if not np.isfinite(state[: model.nq + model.nv]).all():
        return None
    rate = np.asarray(kinematics.dq_dt(model, q, qd), dtype=float)

    def least(time: float) -> float:
        A = closure.matrix(q + (time - since) * rate, time)[list(held.ask.kept)]
        return float(np.linalg.svd(A / lengths(A)[:, None], compute_uv=False).min(initial=1.0))

    time = _lowest(least, np.linspace(max(run.time, since - reach), since + reach, LOOKS))
    return Singular(least(time) ** 2, time) if least(time) < SINGULAR else None


def _lowest(function: Callable[[float], float], times: np.ndarray) -> float:
    """Where a function is lowest: at one of the times, then by thirds between its neighbours."""
    k = int(np.argmin([function(float(time)) for time in times]))
    low, high = float(times[max(0, k - 1)]), float(times[min(len(times) - 1, k + 1)])
    for _ in range(THIRDS):
        a, b = low + (high - low) / 3.0, high - (high - low) / 3.0
        low, high = (low, b) if function(a) < function(b) else (a, high)
    return 0.5 * (low + high)
