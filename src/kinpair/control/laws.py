"""Laws of regulators for a deviation from a nominal motion q⁰(t), τ⁰(t); e = q⁰ − q along the rates.

    τ = τ⁰ − K [q ⊖ q⁰; q̇ − q̇⁰]                                              state feedback               (RG6)
    τ = τ⁰ + k_p e + k_d ė + k_i z,   z ← z + T e                              each joint for itself        (RG7)
    τ = H(q) (q̈⁰ + k_d ė + k_p e) + h(q, q̇)                                   computed torque              (RG8)
    P = τ − J q̈,   τ ← J (q̈⁰ + k_d ė + k_p e) + k_F P                         force feedback               (RG9)

Of (RG9), after Vukobratović: each joint is regulated as if it moved a constant inertia J, and P is what a sensor
behind that inertia feels, gravity and the other joints; fed back in full, k_F = 1, it leaves each joint its own
second-order system. The sensor is that of the sample before.

The deviation of a state from a motion along the rates, and accelerations that take it away.

    e = q⁰ ⊖ q,   ė = D⁰ q̇⁰ − D q̇,   ë = r − D q̈             D = −∂e/∂q: one, but for quaternions             (RG15)
    q̈ = (2 − D) w,   w = r + k_d ė + k_p e        ë + k_d ė + k_p e = 0, to the second order of e             (RG16)

Coordinates without quaternions have D = 1 and r = q̈⁰: there (RG16) is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector, array
from kinpair.algebra.choice import less, where
from kinpair.algebra.jet import rate
from kinpair.control.nominal import Actuation, efforts
from kinpair.control.regulator import Measured, Regulator
from kinpair.errors import listed
from kinpair.formulations import kinematics
from kinpair.model.model import Model


class Target(NamedTuple):
    """State that a mechanism is required to have: q (nq,), rates and accelerations (nv,)."""

    q: Vector
    qd: Vector
    qdd: Vector


class Deviation(NamedTuple):
    """e, ė, and r of (RG15), each (nv,)."""

    e: Vector
    ed: Vector
    r: Vector


def has_quaternions(model: Model) -> bool:
    """True if a coordinate of the model is part of a quaternion."""
    return model.nq != model.nv


def deviation(model: Model, q: Vector, qd: Vector, target: Target) -> Deviation:
    """Return the deviation of a state from a target.    (RG15)"""
    e = kinematics.difference(model, q, target.q)
    if not has_quaternions(model):
        return Deviation(e, target.qd - qd, target.qdd)

    def changed(at: Vector, v: Vector, to: Vector, w: Vector) -> Vector:
        along = kinematics.dq_dt(model, at, v), kinematics.dq_dt(model, to, w)
        return rate(lambda x, y: kinematics.difference(model, x, y), (at, to), along)

    state = q, qd, target.q, target.qd
    moves = kinematics.dq_dt(model, q, qd), kinematics.dq_dt(model, target.q, target.qd)
    r = rate(changed, state, (moves[0], np.zeros(model.nv), moves[1], target.qdd))
    return Deviation(e, changed(*state), r)


def required(model: Model, q: Vector, target: Vector, d: Deviation, kp: Vector, kd: Vector) -> Vector:
    """Return the accelerations (nv,) that take a deviation from coordinates `target` away.    (RG16)"""
    w = d.r + kd * d.ed + kp * d.e
    if not has_quaternions(model):
        return w
    along = kinematics.dq_dt(model, q, w)
    return 2.0 * w + rate(lambda x: kinematics.difference(model, x, target), (q,), (along,))


@dataclass(frozen=True, eq=False, repr=False)
class StateFeedback(Regulator):
    """(RG6): of the independent `coordinates`, `rates` and `internal` states (numbers), to the efforts or inputs
    `inputs` (numbers) of `size` ones."""

    coordinates: tuple[int, ...] = ()
    rates: tuple[int, ...] = ()
    inputs: tuple[int, ...] = ()
    internal: tuple[int, ...] = ()
    size: int = 0

    def act(self, at: Measured, row: Vector, memory: Vector) -> tuple[Vector, Vector]:
        return self._applied(row, -self._gains(row) @ self._state(at, row)), memory  # (RG6)

    def _state(self, at: Measured, row: Vector) -> Vector:
        """Return the deviation (states,) of what is measured."""
        t = self.table
        x = kinematics.difference(self.model, t.part(row, "q"), at.q)[list(self.coordinates)]
        v = (at.qd - t.part(row, "qd"))[list(self.rates)]
        own = [(at.x - t.part(row, "x"))[list(self.internal)]] if self.internal else []
        return np.concatenate([x, v, *own])

    def _gains(self, row: Vector) -> Matrix:
        return self.table.part(row, "K").reshape(len(self.inputs), -1)

    def _applied(self, row: Vector, u: Vector) -> Vector:
        """Return all efforts or inputs, from changes u of those that the regulator has."""
        return scattered(self.table.part(row, "tau")[list(self.inputs)] + u, self.inputs, self.size)


@final
@dataclass(frozen=True, eq=False, repr=False)
class OutputFeedback(StateFeedback):
    """(KF5): state feedback of an estimate, which a Kalman filter makes of the outputs C x; `lqg` makes it."""

    start: tuple[float, ...] = ()
    outputs: tuple[str, ...] = ()

    @property
    def memory(self) -> np.ndarray:
        return np.array(self.start)

    def act(self, at: Measured, row: Vector, memory: Vector) -> tuple[Vector, Vector]:
        n, t = len(self.start), self.table
        C, M, F, G, H = (t.part(row, name).reshape(rows, -1) for name, rows in self._shapes(n))
        y = C @ self._state(at, row)
        x = memory + M @ (y - C @ memory)
        u = -self._gains(row) @ x
        return self._applied(row, u), F @ x + G @ u + H @ y  # (KF5)

    def _shapes(self, n: int) -> tuple[tuple[str, int], ...]:
        return ("C", len(self.outputs)), ("M", n), ("F", n), ("G", n), ("H", n)

    def _words(self) -> str:
        return f"{len(self.start)} states estimated from {listed(self.outputs, 6)}"


def scattered(u: Vector, numbers: tuple[int, ...], size: int) -> Vector:
    """A vector with the entries at these places, zero elsewhere."""
    every: list[object] = [0.0] * size
    for k, n in enumerate(numbers):
        every[n] = u[k]
    return array(every)


@final
@dataclass(frozen=True, eq=False, repr=False)
class JointLaw(Regulator):
    """(RG7): with an integral it works from sample to sample, and does not integrate while an effort is at its
    limit."""

    integral: bool = False

    @property
    def memory(self) -> np.ndarray:
        return np.zeros(self.model.nv if self.integral else 0)

    def act(self, at: Measured, row: Vector, memory: Vector) -> tuple[Vector, Vector]:
        t = self.table
        still = np.zeros(self.model.nv)
        e, ed, _ = deviation(self.model, at.q, at.qd, Target(t.part(row, "q"), t.part(row, "qd"), still))
        tau = t.part(row, "tau") + t.part(row, "kp") * e + t.part(row, "kd") * ed  # (RG7)
        if not self.integral:
            return tau, memory
        tau = tau + t.part(row, "ki") * memory
        within = less(np.abs(tau), t.part(row, "limit"))
        return tau, where(within, memory + at.period * e, memory)


@final
@dataclass(frozen=True, eq=False, repr=False)
class ComputedTorque(Regulator):
    """(RG8): H and h are those of its own model, whatever the mechanism is that it regulates."""

    actuation: Actuation | None = None

    def act(self, at: Measured, row: Vector, memory: Vector) -> tuple[Vector, Vector]:
        t = self.table
        target = Target(*(t.part(row, name) for name in Target._fields))
        own = deviation(self.model, at.q, at.qd, target)
        qdd = required(self.model, at.q, target.q, own, t.part(row, "kp"), t.part(row, "kd"))
        return efforts(self.model, self.actuation, at, qdd), memory  # (RG8)


@final
@dataclass(frozen=True, eq=False, repr=False)
class ForceFeedback(Regulator):
    """Force feedback by (RG9)."""

    @property
    def needs_samples(self) -> bool:
        return True

    def act(self, at: Measured, row: Vector, memory: Vector) -> tuple[Vector, Vector]:
        t = self.table
        target = Target(*(t.part(row, name) for name in Target._fields))
        own = deviation(self.model, at.q, at.qd, target)
        J = t.part(row, "inertia")
        P = at.efforts - J * at.accelerations()
        qdd = required(self.model, at.q, target.q, own, t.part(row, "kp"), t.part(row, "kd"))
        return J * qdd + t.part(row, "gain") * P, memory  # (RG9)


@final
@dataclass(frozen=True, eq=False, repr=False)
class PreviewLaw(Regulator):
    """u = u⁰ − G_i z − G_x x + f(t),  z ← z + y − y⁰(t),  y = C x: see `preview.py`; f is the sum over the future."""

    coordinates: tuple[int, ...] = ()
    rates: tuple[int, ...] = ()
    inputs: tuple[int, ...] = ()
    outputs: int = 1

    @property
    def memory(self) -> np.ndarray:
        return np.zeros(self.outputs)

    def act(self, at: Measured, row: Vector, memory: Vector) -> tuple[Vector, Vector]:
        t, m = self.table, len(self.inputs)
        x = np.concatenate(
            [
                kinematics.difference(self.model, t.part(row, "q"), at.q)[list(self.coordinates)],
                (at.qd - t.part(row, "qd"))[list(self.rates)],
            ]
        )
        y = t.part(row, "C").reshape(self.outputs, -1) @ x
        z = memory + y - t.part(row, "reference")
        G_i, G_x = (t.part(row, name).reshape(m, -1) for name in ("G_i", "G_x"))
        u = t.part(row, "u") - G_i @ z - G_x @ x + t.part(row, "ahead")
        return scattered(u, self.inputs, self.model.nv), z
