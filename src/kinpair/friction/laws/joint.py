"""Friction in the joints: one element a law and rate.

τ = −s F(s q̇) − c q̇                    s: sign of sliding, fixed through a phase         (FR3)
loss = s q̇ F(s q̇) + c q̇²                                                                 (FR4)

By bristles (LuGre; Canudas de Wit, Olsson, Åström & Lischinsky 1995), with one internal state a rate:

    g(v) = F_c + (F_s − F_c) exp(−(|v|/v_s)ⁿ)                                                       (LU1)
    ż = v − σ₀ |v| z / g(v)                                     z: how far the bristles are bent    (LU2)
    τ = −(σ₀ z + σ₁ ż + c v)                                                                        (LU3)

Stored ½ σ₀ z², lost what else it takes. It creeps as bristles do, and needs short steps: σ₀ is stiff.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.algebra.choice import sign
from kinpair.forces.element import Element, Instant
from kinpair.friction.laws.laws import Law, faded, law_of
from kinpair.model.units import units

if TYPE_CHECKING:
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
        """Names of the deflections of bristles."""
        return (f"{self.name}.bristle",)

    @property
    def x_units(self) -> tuple[str, ...]:
        """Units as of the coordinate."""
        return (self.unit,)

    @property
    def x_scale(self) -> tuple[float, ...]:
        """Displacement at which bristles yield."""
        numbers = isinstance(self.static, (int, float)) and isinstance(self.sigma0, (int, float))
        return (float(self.static / self.sigma0) or 1.0,) if numbers else (1.0,)

    def _rate(self, at: Instant) -> Scalar:
        """Rate ż of the bristles."""
        v, z = at.state.qd[self.v], at.x[0]
        speed = np.abs(v)
        g = self.level + (self.static - self.level) * faded(speed, self.speed, self.exponent)  # (LU1)
        return v - self.sigma0 * speed * z / g  # (LU2)

    def rates(self, at: Instant) -> Vector:
        """Rate ż of the bristles."""
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
        """Power that is not stored [W]."""
        stored = self.sigma0 * at.x[0] * self._rate(at)
        return {self.name: self._resists(at) * at.state.qd[self.v] - stored}


def bristle(model: Model, x: FrictionData, unit: str) -> Bristle:
    """The element of a law."""
    n = x.numbers
    levels = n["level"], n["level_static"], n["stribeck_speed"], n["exponent"]
    bodies = model.parent[x.body], x.body
    return Bristle(x.name, bodies, x.v, unit, *levels, n["sigma0"], n["sigma1"], n.get("viscous", 0.0))


@final
@dataclass(frozen=True, slots=True)
class JointFriction(Element):
    """Resists rate `v` by a law."""

    name: str
    bodies: tuple[int, ...]
    v: int
    law: Law
    dissipates = True

    @property
    def u_names(self) -> tuple[str, ...]:
        """The input that operates its levels, if one does."""
        return tuple(dict.fromkeys(name for x in self.law.levels.every for name in x.inputs))

    @property
    def timed(self) -> bool:
        """True if a level is a function of time."""
        return any(x.timed for x in self.law.levels.every)

    @property
    def jumps(self) -> bool:
        """Flags where the rate changes its sign."""
        return self.law.dry

    @property
    def sticks(self) -> tuple[int, ...]:
        """Rate on which it sticks."""
        return (self.v,) if self.law.dry else ()

    def _share(self, at: Instant) -> Scalar:
        return sign(at.state.qd[self.v]) if at.model.slip is None else at.model.slip.share[self.v]

    def _dry(self, at: Instant) -> Scalar:
        """s F(s q̇)."""
        if not self.law.dry:
            return 0.0
        share = self._share(at)
        return share * self.law.sliding(at, share * at.state.qd[self.v], share)

    def efforts(self, at: Instant) -> Mapping[int, Scalar]:
        """−s F(s q̇) − c q̇."""
        return {self.v: -self._dry(at) - self.law.flowing(at.state.qd[self.v])}  # (FR3)

    def losses(self, at: Instant) -> Mapping[str, Scalar]:
        """Power that it takes [W]."""
        rate = at.state.qd[self.v]
        return {self.name: (self._dry(at) + self.law.flowing(rate)) * rate}  # (FR4)

    def holds(self, at: Instant) -> Mapping[int, tuple[Scalar, Scalar]]:
        """−F_s ≤ effort ≤ F_s."""
        if not self.law.dry:
            return {}
        return {self.v: (-self.law.static(at, 1.0), self.law.static(at, -1.0))}

    def slides(self, at: Instant) -> Mapping[int, tuple[Scalar, Scalar]]:
        """Efforts at the beginning of motion forward and backward."""
        if not self.law.dry:
            return {}
        return {self.v: (-self.law.sliding(at, 0.0, 1.0), self.law.sliding(at, 0.0, -1.0))}

    def switches(self, at: Instant) -> Mapping[str, Scalar]:
        """Switching function: the rate."""
        return {self.name: at.state.qd[self.v]} if self.law.dry else {}


def joint_frictions(model: Model) -> list[Element]:
    """Friction of all joints, in the order of the rates."""
    return [MAKERS.get(x.law, _joint_friction)(model, x) for x in model.frictions]


def _joint_friction(model: Model, x: FrictionData) -> Element:
    return JointFriction(x.name, (model.parent[x.body], x.body), x.v, law_of(x.law, x.numbers, x.signals))


def _bristle(model: Model, x: FrictionData) -> Element:
    q = int(model.joints.spring_q[x.v])
    return bristle(model, x, units(model)["q"][q] if q >= 0 else "rad")


MAKERS: dict[str, Callable[[Model, FrictionData], Element]] = {"lugre": _bristle}  # laws with internal states
