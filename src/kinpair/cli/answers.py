"""Every quantity of a mechanism in one state, as one document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinpair import InputError, KinpairError, Mechanism, SingularError
from kinpair.cli import records
from kinpair.constraints.assembly import Actuators
from kinpair.constraints.rows.build import is_constrained
from kinpair.errors import ActuatorsError, nearest
from kinpair.formulations.limits import refusal


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Coordinates (nq,), rates, accelerations and efforts (nv,)."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A mechanism, a state, and how to go about it."""

    mechanism: Mechanism
    state: State
    method: str | None = None
    passive: bool = True
    frames: Sequence[str] = ()
    solver: str | None = None
    actuators: Actuators = None
    time: float = 0.0

    @property
    def constrained(self) -> bool:
        """Is there anything beyond the joints?"""
        return is_constrained(self.mechanism.model.description)

    def acting(self) -> tuple[str, ...] | None:
        """Return the names of the rates with efforts in the inverse dynamics under constraints; None where they are not
        specified, and for a tree."""
        m = self.mechanism
        try:
            return m.actuated(actuators=self.actuators) if self.constrained else None
        except ActuatorsError:
            return None

    def methods(self) -> dict[str, str]:
        """The formulation for each quantity: the one asked for, or the default where it does not give it."""
        every = self.mechanism.methods
        known = list(dict.fromkeys(name for names in every.values() for name in names))
        if self.method is not None and self.method not in known:
            raise InputError(
                f"no method {self.method!r}; {nearest(self.method, known)}Methods: {', '.join(known)}",
                method=self.method,
            )
        wanted, model = self.method or "", self.mechanism.model
        if reason := refusal(model, "inverse_dynamics", wanted):
            raise InputError(f"{model.name}: {reason}", method=wanted)
        gives = {key for key, names in every.items() if wanted in names and not refusal(model, key, wanted)}
        return {key: wanted if key in gives else names[0] for key, names in every.items()}


Answer = Callable[[Question, dict[str, Any]], Any]
Act = Callable[[Mechanism, State, dict[str, Any]], Any]


def _of_tree(act: Act) -> Answer:
    """A quantity that no constraint touches."""
    return lambda question, how: act(question.mechanism, question.state, how)


def _inverse(question: Question, how: dict[str, Any]) -> np.ndarray:
    m, s = question.mechanism, question.state
    return m.inverse_dynamics(s.q, s.qd, s.qdd, actuators=question.actuators, time=question.time, **how)


def _forward(question: Question, how: dict[str, Any]) -> np.ndarray:
    m, s = question.mechanism, question.state
    return m.forward_dynamics(s.q, s.qd, s.tau, solver=question.solver, time=question.time, **how)


def _reactions(question: Question, how: dict[str, Any]) -> dict[str, np.ndarray]:
    """In the motion of the inverse dynamics; in a loop they depend on who acts."""
    m, s = question.mechanism, question.state
    return m.reactions(s.q, s.qd, s.qdd, method=how["method"], time=question.time, tau=_acting(question))


def _acting(question: Question) -> np.ndarray | None:
    """Efforts of the inverse dynamics, with what would make up for springs, dampers and friction left out."""
    if not question.constrained:
        return None
    m, s = question.mechanism, question.state
    tau = _inverse(question, {"passive": question.passive})
    return tau + m.bias_forces(s.q, s.qd) - m.bias_forces(s.q, s.qd, passive=question.passive)


def _constraint_forces(question: Question, how: dict[str, Any]) -> dict[str, Any]:
    m, s = question.mechanism, question.state
    forces = m.constraint_forces(s.q, s.qd, s.tau, passive=how["passive"], time=question.time)
    return {"multipliers": forces.multipliers, "wrenches": forces.wrenches, "unique": forces.unique}


def _mobility(question: Question, how: dict[str, Any]) -> dict[str, Any]:
    m = question.mechanism
    return records.freedom(m.mobility(question.state.q, time=question.time))


# quantity → how to ask for it, given the method and whether springs, dampers and friction act
QUANTITIES: dict[str, Answer] = {
    "inverse_dynamics": _inverse,
    "forward_dynamics": _forward,
    "mass_matrix": _of_tree(lambda m, s, how: m.mass_matrix(s.q, method=how["method"])),
    "coriolis_matrix": _of_tree(lambda m, s, how: m.coriolis_matrix(s.q, s.qd, method=how["method"])),
    "bias_forces": _of_tree(lambda m, s, how: m.bias_forces(s.q, s.qd, **how)),
    "gravity_forces": _of_tree(lambda m, s, how: m.gravity_forces(s.q, method=how["method"])),
    "reactions": _reactions,
    "energy": _of_tree(lambda m, s, how: m.energy(s.q, s.qd)._asdict()),
    "centre_of_mass": _of_tree(lambda m, s, how: m.centre_of_mass(s.q)),
}
OF_CONSTRAINTS: dict[str, Answer] = {"constraint_forces": _constraint_forces, "mobility": _mobility}
# quantity → the error that says it does not exist in this state
MAY_LACK: dict[str, tuple[type[KinpairError], ...]] = {
    "inverse_dynamics": (SingularError, ActuatorsError),
    "forward_dynamics": (SingularError,),
    "reactions": (SingularError, ActuatorsError),
    "constraint_forces": (SingularError,),
    "centre_of_mass": (InputError,),
}


def answers(question: Question) -> dict[str, Any]:
    """Names, state and every quantity; what does not exist in this state is None, with its reason."""
    m, methods = question.mechanism, question.methods()
    frames = {name: _frame(m, question.state.q, name) for name in question.frames}
    values: dict[str, Any] = {}
    reasons: dict[str, str] = {}
    for key, answer in (QUANTITIES | (OF_CONSTRAINTS if question.constrained else {})).items():
        how = {"method": methods.get(key), "passive": question.passive}
        try:
            values[key] = answer(question, how)
        except MAY_LACK.get(key, ()) as reason:
            values[key], reasons[key] = None, str(reason.parts.get("shell", reason))
    return {
        "name": m.name,
        "q_names": m.q_names,
        "v_names": m.v_names,
        "passive": question.passive,
        "methods": methods,
        "solver": (question.solver or m.solvers[0]) if question.constrained else None,
        "actuators": question.acting(),
        "time": question.time,
        "constraints": records.constraints(m),
        "state": {key: getattr(question.state, key) for key in ("q", "qd", "qdd", "tau")},
        **values,
        "frames": frames,
        "reasons": reasons,
        "warnings": m.warnings,
    }


def _frame(m: Mechanism, q: np.ndarray, name: str) -> dict[str, Any]:
    return {**m.pose(q, name)._asdict(), "jacobian": m.jacobian(q, name)}
