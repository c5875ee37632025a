"""An effort that is linear in an input, in the position y of the shaft and in its speed ω: what MuJoCo calls general.

    w = clip(u, u_min, u_max);   a = w,   or T ȧ = w − a,   or ȧ = k w with a within its limits        (AF1)
    τ = clip((g₀ + g₁ y + g₂ ω) a + b₀ + b₁ y + b₂ ω, τ_min, τ_max)                                    (AF2)

A position servo has g₀ = −b₁ and b₂ < 0, a speed servo g₀ = −b₂, a damper g₂ < 0 alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

from kinpair.algebra.arrays import Scalar, Vector
from kinpair.algebra.choice import less, maximum, minimum, where
from kinpair.forces.actuators.machine import Machine, Port, Shaft, Work


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """Either may be absent."""

    lower: Scalar | None = None
    upper: Scalar | None = None

    def clip(self, x: Scalar) -> Scalar:
        """x within the limits."""
        below = x if self.upper is None else minimum(x, self.upper)
        return below if self.lower is None else maximum(self.lower, below)

    def switches(self, x: Scalar, what: str) -> dict[str, Scalar]:
        """Switching functions where x reaches the limits."""
        switches: dict[str, Scalar] = {}
        if self.upper is not None:
            switches[f"at the largest {what}"] = self.upper - x
        if self.lower is not None:
            switches[f"at the least {what}"] = x - self.lower
        return switches

    def kept(self, x: Scalar, rate: Scalar) -> Scalar:
        """The rate of x, zero where it would leave them."""
        if self.upper is not None:
            rate = where(less(x, self.upper), rate, minimum(0.0, rate))
        if self.lower is not None:
            rate = where(less(self.lower, x), rate, maximum(0.0, rate))
        return rate


class Coefficients(NamedTuple):
    """c₀ + c₁ y + c₂ ω."""

    constant: Scalar = 0.0
    position: Scalar = 0.0
    speed: Scalar = 0.0

    def at(self, shaft: Shaft) -> Scalar:
        """Values of the coefficients."""
        return self.constant + self.position * shaft.position + self.speed * shaft.speed


@final
@dataclass(frozen=True, slots=True)
class Affine(Machine):
    """T and k are absent where the input acts at once; one of them at most is given."""

    gain: Coefficients
    bias: Coefficients
    inputs: Limits = Limits()
    efforts: Limits = Limits()
    filter_time: Scalar | None = None
    integral_rate: Scalar | None = None
    activations: Limits = Limits()

    @property
    def states(self) -> tuple[Port, ...]:
        """The activation a."""
        direct = self.filter_time is None and self.integral_rate is None
        return () if direct else (Port("activation", ""),)

    def work(self, x: Vector, command: Scalar, shaft: Shaft) -> Work:
        """τ and ȧ.    (AF1), (AF2)"""
        w = self.inputs.clip(command)
        a = x[0] if self.states else w
        raw = self.gain.at(shaft) * a + self.bias.at(shaft)
        tau = self.efforts.clip(raw)  # (AF2)
        switches = {**self.inputs.switches(command, "input"), **self.efforts.switches(raw, "effort")}
        if self.states:
            switches |= self.activations.switches(a, "activation")
        return Work(tau, self._rates(a, w), supply={"shaft": tau * shaft.speed}, switches=switches)

    def _rates(self, a: Scalar, w: Scalar) -> tuple[Scalar, ...]:
        """Rates ȧ of the states.    (AF1)"""
        if not self.states:
            return ()
        rate = self.integral_rate * w if self.filter_time is None else (w - a) / self.filter_time  # (AF1)
        return (self.activations.kept(a, rate),)
