"""A given motion with that of free coordinates added."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, final

import numpy as np

from kinpair.motion.trajectory import Motion, Trajectory


@final
@dataclass(frozen=True, eq=False, repr=False)
class ByCoordinate(Trajectory):
    """Motions of single coordinates, each in its place among all of them; the others stay at `rest` (nq,)."""

    rest: np.ndarray
    motions: Mapping[int, Trajectory]

    def within(self, time: Any, order: int, side: str) -> list[Any]:
        parts = {k: motion.within(time, order, side) for k, motion in self.motions.items()}
        longest = max((len(x) for x in parts.values()), default=1)
        none = 0.0 * time
        found: list[Any] = []
        for n in range(longest):
            columns = [none + (x if n == 0 else 0.0) for x in self.rest]
            for k, series in parts.items():
                columns[k] = none + series[n] if n < len(series) else none
            found.append(np.concatenate(columns, axis=-1))
        return found


@final
@dataclass(frozen=True, eq=False, repr=False)
class Compensated(Trajectory):
    """`given` for all coordinates, plus S times the free ones.    (GS1)"""

    given: Trajectory
    free: Trajectory
    S_q: np.ndarray
    S_v: np.ndarray

    def within(self, time: Any, order: int, side: str) -> list[Any]:
        own = [x @ self.S_q.T for x in self.free.within(time, order, side)]
        every = zip_longest(self.given.within(time, order, side), own, fillvalue=0.0)
        return [a + b for a, b in every]  # (GS1)

    def at(self, time: Any, *, side: str = "") -> Motion:
        """Coordinates (nq), rates, accelerations and jerk (nv)."""
        x, c = self.given.at(time, side=side), self.free.at(time, side=side)
        return Motion(
            x.q + c.q @ self.S_q.T, *(a + b @ self.S_v.T for a, b in zip(x[1:], c[1:], strict=True))
        )
