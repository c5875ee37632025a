"""Runs of the compiled loops, chunk after chunk: between two chunks there is time to look, to stop and to save.

A run yields what each chunk found. What it has yielded is complete: whoever collects it, keeps it or writes it to disk
decides what happens with it. `at` is all that is needed to go on from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from kinpair.compiler.time_loop import AdaptiveLoop, FixedLoop, Inputs, Standing
from kinpair.simulation.schedule import Plan

PAUSE = 0.1  # seconds between two looks
FIRST_STEPS = 200
LEAP = 50  # how much longer the next chunk may be


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Some samples: times (n,), states (..., n, ny), watched (..., n, nw); and how the run stands behind them.

    `why` is `more` while all is well, else what ended it; `steps` and `rejected` count from the beginning. `at` is the
    state and inputs, from which `fixed_run` goes on, or the `Standing` of an adaptive run.
    """

    times: np.ndarray
    Y: np.ndarray
    W: np.ndarray
    why: Any
    time: Any
    steps: int
    rejected: int
    dt: float
    at: Any


class Pace:
    """How much to do in a chunk, so that it takes about as long as a pause."""

    def __init__(self, first: int) -> None:
        self.amount = max(1, first)
        self._start = perf_counter()

    def begin(self) -> int:
        """How much this time."""
        self._start = perf_counter()
        return self.amount

    def end(self, done: int) -> None:
        """So much was done."""
        took = max(perf_counter() - self._start, 1e-9)
        self.amount = int(min(max(1.0, done * PAUSE / took), LEAP * max(1, done)))


def fixed_run(
    loop: FixedLoop,
    start: np.ndarray,
    plan: Plan,
    *,
    t0: float,
    hold: int,
    inputs: Inputs,
    threads: int,
    step: int = 0,
) -> Iterator[Piece]:
    """Samples of the plan behind `step`; start: state and inputs there (..., ny + nu)."""
    options: dict[str, Any] = {"dt": plan.dt, "t0": t0, "hold": hold, "inputs": inputs, "threads": threads}
    at = start
    if step == 0:
        look = loop.run(at, samples=1, every=0, first=0, **options)
        at = look.end
        n = int(plan.from_start)
        yield _piece(plan, t0, np.arange(n), look.Y[..., :n, :], look.W[..., :n, :], look, 0, at)
        if _ended(look.why):
            return
    width = int(np.prod(start.shape[:-1], dtype=int))
    pace = Pace(max(1, FIRST_STEPS // max(1, width)))
    first = step
    for samples, every in _behind(plan, step):
        left = samples
        while left:
            n = min(left, max(1, pace.begin() // every))
            chunk = loop.run(at, samples=n, every=every, first=first, **options)
            pace.end(n * every)
            whole = n if not _ended(chunk.why) else (chunk.step - first) // every
            reached = first + np.arange(1, whole + 1) * every
            at, first, left = chunk.end, first + n * every, left - n
            yield _piece(
                plan, t0, reached, chunk.Y[..., :whole, :], chunk.W[..., :whole, :], chunk, first, at
            )
            if _ended(chunk.why):
                return


def _ended(why: Any) -> bool:
    """Of one trajectory; a batch goes on."""
    return isinstance(why, str) and why != "more"


def _behind(plan: Plan, step: int) -> list[tuple[int, int]]:
    """The segments of a plan behind a step at which a sample was taken, or none."""
    found: list[tuple[int, int]] = []
    at = 0
    for samples, every in plan.segments():
        skip = min(samples, max(0, (step - at) // every))
        if samples > skip:
            found.append((samples - skip, every))
        at += samples * every
    return found


def _piece(
    plan: Plan, t0: float, reached: np.ndarray, Y: np.ndarray, W: np.ndarray, chunk: Any, steps: int, at: Any
) -> Piece:
    done = chunk.step if _ended(chunk.why) else steps
    return Piece(
        t0 + reached * plan.dt, Y, W, chunk.why, t0 + np.asarray(chunk.step) * plan.dt, done, 0, plan.dt, at
    )


def adaptive_run(
    loop: AdaptiveLoop, at: Standing, wanted: np.ndarray, *, stop: float, inputs: Inputs, **options: Any
) -> Iterator[Piece]:
    """Samples at the wanted times, from where the run stands."""
    pace = Pace(FIRST_STEPS)
    while True:
        before, steps_before = at.samples, at.steps + at.rejected
        loop.run(at, stop=stop, wanted=wanted, steps=pace.begin(), inputs=inputs, **options)
        pace.end(at.steps + at.rejected - steps_before)
        now = slice(before, at.samples)
        yield Piece(wanted[now], at.Y[now], at.W[now], at.why, at.time, at.steps, at.rejected, at.dt, at)
        if at.why != "more":
            return
