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
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias, final

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.constraints import quantities as constrained
from kinpair.constraints.assembly.rank import check_solver
from kinpair.constraints.rounding import SHORT
from kinpair.constraints.rows.build import is_constrained
from kinpair.constraints.rows.coordinates import OfRates
from kinpair.constraints.rows.mobility import independent_rows
from kinpair.constraints.solvers import DEFAULT_SOLVER, OF_BODIES
from kinpair.constraints.soundness import lost_joint
from kinpair.errors import InputError, listed
from kinpair.evaluation import quantities
from kinpair.evaluation.quantities.request import Request
from kinpair.forces.states import sticking_names
from kinpair.formulations import kinematics
from kinpair.friction.loads.dynamics import only_sound
from kinpair.simulation.rounding import MASSLESS, REDUNDANT
from kinpair.simulation.sample_memory import largest
from kinpair.simulation.schedule import finite

if TYPE_CHECKING:
    from kinpair.constraints.assembly.closure import Closure
    from kinpair.forces.element import Element
    from kinpair.mechanism import Mechanism
    from kinpair.model.model import Model
    from kinpair.model.state import State

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


NO_ROWS = Request("accelerations")


@final
@dataclass(frozen=True, slots=True)
class Free:
    """No rows: the motion is that of the tree. Fields and methods are those of `Enforcement`."""

    joins: ClassVar[bool] = False
    residuals: ClassVar[int] = 0
    by_loops: ClassVar[bool] = True
    request: Request = NO_ROWS
    way: str = "free"
    alpha: float = 0.0
    mu: tuple[float, ...] = ()
    moves: bool = False
    sizes: tuple[float, ...] = ()
    within: float = 0.0
    along_tree: bool = False

    def own(self, request: Request) -> Request:
        """The request itself."""
        return request

    def accelerations(
        self, model: Model, request: Request, state: State, loads: Any
    ) -> tuple[Vector, Scalar]:
        """q̈, NaN where the loads of friction are not found, and no power of constraints."""
        qdd, sound = quantities.accelerations(model, request, state, loads)
        return (only_sound(qdd, sound[2]) if len(sound) > 2 else qdd), 0.0

    def motion(self, model: Model, request: Request, state: State, loads: Any) -> tuple[Vector, Vector]:
        """q̈, and no multipliers."""
        return quantities.accelerations(model, request, state, loads)[0], np.zeros(0)

    def held_motion(self, model: Model, request: Request, state: State, loads: Any) -> tuple[Vector, Vector]:
        """q̈, and the efforts (nv,) by which rates are locked."""
        return quantities.held_motion(model, request, state, loads)

    def levels(self, model: Model, request: Request, state: State, loads: Any) -> Any:
        """Friction from load of each rate (nv,): that may hold it, and that it begins to slide with."""
        return quantities.levels_from_load(model, request, state, loads)

    def rubbing(self, model: Model, request: Request, state: State, loads: Any) -> Vector:
        """Efforts of friction from load (nv,)."""
        return quantities.rubbing(model, request, state, loads)

    def check_short(self, model: Model) -> None:
        """Refuse nothing: there are no rows."""

    def settle(self, model: Model, time: Scalar, q: Vector, qd: Vector) -> tuple[Vector, Vector, Scalar]:
        """The state itself, and the smallest pivot of no rows."""
        return q, qd, 1.0

    def watched(self, model: Model, time: Scalar, q: Vector, qd: Vector) -> list[Scalar]:
        """Return no residuals: there are no rows."""
        return []


@final
@dataclass(frozen=True, slots=True)
class Enforcement:
    """The solver with its rows and their order, as part of a request, and the remedy against drift."""

    joins: ClassVar[bool] = True  # may a rate at rest hold others through rows?
    residuals: ClassVar[int] = 2  # numbers of `watched`

    request: Request
    way: str = "project"
    alpha: float = 0.0  # [1/s] of Baumgarte's, where they pull in the accelerations
    mu: tuple[float, ...] = ()  # slacks of rows whose rank changes, see `constraints/solvers/slack.py`
    moves: bool = False  # do they move by themselves, so that their forces do work?
    sizes: tuple[float, ...] = ()  # of A M⁻¹ Aᵀ at the start, a number a row
    within: float = 0.0  # [1/s] of Baumgarte's within the steps of external solvers
    along_tree: bool = False  # are loops eliminated along the tree, as those of long mechanisms are?

    @property
    def by_loops(self) -> bool:
        """True if loops over the bodies take the constraints."""
        return self.along_tree

    def own(self, request: Request) -> Request:
        """A request with this solver and these rows."""
        own = self.request
        return replace(request, solver=own.solver, kept=own.kept, rows=own.rows, dependent=own.dependent)

    def accelerations(
        self, model: Model, request: Request, state: State, loads: Any
    ) -> tuple[Vector, Scalar]:
        """q̈, and the power of the constraint forces, which do work where a constraint moves."""
        solution = self.solution(model, request, state, loads)
        if solution.rubbing is not None:
            return only_sound(solution.qdd, solution.loads_sound), solution.power
        return solution.qdd, solution.power

    def solution(
        self, model: Model, request: Request, state: State, loads: Any
    ) -> constrained.ConstrainedSolution:
        """Accelerations and multipliers."""
        self.check_short(model)
        return constrained.solve(model, self.own(request), state, loads, self.alpha, self.mu)

    def motion(self, model: Model, request: Request, state: State, loads: Any) -> tuple[Vector, Vector]:
        """q̈, and the multipliers of all rows as they share loads."""
        own, mu = self.own(request), self.mu
        x = constrained.solve(model, own, state, loads, mu=mu)
        return x.qdd, constrained.shared_multipliers(
            model, own, state, x.qdd, x.lam, loads, changing=bool(mu)
        )

    def held_motion(self, model: Model, request: Request, state: State, loads: Any) -> tuple[Vector, Vector]:
        """q̈, and the efforts (nv,) by which rates are locked."""
        x = self.solution(model, request, state, loads)
        return x.qdd, x.holding

    def levels(self, model: Model, request: Request, state: State, loads: Any) -> Any:
        """Friction from load of each rate (nv,): that may hold it, and that it begins to slide with."""
        return self.solution(model, request, state, loads).levels(state)

    def check_short(self, model: Model) -> None:
        """Refuse what is no loop over the bodies where loops are eliminated along the tree."""
        if self.along_tree:
            raise InputError(
                f"{model.name}: {len(model.moving)} bodies with loops are simulated by rk4, dopri5, dop853 "
                "or semi-implicit-euler, with efforts that are arrays or tables, and without events, limits, friction "
                "or external wrenches"
            )

    def rubbing(self, model: Model, request: Request, state: State, loads: Any) -> Vector:
        """Efforts of friction from load (nv,)."""
        found = self.solution(model, request, state, loads).rubbing
        return np.zeros(model.nv) if found is None else found

    def settle(self, model: Model, time: Scalar, q: Vector, qd: Vector) -> tuple[Vector, Vector, Scalar]:
        """The state brought back to the constraints, and the smallest pivot of their rows there."""
        self.check_short(model)
        return constrained.projected(model, self.request, q, qd, array([time]), self.mu, self.sizes)

    def watched(self, model: Model, time: Scalar, q: Vector, qd: Vector) -> list[Scalar]:
        """The largest residual of positions and of rates."""
        return constrained.residuals(model, q, qd, array([time]))


AnyEnforcement: TypeAlias = Free | Enforcement
FREE = Free()


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
