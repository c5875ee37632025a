"""Laws of time that leave no vibration of a given frequency behind: the law once now and once half a period later.

    s(t) = Σ_i A_i s_0(t − t_i),   A = (1, K)/(1 + K),   t = (0, π/ω_d),   K = exp(−ζπ/√(1−ζ²))         (VS9)

(N. C. Singer, W. P. Seering, *J. Dyn. Syst. Meas. Control* 112 (1990) 76–82.)
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, pi, sqrt
from typing import Any, final

import numpy as np

from kinpair.errors import InputError
from kinpair.motion.retimed import Straight, retimed
from kinpair.motion.trajectory import Trajectory


@final
@dataclass(frozen=True, eq=False, repr=False)
class Delayed(Trajectory):
    """A motion several times, later and with less weight each."""

    motion: Trajectory
    weights: tuple[float, ...]
    delays: tuple[float, ...]

    def within(self, time: Any, order: int, side: str) -> list[Any]:
        parts = [self.motion.series(time[..., 0] - delay, order, side) for delay in self.delays]
        length = max(map(len, parts))
        filled = [[*x, *[0.0 * x[0]] * (length - len(x))] for x in parts]
        return [sum(w * x[k] for w, x in zip(self.weights, filled, strict=True)) for k in range(length)]


def shaped(law: Trajectory, frequency: float, damping: float = 0.0) -> Trajectory:
    """The law without vibration at a frequency [rad/s], as long as before: half a period of it is for the shaper."""
    K = exp(-damping * pi / sqrt(1 - damping**2))
    delay = pi / (frequency * sqrt(1 - damping**2))
    if delay >= law.duration:
        raise InputError(
            f"shaped: half a period at {frequency:.4g} rad/s is {delay:.4g} s, and the motion takes "
            f"{law.duration:.4g} s; give it more time"
        )
    short = law.duration - delay
    clock = Straight(short, (), (0.0, short), np.zeros(1), np.array([law.duration]))
    sooner = retimed(law, clock)
    weights, delays = (1 / (1 + K), K / (1 + K)), (0.0, delay)  # (VS9)
    knots = tuple(np.unique([t + d for d in delays for t in sooner.knots]).tolist())
    return Delayed(law.duration, law.shape, (*knots[:-1], law.duration), sooner, weights, delays)
