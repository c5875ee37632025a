"""Answers of constraints to a run: accelerations, efforts that hold, the return to the rows; with rows or without.

A run asks no mechanism whether it has constraints: one without them has no rows, and answers by its tree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias, final

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.constraints import quantities as constrained
from kinpair.errors import InputError
from kinpair.evaluation import quantities
from kinpair.evaluation.quantities import Request
from kinpair.friction.loads.dynamics import only_sound
from kinpair.model.model import Model
from kinpair.model.state import State

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
        return self.solution(model, request, state, loads).levels

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
