"""A library at work in one mode of a motion, and the eyes on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.methods.outside_given import Counted, ExhaustedError, Given, RefusedError, Stepper

STABILISED = 20.0  # [1/s] of Baumgarte's stabilisation between samples


@dataclass(frozen=True, eq=False)
class Library:
    """What moves, by which method, and what is watched on the way, (dynamics, time, y, u) → g."""

    d: Dynamics
    method: Callable[[Given], Stepper]
    guard: Callable[..., Any] | None = None


class Way:
    """A library at work in one mode, and the eyes on it."""

    def __init__(self, given: Given, method: Callable[[Given], Stepper], guard: Any) -> None:
        d, self.given = given.d, given
        self._settle = given.kernel(Dynamics.settled, time=(), y=(d.ny,)) if d.settles else None
        self._watch = given.kernel(Dynamics.watched, time=(), y=(d.ny,), u=(d.nu,))
        self._guard = given.kernel(guard, time=(), y=(d.ny,), u=(d.nu,)) if guard is not None else None
        try:
            self.stepper = method(replace(given, d=stabilised(d)))
        except RefusedError:
            self.stepper = Unbegun(given)

    @property
    def guarded(self) -> bool:
        """Is anything watched on the way?"""
        return self._guard is not None

    def begin(self, time: float, y: np.ndarray) -> None:
        """Afresh from a state."""
        try:
            self.stepper.restart(time, y)
        except RefusedError:
            self.stepper = Unbegun(replace(self.given, time=time, y=y))

    def further(self, time: float) -> str:
        """A step beyond a time, unless the last one reaches so far; `more`, or what ended it."""
        try:
            return self.stepper.step() if self.stepper.time <= time else "more"
        except RefusedError:
            return "refused"
        except ExhaustedError:
            return "exhausted"

    def settled(self, time: float, y: np.ndarray) -> np.ndarray:
        """The state where it belongs."""
        return self._settle(time, y) if self._settle is not None else y

    def watched(self, time: float, y: np.ndarray, inputs: Counted) -> np.ndarray:
        """What is watched (nw,) at a state; of inputs that fail just there, the last before."""
        return self._watch(time, y, _inputs(inputs, time, y))

    def crosses(
        self, before: tuple[float, np.ndarray], after: tuple[float, np.ndarray], inputs: Counted
    ) -> bool:
        """Does a guard leave its side, or become NaN? Zero is the other side."""
        if self._guard is None:
            return False
        old, new = (self._guard(time, y, _inputs(inputs, time, y)) for time, y in (before, after))
        lost = np.isnan(new) & ~np.isnan(old)
        return bool((((old > 0.0) & ~(new > 0.0)) | ((old < 0.0) & ~(new < 0.0)) | lost).any())


def _inputs(inputs: Counted, time: float, y: np.ndarray) -> np.ndarray:
    try:
        return inputs(time, y)
    except RefusedError:
        return inputs.last


class Unbegun:
    """In the place of a library whose first look at the inputs failed: the start, and nothing behind it."""

    steps, rejected, dt = 0, 0, 0.0

    def __init__(self, given: Given) -> None:
        self.time, self.y = given.time, given.y

    def step(self) -> str:
        """There is none."""
        return "refused"

    def at(self, time: float) -> np.ndarray:
        """The start."""
        return self.y

    def restart(self, time: float, y: np.ndarray) -> None:
        """From another state, no further."""
        self.time, self.y = time, y


def stabilised(d: Dynamics) -> Dynamics:
    """The same with rows that pull back."""
    return replace(d, held=replace(d.held, alpha=STABILISED)) if d.held is not None and d.traced else d
