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
from kinpair.closure import Closure, check_solver
from kinpair.constraints.coordinates import OfRates
from kinpair.constraints.mobility import independent_rows
from kinpair.constraints.solvers import DEFAULT_SOLVER, OF_BODIES
from kinpair.errors import InputError, listed
from kinpair.formulations import kinematics
from kinpair.mechanism import Mechanism
from kinpair.model.model import Model
from kinpair.quantities import Ask
from kinpair.simulation.schedule import finite
from kinpair.simulation.systems import has_lost_mass

WAYS = ("project", "baumgarte", "none")


@dataclass(frozen=True, slots=True)
class Held:
    """The solver with its rows and their order, as part of a wish, and the remedy against drift."""

    ask: Ask
    way: str = "project"
    alpha: float = 0.0  # [1/s] of Baumgarte's
    mu: float = 0.0  # of rows whose rank changes, see `constraints/solvers/slack.py`
    moves: bool = False  # do they move by themselves, so that their forces do work?
    sizes: tuple[float, ...] = ()  # of A M⁻¹ Aᵀ at the start, a number a row

    def own(self, ask: Ask) -> Ask:
        """A wish with this solver and these rows."""
        own = self.ask
        return replace(ask, solver=own.solver, kept=own.kept, rows=own.rows, dependent=own.dependent)

    def accelerations(
        self, model: Model, ask: Ask, time: Scalar, q: Vector, qd: Vector, tau: Vector, loads: Any
    ) -> tuple[Vector, Scalar]:
        """q̈, and the power of the constraint forces, which do work where a constraint moves."""
        own = self.own(ask)
        return constrained.held_accelerations(
            model, own, q, qd, tau, array([time]), loads, self.alpha, self.mu
        )

    def settle(self, model: Model, time: Scalar, q: Vector, qd: Vector) -> tuple[Vector, Vector, Scalar]:
        """The state brought back to the constraints, and the smallest pivot of their rows there."""
        return constrained.projected(model, self.ask, q, qd, array([time]), self.mu, self.sizes)

    def watched(self, model: Model, time: Scalar, q: Vector, qd: Vector) -> list[Scalar]:
        """The largest residual of positions and of rates."""
        return constrained.residuals(model, q, qd, array([time]))


SLACK = 1e-6  # of the largest entry of A M⁻¹ Aᵀ
TRIES, APART = 3, 0.1  # positions to look at, and how far away [m], [rad]
ROUNDING = 1e-12
MOMENTS = (0.0, 0.137, 0.71, 2.3)  # [s], at which a constraint is asked whether it moves
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
        slips = np.abs(closure.rows(q, qd, time)[1])
        slip = slips.max(initial=0.0)
        if gap > START:
            raise InputError(
                f"{mechanism.name}: q does not obey the constraints{which}: "
                f"{closure.worst(closure.positions(q, time))}; assemble(q) gives one that does, hold='none' lets it be"
            )
        if slip > START * (1.0 + np.abs(qd).max(initial=0.0)):
            closure.check_rates_exist(q, qd, time, which)
            wrong = [closure.row_names[k] for k in np.flatnonzero(slips > 0.1 * slip)]
            raise InputError(
                f"{mechanism.name}: qd does not obey the constraints{which}: {listed(wrong, 6)} miss by {slip:.3g}; "
                "velocities(q, guess=qd) gives rates that do, hold='none' lets them be"
            )


def held(
    mechanism: Mechanism, q: Vector, time: float, solver: str | None, hold: str, alpha: float
) -> Held | None:
    """How the constraints of a mechanism are held; None where there are none."""
    if hold not in WAYS:
        raise InputError(f"hold is {hold!r}; it is one of {listed(WAYS)}", hold=hold)
    if finite(mechanism.name, "alpha", alpha) < 0.0:
        raise InputError(f"{mechanism.name}: alpha is {alpha!r}; it must not be below zero", argument="alpha")
    if solver is not None:
        check_solver(solver)
    closure = mechanism.closure
    if closure is None:
        return None
    if solver in OF_BODIES and has_lost_mass(mechanism.model, q, np.zeros(mechanism.nv), time):
        raise InputError(
            f"{mechanism.name}: solver {solver!r} works body by body, and there is a joint that moves nothing with "
            f"inertia; {DEFAULT_SOLVER!r} lets the constraints make up for it",
            solver=solver,
        )
    if not closure.row_names:
        hold = "none"
    ask = closure.dynamics.ask("accelerations", q, time, solver or DEFAULT_SOLVER, {})
    pull = alpha if hold == "baumgarte" else 0.0
    moves = closure.once("moves", lambda: _moves(mechanism, closure, q, time))
    sizes = closure.once("sizes", lambda: _sizes(mechanism, closure, q, time))
    changing = closure.once("changing", lambda: rows_that_change(mechanism, closure, ask.kept, q, time))
    if changing and ask.solver == DEFAULT_SOLVER:
        return Held(replace(ask, kept=changing), hold, pull, SLACK * float(sizes.max()), moves)
    largest = sizes.max(initial=0.0)
    known = [x if x > ROUNDING * largest else largest for x in sizes[list(ask.kept)].tolist()]
    return Held(ask, hold, pull, moves=moves, sizes=tuple(known) if largest else ())


def _sizes(mechanism: Mechanism, closure: Closure, q: Vector, time: float) -> np.ndarray:
    """A_k M⁻¹ A_kᵀ of every row."""
    nothing = np.zeros(mechanism.nv)
    M, _, A, _ = closure.terms((q, nothing, nothing), time, {}, {})
    return np.einsum("kn,nk->k", A, np.linalg.pinv(M, hermitian=True) @ A.T)


def _moves(mechanism: Mechanism, closure: Closure, q: Vector, time: float) -> bool:
    """Is ψ anything but zero while nothing moves, at some moment, or kept at a value that is not known here?"""
    still = np.zeros(mechanism.nv)
    unknown = any(isinstance(x, OfRates) and not x.offset for x in closure.constraints)
    return unknown or any(closure.rows(q, still, time + later)[1].any() for later in MOMENTS)


def rows_that_change(
    mechanism: Mechanism, closure: Closure, kept: tuple[int, ...], q: Vector, time: float
) -> tuple[int, ...]:
    """All rows that are ever anything, if those left out are implied by the rest at q only; none if they always are.

    Away from closed positions, rows that are implied by the shape of the mechanism alone stay implied.
    """
    if len(kept) == len(closure.row_names):
        return ()
    rng = np.random.default_rng(0)
    matrices = [closure.matrix(q, time)]
    for _ in range(TRIES):
        step = rng.uniform(-APART, APART, mechanism.nv)
        there = kinematics.normalised(mechanism.model, kinematics.moved(mechanism.model, q, step))
        matrices.append(closure.matrix(there, time))
    if all(len(independent_rows(A)) == len(independent_rows(A[list(kept)])) for A in matrices):
        return ()
    sizes = np.max([np.abs(A).max(axis=1) for A in matrices], axis=0)
    return tuple(np.flatnonzero(sizes > ROUNDING * sizes.max()).tolist())
