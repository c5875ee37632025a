"""Runs that end at a singular position: where it is, and which of the last samples are no motion any more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import numpy as np

from kinpair.constraints.solvers.rank_revealing import lengths
from kinpair.formulations import kinematics
from kinpair.mechanism import Mechanism
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.piece import Piece
from kinpair.simulation.residual import WORST, Singular
from kinpair.simulation.run import Run

SINGULAR = 1e-2  # smallest singular value of the scaled rows that is worth a word
STEPS, LOOKS, THIRDS = 20, 80, 40  # how far before and behind the last state, at how many positions
BEYOND = 1.25  # of the time since the last state: rates change on the way, and steps end before a singular position
LOST_RANK = 1e-10  # a pivot of the constraints, as a part of the first, that is rounding
LOST = ("not finite", "not converged", "collapsed", "exhausted", "endless")


def without_ruins(d: Dynamics, pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The same pieces; where they end in no numbers, without the last samples: those whose loops lie in pieces, and one
    in the singular position itself, which a stage of the step that reached it lay in too."""
    if (
        d.enforcement is None
        or d.enforcement.way not in ("project", "baumgarte")
        or not d.enforcement.request.kept
    ):
        yield from pieces
        return
    waiting: list[Piece] = []  # what may turn out to be ruins
    for piece in pieces:
        waiting.append(piece)
        if piece.why == "not finite":
            break
        sampled = [x for x in waiting if len(x.times)]
        if not sampled or _whole(d, sampled[-1]) == len(sampled[-1].times):
            yield from waiting
            waiting = []
    for piece in waiting:
        yield piece.first(_whole(d, piece)) if waiting[-1].why == "not finite" else piece


def _whole(d: Dynamics, piece: Piece) -> int:
    """Samples up to the last sound one; all of a batch, whose motions end one by one."""
    if piece.W.ndim > 2 or not len(piece.times):
        return len(piece.times)
    sound = piece.W[:, d.watched_layout.residual.start] < WORST
    if d.traced:
        over, when = piece.Y[:, d.layout.trace].T
        sound &= (over < 1.0 / LOST_RANK) | (when < piece.times)
    numbers = np.flatnonzero(sound)
    return int(numbers[-1]) + 1 if len(numbers) else 0


def ended_near(run: Run, piece: Piece, state: np.ndarray, since: float) -> Singular | None:
    """A singular position that the last state, at `since`, leads to, where a run has ended before its time.

    The state (1, at least nq + nv) is carried on by its rates; the pivot is the square of the smallest singular value
    of the rows, each of length one.
    """
    if piece.why not in LOST or not len(state):
        return None
    reach = BEYOND * (float(np.max(piece.trouble)) - since) + STEPS * piece.dt
    return singular_near(run, state[0], since, (max(run.time, since - reach), since + reach))


class Moving(Protocol):
    """A run, or one of its stages."""

    @property
    def mechanism(self) -> Mechanism:
        """What moves,"""
        ...

    @property
    def d(self) -> Dynamics:
        """and how."""
        ...


def singular_near(
    moving: Moving, state: np.ndarray, since: float, span: tuple[float, float]
) -> Singular | None:
    """A singular position within a span of time, where a state at `since` is carried on by its rates."""
    q, rate = _motion(moving, state)
    return _singular_on(moving, lambda time: q + (time - since) * rate, np.linspace(*span, LOOKS))


def singular_between(
    moving: Moving, before: tuple[float, np.ndarray], after: tuple[float, np.ndarray]
) -> Singular | None:
    """A singular position between two states, each with its time; the cubic that has their coordinates and rates."""
    (start, one), (end, two) = before, after
    (q1, rate1), (q2, rate2) = _motion(moving, one), _motion(moving, two)
    length = end - start

    def path(time: float) -> np.ndarray:
        x = (time - start) / length
        return q1 + x * x * (3 - 2 * x) * (q2 - q1) + x * (1 - x) * length * ((1 - x) * rate1 - x * rate2)

    return _singular_on(moving, path, np.linspace(start, end, LOOKS))


def _motion(moving: Moving, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates, and their derivatives, of a state of which at least the motion is given."""
    q, qd = moving.d.motion(state)
    return q, np.asarray(kinematics.dq_dt(moving.d.model, q, qd), dtype=float)


def _singular_on(moving: Moving, path: Callable[[float], np.ndarray], times: np.ndarray) -> Singular | None:
    """The position nearest to dependence of the rows, if it is singular, or nearly so."""
    closure, enforcement = moving.mechanism.closure, moving.d.enforcement
    if (
        closure is None
        or enforcement is None
        or not enforcement.request.kept
        or not np.isfinite(path(float(times[-1]))).all()
    ):
        return None

    def least(time: float) -> float:
        A = closure.matrix(path(time), time)[list(enforcement.request.kept)]
        return float(np.linalg.svd(A / lengths(A)[:, None], compute_uv=False).min(initial=1.0))

    time = _lowest(least, times)
    return Singular(least(time) ** 2, time) if least(time) < SINGULAR else None


def _lowest(function: Callable[[float], float], times: np.ndarray) -> float:
    """Where a function is lowest: at one of the times, then by thirds between its neighbours."""
    k = int(np.argmin([function(float(time)) for time in times]))
    low, high = float(times[max(0, k - 1)]), float(times[min(len(times) - 1, k + 1)])
    for _ in range(THIRDS):
        a, b = low + (high - low) / 3.0, high - (high - low) / 3.0
        low, high = (low, b) if function(a) < function(b) else (a, high)
    return 0.5 * (low + high)
