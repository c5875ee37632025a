"""Friction from what a gear hands over: losses of teeth, and servos whose friction grows with both torques.

T = pᵀw − (efforts next to the motor) is what the gear hands to the child, τ_m the effort of the motor, at the joint:

    N = |T| + preload                                                                                 (FE1)

so that the efficiency is 1/(1 + μ) where the motor drives and 1 − μ where the load does. With efficiencies η where the
motor drives and η_b where the load does, μ = 1, and v the direction of sliding:

    N = |T| (1/η − 1) where T v > 0,   |T| (1 − η_b) elsewhere;   η_b = 2 − 1/η unless given             (FE5)

At rest, both directions have their own bound: a load T rests while the motor gives between η_b T and T/η. With η_b ≤ 0
it rests without the motor: the gear locks itself. A servo carries the
external torque τ_e and the motor torque τ_m. Its own friction is no load, dry or viscous; f are its viscous part and
viscous laws of the joint with a power of the speed:

    τ_e = −T + Σ f(q̇)                                                                                 (FE4)

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
from kinpair.algebra.choice import less, maximum, minimum, sign, where
from kinpair.friction.laws.laws import faded, powered
from kinpair.friction.surfaces.surface import (
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
    """Teeth of the gear that drives a joint of one degree; `along` is p of the pair."""

    kind = "gear"
    beside_levels = True
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
        drive, back = self.drive, self.drive if self.back is None else self.back
        mean, half = 0.5 * (drive + back), 0.5 * (drive - back)
        T = np.eye(1), -at.beside[:1]
        return [
            LoadPart(NORM, *T, weights=(mean, mean)),
            LoadPart(LINEAR, *T, weights=(half, -half)),
        ]

    def spread(self, c: Sequence[Scalar], force: Vector) -> Scalar:
        return (self.drive if self.back is None else maximum(self.drive, self.back)) * magnitude(c[0])


@final
@dataclass(frozen=True, slots=True)
class ServoData:
    """Numbers of (FE2) and (FE3): torques in N m, q_m and q_e in 1/(N m); coefficients and exponents of the viscous
    laws of (FE4)."""

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
    viscous: tuple[tuple[Scalar, Scalar], ...] = ()


AT_JUMP, SLOPE = 1e-8, 1e8  # y this close to its limit is there; ∂N/∂y by which it stays there
ROOTS = 6  # steps to N of a motion that is given
STEEP = 1e-3  # least slope of these steps


@final
@dataclass(frozen=True, slots=True, eq=False)
class Servo(Surface):
    """Servo of a joint of one degree."""

    kind = "servo"
    bounded = False
    beside_levels = True
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
        tau_e = minus_T + self._flow(at)  # (FE4)
        if at.yields:
            return self._of_motion(tau_e, at.motor[0] - minus_T, at)
        tau_m = at.motor[0]
        opposed = less(tau_e * tau_m, 0.0)
        below, beyond = x.q_e * tau_e * tau_e, x.q_m * tau_m * tau_m
        if at.theta is not None:
            beyond = x.q_e * tau_m * tau_m
        larger = where(less(magnitude(tau_e), magnitude(tau_m)), below, beyond)
        Q = where(opposed, larger, 0.0)  # (FE3)
        N = self._level(tau_e, tau_m, Q, self._fading(at))
        if at.steep:
            return N + self._stays(self.jump(c, at))
        return N if at.theta is None else N + at.theta * self._height(tau_m, at)

    @staticmethod
    def _stays(x: Jump) -> Scalar:
        """Return almost zero, with a slope that keeps y at its limit, where y is there and the jump opposes itself."""
        beyond = x.y - x.limit
        there = less(magnitude(beyond), AT_JUMP * (1.0 + x.limit))
        return where(there, (1.0 - x.helps) * SLOPE * sign(x.height) * beyond, 0.0)

    def _level(self, tau_e: Scalar, tau_m: Scalar, Q: Scalar, s: Scalar) -> Scalar:
        """N with Q given.    (FE2)"""
        x = self.data
        slow = x.f_s + magnitude(x.l_es * tau_e - x.l_ms * tau_m) + Q
        return x.f_b + magnitude(x.l_e * tau_e - x.l_m * tau_m) + s * slow  # (FE2)

    def _of_motion(self, tau_e: Scalar, free: Scalar, at: Carried) -> Scalar:
        """N in a motion that is given, where the motor has τ_m = free + v N, v the direction of sliding.

        Each case of (FE3) is solved as if it were valid everywhere; the one that fits best counts. N − N(τ_m) is
        concave, so
        Newton's method from N = 0 rises to its first root. At the jump τ_m = −τ_e, and N is what that takes.
        """
        x, v, s, cases = self.data, at.toward, self._fading(at), list[tuple[Scalar, Scalar, Scalar]]()
        size = magnitude(tau_e)
        for by_motor, constant in ((0.0, 0.0), (x.q_m, 0.0), (0.0, x.q_e * tau_e * tau_e)):
            N: Scalar = 0.0
            for _ in range(ROOTS):
                tau_m = free + v * N
                slope = x.l_m * sign(x.l_m * tau_m - x.l_e * tau_e) + s * (
                    x.l_ms * sign(x.l_ms * tau_m - x.l_es * tau_e) + 2.0 * by_motor * tau_m
                )
                missed = N - self._level(tau_e, tau_m, by_motor * tau_m * tau_m + constant, s)
                N = N - np.divide(missed, maximum(1.0 - v * slope, STEEP))
            tau_m = free + v * N
            missed = N - self._level(tau_e, tau_m, by_motor * tau_m * tau_m + constant, s)
            cases.append((N, tau_m * sign(tau_e), magnitude(missed)))
        (none, along, r_1), (small, within, r_2), (large, beyond, r_3) = cases
        at_jump = -(v * (tau_e + free))
        ends = [self._level(tau_e, -tau_e, q * tau_e * tau_e, s) for q in (x.q_m, x.q_e)]
        wrong = [
            maximum(-along, 0.0) + r_1,
            maximum(maximum(within, -within - size), 0.0) + r_2,
            maximum(beyond + size, 0.0) + r_3,
            maximum(maximum(minimum(*ends) - at_jump, at_jump - maximum(*ends)), 0.0),
        ]
        N, least = none, wrong[0]
        for other, error in zip((small, large, at_jump), wrong[1:], strict=True):
            N, least = where(less(error, least), other, N), minimum(error, least)
        return N

    def _flow(self, at: Carried) -> Scalar:
        """Viscous friction of the joint."""
        total: Scalar = 0.0
        for c, n in self.data.viscous:
            total = total + c * powered(at.qd[0], n)
        return total

    def _fading(self, at: Carried) -> Scalar:
        """s of (FE2)."""
        return faded(magnitude(at.qd[0]), self.data.v_s, self.data.alpha)

    def _height(self, tau_m: Scalar, at: Carried) -> Scalar:
        """The jump of N where |τ_e| passes |τ_m|."""
        return self._fading(at) * (self.data.q_m - self.data.q_e) * tau_m * tau_m

    def jump(self, c: Sequence[Scalar], at: Carried) -> Jump:
        """Friction takes from what the gear hands to the child: the jump helps itself where it is upward and the load
        drives, or downward and the motor does."""
        tau_m = at.motor[0]
        tau_e = at.beside[0] - c[0] + self._flow(at)
        height, forward = self._height(tau_m, at), sign(tau_m)
        helps = where(less(at.toward * forward * height, 0.0), 1.0, 0.0)
        return Jump(-tau_e * forward, tau_m * forward, height, helps)

    def parts(self, at: Carried) -> list[LoadPart]:
        """Return the parts with the effort of the motor given: no `yields`."""
        x, tau_m = self.data, at.motor[0]
        free = at.beside[0] + self._flow(at)  # τ_e = free − c
        s = self._fading(at)
        own = [
            LoadPart(NORM, array([[-w * l_e]]), array([w * (l_e * free - l_m * tau_m)]))
            for w, l_e, l_m in ((1.0, x.l_e, x.l_m), (s, x.l_es, x.l_ms))
        ]
        forward = sign(tau_m)
        limit = tau_m * forward
        y = array([[forward]]), array([-forward * free])  # −τ_e in the direction of τ_m
        below, beyond = s * x.q_e, self._height(tau_m, at)
        square = LoadPart(SQUARE, *y, weights=(below, below), limit=limit)
        return [*own, square, LoadPart(JUMP, *y, weights=(beyond, beyond), limit=limit)]  # (FE3)

    def constant(self, at: Carried) -> tuple[Scalar, Scalar]:
        x = self.data
        level = x.f_b + self._fading(at) * x.f_s
        return level, level

    def spread(self, c: Sequence[Scalar], force: Vector) -> Scalar:
        """Spread without bound: Q grows with the square of the torques, and jumps."""
        return np.full(np.shape(c[0]), np.inf)
