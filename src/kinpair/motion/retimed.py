"""A path followed by a law of time: q(t) = p(s(t))."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinpair.algebra.choice import maximum, minimum
from kinpair.algebra.series import composed
from kinpair.motion.trajectory import Trajectory

HALVINGS = 60


@final
@dataclass(frozen=True, eq=False, repr=False)
class Straight(Trajectory):
    """Line from start to end (n,) at a constant rate while its parameter goes from 0 to `duration`."""

    start: np.ndarray
    end: np.ndarray

    def within(self, time: Any, order: int, side: str) -> list[Any]:
        span = self.end - self.start
        part = time / self.duration
        return [(1.0 - part) * self.start + part * self.end, span / self.duration][: order + 1]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Retimed(Trajectory):
    """`path` with its own time s, 0 to its duration, as the `law` (a single coordinate) has it.    (TY2)"""

    path: Trajectory
    law: Trajectory

    def within(self, time: Any, order: int, side: str) -> list[Any]:
        s = self.law.within(minimum(maximum(time, 0.0), self.duration), order, side)
        return composed(self.path.within(s[0], order, side), s, order)


def retimed(path: Trajectory, law: Trajectory) -> Retimed:
    """The path as the law has it; its knots are those of the law, and when the law meets those of the path."""
    inner = when(law, np.array(path.knots[1:-1]))
    knots = tuple(np.unique([*law.knots, *inner.tolist()]).tolist())
    return Retimed(law.duration, path.shape, knots, path, law)


def when(law: Trajectory, s: np.ndarray) -> np.ndarray:
    """Find when an increasing law reaches each s, by bisection."""
    low, high = np.zeros(len(s)), np.full(len(s), law.duration)
    for _ in range(HALVINGS if len(s) else 0):
        middle = (low + high) / 2
        below = law.at(middle).q < s
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return high


def scaled(law: Trajectory, length: float) -> Retimed:
    """A law from 0 to 1 as one from 0 to a length."""
    return retimed(Straight(1.0, (), (0.0, 1.0), np.zeros(1), np.array([length])), law)
