"""Threads of helical joints.

The flanks lie on a helix of radius r with the lead h a radian, tan λ = h/r. A flank hands over its normal load n and
the friction force f along the helix. The force A along the axis is all theirs, the motor of the joint being a torque:

    A = n cos λ + f sin λ,   N = |n| = |A − f sin λ|/cos λ + preload                                    (FT1)
    s = √(r² + h²) q̇                                                                                  (FT2)

Without acceleration, a load W along the axis takes the torque W r tan(λ + ρ) up and W r tan(λ − ρ) down, tan ρ = μ. The
thread locks itself where μ ≥ tan λ.
Derivation, no line of code: the torques, which the tests compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.friction.surfaces.surface import NORM, Carried, Grip, LoadPart, Surface, magnitude


@final
@dataclass(frozen=True, slots=True, eq=False)
class Thread(Surface):
    """Thread of a helical joint with this lead [m/rad]."""

    kind = "thread"
    feels_force = True
    name: str
    body: int
    grip: Grip
    radius: Scalar
    lead: Scalar
    preload: Scalar

    @property
    def helix(self) -> Scalar:
        """√(r² + h²)."""
        return np.sqrt(self.radius * self.radius + self.lead * self.lead)

    @property
    def locks(self) -> bool:
        """True if no load along the axis turns it from rest."""
        return bool(self.grip.mu_static * self.radius >= abs(self.lead))

    def sliding(self) -> Matrix:
        return array([[self.helix]])  # (FT2)

    def forms(self, w: Vector, q: Vector) -> list[Scalar]:
        return [w[5]]

    def load(self, c: Sequence[Scalar], force: Vector, at: Carried) -> Scalar:
        sine, cosine = np.divide(self.lead, self.helix), np.divide(self.radius, self.helix)
        return magnitude(np.divide(c[0] - force[0] * sine, cosine)) + self.preload  # (FT1)

    def parts(self, at: Carried) -> list[LoadPart]:
        cosine, slope = np.divide(self.radius, self.helix), np.divide(self.lead, self.radius)
        return [LoadPart(NORM, array([[np.divide(1.0, cosine)]]), np.zeros(1), array([[-slope]]))]
