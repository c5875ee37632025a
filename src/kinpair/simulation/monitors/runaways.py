"""Adaptive runs that go nowhere: the motion runs away, or steps are so short that the end is out of reach.

The pace is measured in steps, which is the same on any computer, and in seconds of computing: a run whose steps are
slow shows no progress long before it has taken many.
"""

from __future__ import annotations

from time import perf_counter
from typing import NamedTuple

import numpy as np

from kinpair.simulation.monitors.chattering import chatter_of
from kinpair.simulation.run import Run, Stall

STEPS = 100_000  # over which the pace is measured
STEPS_OUTSIDE = 2_000  # the same of libraries, whose steps take longer by as much
GROWN, LEFT = (
    1e5,
    100.0,
)  # rates grown by this much, beyond any rotor, with so many times those steps still to go
ENDLESS = 1e6  # times those steps still to go, whatever the rates
LOOKS = 2  # in the time that a run may go without progress: a stall may begin between two of them
FEW = 100  # steps that say nothing about the pace: the first ones are short, and slow where code is compiled
SLOW = (1e6, 100.0)  # steps and seconds of computing to go: beyond both, a jump is searched
HOPELESS = (1e9, 1e4)  # with more of both, a run makes no progress whatever the cause
clock = perf_counter


class Mark(NamedTuple):
    """A moment of a run: seconds of computing, steps so far, the time reached [s]."""

    clock: float
    steps: int
    time: float


class Runaway:
    """Measures the pace of a run: the time that it advances in a number of steps."""

    def __init__(self, run: Run, steps: int, time: float, y: np.ndarray, window: int) -> None:
        self.run, self.steps, self.time, self.window = run, steps, time, window
        self.slow = GROWN * max(1.0, self._rate(y))
        self._mark = Mark(clock(), steps, time)

    def left(self, steps: int) -> int:
        """Return the number of steps to the next measurement: it does not depend on the clock."""
        return max(1, self.steps + self.window - steps)

    def __call__(self, steps: int, time: float, y: np.ndarray) -> str:
        """Return `more`, or how the run goes nowhere."""
        why = self._by_steps(steps, time, y)
        return self._by_clock(steps, time, y) if why == "more" else why

    def _by_steps(self, steps: int, time: float, y: np.ndarray) -> str:
        done = steps - self.steps
        if done < self.window:
            return "more"
        pace = (time - self.time) / done
        self.steps, self.time = steps, time
        left = (self.run.stop - time) / pace if pace > 0.0 else np.inf
        if self._rate(y) > self.slow and left > LEFT * self.window:
            return "runaway"
        if left > ENDLESS * self.window:
            self.run.stall = Stall(time, y.copy())
            return "endless"
        return "more"

    def _by_clock(self, steps: int, time: float, y: np.ndarray) -> str:
        before, now = self._mark, Mark(clock(), steps, time)
        took, taken = now.clock - before.clock, now.steps - before.steps
        if took < self.run.patience / LOOKS or taken < FEW:
            return "more"
        self._mark, advance = now, now.time - before.time
        left = (self.run.stop - time) / advance if advance > 0.0 else np.inf
        work = np.multiply(left, (taken, took))
        slow, hopeless = (bool((work > limit).all()) for limit in (SLOW, HOPELESS))
        if not hopeless and not (slow and self._chatters(time, y)):
            return "more"
        self.run.stall = Stall(time, y.copy(), advance, took)
        return "endless"

    def _chatters(self, time: float, y: np.ndarray) -> bool:
        """True if an input jumps; a function that may have a memory is not called for it."""
        return self.run.torque.kind != "called" and bool(chatter_of(self.run, time, y))

    def _rate(self, y: np.ndarray) -> float:
        return float(np.abs(self.run.d.motion(y)[1]).max(initial=0.0))
