"""Every quantity of a mechanism in one state, as one document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinpair import InputError, KinpairError, Mechanism, SingularError
from kinpair.errors import nearest
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


Ask = Callable[[Mechanism, State, dict[str, Any]], Any]

# quantity → how to ask for it, given the method and whether springs, dampers and friction act
QUANTITIES: dict[str, Ask] = {
    "inverse_dynamics": lambda m, s, how: m.inverse_dynamics(s.q, s.qd, s.qdd, **how),
    "forward_dynamics": lambda m, s, how: m.forward_dynamics(s.q, s.qd, s.tau, **how),
    "mass_matrix": lambda m, s, how: m.mass_matrix(s.q, method=how["method"]),
    "coriolis_matrix": lambda m, s, how: m.coriolis_matrix(s.q, s.qd, method=how["method"]),
    "bias_forces": lambda m, s, how: m.bias_forces(s.q, s.qd, **how),
    "gravity_forces": lambda m, s, how: m.gravity_forces(s.q, method=how["method"]),
    "reactions": lambda m, s, how: m.reactions(s.q, s.qd, s.qdd, method=how["method"]),
    "energy": lambda m, s, how: m.energy(s.q, s.qd)._asdict(),
    "centre_of_mass": lambda m, s, how: m.centre_of_mass(s.q),
}
# quantity → the error that says it does not exist in this state
MAY_LACK: dict[str, type[KinpairError]] = {"forward_dynamics": SingularError, "centre_of_mass": InputError}


def answers(question: Question) -> dict[str, Any]:
    """Names, state and every quantity; what does not exist in this state is None, with its reason."""
    m, methods = question.mechanism, question.methods()
    frames = {name: _frame(m, question.state.q, name) for name in question.frames}
    found: dict[str, Any] = {}
    reasons: dict[str, str] = {}
    for key, ask in QUANTITIES.items():
        how = {"method": methods.get(key), "passive": question.passive}
        try:
            found[key] = ask(m, question.state, how)
        except MAY_LACK.get(key, ()) as reason:
            found[key], reasons[key] = None, str(reason)
    return {
        "name": m.name,
        "q_names": m.q_names,
        "v_names": m.v_names,
        "passive": question.passive,
        "methods": methods,
        "state": {key: getattr(question.state, key) for key in ("q", "qd", "qdd", "tau")},
        **found,
        "frames": frames,
        "reasons": reasons,
        "warnings": m.warnings,
    }


def _frame(m: Mechanism, q: np.ndarray, name: str) -> dict[str, Any]:
    return {**m.pose(q, name)._asdict(), "jacobian": m.jacobian(q, name)}
