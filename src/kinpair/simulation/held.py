"""Enforcement of constraints in a run: by accelerations that obey them, and by bringing each state reached back.

Accelerations obey A q̈ = b only; what a step leaves of φ and ψ stays or grows. Two remedies:

    project      the state is brought back after each step by the least displacement, (PR1) and (PR2)
    baumgarte    b − 2αψ − α²φ takes the place of b for holonomic rows, b − αψ for others       (HD1)

External solvers (cvode, ida, taylor) let no state be brought back within their steps. There `project` is both: rows
with the α of (HD1) during the steps, and a projection of each state that is looked at.

A model whose mass matrix has no inverse is made regular by its constraints. How well they hold, and how near they
came to dependence, is a number of every sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from kinpair.algebra.arrays import Vector
from kinpair.constraints.assembly import Closure, check_solver
from kinpair.constraints.rounding import SHORT
from kinpair.constraints.rows.build import is_constrained
from kinpair.constraints.rows.coordinates import OfRates
from kinpair.constraints.rows.mobility import independent_rows
from kinpair.constraints.solvers import DEFAULT_SOLVER, OF_BODIES
from kinpair.constraints.soundness import lost_joint
from kinpair.errors import InputError, listed
from kinpair.evaluation.quantities import Request
from kinpair.forces.element import Element
from kinpair.forces.states import sticking_names
from kinpair.formulations import kinematics
from kinpair.mechanism import Mechanism
from kinpair.model.model import Model
from kinpair.simulation.enforcement import FREE, AnyEnforcement, Enforcement
from kinpair.simulation.rounding import MASSLESS, REDUNDANT
from kinpair.simulation.sample_memory import largest
from kinpair.simulation.schedule import finite

NEAR = 1e-4  # of A M⁻¹ Aᵀ: a pivot below this part of what it was at the start is reported
WORST = 1e-4  # [m] or [rad]: loops that are wider open than at the start by this have drifted


class Residual(NamedTuple):
    """The largest |φ| [m], [rad] and the largest |ψ| [m/s], [rad/s] of all rows at every sample (..., samples)."""

    position: np.ndarray
    rate: np.ndarray

    @property
    def worst(self) -> tuple[float, float]:
        """The largest of all samples."""
        return largest(self.position), largest(self.rate)


class Singular(NamedTuple):
    """A singular passage: the smallest pivot that a step or a sample met, as a part of the first, and when [s]."""

    pivot: float
    time: float


class Suspended(NamedTuple):
    """A singular position that was crossed in one step, and the length of that [s]."""

    at: Singular
    length: float


def model_to_move(model: Model, q: np.ndarray, qd: np.ndarray, time: float) -> Model:
    """The model itself, or, where its mass matrix is singular at the start, the model made regular by its
    constraints."""
    return singular_mass(model) if has_lost_mass(model, q, qd, time) else model


def has_lost_mass(model: Model, q: np.ndarray, qd: np.ndarray, time: float) -> bool:
    """True if M has no inverse, where constraints may make up for it."""
    if model.terms is None:
        return is_constrained(model.description) and lost_joint(model, q) is not None
    sizes = np.linalg.svd(np.asarray(model.terms(q, qd, time)[0], dtype=float), compute_uv=False)
    return bool(sizes[-1] <= MASSLESS * sizes[0])


@lru_cache(maxsize=64)
def singular_mass(model: Model) -> Model:
    """Solve the motion from M + AᵀA and F + Aᵀb, see `constrained.free_terms`."""
    return replace(model, singular_mass=True)


@lru_cache(maxsize=64)
def with_elements(model: Model, added: tuple[Element, ...]) -> Model:
    """Return the model with elements that a run adds; the same model for the same elements, so that code for it is
    found."""
    return replace(model, added=added) if added != model.added else model


WAYS = ("project", "baumgarte", "none")


@dataclass(frozen=True, slots=True)
class Holding:
    """Options of constraints: solver, hold, alpha [1/s], whether friction acts, and whether limits
    close.

    Limits that close take the default solver, which needs no rows of full rank.
    """

    solver: str | None = None
    hold: str = "project"
    alpha: float = 0.0
    passive: bool = True
    closes: bool = False


SLACK = 1e-5  # of the entry of A M⁻¹ Aᵀ of each row
TRIES, APART = 3, 0.1  # positions to look at, and how far away [m], [rad]
START = 1e-6  # how far a state may be from obeying: [m] or [rad], and as a part of the rates
MOMENTS = (0.0, 0.137, 0.71, 2.3)  # [s], at which a constraint is asked whether it moves


def check_start(mechanism: Mechanism, states: np.ndarray, time: float) -> None:
    """Refuse a start (..., nq + nv) that does not obey the constraints; `project` would make it jump."""
    closure = mechanism.closure
    if closure is None:
        return
    for k, state in enumerate(states.reshape(-1, states.shape[-1])):
        which = f" (motion {k} of the batch)" if states.ndim > 1 else ""
        if closure.long.used:
            closure.long.check_obeys(state[: mechanism.nq], state[mechanism.nq :], which)
            continue
        closure.check_obeys(state[: mechanism.nq], state[mechanism.nq :], time, which, "hold='none'")


def enforcement_of(mechanism: Mechanism, q: Vector, time: float, holding: Holding) -> AnyEnforcement:
    """Choose how the constraints of a mechanism are enforced; `FREE` where there are none."""
    solver, hold, alpha = holding.solver, holding.hold, holding.alpha
    if hold not in WAYS:
        raise InputError(f"hold is {hold!r}; it is one of {listed(WAYS)}", hold=hold)
    if finite(mechanism.name, "alpha", alpha) < 0.0:
        raise InputError(f"{mechanism.name}: alpha is {alpha!r}; it must not be below zero", argument="alpha")
    if solver is not None:
        check_solver(solver)
    closure = mechanism.closure
    if closure is None:
        return FREE
    if closure.long.used and solver in (None, DEFAULT_SOLVER):
        pull = alpha if hold == "baumgarte" else 0.0
        own = replace(Request("accelerations"), solver=DEFAULT_SOLVER)
        return Enforcement(own, hold, pull, within=0.0 if hold == "none" else alpha, along_tree=True)
    if holding.passive and mechanism.model.surfaces:
        closure.drives.rubbing.check()
    lost = has_lost_mass(mechanism.model, q, np.zeros(mechanism.nv), time)
    if lost:
        closure.any_rank.check_resisted(np.asarray(q, dtype=float), time)
    if solver in OF_BODIES and lost:
        raise InputError(
            f"{mechanism.name}: solver {solver!r} works body by body, and there is a joint that moves nothing with "
            f"inertia; {DEFAULT_SOLVER!r} lets the constraints make up for it",
            solver=solver,
        )
    if not closure.row_names:
        hold = "none"
    chosen = DEFAULT_SOLVER if holding.closes or solver is None else solver
    request = closure.requests.choose("accelerations", q, time, chosen, {})
    pull, within = (alpha if hold == "baumgarte" else 0.0), (0.0 if hold == "none" else alpha)
    moves = closure.once("moves", lambda: _moves(mechanism, closure, q, time))
    sizes = closure.once("sizes", lambda: _sizes(mechanism, closure, q, time))
    changing = closure.once("changing", lambda: rows_that_change(mechanism, closure, request.kept, q, time))
    sticks = holding.closes or bool(sticking_names(mechanism.model, passive=holding.passive))
    rough = sticks and bool(request.kept)  # joints that stick change the rank too
    if (changing or rough) and request.solver == DEFAULT_SOLVER:
        kept = changing or request.kept
        return Enforcement(
            replace(request, kept=kept), hold, pull, _slacks(sizes, kept), moves, within=within
        )
    if rough:
        raise InputError(
            f"{mechanism.name}: solver {solver!r} needs rows of full rank, and joints that stick take it away; "
            f"{DEFAULT_SOLVER!r} takes dry friction, passive=False (--no-passive) leaves it out",
            solver=solver,
        )
    largest = sizes.max(initial=0.0)
    known = [x if x > REDUNDANT * largest else largest for x in sizes[list(request.kept)].tolist()]
    return Enforcement(request, hold, pull, moves=moves, sizes=tuple(known) if largest else (), within=within)


def _sizes(mechanism: Mechanism, closure: Closure, q: Vector, time: float) -> np.ndarray:
    """A_k M⁻¹ A_kᵀ of every row."""
    nothing = np.zeros(mechanism.nv)
    M, _, A, _ = closure.terms((q, nothing, nothing), time, {}, {})
    return np.einsum("kn,nk->k", A, np.linalg.pinv(M, hermitian=True) @ A.T)


def _slacks(sizes: np.ndarray, kept: Sequence[int]) -> tuple[float, ...]:
    """Compute μ of (CS16) for each row kept, from A_k M⁻¹ A_kᵀ of every row; a short row counts as in `lengths`."""
    largest = float(sizes.max()) or 1.0
    return tuple((SLACK * np.maximum(sizes[list(kept)], SHORT**2 * largest)).tolist())


def _moves(mechanism: Mechanism, closure: Closure, q: Vector, time: float) -> bool:
    """True if ψ is not zero while nothing moves, at some moment, or kept at a value that is not known here."""
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
    return tuple(np.flatnonzero(sizes > REDUNDANT * sizes.max()).tolist())
