"""Laws of regulators for a deviation from a nominal motion q⁰(t), τ⁰(t); e = q⁰ − q along the rates.

    τ = τ⁰ − K [q ⊖ q⁰; q̇ − q̇⁰]                                              state feedback               (RG6)
    τ = τ⁰ + k_p e + k_d ė + k_i z,   z ← z + T e                              each joint for itself        (RG7)
    τ = H(q) (q̈⁰ + k_d ė + k_p e) + h(q, q̇)                                   computed torque              (RG8)
    P = τ − J q̈,   τ ← J (q̈⁰ + k_d ė + k_p e) + k_F P                         force feedback               (RG9)

Of (RG9), after Vukobratović: each joint is regulated as if it moved a constant inertia J, and P is what a sensor
behind that inertia feels, gravity and the other joints; fed back in full, k_F = 1, it leaves each joint its own
second-order system. The sensor is that of the sample before.

`pd`, `computed_torque` and `force_feedback` make them of a motion. The deviation of a state from a motion along the
rates, and accelerations that take it away:

    e = q⁰ ⊖ q,   ė = D⁰ q̇⁰ − D q̇,   ë = r − D q̈             D = −∂e/∂q: one, but for quaternions             (RG15)
    q̈ = (2 − D) w,   w = r + k_d ė + k_p e        ë + k_d ė + k_p e = 0, to the second order of e             (RG16)

Coordinates without quaternions have D = 1 and r = q̈⁰: there (RG16) is exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector, array
from kinpair.algebra.choice import less, where
from kinpair.algebra.jet import rate
from kinpair.constraints.assembly.actuated import Actuators
from kinpair.control.nominal import (
    FEED_FORWARD,
    SAMPLES,
    Actuation,
    Drive,
    Nominal,
    actuated_names,
    actuation_of,
    efforts,
    nominal_of,
)
from kinpair.control.regulator import Measured, Regulator, Table, period_of
from kinpair.errors import InputError, listed
from kinpair.formulations import kinematics
from kinpair.mechanism import Mechanism
from kinpair.model.entries import filled, words_of
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


def pd(
    mechanism: Mechanism,
    motion: Any = None,
    *,
    kp: Any = None,
    kd: Any = None,
    ki: Any = 0.0,
    frequency: float | None = None,
    damping: float = 1.0,
    feed_forward: str = "inverse",
    actuators: Actuators = None,
    limit: Any = None,
    sample_time: float | None = None,
    samples: int = SAMPLES,
) -> JointLaw:
    """Each joint for itself, by proportion, derivative and, with `ki`, integral: (RG7).

    * `kp`, `kd`, `ki`: a number, (nv,), or by name; or from `frequency` [rad/s] and `damping`, for the inertia that
      each joint has at the start of the motion, with which `ki` [1/s³] is then multiplied, too;
    * `feed_forward`: "inverse" adds the efforts of the motion, "gravity" those that hold its places, "none" nothing;
    * `actuators`: joints or rates of a closed mechanism that have efforts, by default those of its description;
    * `limit`: of efforts, beyond which nothing is integrated, by default those of the description.
    """
    m = mechanism
    if feed_forward not in FEED_FORWARD:
        raise InputError(
            f"{_checked(m).name}: feed_forward is {feed_forward!r}; it is one of {', '.join(FEED_FORWARD)}",
            argument="feed_forward",
        )
    names = actuated_names(_checked(m), actuators, motion, "pd")
    nominal = nominal_of(m, motion, Drive(names, kind=feed_forward), samples=samples)
    driven = np.array([names is None or x in names for x in m.v_names])
    gains = _gains(m, nominal, kp, kd, frequency, damping, inertia=True)
    gains = {name: gain * driven for name, gain in gains.items()}
    integral = _rates(m, "ki", ki) * driven * (1.0 if frequency is None else _inertias(m, nominal))
    most = m.model.joints.effort if limit is None else _rates(m, "limit", limit)
    constants = {**gains, "ki": integral, "limit": np.minimum(most, np.finfo(float).max)}
    table = Table.along(nominal.course.only("q", "qd", "tau"), constants)
    period = period_of(m.name, sample_time)
    has = bool(integral.any())
    return JointLaw(m.model, table, integral=has, sample_time=1e-3 if has and period is None else period)


def computed_torque(
    mechanism: Mechanism,
    motion: Any = None,
    *,
    frequency: float | None = None,
    damping: float = 1.0,
    kp: Any = None,
    kd: Any = None,
    actuators: Actuators = None,
    sample_time: float | None = None,
    samples: int = SAMPLES,
) -> ComputedTorque:
    """Return a regulator by inverse dynamics of the acceleration that takes the deviation away: (RG8).

    Every joint then moves as ë + k_d ė + k_p e = 0; gains in 1/s² and 1/s, or from `frequency` [rad/s] and `damping`.
    The deviation of a quaternion is a rotation vector in axes of the child; it moves so while it is small. Under
    constraints the independent rates move so, the `actuators` (joints or rates) themselves where there are as many as
    freedoms; the actuators share the least efforts, as in `Mechanism.inverse_dynamics`.
    """
    m = _checked(mechanism)
    nominal = nominal_of(m, motion, Drive(kind="none"), samples=samples)
    gains = _gains(m, nominal, kp, kd, frequency, damping, inertia=False)
    table = Table.along(nominal.course.only("q", "qd", "qdd"), gains)
    actuation = actuation_of(m, nominal, actuated_names(m, actuators, motion, "computed_torque"))
    return ComputedTorque(m.model, table, actuation=actuation, sample_time=period_of(m.name, sample_time))


def force_feedback(
    mechanism: Mechanism,
    motion: Any = None,
    *,
    frequency: float | None = None,
    damping: float = 1.0,
    kp: Any = None,
    kd: Any = None,
    gain: Any = 1.0,
    inertia: Any = None,
    sample_time: float = 1e-3,
    samples: int = SAMPLES,
) -> ForceFeedback:
    """Each joint for itself as if it moved a constant inertia, and the load that a sensor feels behind it: (RG9).

    `gain`: which part of the load is fed back. `inertia` J of each joint: the load is that of the sample before, and
    the loop is stable from sample to sample while the eigenvalues of J H⁻¹ are below 2; by default J is that which a
    joint moves while the others are free, made smaller until they are not above 1 along the motion.

    Units: frequency [rad/s], efforts [N m] or [N].
    """
    m = _checked(mechanism)
    nominal = nominal_of(m, motion, Drive(kind="none"), samples=samples)
    gains = _gains(m, nominal, kp, kd, frequency, damping, inertia=False)
    own = _light_inertias(m, nominal) if inertia is None else _rates(m, "inertia", inertia)
    constants = {**gains, "inertia": own, "gain": _rates(m, "gain", gain)}
    table = Table.along(nominal.course.only("q", "qd", "qdd"), constants)
    period = period_of(m.name, sample_time)
    return ForceFeedback(m.model, table, sample_time=1e-3 if period is None else period)


def _checked(m: Mechanism) -> Mechanism:
    if not isinstance(m, Mechanism):  # type: ignore[redundant-expr]
        raise InputError(f"a regulator is for a Mechanism, not {m!r}; load() takes files, example() names")
    return m


def _gains(
    m: Mechanism,
    nominal: Nominal,
    kp: Any,
    kd: Any,
    frequency: float | None,
    damping: float,
    *,
    inertia: bool,
) -> dict[str, np.ndarray]:
    """k_p and k_d: given, or ω² and 2ζω, times the inertia of each joint if requested."""
    if frequency is not None:
        if kp is not None or kd is not None:
            raise InputError(f"{m.name}: give kp and kd, or frequency and damping, not both")
        if not 0.0 < float(frequency) < np.inf or not 0.0 <= float(damping) < np.inf:
            raise InputError(
                f"{m.name}: frequency is {frequency!r} and damping {damping!r}; give numbers above zero"
            )
        own = _inertias(m, nominal) if inertia else np.ones(m.nv)
        return {"kp": frequency**2 * own, "kd": 2.0 * damping * frequency * own}
    if kp is None or kd is None:
        raise InputError(f"{m.name}: give kp and kd, or frequency [rad/s] and damping")
    return {"kp": _rates(m, "kp", kp), "kd": _rates(m, "kd", kd)}


def _inertias(m: Mechanism, nominal: Nominal) -> np.ndarray:
    """Inertia that each joint moves at the start of the motion while the others stand."""
    return np.diag(m.mass_matrix(nominal.q[0])).copy()


def _light_inertias(m: Mechanism, nominal: Nominal) -> np.ndarray:
    """J = s / (H⁻¹)ₖₖ with no eigenvalue of J H⁻¹ above one at any knot."""
    over = np.linalg.inv(m.mass_matrix(nominal.q))
    own = 1.0 / np.diagonal(over, axis1=-2, axis2=-1).max(axis=0)
    root = np.sqrt(own)
    return own / np.linalg.eigvalsh(root[:, None] * over * root).max()


def _rates(m: Mechanism, what: str, given: Any) -> np.ndarray:
    """One number for each rate."""
    if isinstance(given, Mapping):
        return filled(m.model, words_of(what), given, np.zeros(m.nv))[0]
    try:
        found = np.array(np.broadcast_to(np.asarray(given, dtype=float), (m.nv,)))
    except (TypeError, ValueError):
        found = np.full(m.nv, np.nan)
    if np.isnan(found).any():
        raise InputError(
            f"{m.name}: {what} is {given!r}; give a number, {m.nv} of them, or some by name", argument=what
        )
    return found
