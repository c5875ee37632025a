"""Singular positions: runs that end there, with samples that are no motion any more; and how a method that controls
its error crosses them.

A motion that crosses one is smooth, but its neighbours are not: off by δ, their accelerations go like δ/(t − t*), and
so does what a method of finite precision sees. Its estimate of the error then does not fall with the step: it grows the
nearer a stage is to t*, and shorter steps only carry more of the rounding along. So the best step over t* is about as
long as the usual ones, and begins where steps first become short. It goes as far beyond t* as that is ahead; no stage
of the methods here lies half-way.

The estimate of such a step says nothing: most of what it sees, the projection behind the step takes away. Its error is
found by a second step, a fifth longer. Both must lead to the same state there,

    |y(h, then h/5) − y(6h/5)| ≤ 10 (atol + rtol |y|) + 1e-8 (1 + |y|)                                    (PX1)

the last term for rounding; a jump of a torque would show. Where they do not, longer steps are tried, none longer than
the usual ones: a jump may have brought the run so near that a step as far beyond carries rounding. Where these do not
agree either, the steps become shorter, and the next look is from nearer by. Inputs that stay constant are constant
between
their samples, where every step stops: there the step is taken without the second one, so that a controller is asked
once a sample.

Rows that are only pulled back (Baumgarte) have drifted a little when a run comes to t*, and a little is much there. So
the state is projected before such a step and behind it, as it is behind every step with `project`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from kinpair.compiler.time_loop.memory import HEAD, LARGEST, LENGTH, STALE, Standing
from kinpair.constraints.solvers.rank_revealing import lengths
from kinpair.formulations import kinematics
from kinpair.simulation.held import WORST, Singular, Suspended
from kinpair.simulation.rounding import LOST_RANK

if TYPE_CHECKING:
    from kinpair.mechanism import Mechanism
    from kinpair.simulation.dynamics import Dynamics
    from kinpair.simulation.run import Piece, Run, Stage

SINGULAR = 1e-2  # smallest singular value of the scaled rows that is worth a word
STEPS, LOOKS, THIRDS = 20, 80, 40  # how far before and behind the last state, at how many positions
BEYOND = 1.25  # of the time since the last state: rates change on the way, and steps end before a singular position
LOST = ("not finite", "not converged", "collapsed", "exhausted", "endless")


def without_ruins(d: Dynamics, pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield the same pieces; where they end in no numbers, without the last samples: those whose loops lie in pieces,
    and one in the singular position itself, which a stage of the step that reached it lay in too."""
    if d.enforcement.way not in ("project", "baumgarte") or not d.enforcement.request.kept:
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
        """Mechanism that moves."""
        ...

    @property
    def d(self) -> Dynamics:
        """Dynamics of the mechanism."""
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
    if closure is None or not enforcement.request.kept or not np.isfinite(path(float(times[-1]))).all():
        return None

    def least(time: float) -> float:
        A = closure.matrix(path(time), time)[list(enforcement.request.kept)]
        return float(np.linalg.svd(A / lengths(A)[:, None], compute_uv=False).min(initial=1.0))

    time = _lowest(least, times)
    return Singular(least(time) ** 2, time) if least(time) < SINGULAR else None


def _lowest(function: Callable[[float], float], times: np.ndarray) -> float:
    """Find where a function is lowest: at one of the times, then by thirds between its neighbours."""
    k = int(np.argmin([function(float(time)) for time in times]))
    low, high = float(times[max(0, k - 1)]), float(times[min(len(times) - 1, k + 1)])
    for _ in range(THIRDS):
        a, b = low + (high - low) / 3.0, high - (high - low) / 3.0
        low, high = (low, b) if function(a) < function(b) else (a, high)
    return 0.5 * (low + high)


LEAST = 0.1  # of the longest step: shorter ones are asked why
LENGTHS = (2.0, 30.0, 300.0)  # of a step over t*, as parts of the way to it: no stage of a method lies there
FURTHER = 1.2  # the length of the second step, as a part of the first
AGREE, ROUNDED = 10.0, 1e-8  # how far two steps may differ: in units of the tolerances, and of the state
ANYTHING = 1e300  # allowed error of a single step, as its own estimate has it


class Passage:
    """Takes an adaptive run over singular positions, and notes them."""

    def __init__(self, stage: Stage, options: Mapping[str, Any]) -> None:
        self.stage, self.rtol, self.atol = stage, options["rtol"], options["atol"]
        self.options: dict[str, Any] = {**options, "atol": np.full(stage.d.ny, ANYTHING)}
        self._usual = 0.0  # length of the longest step so far
        enforcement = stage.d.enforcement
        self.least = LEAST if enforcement.request.kept else 0.0

    def over(self, at: Standing) -> str:
        """Step beyond a singular position, if that makes the steps short; return how the run stands then."""
        stage, run = self.stage, self.stage.run
        began, dt, state = at.time, at.dt, at.state(stage.d.ny)
        reach, self._usual = 0.5 * at.largest, max(self._usual, at.largest)
        near = singular_near(stage, state, began, (max(run.time, began - reach), began + reach))
        at.memory[LARGEST] = dt  # what is short from now on
        if near is None or near.time <= began:
            return "more"
        self._project(at)
        end = self._end(at, near.time)
        if end is None:
            return "more"
        reached = self._step(at, end)
        if at.why == "crossed" or at.time < end:
            return at.why
        there = singular_between(stage, (began, state), (end, reached))
        run.passages.append(Suspended(there or near, end - began))
        return at.why if at.why != "done" else "more"

    def _end(self, at: Standing, singular: float) -> float | None:
        """Find where a step over a singular position ends; None where no length is sound."""
        run, began = self.stage.run, at.time
        ends = [min(began + part * (singular - began), run.stop) for part in LENGTHS]
        if run.torque.sample_time is not None:
            return ends[0]
        usual = (end for end in ends if end - began <= self._usual)
        return next((end for end in usual if self._agree(at, end)), None)

    def _agree(self, at: Standing, end: float) -> bool:
        """True if a step to the end and a longer one lead to the same state.    (PX1)"""
        kept, further = at.memory.copy(), min(at.time + FURTHER * (end - at.time), self.stage.run.stop)
        one = self._step(at, end, further, minding=False)
        at.memory[:] = kept
        two = self._step(at, further, minding=False)
        at.memory[:] = kept
        size = np.abs(two)
        allowed = AGREE * (self.atol + self.rtol * size) + ROUNDED * (1.0 + size)
        return bool((np.abs(one - two) <= allowed).all())

    def _step(self, at: Standing, *ends: float, minding: bool = True) -> np.ndarray:
        """The state behind steps that end there; NaN where there is none, as of a step with a stage at t* itself."""
        for end in ends:
            while at.time < end:
                began, at.memory[LENGTH] = at.time, end - at.time
                self.stage.loop.run(at, stop=end, steps=1, minding=minding, **self.options)
                if at.why not in ("more", "done") or at.time == began:
                    return np.full(self.stage.d.ny, np.nan)
            self._project(at)
        return at.state(self.stage.d.ny)

    def _project(self, at: Standing) -> None:
        """The state on to constraints that the steps themselves do not project on to."""
        d = self.stage.d.concrete(self.stage.run.inputs.parameters)
        if d.enforcement.way != "baumgarte":
            return
        y = at.state(d.ny)
        q, qd, _ = d.enforcement.settle(d.model, at.time, *d.motion(y))
        at.memory[HEAD : HEAD + d.layout.motion.stop] = np.concatenate([q, qd])
        at.memory[STALE] = 1.0
