"""Gears between the shaft of a machine and the joint: N turns of the shaft for one of the joint.

Rigid, its rotor is part of the mass matrix. τ is what the machine hands over, ω = N q̇:

    τ_q = N (τ − ℓ(τ, ω)),   ℓ = |τ| λ s,   λ = 1 − η where τ ω > 0, 1/η_b − 1 elsewhere;   s = tanh(ω/ω_s)   (GE1)

Elastic, the rotor has a speed ω of its own, and δ is how far it is ahead of the joint, seen there:

    δ̇ = ω/N − q̇,   J ω̇ = τ − τ_q/N − ℓ(τ_q/N, ω)                                                             (GE2)
    τ_q = K δ + c δ̇;  with backlash b: zero for |δ| < b/2, K (δ ∓ b/2) + c δ̇ beyond, and it never pulls back  (GE3)

E = ½ J ω² + ½ K (δ ∓ b/2)²; losses ℓ ω and (τ_q − K (δ ∓ b/2)) δ̇. A gear with η_b ≤ 0 does not turn from the side of
the joint: it locks. Without a number, η_b = 2 − 1/η, as for a screw.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector
from kinpair.algebra.choice import less, maximum, minimum, where
from kinpair.forces.actuators.machine import Port, Shaft, Work, soft_sign

LOCKED = 1e3  # loss of a gear that locks, in units of the torque that comes back through it


@final
@dataclass(frozen=True, slots=True)
class Mesh:
    """Losses of teeth: η, η_b, and the speed above which they take all of it."""

    efficiency: Scalar | None = None
    back: Scalar | None = None
    speed: Scalar = 1.0

    def loss(self, torque: Scalar, speed: Scalar) -> Scalar:
        """Loss ℓ of the teeth.    (GE1)"""
        if self.efficiency is None:
            return 0.0
        eta = self.efficiency
        back = 2.0 - 1.0 / eta if self.back is None else self.back
        returned = minimum(LOCKED, where(less(0.0, back), 1.0 / maximum(back, 1e-9) - 1.0, LOCKED))
        share = where(less(0.0, torque * speed), 1.0 - eta, returned)
        return np.abs(torque) * share * soft_sign(speed, self.speed)  # (GE1)


class Transmitted(NamedTuple):
    """The effort on the joint, rates of the gear's states, its energy, losses and switches."""

    effort: Scalar
    rates: tuple[Scalar, ...]
    energy: Scalar
    losses: dict[str, Scalar]
    switches: dict[str, Scalar]


@final
@dataclass(frozen=True, slots=True)
class RigidGear:
    """N, and what the teeth take."""

    ratio: Scalar = 1.0
    mesh: Mesh = Mesh()

    @property
    def states(self) -> tuple[Port, ...]:
        """Names of states: none."""
        return ()

    def start(self, rate: Scalar) -> tuple[Scalar, ...]:
        """Start without states."""
        return ()

    def shaft(self, x: Vector, position: Scalar, rate: Scalar) -> Shaft:
        """N q, N q̇."""
        return Shaft(self.ratio * position, self.ratio * rate)

    def transmitted(self, x: Vector, work: Work, rate: Scalar, speed: Scalar) -> Transmitted:
        """Transmitted effort τ_q.    (GE1)"""
        lost = self.mesh.loss(work.effort, speed)
        has = self.mesh.efficiency is not None
        losses = {"gear": lost * speed} if has else {}
        switches = {"gear": work.effort * speed} if has else {}
        return Transmitted(self.ratio * (work.effort - lost), (), 0.0, losses, switches)  # (GE1)


@final
@dataclass(frozen=True, slots=True)
class ElasticGear:
    """A rotor of its own behind a spring."""

    inertia: Scalar
    stiffness: Scalar
    ratio: Scalar = 1.0
    damping: Scalar = 0.0
    backlash: Scalar | None = None
    mesh: Mesh = Mesh()

    @property
    def states(self) -> tuple[Port, ...]:
        """Twist δ and speed ω."""
        return Port("twist", "rad", 0.0, 1e-3), Port("speed", "rad/s")

    def start(self, rate: Scalar) -> tuple[Scalar, ...]:
        """Start of the gear: not twisted, and as fast as the joint."""
        return 0.0, self.ratio * rate

    def shaft(self, x: Vector, position: Scalar, rate: Scalar) -> Shaft:
        """N (q + δ), ω."""
        return Shaft(self.ratio * (position + x[0]), x[1])

    def transmitted(self, x: Vector, work: Work, rate: Scalar, speed: Scalar) -> Transmitted:
        """τ_q, δ̇ and ω̇.    (GE2), (GE3)"""
        slip = x[1] / self.ratio - rate
        stretch = self._stretch(x[0])
        elastic = self.stiffness * stretch
        effort = self._effort(x[0], elastic, slip)
        lost = self.mesh.loss(effort / self.ratio, x[1])
        omega = (work.effort - effort / self.ratio - lost) / self.inertia  # (GE2)
        energy = 0.5 * self.inertia * x[1] * x[1] + 0.5 * elastic * stretch
        losses = {"gear damping": (effort - elastic) * slip}
        switches: dict[str, Scalar] = {}
        if self.mesh.efficiency is not None:
            losses["gear"] = lost * x[1]
            switches["gear"] = effort * x[1]
        if self.backlash is not None:
            switches |= {"teeth": x[0] - 0.5 * self.backlash, "teeth back": x[0] + 0.5 * self.backlash}
        return Transmitted(effort, (slip, omega), energy, losses, switches)

    def _stretch(self, twist: Scalar) -> Scalar:
        """δ ∓ b/2, zero in between."""
        if self.backlash is None:
            return twist
        half = 0.5 * self.backlash
        return maximum(0.0, twist - half) + minimum(0.0, twist + half)

    def _effort(self, twist: Scalar, elastic: Scalar, slip: Scalar) -> Scalar:
        """Effort τ_q of the elastic gear.    (GE3)"""
        whole = elastic + self.damping * slip  # (GE3)
        if self.backlash is None:
            return whole
        half = 0.5 * self.backlash
        ahead = where(less(half, twist), maximum(0.0, whole), 0.0)
        return where(less(twist, -half), minimum(0.0, whole), ahead)
