"""The motion that a regulator keeps a mechanism to, with its efforts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinpair.analysis.linear.equilibrium import Equilibrium
from kinpair.control.course import Course, fitted, knots_for, standing, through
from kinpair.errors import InputError
from kinpair.forces.elements import elements_of
from kinpair.forces.states import has_actuators
from kinpair.mechanism import Mechanism
from kinpair.motion.nominal import Nominal as Efforts
from kinpair.motion.rated import with_rates
from kinpair.motion.trajectory import Trajectory

SAMPLES = 201  # knots, unless stated
HALVINGS = 50


@dataclass(frozen=True, slots=True, eq=False)
class Nominal:
    """A motion at times (m,): q (m, nq), qd, qdd and efforts tau (m, nv); `course`: the same at all times.

    `stands`: it is one state at all times.
    """

    mechanism: Mechanism
    times: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    course: Course
    stands: bool = False

    @classmethod
    def of_samples(cls, m: Mechanism, times: np.ndarray, states: Mapping[str, np.ndarray]) -> Nominal:
        """Return the motion of samples q, qd, qdd and tau (m, ...), interpolated between the times."""
        return cls(m, times, **states, course=through(times, states), stands=False)

    @classmethod
    def of_state(cls, m: Mechanism, states: Mapping[str, np.ndarray]) -> Nominal:
        """Return the motion that stays in a state q, qd, qdd and tau."""
        twice = {name: np.stack([x, x]) for name, x in states.items()}
        return cls(m, np.array([0.0, 1.0]), **twice, course=standing(states), stands=True)

    def __repr__(self) -> str:
        name = self.mechanism.name
        if self.stands:
            return f"<Nominal of {name!r}: one state>"
        error = self.course.errors.get("q", 0.0)
        return (
            f"<Nominal of {name!r}: {self.times[-1] - self.times[0]:g} s, {len(self.times)} samples, "
            f"coordinates to {error:.1g}>"
        )


FEED_FORWARD = ("inverse", "gravity", "none")


@dataclass(frozen=True, slots=True, eq=False)
class Drive:
    """Efforts that a regulator adds: `kind` "inverse" makes the motion, "gravity" holds its places, "none" is zero.

    `inputs`: rates that have efforts, all by default; `passive`: against springs, dampers and friction, too.
    """

    inputs: Sequence[str] | None = None
    passive: bool = True
    kind: str = "inverse"

    def efforts(self, m: Mechanism, q: Any, qd: Any, qdd: Any, time: Any) -> np.ndarray:
        """Return the efforts (..., nv) along a motion."""
        if self.kind == "none":
            return np.zeros(np.shape(qd))
        if self.kind == "gravity":
            if m.closure is None:
                return m.gravity_forces(q)
            qd = qdd = np.zeros(np.shape(qd))
        if self.inputs is None and m.closure is None:
            return m.inverse_dynamics(q, qd, qdd, passive=self.passive)
        names = None if self.inputs is None else tuple(x.removeprefix("tau.") for x in self.inputs)
        return m.inverse_dynamics(q, qd, qdd, actuators=names, time=time, passive=self.passive)


def trajectory_of(motion: Any) -> Any:
    """Return the trajectory of what `kp.motion.nominal` returns; anything else as it is."""
    return motion.motion if isinstance(motion, Efforts) else motion


def nominal_of(
    m: Mechanism,
    motion: Any,
    drive: Drive,
    times: np.ndarray | None = None,
    samples: int = SAMPLES,
) -> Nominal:
    """Return the nominal motion of a trajectory or of what `kp.motion.nominal` returns, or of a place to stand at:
    coordinates (nq,) or by name, or an `Equilibrium`."""
    if isinstance(motion, Nominal):
        return motion
    motion = trajectory_of(motion)
    if has_actuators(m.model):
        raise InputError(
            f"{m.name}: has actuators, and a motion says nothing about their inputs; make a linear-quadratic regulator "
            "for a state and its inputs, lqr(linearise(m, q, qd, x=..., u=...))"
        )
    still = np.zeros(m.nv)
    if isinstance(motion, Equilibrium):
        return Nominal.of_state(m, {"q": motion.q, "qd": motion.qd, "qdd": still, "tau": motion.u})
    if not isinstance(motion, Trajectory):
        q = m.checked("q", m.by_name(q=motion)[0] if motion is not None else m.start())
        tau = drive.efforts(m, q, still, still, 0.0)
        return Nominal.of_state(m, {"q": q, "qd": still, "qdd": still, "tau": tau})
    if motion.shape != (m.nq,):
        raise InputError(
            f"{m.name}: the motion has shape {motion.shape}; give a motion of all {m.nq} coordinates"
        )
    return _along(m, with_rates(m, motion), drive, times, samples)


def _along(m: Mechanism, motion: Trajectory, drive: Drive, times: np.ndarray | None, samples: int) -> Nominal:
    """Return the motion of a trajectory, at the times and as a course."""
    t = np.linspace(0.0, motion.duration, samples) if times is None else times
    inner = t[t <= motion.duration]

    def given(time: np.ndarray) -> dict[str, np.ndarray]:
        x = motion.at(time)
        return {"q": x.q, "qd": x.qd, "qdd": x.qdd}

    def nominal(time: np.ndarray) -> dict[str, np.ndarray]:
        moment = np.clip(time, 0.0, motion.duration)
        states = _satisfying(m, moment, given(time))
        return {**states, "tau": drive.efforts(m, **states, time=moment)}

    breaks = [*motion.knots, *_reversals(m, motion, inner)]
    knots = knots_for(given, inner, breaks, motion.duration)
    return Nominal(m, t, **nominal(t), course=fitted(knots, nominal), stands=False)


def _reversals(m: Mechanism, motion: Trajectory, times: np.ndarray) -> list[float]:
    """Return the times at which a rate changes its sign, where forces may jump there; by bisection."""
    if not any(x.jumps for x in elements_of(m.model)):
        return []
    qd = motion.at(times).qd
    step, rate = np.nonzero(qd[1:] * qd[:-1] < 0.0)
    low, high, before = times[step], times[step + 1], qd[step, rate]
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        same = motion.at(middle).qd[np.arange(len(rate)), rate] * before > 0.0
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return high.tolist()


def _satisfying(m: Mechanism, times: np.ndarray, states: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return the motion of the constraints that is nearest to q, qd and qdd, state by state."""
    q, qd, qdd = (np.ascontiguousarray(x, dtype=float) for x in states.values())
    if m.closure is not None:
        q = m.assemble(q, time=times)
        qd = m.velocities(q, guess=qd, time=times)
        qdd = m.accelerations(q, qd, guess=qdd, time=times)
    return {"q": q, "qd": qd, "qdd": qdd}
