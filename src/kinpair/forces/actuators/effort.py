"""An effort with limits: what a drive with a fast controller of its own looks like from outside.

    τ = clip(u, −τ_max a(−ω), τ_max a(ω)),   a(ω) = clip(1 − ω/ω_max, 0, 1)                   (AE1)

At the largest speed nothing is left to drive; to brake there is all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from kinpair.algebra.arrays import Scalar, Vector
from kinpair.forces.actuators.machine import Machine, Shaft, Work
from kinpair.forces.actuators.smooth import clipped


@final
@dataclass(frozen=True, slots=True)
class LimitedEffort(Machine):
    """Limits may be absent."""

    effort: Scalar | None = None
    velocity: Scalar | None = None
    unit = "N m"

    def work(self, x: Vector, command: Scalar, shaft: Shaft) -> Work:
        """Effort τ of the actuator.    (AE1)"""
        if self.effort is None:
            return Work(command, supply={"shaft": command * shaft.speed})
        high, low = self.effort * self._left(shaft.speed), -self.effort * self._left(-shaft.speed)
        tau = clipped(command, low, high)  # (AE1)
        switches = {"at the largest effort": high - command, "at the least effort": command - low}
        return Work(tau, supply={"shaft": tau * shaft.speed}, switches=switches)

    def _left(self, speed: Scalar) -> Scalar:
        """Activation a that is left."""
        return 1.0 if self.velocity is None else clipped(1.0 - speed / self.velocity, 0.0, 1.0)
