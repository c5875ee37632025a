"""`kp.track`: a motion, a regulator and a perturbation in, a run with its errors out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kinpair.errors import InputError, expect, listed, nearest
from kinpair.formulations import kinematics
from kinpair.mechanism import Mechanism
from kinpair.model.entries import filled, spans_of, words_of
from kinpair.motion.follow import follow
from kinpair.motion.nominal import Nominal
from kinpair.motion.rated import with_rates
from kinpair.motion.trajectory import Trajectory
from kinpair.regulators.joint_regulators import computed_torque, force_feedback, pd
from kinpair.regulators.linear_quadratic import lqr
from kinpair.regulators.regulator import Regulator
from kinpair.runs.simulate import simulate
from kinpair.tracking.tracking import Tracking

REGULATORS: Mapping[str, Callable[..., Regulator]] = {
    "lqr": lqr,
    "pd": pd,
    "computed-torque": computed_torque,
    "force-feedback": force_feedback,
}


def track(
    mechanism: Mechanism,
    motion: Any,
    regulator: Any = "lqr",
    *,
    off: Any = 0.0,
    off_rates: Any = 0.0,
    hold: float = 0.0,
    band: float | None = None,
    plant: Mechanism | None = None,
    **options: Any,
) -> Tracking:
    """The closed loop along a motion from a perturbed start; see docs/regulators.md.

    * `motion`: a trajectory of all coordinates, a nominal motion, or motions of frames as `kp.motion.follow` has them;
    * `regulator`: made by `kp.regulator`, or "lqr", "pd", "computed-torque", "force-feedback" for one with its usual
      gains; None: the nominal efforts alone;
    * `off`, `off_rates`: displacement of the start along the rates, a number, (nv,), by name, or (batch, nv), and
      change of the rates there. A closed mechanism starts at the nearest state that obeys its constraints; what is
      given by name is kept exactly, if there are not more names than freedoms;
    * `hold` [s]: how long it goes on after the motion has ended; `band`: errors below it have settled;
    * `plant`: the mechanism that moves in truth, with the same rates, where it is not the one that the regulator
      knows; all other options are those of `kp.simulate`.
    """
    expect("track", mechanism, Mechanism)
    path = _path(mechanism, motion)
    m = mechanism if plant is None else plant
    if not 0.0 <= hold < np.inf:
        raise InputError(f"{m.name}: hold is {hold!r}; give seconds, not below zero", argument="hold")
    start = path.at(0.0)
    dq, dqd = _change(m, "off", off), _change(m, "off_rates", off_rates)
    q = _moved(m, start.q, dq)
    qd = start.qd + dqd
    if m.closure is not None and (dq.any() or dqd.any()):
        q, qd = _obeying(m, q, qd, _held(m, start.q, off), _held(m, start.q, off_rates))
    torque = _regulator(mechanism, path, regulator)
    run = simulate(m, q, qd, duration=path.duration + hold, torque=torque, **options)
    return Tracking(run, path, band)


def _path(m: Mechanism, motion: Any) -> Trajectory:
    if isinstance(motion, Nominal):
        return motion.motion
    if isinstance(motion, Mapping):
        return follow(m, motion)
    if not isinstance(motion, Trajectory):
        raise InputError(
            f"{m.name}: motion is {motion!r}; give a trajectory, such as kp.motion.cycloid(start, end, duration)",
            argument="motion",
        )
    return with_rates(m, motion)


def _regulator(m: Mechanism, path: Trajectory, given: Any) -> Any:
    if given is None:
        return pd(m, path, kp=0.0, kd=0.0)
    if not isinstance(given, str):
        return given
    if given not in REGULATORS:
        raise InputError(
            f"{m.name}: no regulator {given!r}; {nearest(given, REGULATORS)}Regulators: "
            f"{listed(REGULATORS)}, or one made by kp.regulator",
            argument="regulator",
        )
    own = {} if given == "lqr" else {"frequency": 10.0}
    return REGULATORS[given](m, path, **own)


def _change(m: Mechanism, what: str, given: Any) -> np.ndarray:
    """A change along the rates (..., nv)."""
    if isinstance(given, Mapping):
        return filled(m.model, words_of(what), given, np.zeros(m.nv))[0]
    try:
        found = np.asarray(given, dtype=float)
        return np.array(np.broadcast_to(found, (*found.shape[:-1], m.nv)))
    except (TypeError, ValueError):
        raise InputError(
            f"{m.name}: {what} is {given!r}; give a number, {m.nv} of them, some by name, or rows for a batch",
            argument=what,
        ) from None


def _held(m: Mechanism, q: np.ndarray, given: Any) -> list[str]:
    """Return the names that a change by name keeps exactly: none if they are more than the freedoms at q (nq,)."""
    names = list(given) if isinstance(given, Mapping) else []
    spans = spans_of(m.model, False)
    return names if sum(len(range(m.nv)[spans[x]]) for x in names) <= m.mobility(q).freedom else []


def _obeying(
    m: Mechanism, q: np.ndarray, qd: np.ndarray, held: Sequence[str], held_rates: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Return coordinates (..., nq) and rates (..., nv) that obey the constraints, near to those given."""
    front = np.broadcast_shapes(q.shape[:-1], qd.shape[:-1])
    q = m.assemble(q, fixed=[x for x in held if x in (*m.joint_names, *m.q_names)])
    at, near = np.broadcast_to(q, (*front, m.nq)), np.broadcast_to(qd, (*front, m.nv))
    spans = spans_of(m.model, False)
    inputs = {x: near[..., spans[x]] if x in m.joint_names else near[..., spans[x].start] for x in held_rates}
    return q, m.velocities(at, inputs, guess=near)


def _moved(m: Mechanism, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    if step.ndim > 1:
        return np.array([_moved(m, q, x) for x in step])
    return np.asarray(kinematics.normalised(m.model, kinematics.moved(m.model, q, step)), dtype=float)
