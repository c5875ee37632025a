"""The motion that a regulator keeps a mechanism to, with its efforts; efforts of actuators for accelerations.

Efforts of actuators that produce required accelerations, of a tree or under constraints, as pure formulas:

q̈_I = q̈*_I,   A_D q̈_D = b − A_I q̈_I           independent rates I as required, the others by A q̈ = b           (RG14)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.algebra.arrays import Vector, array
from kinpair.analysis.linear.equilibrium import Equilibrium
from kinpair.constraints.assembly.actuated import ALL, Actuators
from kinpair.constraints.assembly.movable import names_from
from kinpair.constraints.quantities.efforts import actuator_efforts
from kinpair.constraints.quantities.projection import nearest_accelerations
from kinpair.control.regulator import Course, Measured, fitted, knots_for, standing, through
from kinpair.errors import InputError, SingularError, listed
from kinpair.evaluation.quantities.dynamics import inverse_dynamics
from kinpair.evaluation.quantities.request import Request, request_of
from kinpair.forces.elements import elements_of
from kinpair.forces.states import has_actuators
from kinpair.mechanism import Mechanism
from kinpair.model.model import Model
from kinpair.motion.nominal import Nominal as Efforts
from kinpair.motion.rated import with_rates
from kinpair.motion.trajectory import Trajectory

if TYPE_CHECKING:
    from kinpair.constraints.assembly.closure import Closure


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


TRIALS = 4  # choices of independent rates along a motion


@dataclass(frozen=True, slots=True, eq=False)
class Actuation:
    """Map by which efforts follow from accelerations under constraints: the rows and rates that were chosen."""

    nearest: Request
    drive: Request


def efforts(model: Model, actuation: Actuation | None, at: Measured, qdd: Vector) -> Vector:
    """Return the efforts (nv,) that produce the accelerations (nv,), under constraints those of the independent rates;
    `actuation`: None for a tree."""
    if actuation is None:
        return inverse_dynamics(model, request_of("inverse_dynamics"), at.q, at.qd, qdd, {})
    time = array([at.time])
    possible, _ = nearest_accelerations(model, actuation.nearest, at.q, at.qd, qdd, time)  # (RG14)
    return actuator_efforts(model, actuation.drive, at.q, at.qd, possible, time, {})[0]


def actuated_names(m: Mechanism, actuators: Actuators, motion: Any, owner: str) -> tuple[str, ...] | None:
    """Return the names of the rates that have efforts under constraints; None for a tree, where every rate has one.

    `owner`: the function that the user calls, with `motion`.
    """
    if m.closure is None:
        return _check_tree(m, actuators, owner)
    word = "inputs" if owner == "lqr" else "actuators"
    call = f"kp.regulator.{owner}(m, motion, {word}={{}})"
    return m.actuated(_first(m, motion), actuators=actuators, call=call)


def _first(m: Mechanism, motion: Any) -> np.ndarray:
    """Return coordinates (nq,) at which choices of actuated joints are searched."""
    q = motion.at(0.0).q if isinstance(motion, Trajectory) else motion
    return q if isinstance(q, np.ndarray) and q.shape == (m.nq,) else m.start()


def actuation_of(m: Mechanism, nominal: Nominal, names: Sequence[str] | None) -> Actuation | None:
    """Return the actuation of a mechanism along a motion, checked at every sample; None for a tree."""
    if m.closure is None or names is None:
        return None
    if m.model.surfaces:
        raise InputError(
            f"{m.name}: computed_torque under constraints does not compensate friction from load; use pd or lqr",
            argument="mechanism",
        )
    actuated = tuple(m.v_names.index(x) for x in names)
    state = nominal.q, nominal.qd, nominal.qdd
    m.inverse_dynamics(*state, actuators=names, time=nominal.times)  # raises where the actuators cannot
    moments, lost = np.ascontiguousarray(nominal.times[:, None]), 0
    for trial in range(TRIALS):
        chosen = _chosen(m.closure, nominal.q[lost], float(nominal.times[lost]), actuated, trial == 0)
        sound = [m.closure.calls(x, (*state, moments))[1] for x in (chosen.nearest, chosen.drive)]
        if (good := np.all(np.array(sound) == 1.0, axis=0)).all():
            return chosen
        lost = int(good.argmin()) if trial else 0
    raise SingularError(
        f"{m.name}: computed_torque finds no independent rates that describe the whole motion; they fail at "
        f"{nominal.times[lost]:.4g} s. Give a motion that stays further from singular positions, or use lqr",
        time=float(nominal.times[lost]),
    )


def _check_tree(m: Mechanism, actuators: Actuators, owner: str) -> None:
    """Check that every rate of a tree has an effort."""
    everything = actuators is None or actuators == ALL
    driven = m.v_names if everything else names_from("actuators", actuators)
    if idle := [x for x in m.v_names if x not in driven and x.rpartition(".")[0] not in driven]:
        raise InputError(
            f"{m.name}: {owner} of a mechanism without constraints needs an effort for every rate, and "
            f"actuators= leaves out {listed(idle, 6)}; use lqr with inputs=",
            argument="actuators",
        )


def _chosen(
    closure: Closure, q: np.ndarray, time: float, actuated: tuple[int, ...], follow: bool
) -> Actuation:
    """Return the actuation with rows and independent rates chosen at a position; `follow`: the actuated rates are
    independent if there are as many of them as freedoms."""
    drive = closure.requests.choose("actuator_efforts", q, time, "rosenberg-extended", {})
    others = tuple(k for k in range(closure.model.nv) if k not in actuated)
    dependent = others if follow and len(others) == len(drive.kept) else drive.dependent
    nearest = Request("nearest_accelerations", kept=drive.kept, dependent=dependent)
    return Actuation(nearest, replace(drive, actuated=actuated))
