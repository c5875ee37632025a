"""Springs and dampers at the limits of joints: they push while a coordinate is beyond its limit, and never pull.

    F = max(0, k d − c ġ)  where d = −g > 0, else 0       g: the way left to the limit           (BU1)

Stored ½ k d²; dissipated at the rate (k d − F) ġ ≥ 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.algebra.choice import less, maximum, where


@dataclass(frozen=True, slots=True)
class Bumper:
    """One limit: coordinate k, its rate v, side +1 (lower) or −1 (upper), stiffness and damping."""

    k: int
    v: int
    side: float
    limit: float
    stiffness: float
    damping: float

    def depth(self, q: Vector) -> Scalar:
        """d, zero within the limit."""
        return maximum(0.0, self.side * (self.limit - q[self.k]))

    def push(self, q: Vector, qd: Vector) -> tuple[Scalar, Scalar, Scalar]:
        """Force F, elastic force k d, and ġ."""
        depth, rate = self.depth(q), self.side * qd[self.v]
        elastic = self.stiffness * depth
        pushing = maximum(0.0, elastic - self.damping * rate)
        return where(less(0.0, depth), pushing, 0.0), elastic, rate  # (BU1)


@dataclass(frozen=True, slots=True)
class Bumpers:
    """All of them."""

    nv: int
    every: tuple[Bumper, ...]

    def efforts(self, q: Vector, qd: Vector) -> Vector:
        """What they do to the rates (nv,)."""
        found: list[Any] = [0.0] * self.nv
        for bumper in self.every:
            found[bumper.v] = found[bumper.v] + bumper.side * bumper.push(q, qd)[0]
        return array(found)

    def loss(self, q: Vector, qd: Vector) -> Scalar:
        """Power that the dampers take."""
        return sum(((k - F) * rate for F, k, rate in (x.push(q, qd) for x in self.every)), 0.0)

    def energy(self, q: Vector) -> Scalar:
        """Stored in the springs."""
        return sum((0.5 * x.stiffness * x.depth(q) ** 2 for x in self.every), 0.0)
