"""Friction by bristles (LuGre; Canudas de Wit, Olsson, Åström & Lischinsky 1995): one internal state a rate.

    g(v) = F_c + (F_s − F_c) exp(−(|v|/v_s)ⁿ)                                                       (LU1)
    ż = v − σ₀ |v| z / g(v)                                     z: how far the bristles are bent    (LU2)
    τ = −(σ₀ z + σ₁ ż + c v)                                                                        (LU3)

Stored ½ σ₀ z², lost what else it takes. It creeps as bristles do, and needs short steps: σ₀ is stiff.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.forces.element import Element, Instant
from kinpair.friction.laws.laws import faded
from kinpair.model.model import FrictionData, Model


@final
@dataclass(frozen=True, slots=True)
class Bristle(Element):
    """Resists rate `v`."""

    name: str
    bodies: tuple[int, ...]
    v: int
    unit: str
    level: Scalar
    static: Scalar
    speed: Scalar
    exponent: Scalar
    sigma0: Scalar
    sigma1: Scalar
    viscous: Scalar
    dissipates = True

    @property
    def x_names(self) -> tuple[str, ...]:
        """How far the bristles are bent."""
        return (f"{self.name}.bristle",)

    @property
    def x_units(self) -> tuple[str, ...]:
        """As of the coordinate."""
        return (self.unit,)

    @property
    def x_scale(self) -> tuple[float, ...]:
        """Where they give way."""
        numbers = isinstance(self.static, (int, float)) and isinstance(self.sigma0, (int, float))
        return (float(self.static / self.sigma0) or 1.0,) if numbers else (1.0,)

    def _rate(self, at: Instant) -> Scalar:
        """ż."""
        v, z = at.state.qd[self.v], at.x[0]
        speed = np.abs(v)
        g = self.level + (self.static - self.level) * faded(speed, self.speed, self.exponent)  # (LU1)
        return v - self.sigma0 * speed * z / g  # (LU2)

    def rates(self, at: Instant) -> Vector:
        """ż."""
        return array([self._rate(at)])

    def _resists(self, at: Instant) -> Scalar:
        v, z = at.state.qd[self.v], at.x[0]
        return self.sigma0 * z + self.sigma1 * self._rate(at) + self.viscous * v

    def efforts(self, at: Instant) -> Mapping[int, Scalar]:
        """−(σ₀ z + σ₁ ż + c v)."""
        return {self.v: -self._resists(at)}  # (LU3)

    def energy(self, at: Instant) -> Scalar:
        """½ σ₀ z²."""
        z = at.x[0]
        return 0.5 * self.sigma0 * z * z

    def losses(self, at: Instant) -> Mapping[str, Scalar]:
        """What is not stored."""
        stored = self.sigma0 * at.x[0] * self._rate(at)
        return {self.name: self._resists(at) * at.state.qd[self.v] - stored}


def bristle(model: Model, x: FrictionData, unit: str) -> Bristle:
    """The element of a law."""
    n = x.numbers
    levels = n["level"], n["level_static"], n["stribeck_speed"], n["exponent"]
    bodies = model.parent[x.body], x.body
    return Bristle(x.name, bodies, x.v, unit, *levels, n["sigma0"], n["sigma1"], n.get("viscous", 0.0))
