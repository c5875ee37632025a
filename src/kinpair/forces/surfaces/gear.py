"""Friction from what a gear hands over: losses of teeth, and servos whose friction grows with both torques.

T = pᵀw − (efforts beside the motor) is what the gear hands to the child, τ_m the effort of the motor, at the joint:

    N = |T| + preload                                                                                 (FE1)

so that the efficiency is 1/(1 + μ) where the motor drives and 1 − μ where the load does. With efficiencies η where the
motor drives and η_b where the load does, μ = 1, and v the direction of sliding:

    N = |T| (1/η − 1) where T v > 0,   |T| (1 − η_b) elsewhere;   η_b = 2 − 1/η unless given             (FE5)

At rest, both directions have their own bound: a load T rests while the motor gives between η_b T and T/η. With η_b ≤ 0
it rests without the motor: the gear locks itself. A servo is loaded by the
external torque τ_e and the motor torque τ_m. Its own friction, dry or viscous (−c q̇), is no load:

    τ_e = −T + c q̇                                                                                    (FE4)

With s = exp(−|q̇/v_s|^α), a servo has (Dynamixel, law M6 of the BAM project)

    N = f_b + |l_e τ_e − l_m τ_m| + s (f_s + |l_es τ_e − l_ms τ_m| + Q)                                  (FE2)
    Q = q_e τ_e² where |τ_m| > |τ_e|, else q_m τ_m²;   0 where their signs agree                          (FE3)

and a coefficient μ of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.algebra.choice import less, maximum, sign, where
from kinpair.forces.friction_laws import faded
from kinpair.forces.surfaces.surface import (
    JUMP,
    LINEAR,
    NORM,
    SQUARE,
    Carried,
    Grip,
    Jump,
    LoadPart,
    Surface,
    magnitude,
)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Teeth(Surface):
    """Of the gear that drives a joint of one degree; `along` is p of the pair."""

    kind = "gear"
    name: str
    body: int
    grip: Grip
    along: Vector
    preload: Scalar
    drive: Scalar = 1.0
    back: Scalar | None = None  # None: as `drive`

    def sliding(self) -> Matrix:
        return array([[1.0]])

    def forms(self, w: Vector, q: Vector) -> list[Scalar]:
        return [self.along @ w]

    def load(self, c: Sequence[Scalar], force: Vector, at: Carried) -> Scalar:
        T = c[0] - at.beside[0]
        if self.back is None:
            return self.drive * magnitude(T) + self.preload  # (FE1)
        mean, half = 0.5 * (self.drive + self.back), 0.5 * (self.drive - self.back)
        return mean * magnitude(T) + half * at.toward * T + self.preload  # (FE5)

    def parts(self, at: Carried) -> list[LoadPart]:
        drive, back = float(self.drive), float(self.drive if self.back is None else self.back)
        mean, half = 0.5 * (drive + back), 0.5 * (drive - back)
        T = np.eye(1), -np.array(at.beside[:1], dtype=float)
        return [
            LoadPart(NORM, *T, weights=(mean, mean)),
            LoadPart(LINEAR, *T, weights=(half, -half)),
        ]

    def spread(self, c: Sequence[Scalar], force: Vector) -> Scalar:
        return (self.drive if self.back is None else maximum(self.drive, self.back)) * magnitude(c[0])


@final
@dataclass(frozen=True, slots=True)
class ServoData:
    """Numbers of (FE2), (FE3) and (FE4): torques in N m, q_m and q_e in 1/(N m), c in N m s/rad."""

    f_b: Scalar
    f_s: Scalar
    l_m: Scalar
    l_e: Scalar
    l_ms: Scalar
    l_es: Scalar
    q_m: Scalar
    q_e: Scalar
    v_s: Scalar
    alpha: Scalar
    viscous: Scalar = 0.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Servo(Surface):
    """Of a joint of one degree."""

    kind = "servo"
    feels_force = True
    bounded = False
    jumps = True
    name: str
    body: int
    grip: Grip
    along: Vector
    data: ServoData

    def sliding(self) -> Matrix:
        return array([[1.0]])

    def forms(self, w: Vector, q: Vector) -> list[Scalar]:
        return [self.along @ w]

    def load(self, c: Sequence[Scalar], force: Vector, at: Carried) -> Scalar:
        x = self.data
        minus_T = at.beside[0] - c[0]
        tau_e = minus_T + x.viscous * at.qd[0]  # (FE4)
        tau_m = at.motor[0] - at.yields * (force[0] + minus_T)
        opposed = less(tau_e * tau_m, 0.0)
        below, beyond = x.q_e * tau_e * tau_e, x.q_m * tau_m * tau_m
        if at.theta is not None:
            beyond = x.q_e * tau_m * tau_m
        larger = where(less(magnitude(tau_e), magnitude(tau_m)), below, beyond)
        Q = where(opposed, larger, 0.0)  # (FE3)
        slow = x.f_s + magnitude(x.l_es * tau_e - x.l_ms * tau_m) + Q
        N = x.f_b + magnitude(x.l_e * tau_e - x.l_m * tau_m) + self._fading(at) * slow  # (FE2)
        return N if at.theta is None else N + at.theta * self._height(tau_m, at)

    def _fading(self, at: Carried) -> Scalar:
        """s of (FE2)."""
        return faded(magnitude(at.qd[0]), self.data.v_s, self.data.alpha)

    def _height(self, tau_m: Scalar, at: Carried) -> Scalar:
        """The jump of N where |τ_e| passes |τ_m|."""
        return self._fading(at) * (self.data.q_m - self.data.q_e) * tau_m * tau_m

    def jump(self, c: Sequence[Scalar], at: Carried) -> Jump:
        """Friction takes from what the gear hands to the child: the jump helps itself where it is upward and the load
        drives, or downward and the motor does."""
        tau_m, x = at.motor[0], self.data
        tau_e = at.beside[0] - c[0] + x.viscous * at.qd[0]
        height, forward = self._height(tau_m, at), sign(tau_m)
        helps = where(less(at.toward * forward * height, 0.0), 1.0, 0.0)
        return Jump(-tau_e * forward, tau_m * forward, height, helps)

    def impulse(self, c: Sequence[Scalar], force: Vector) -> Scalar:
        return self.data.l_e * magnitude(c[0])  # (FE2) without constants, squares and the fading part

    def parts(self, at: Carried) -> list[LoadPart]:
        """Return the parts with the effort of the motor given: no `yields`."""
        x, tau_m = self.data, float(at.motor[0])
        free = float(at.beside[0] + x.viscous * at.qd[0])  # τ_e = free − c
        s = float(self._fading(at))
        own = [
            LoadPart(NORM, np.array([[-w * l_e]]), np.array([w * (l_e * free - l_m * tau_m)]))
            for w, l_e, l_m in ((1.0, x.l_e, x.l_m), (s, x.l_es, x.l_ms))
        ]
        forward, limit = np.sign(tau_m), abs(tau_m)
        y = np.array([[forward]]), np.array([-forward * free])  # −τ_e in the direction of τ_m
        below, beyond = s * float(x.q_e), s * float(x.q_m - x.q_e) * limit**2
        square = LoadPart(SQUARE, *y, weights=(below, below), limit=limit)
        return [*own, square, LoadPart(JUMP, *y, weights=(beyond, beyond), limit=limit)]  # (FE3)

    def constant(self, at: Carried) -> tuple[float, float]:
        x = self.data
        level = float(x.f_b + self._fading(at) * x.f_s)
        return level, level

    def spread(self, c: Sequence[Scalar], force: Vector) -> Scalar:
        """Without bound: Q grows with the square of the torques, and jumps."""
        return np.full(np.shape(c[0]), np.inf)
