"""How constraints are held in a run: by accelerations that obey them, and by bringing each state reached back.

Accelerations obey A q̈ = b only; what a step leaves of φ and ψ stays or grows. Two remedies:

    project      the state is brought back after each step by the least displacement, (PR1) and (PR2)
    baumgarte    b − 2αψ − α²φ takes the place of b for holonomic rows, b − αψ for others       (HD1)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinpair import constrained
from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.constraints.solvers import DEFAULT_SOLVER
from kinpair.errors import InputError, listed
from kinpair.mechanism import Mechanism
from kinpair.model.model import Model
from kinpair.quantities import Ask

WAYS = ("project", "baumgarte", "none")


@dataclass(frozen=True, slots=True)
class Held:
    """The solver with its rows and their order, as part of a wish, and the remedy against drift."""

    ask: Ask
    way: str = "project"
    alpha: float = 0.0  # [1/s] of Baumgarte's

    def _own(self, ask: Ask) -> Ask:
        own = self.ask
        return replace(ask, solver=own.solver, kept=own.kept, rows=own.rows, dependent=own.dependent)

    def accelerations(
        self, model: Model, ask: Ask, time: Scalar, q: Vector, qd: Vector, tau: Vector, loads: Any
    ) -> tuple[Vector, Scalar]:
        """q̈, and the power of the constraint forces, which do work where a constraint moves."""
        own = self._own(ask)
        return constrained.held_accelerations(model, own, q, qd, tau, array([time]), loads, self.alpha)

    def settle(self, model: Model, time: Scalar, q: Vector, qd: Vector) -> tuple[Vector, Vector, Scalar]:
        """The state brought back to the constraints, and the smallest pivot of their rows there."""
        return constrained.projected(model, self.ask, q, qd, array([time]))

    def watched(self, model: Model, time: Scalar, q: Vector, qd: Vector) -> list[Scalar]:
        """The largest residual of positions and of rates."""
        return constrained.residuals(model, q, qd, array([time]))


START = 1e-6  # how far a start may be from obeying: [m] or [rad], and as a part of the rates


def check_start(mechanism: Mechanism, states: np.ndarray, time: float) -> None:
    """Refuse a start (..., nq + nv) that does not obey the constraints; `project` would make it jump."""
    closure = mechanism.closure
    if closure is None:
        return
    for k, state in enumerate(states.reshape(-1, states.shape[-1])):
        q, qd = state[: mechanism.nq], state[mechanism.nq :]
        which = f" (motion {k} of the batch)" if states.ndim > 1 else ""
        gap = np.abs(closure.positions(q, time)).max(initial=0.0)
        slip = np.abs(closure.rows(q, qd, time)[1]).max(initial=0.0)
        if gap > START:
            raise InputError(
                f"{mechanism.name}: q does not obey the constraints{which}, by {gap:.3g}; assemble(q) gives one that "
                "does, hold='none' lets it be"
            )
        if slip > START * (1.0 + np.abs(qd).max(initial=0.0)):
            raise InputError(
                f"{mechanism.name}: qd does not obey the constraints{which}, by {slip:.3g}; velocities(q, guess=qd) "
                "gives rates that do, hold='none' lets them be"
            )


def held(
    mechanism: Mechanism, q: Vector, time: float, solver: str | None, hold: str, alpha: float
) -> Held | None:
    """How the constraints of a mechanism are held; None where there are none."""
    if hold not in WAYS:
        raise InputError(f"hold is {hold!r}; it is one of {listed(WAYS)}", hold=hold)
    closure = mechanism.closure
    if closure is None:
        return None
    ask = closure.ask("accelerations", q, time, solver or DEFAULT_SOLVER, {})
    return Held(ask, hold, alpha if hold == "baumgarte" else 0.0)
