"""Adaptive runs that go nowhere: the motion runs away, or steps are so short that the end is out of reach.

The pace is measured in steps, which is the same on any computer, and in seconds of computing: a run whose steps are
slow shows no progress long before it has taken many.

Inputs chatter that jump where the motion keeps crossing, so that no step is short enough. A jump is distinguished
from a steep slope by halving the interval between two states at which an input differs. The half with the larger
difference is kept. The difference across a jump stays; along a slope it shrinks with the interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import NamedTuple

import numpy as np

from kinpair.model.units import units
from kinpair.simulation.run import Run, Stall

NEAR = (
    1e-5  # [rad], [m], [rad/s], [m/s], and relative: distance from the state within which a jump is searched
)
HALVINGS = 20
KEPT = 0.01  # part of a difference that a jump keeps; of one along a slope 1e-6 are left
REMEDY = "use a friction law of the joint instead, an event at the switch, or fixed steps (integrator='rk4', dt=0.001)"


class Jump(NamedTuple):
    """Number of the input that jumps, the difference, and the number of the entry of [q, qd] that crosses a value."""

    control: int
    size: float
    entry: int
    value: float


def chatter_of(run: Run, time: float, y: np.ndarray) -> str:
    """Describe the input that jumps at a state y (ny,) or next to it, and what to do; empty if none does."""
    inputs = _inputs_of(run, time, y)
    if inputs is None:
        return ""
    with np.errstate(all="ignore"):
        try:
            jump = max(_jumps(inputs, y, run.d.layout.motion.stop), key=lambda x: x.size, default=None)
        except Exception:  # the function of the user is called at other states than those of the run
            return ""
    return "" if jump is None else _sentence(run, jump)


def _inputs_of(run: Run, time: float, y: np.ndarray) -> Callable[[np.ndarray], np.ndarray] | None:
    """Return the inputs as a function of the state, if they change within steps."""
    torque, layout = run.torque, run.d.layout
    if torque.sampled:
        return None
    if torque.kind == "regulated":
        u = np.atleast_2d(run.start)[0, run.d.ny :]
        return lambda state: run.controlled(time, state, u)[: len(run.d.controls)]
    if torque.kind not in ("called", "recorded"):
        return None
    more = (y[layout.x].copy(),) if torque.takes_x else ()

    def inputs(state: np.ndarray) -> np.ndarray:
        q, qd = (x.copy() for x in run.d.motion(state))
        return np.asarray(torque.function(time, q, qd, *more), dtype=float)

    return inputs


def _jumps(inputs: Callable[[np.ndarray], np.ndarray], y: np.ndarray, entries: int) -> Iterator[Jump]:
    """Yield jumps next to a state along each entry of [q, qd]."""
    for entry in range(entries):
        low, high = y.copy(), y.copy()
        reach = NEAR * max(1.0, abs(y[entry]))
        low[entry], high[entry] = y[entry] - reach, y[entry] + reach
        before, after = inputs(low), inputs(high)
        first = np.abs(after - before).max(initial=0.0)
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            between = inputs(middle)
            if np.abs(between - before).max(initial=0.0) > np.abs(after - between).max(initial=0.0):
                high, after = middle, between
            else:
                low, before = middle, between
        change = np.abs(after - before)
        size = change.max(initial=0.0)
        if 0.0 < KEPT * first <= size < np.inf:
            yield Jump(int(change.argmax()), float(size), entry, float(0.5 * (low[entry] + high[entry])))


def _sentence(run: Run, jump: Jump) -> str:
    d, m, known = run.d, run.mechanism, units(run.mechanism.model)
    nq = d.layout.q.stop
    crossed = [*(("q", x) for x in m.q_names), *(("qd", x) for x in m.v_names)][jump.entry]
    unit = [*known["q"], *known["qd"]][jump.entry] if jump.entry < nq + m.nv else ""
    value = 0.0 if abs(jump.value) < NEAR else jump.value
    effort = "" if run.torque.word == "input" else f" {known['tau'][jump.control]}"
    return (
        f"the {run.torque.word} of {d.controls[jump.control]!r} chatters: it jumps by {jump.size:.6g}{effort} where "
        f"{crossed[0]} of {crossed[1]!r} crosses {value:.6g} {unit}".rstrip()
        + f"; {REMEDY}"
    )


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
