"""Every quantity of a mechanism in one state, as one document and as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.table import Table

from kinpair import InputError, KinpairError, Mechanism, SingularError
from kinpair.cli import info
from kinpair.cli.output import matrix_tables, number_table, texts
from kinpair.cli.screen import Screen
from kinpair.constraints.assembly.actuated import Actuators
from kinpair.constraints.rows.build import is_constrained
from kinpair.errors import ActuatorsError, listed, nearest
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
        """True if there are constraints beyond the joints."""
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
    """Compute reactions in the motion of the inverse dynamics; in a loop they depend on who acts."""
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
    return info.freedom(m.mobility(question.state.q, time=question.time))


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
        "constraints": info.constraints(m),
        "state": {key: getattr(question.state, key) for key in ("q", "qd", "qdd", "tau")},
        **values,
        "frames": frames,
        "reasons": reasons,
        "warnings": m.warnings,
    }


def _frame(m: Mechanism, q: np.ndarray, name: str) -> dict[str, Any]:
    return {**m.pose(q, name)._asdict(), "jacobian": m.jacobian(q, name)}


WRENCH: tuple[str, ...] = ("nx", "ny", "nz", "fx", "fy", "fz")
TWIST: tuple[str, ...] = ("ωx", "ωy", "ωz", "vx", "vy", "vz")
AXES: tuple[str, ...] = ("x", "y", "z")
PASSIVE = {True: "", False: "; springs, dampers and friction left out"}


def show(results: dict[str, Any], file: str) -> None:
    """Print every quantity, the vectors first."""
    screen = Screen()
    screen.heading(results["name"])
    screen.say(f"SI units: N m or N, rad or m, J{PASSIVE[results['passive']]}")
    for note in results["notes"]:
        screen.say(note)
    screen.say()
    for part in (
        _coordinates,
        _inverse_table,
        _forward_table,
        _constraint_forces_table,
        _totals,
        _matrices,
        _reactions_table,
        _frames,
    ):
        part(screen, results)
    if results["warnings"]:
        count = len(results["warnings"])
        screen.say(f"{count} warning{'s' * (count > 1)} about the description: kinpair info {file}")


def _title(results: dict[str, Any], key: str, text: str) -> str:
    return f"{text} ({results['methods'][key]})"


def _lacks(screen: Screen, results: dict[str, Any], key: str) -> bool:
    """Find out if a quantity is missing; then the reason is printed."""
    if results[key] is None:
        screen.say(f"none: {results['reasons'][key]}")
    return results[key] is None


def _coordinates(screen: Screen, results: dict[str, Any]) -> None:
    screen.print(number_table("coordinate", results["q_names"], {"q": results["state"]["q"]}, screen.width))
    screen.say()
    if results["constraints"]:
        for line in info.sentences(results["mobility"]):
            screen.say(line)
        screen.say()


def _inverse_table(screen: Screen, results: dict[str, Any]) -> None:
    law, acting = "tau", ""
    if results["constraints"]:
        who = "the actuated joints" if results["actuators"] is None else listed(results["actuators"])
        law, acting = "tau + Aᵀ lambda", f", the least efforts of {who}"
    screen.heading(_title(results, "inverse_dynamics", f"Inverse dynamics{acting}: {law} = H qdd + bias"))
    tau = {} if _lacks(screen, results, "inverse_dynamics") else {"tau": results["inverse_dynamics"]}
    columns = {
        "qd": results["state"]["qd"],
        "qdd": results["state"]["qdd"],
        **tau,
        "bias": results["bias_forces"],
        "gravity": results["gravity_forces"],
    }
    screen.print(number_table("rate", results["v_names"], columns, screen.width))
    screen.say()


def _forward_table(screen: Screen, results: dict[str, Any]) -> None:
    ways = ", ".join(filter(None, (results["methods"]["forward_dynamics"], results["solver"])))
    screen.heading(f"Forward dynamics: qdd for the given tau ({ways})")
    if not _lacks(screen, results, "forward_dynamics"):
        columns = {"tau": results["state"]["tau"], "qdd": results["forward_dynamics"]}
        screen.print(number_table("rate", results["v_names"], columns, screen.width))
    screen.say()


def _constraint_forces_table(screen: Screen, results: dict[str, Any]) -> None:
    """Multipliers and wrenches of the constraints."""
    if not results["constraints"]:
        return
    screen.heading("Constraint multipliers of the given tau, one per row")
    if not _lacks(screen, results, "constraint_forces"):
        forces = results["constraint_forces"]
        multipliers = forces["multipliers"]
        screen.print(
            number_table("row", tuple(multipliers), {"lambda": [*multipliers.values()]}, screen.width)
        )
        screen.say()
        if forces["wrenches"]:
            screen.heading("Constraint wrenches on the child, at its mark, world axes")
            screen.print(_wrench_table("constraint", forces["wrenches"], screen.width))
        if not forces["unique"]:
            screen.say("not unique because of redundant rows; the solution of least norm is given")
    screen.say()


def _totals(screen: Screen, results: dict[str, Any]) -> None:
    kinetic, potential = results["energy"].values()
    screen.heading("Energy [J] and centre of mass [m]")
    screen.say(f"kinetic {kinetic:.6g}, potential {potential:.6g}, total {kinetic + potential:.6g}")
    if not _lacks(screen, results, "centre_of_mass"):
        screen.say(f"centre of mass {' '.join(texts(results['centre_of_mass']))}")
    screen.say()


def _matrices(screen: Screen, results: dict[str, Any]) -> None:
    tree = " without constraints" if results["constraints"] else ""
    for key, text in (("mass_matrix", "Mass matrix H"), ("coriolis_matrix", "Coriolis matrix C")):
        screen.heading(_title(results, key, text + tree))
        for part in matrix_tables(results["v_names"], results[key], screen.width):
            screen.print(part)
        screen.say()


def _reactions_table(screen: Screen, results: dict[str, Any]) -> None:
    screen.heading(
        _title(results, "reactions", "Reactions on the child, at the joint, in the parent's joint axes")
    )
    if not _lacks(screen, results, "reactions"):
        screen.print(_wrench_table("joint", results["reactions"], screen.width))
    screen.say()


def _wrench_table(first: str, wrenches: Mapping[str, np.ndarray], width: int) -> Table:
    values = np.reshape(list(wrenches.values()), (-1, 6))
    return number_table(first, tuple(wrenches), dict(zip(WRENCH, values.T, strict=True)), width)


def _frames(screen: Screen, results: dict[str, Any]) -> None:
    for name, frame in results["frames"].items():
        screen.heading(f"Frame {name}: position and rotation in the world")
        columns = {"position": frame["position"], **dict(zip(AXES, frame["rotation"].T, strict=True))}
        screen.print(number_table("", AXES, columns, screen.width))
        screen.say()
        screen.heading(f"Frame {name}: Jacobian, one row per rate, world axes")
        columns = dict(zip(TWIST, frame["jacobian"], strict=True))
        screen.print(number_table("rate", results["v_names"], columns, screen.width))
        screen.say()
