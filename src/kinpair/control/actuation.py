"""Efforts of actuators that produce required accelerations, of a tree or under constraints, as pure formulas.

q̈_I = q̈*_I,   A_D q̈_D = b − A_I q̈_I           independent rates I as required, the others by A q̈ = b           (RG14)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.algebra.arrays import Vector, array
from kinpair.constraints.assembly.actuated import ALL, Actuators
from kinpair.constraints.assembly.movable import names_from
from kinpair.constraints.quantities.efforts import actuator_efforts
from kinpair.constraints.quantities.projection import nearest_accelerations
from kinpair.control.regulator import Measured
from kinpair.errors import InputError, SingularError, listed
from kinpair.evaluation.quantities.dynamics import inverse_dynamics
from kinpair.evaluation.quantities.request import Request, request_of
from kinpair.model.model import Model
from kinpair.motion.trajectory import Trajectory

if TYPE_CHECKING:
    from kinpair.constraints.assembly.closure import Closure
    from kinpair.control.nominal import Nominal
    from kinpair.mechanism import Mechanism

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
