"""A path followed by a law of time: q(t) = p(s(t))."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinpair.algebra.series import composed
from kinpair.motion.trajectory import Trajectory

HALVINGS = 60


@final
@dataclass(frozen=True, eq=False)
class Straight(Trajectory):
    """From start to end (n,) at a constant rate while its parameter goes from 0 to `duration`."""

    start: np.ndarray
    end: np.ndarray

    def within(self, time: Any, order: int, side: str) -> list[Any]:
        span = self.end - self.start
        part = time / self.duration
        return [(1.0 - part) * self.start + part * self.end, span / self.duration][: order + 1]


@final
@dataclass(frozen=True, eq=False)
class Retimed(Trajectory):
    """`path` with its own time s, 0 to its duration, as the `law` (a single coordinate) has it.    (TY2)"""

    path: Trajectory
    law: Trajectory

    def within(self, time: Any, order: int, side: str) -> list[Any]:
        s = self.law.series(time[..., 0], order, side)
        return composed(self.path.within(s[0], order, side), s, order)


def retimed(path: Trajectory, law: Trajectory) -> Retimed:
    """The path as the law has it; its knots are those of the law, and when the law meets those of the path."""
    inner = [_when(law, s) for s in path.knots[1:-1]]
    knots = tuple(np.unique([*law.knots, *inner]).tolist())
    return Retimed(law.duration, path.shape, knots, path, law)


def _when(law: Trajectory, s: float) -> float:
    """When an increasing law reaches s, by bisection."""
    low, high = 0.0, law.duration
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if float(law.at(middle).q) < s else (low, middle)
    return high
