"""Motions of mechanisms whose rates are no derivatives of single coordinates, or that satisfy constraints.

A trajectory has coordinates c(t). With ĉ the coordinates with quaternions of length one, and E(q) that makes dq/dt of
the rates, the rates along the trajectory are

    r = E(ĉ)⁻¹ dĉ/dt,   and ṙ, r̈                                                                        (MO19)

Under constraints A q̇ + a = 0, A q̈ = b, rates and accelerations are the nearest ones that satisfy them:

    q̇ = r − A⁺(A r + a),   q̈ = ṙ − A⁺(A ṙ − b)                                                         (MO20)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinpair.algebra.arrays import Vector, columns, rows
from kinpair.algebra.jet import rate
from kinpair.formulations import kinematics
from kinpair.mechanism import Mechanism
from kinpair.model.model import Model
from kinpair.motion.trajectory import Motion, Trajectory


@final
@dataclass(frozen=True, eq=False)
class MechanismMotion(Trajectory):
    """Coordinates (nq) of a mechanism over time, with rates, accelerations and jerk (nv) along its rates.

    `coordinates`: the motion of all coordinates. Between the samples it was made from, it satisfies constraints only
    nearly; its rates and accelerations satisfy them at every time. A time that is a symbol gives the rates of (MO19).
    """

    mechanism: Mechanism
    coordinates: Trajectory

    def within(self, time: Any, order: int, side: str) -> list[Any]:
        return self.coordinates.within(time, order, side)

    def at(self, time: Any, *, side: str = "") -> Motion:
        """Coordinates (*time, nq), rates, accelerations and jerk (*time, nv)."""
        m, x = self.mechanism, self.coordinates.at(time, side=side)
        if np.asarray(x.q).dtype == object:
            return _along_rates(m.model, x)
        lead = x.q.shape[:-1]
        every = Motion(*(np.reshape(part, (-1, m.nq)) for part in x))
        if m.nq != m.nv and every.q.size:
            along = _along_rates(m.model, Motion(*(columns(part) for part in every)))
            every = Motion(*(rows(part, len(every.q)) for part in along))
        if m.closure is not None:
            moments = np.broadcast_to(np.asarray(time, dtype=float), lead).reshape(-1)
            every = self._satisfying(every, moments)
        return Motion(*(part.reshape(*lead, part.shape[-1]) for part in every))

    def _satisfying(self, x: Motion, time: np.ndarray) -> Motion:
        """The motion with rates and accelerations that satisfy the constraints; times before and after it rest.

        Equation (MO20).
        """
        m = self.mechanism
        inside = (time >= 0.0) & (time <= self.duration)
        qd, qdd = x.qd.copy(), x.qdd.copy()
        if inside.any():
            q, moments = x.q[inside], time[inside]
            qd[inside] = m.velocities(q, guess=qd[inside], time=moments)
            qdd[inside] = m.accelerations(q, qd[inside], guess=qdd[inside], time=moments)
        return x._replace(qd=qd, qdd=qdd)


def motion_of(m: Mechanism, coordinates: Trajectory) -> Trajectory:
    """A motion of all coordinates as one of the mechanism; the same where rates are plain derivatives."""
    plain = m.nq == m.nv and m.closure is None
    return (
        coordinates
        if plain
        else MechanismMotion(coordinates.duration, coordinates.shape, coordinates.knots, m, coordinates)
    )


def _along_rates(model: Model, x: Motion) -> Motion:
    """Coordinates and their derivatives (nq) as rates and their derivatives (nv).    (MO19)"""
    if model.nq == model.nv:
        return x

    def rates(q: Vector, dq: Vector) -> Vector:
        change = rate(lambda x: kinematics.normalised(model, x), (q,), (dq,))
        return kinematics.rates_of(model, kinematics.normalised(model, q), change)

    def changes(q: Vector, dq: Vector, ddq: Vector) -> Vector:
        return rate(rates, (q, dq), (dq, ddq))

    q, dq, ddq, dddq = x
    jerk = rate(changes, (q, dq, ddq), (dq, ddq, dddq))
    return Motion(kinematics.normalised(model, q), rates(q, dq), changes(q, dq, ddq), jerk)
