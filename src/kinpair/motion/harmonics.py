"""Motions made of a straight part and of sines and cosines.

q(t) = c + d x + Σ_k a_k cos ω_k x + b_k sin ω_k x,   x = t/T                                (MO2)
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial, pi
from typing import Any, final

import numpy as np

from kinpair.motion.trajectory import Trajectory

TURN = 2 * pi


@final
@dataclass(frozen=True, eq=False, repr=False)
class Harmonics(Trajectory):
    """(MO2) for n entries: offset and slope (n,), cosines, sines and angles ω (terms, n)."""

    offset: np.ndarray
    slope: np.ndarray
    cosines: np.ndarray
    sines: np.ndarray
    angles: np.ndarray

    def within(self, time: Any, order: int, side: str) -> list[Any]:
        x = time / self.duration
        found: list[Any] = [self.offset + self.slope * x, self.slope + 0.0 * x]
        found = (found + [0.0 * found[0]] * order)[: order + 1]
        for a, b, omega in zip(self.cosines, self.sines, self.angles, strict=True):
            angle = omega * x
            angle = angle - TURN * np.floor(
                angle / TURN + 0.5
            )  # after whole turns exactly what it was before
            c, s = np.cos(angle), np.sin(angle)
            for k in range(order + 1):
                found[k] = found[k] + omega**k / factorial(k) * (a * c + b * s)
                c, s = -s, c  # what cosine and sine become when differentiated
        return [y / self.duration**k if k else y for k, y in enumerate(found)]
