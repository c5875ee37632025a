"""A motion with the efforts that make it: what a regulator keeps a mechanism to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinpair.analysis.linear.equilibrium import Equilibrium
from kinpair.errors import InputError
from kinpair.forces.states import has_actuators
from kinpair.mechanism import Mechanism
from kinpair.motion.trajectory import Trajectory

SAMPLES = 201  # knots, unless told otherwise


@dataclass(frozen=True, slots=True, eq=False)
class Nominal:
    """Times (m,) with q (m, nq), qd, qdd and efforts tau (m, nv); `stands`: it is one state at all times."""

    mechanism: Mechanism
    times: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    stands: bool = False


def nominal_of(
    m: Mechanism,
    motion: Any,
    inputs: Sequence[str] | None,
    times: np.ndarray | None = None,
    samples: int = SAMPLES,
    passive: bool = True,
) -> Nominal:
    """Of a trajectory, or of a place to stand at: coordinates (nq,) or by name, or an `Equilibrium`.

    The efforts are those of the `inputs`, all by default; `passive`: against springs, dampers and friction, too.
    """
    if isinstance(motion, Nominal):
        return motion
    if has_actuators(m.model):
        raise InputError(
            f"{m.name}: has actuators, and a motion says nothing about their inputs; make a linear-quadratic regulator "
            "for a state and its inputs, lqr(linearise(m, q, qd, x=..., u=...))"
        )
    if isinstance(motion, Equilibrium):
        return _standing(m, motion.q, motion.qd, motion.u)
    if not isinstance(motion, Trajectory):
        q = np.asarray(m.by_name(q=motion)[0] if motion is not None else m.start(), dtype=float)
        m.checked("q", q)
        still = np.zeros(m.nv)
        return _standing(m, q, still, _efforts(m, q, still, still, inputs, 0.0, passive))
    if motion.shape != (m.nq,) or m.nq != m.nv:
        raise InputError(
            f"{m.name}: the motion has shape {motion.shape}; give one of all {m.nq} coordinates, without quaternions"
        )
    t = np.linspace(0.0, motion.duration, samples) if times is None else times
    found = motion.at(t)
    q, qd, qdd = (np.ascontiguousarray(x, dtype=float) for x in (found.q, found.qd, found.qdd))
    if m.closure is not None:
        q, qd, qdd = _obeying(m, t, q, qd, qdd)
    return Nominal(m, t, q, qd, qdd, _efforts(m, q, qd, qdd, inputs, t, passive))


def _standing(m: Mechanism, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> Nominal:
    twice = (np.stack([x, x]) for x in (q, qd, np.zeros(m.nv), tau))
    q2, qd2, qdd2, tau2 = twice
    return Nominal(m, np.array([0.0, 1.0]), q2, qd2, qdd2, tau2, stands=True)


def _efforts(
    m: Mechanism, q: Any, qd: Any, qdd: Any, inputs: Sequence[str] | None, time: Any, passive: bool
) -> np.ndarray:
    """Those of the inputs that make the motion."""
    if inputs is None and m.closure is None:
        return m.inverse_dynamics(q, qd, qdd, passive=passive)
    names = None if inputs is None else tuple(x.removeprefix("tau.") for x in inputs)
    return m.inverse_dynamics(q, qd, qdd, actuators=names, time=time, passive=passive)


def _obeying(
    m: Mechanism, times: np.ndarray, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The motion of the constraints that is nearest to the one given, state by state."""
    at: list[np.ndarray] = []
    rates: list[np.ndarray] = []
    accelerations: list[np.ndarray] = []
    for k, time in enumerate(times.tolist()):
        at.append(m.assemble(q[k], time=time))
        rates.append(m.velocities(at[-1], guess=qd[k], time=time))
        accelerations.append(m.accelerations(at[-1], rates[-1], guess=qdd[k], time=time))
    return np.array(at), np.array(rates), np.array(accelerations)
