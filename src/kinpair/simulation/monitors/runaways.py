"""Adaptive runs that go nowhere: the motion runs away, and the steps with it, until nothing moves on."""

from __future__ import annotations

import numpy as np

from kinpair.simulation.run import Run

STEPS = 100_000  # over which the pace is measured
STEPS_OUTSIDE = 2_000  # the same of libraries, whose steps take longer by as much
GROWN, LEFT = (
    1e5,
    100.0,
)  # rates grown by this much, beyond any rotor, with so many times those steps still to go
ENDLESS = 1e6  # times those steps still to go, whatever the rates


class Runaway:
    """Watches the pace of a run, from where it has come to in so many steps."""

    def __init__(self, run: Run, steps: int, time: float, y: np.ndarray, window: int) -> None:
        self.run, self.steps, self.time, self.window = run, steps, time, window
        self.slow = GROWN * max(1.0, self._rate(y))

    def left(self, steps: int) -> int:
        """Steps to the next look: it is at the same one whatever the clock says."""
        return max(1, self.steps + self.window - steps)

    def __call__(self, steps: int, time: float, y: np.ndarray) -> str:
        """`more`, or how it goes nowhere."""
        done = steps - self.steps
        if done < self.window:
            return "more"
        pace = (time - self.time) / done
        self.steps, self.time = steps, time
        left = (self.run.stop - time) / pace if pace > 0.0 else np.inf
        if self._rate(y) > self.slow and left > LEFT * self.window:
            return "runaway"
        return "endless" if left > ENDLESS * self.window else "more"

    def _rate(self, y: np.ndarray) -> float:
        return float(np.abs(self.run.d.motion(y)[1]).max(initial=0.0))
