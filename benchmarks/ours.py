"""kinpair's side: the calls a user makes, compiled for one instruction set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import kinpair as kp
from benchmarks.machine import compiling_for
from benchmarks.rival import BATCH, LOOPED
from benchmarks.robots import Robot, States

Call = Callable[[], Any]


def _inverse(m: kp.Mechanism, s: States) -> dict[str, Call]:
    return {"": lambda: m.inverse_dynamics(s.q, s.qd, s.x, passive=False)}


def _forward(m: kp.Mechanism, s: States) -> dict[str, Call]:
    return {"": lambda: m.forward_dynamics(s.q, s.qd, s.x, passive=False)}


def _mass(m: kp.Mechanism, s: States) -> dict[str, Call]:
    s = s.first(LOOPED)
    out = np.empty((len(s.q), m.nv, m.nv))
    return {"": lambda: m.mass_matrix(s.q, out=out), "fresh": lambda: m.mass_matrix(s.q)}


def _derivatives(m: kp.Mechanism, s: States) -> dict[str, Call]:
    s = s.first(LOOPED)
    out = (np.empty((len(s.q), m.nv, m.nv)), np.empty((len(s.q), m.nv, m.nv)))
    f = m.inverse_dynamics_derivatives
    return {
        "": lambda: f(s.q, s.qd, s.x, passive=False, out=out),
        "fresh": lambda: f(s.q, s.qd, s.x, passive=False),
    }


CALLS = {  # "": vectors in fresh memory, matrices by out=; "fresh": matrices in fresh memory
    "inverse dynamics": _inverse,
    "forward dynamics": _forward,
    "mass matrix": _mass,
    "∂τ/∂(q, q̇)": _derivatives,
}
STATES = {  # of a batch: of matrices as many as of the peers, whose results come one by one
    **dict.fromkeys(("inverse dynamics", "forward dynamics"), BATCH),
    **dict.fromkeys(("mass matrix", "∂τ/∂(q, q̇)"), LOOPED),
}
KERNELS = {  # the same by the names of the face
    "inverse dynamics": "inverse_dynamics",
    "forward dynamics": "forward_dynamics",
    "mass matrix": "mass_matrix",
    "∂τ/∂(q, q̇)": "inverse_dynamics_derivatives",
}


class Compiled:
    """A robot compiled for an instruction set."""

    def __init__(self, robot: Robot, states: States, instructions: str) -> None:
        self.instructions = instructions
        self._states = states
        with compiling_for(instructions):
            self.mechanism = robot.load()

    def calls(self, quantity: str) -> dict[str, Call]:
        """The ways to ask for a quantity, each called once."""
        with compiling_for(self.instructions):
            result = CALLS[quantity](self.mechanism, self._states)
            for call in result.values():
                call()
        return result

    def result(self, quantity: str) -> np.ndarray:
        """What is found: (batch, ...), derivatives side by side (2, batch, nv, nv)."""
        return np.array(CALLS[quantity](self.mechanism, self._states)[""]())
