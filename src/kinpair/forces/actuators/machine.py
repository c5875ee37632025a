"""Interface of every machine, and the two that are one formula.

A machine has a shaft (of a cylinder: a rod), internal states, and a command. A drive with a fast controller of its own
looks from outside like an effort with limits:

    τ = clip(u, −τ_max a(−ω), τ_max a(ω)),   a(ω) = clip(1 − ω/ω_max, 0, 1)                   (AE1)

At the largest speed nothing is left to drive; to brake there is all of it. The actuator that MuJoCo calls general is
linear in its input, in the position y of the shaft and in its speed ω:

    w = clip(u, u_min, u_max);   a = w,   or T ȧ = w − a,   or ȧ = k w with a within its limits        (AF1)
    τ = clip((g₀ + g₁ y + g₂ ω) a + b₀ + b₁ y + b₂ ω, τ_min, τ_max)                                    (AF2)

A position servo has g₀ = −b₁ and b₂ < 0, a speed servo g₀ = −b₂, a damper g₂ < 0 alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, final

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector
from kinpair.algebra.choice import less, maximum, minimum, where


class Port(NamedTuple):
    """An internal state: its name within the actuator, unit, start, size, and below which it never falls."""

    name: str
    unit: str
    start: Scalar = 0.0
    scale: float = 1.0
    lower: Scalar = -np.inf


class Shaft(NamedTuple):
    """Motion of the shaft: position since the joint was at zero, and speed."""

    position: Scalar
    speed: Scalar


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """Work of a machine at a moment: effort along the speed of its shaft, rates of its states, and powers.

    effort · speed = Σ supply − d(energy)/dt − Σ losses: (EL1) at the shaft.
    """

    effort: Scalar
    rates: tuple[Scalar, ...] = ()
    energy: Scalar = 0.0
    supply: Mapping[str, Scalar] = field(default_factory=dict[str, Scalar])
    losses: Mapping[str, Scalar] = field(default_factory=dict[str, Scalar])
    switches: Mapping[str, Scalar] = field(default_factory=dict[str, Scalar])


class Machine(ABC):
    """Makes an effort on a shaft."""

    __slots__ = ()

    unit: ClassVar[str] = ""  # of its command

    @property
    def states(self) -> tuple[Port, ...]:
        """Names of its internal states."""
        return ()

    @abstractmethod
    def work(self, x: Vector, command: Scalar, shaft: Shaft) -> Work:
        """Compute what it does at internal states x, a command, and a motion of its shaft."""


def clipped(x: Scalar, low: Scalar, high: Scalar) -> Scalar:
    """x between low and high."""
    return maximum(low, minimum(x, high))


def soft_sign(x: Scalar, width: Scalar) -> Scalar:
    """tanh(x / width): a sign whose step is as wide as that."""
    return np.tanh(x / width)


def soft_root(x: Scalar, width: Scalar) -> Scalar:
    """sign(x) √|x|, straight within ± `width` of zero: x / (x² + width²)^¼."""
    return x / np.sqrt(np.sqrt(x * x + width * width))


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
