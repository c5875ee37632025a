"""Regulators of each joint for itself, and those that know the equations of motion: `kp.regulator.pd` and others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinpair.constraints.assembly.actuated import Actuators
from kinpair.control.laws import ComputedTorque, ForceFeedback, JointLaw
from kinpair.control.nominal import (
    FEED_FORWARD,
    SAMPLES,
    Drive,
    Nominal,
    actuated_names,
    actuation_of,
    nominal_of,
)
from kinpair.control.regulator import Table, period_of
from kinpair.errors import InputError
from kinpair.mechanism import Mechanism
from kinpair.model.entries import filled, words_of


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
