"""Solve for accelerations under constraints, by any solver, over floats, symbols or columns of a batch.

Quantities, time loops, implicit steps and guards of limits call `solve`. Where the rank of the rows is uncertain, and
where limits are reached, `solve_any_rank` takes floats. The numbers behind a solve say whether it needs a closer look.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add, mul
from typing import TypeAlias

import numpy as np

from kinpair.algebra import ldl, tree_ldl
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, is_nothing
from kinpair.algebra.choice import less, maximum, where
from kinpair.constraints.quantities.equations import Equations, Tree, equations, has_own_mass, largest
from kinpair.constraints.quantities.friction import Loaded, with_friction
from kinpair.constraints.rounding import (
    EMBEDDED_SOUND,
    ENERGY_FADED,
    ENERGY_SOUND,
    FADED,
    HOLDS,
    MASS_SOUND,
    SQUARED_SOUND,
    WIDE_OPEN,
)
from kinpair.constraints.rows import stacked as all_rows
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.loads import wrench_rows
from kinpair.constraints.solvers import (
    OF_ENERGY,
    SOLVERS,
    Accelerations,
    Problem,
    Solver,
    rank_revealing,
    slack,
    voronets,
)
from kinpair.constraints.solvers.embedding import completed
from kinpair.constraints.solvers.problem import soundest, with_held
from kinpair.constraints.solvers.rank_revealing import NO_DRIFT, Drift, Solved
from kinpair.constraints.solvers.udwadia_kalaba import constrained
from kinpair.evaluation.quantities.request import METHODS, External, Request
from kinpair.forces.elements import loads_on
from kinpair.formulations import kinematics
from kinpair.friction.loads.dynamics import Levels, is_loaded, levels_of
from kinpair.model.inertia_scales import inertia_scales
from kinpair.model.model import Model
from kinpair.model.state import State

EMBEDDED = ("rosenberg-extended", "maggi", "partition", *OF_ENERGY)  # these choose dependent rates


def soundness(request: Request, x: Equations, solved: Accelerations) -> tuple[Vector, Scalar]:
    """Pivots of mass and rows, how far rows left out are from holding, and how far the loops are from closing; and one
    where all four are as they should be, zero elsewhere."""
    constraints = constraints_of(x.at.model)
    left_out = [k for k in range(len(x.every.b)) if k not in set(request.kept)]
    missed = largest([x.every.A[k] @ solved.qdd - x.every.b[k] for k in left_out])
    gap = largest(list(x.phi / all_rows.scales(x.at.model, constraints)))
    of_mass, of_rows = solved.soundness
    faded = ENERGY_FADED if request.solver in OF_ENERGY else FADED
    measures = array([of_mass, where(less(faded**2, _shortest(x.A)), of_rows, 0.0), missed, gap])
    size = 1.0 + largest(list(solved.qdd)) if left_out else 1.0 + np.abs(reduce(add, solved.qdd, 0.0))
    return measures, is_sound(request.solver, measures, size)


def _shortest(A: Matrix) -> Scalar:
    """The least squared length of a row as a part of the greatest; one where there are no rows."""
    squares = [sum((a * a for a in row if not is_nothing(a)), 0.0) for row in A]
    return soundest(squares, [reduce(maximum, squares)] * len(squares)) if squares else 1.0


def is_sound(solver: str, soundness: Vector, size: Scalar) -> Scalar:
    """Return one where the four numbers need no closer look, zero elsewhere; `size` of the accelerations, which must be
    numbers."""
    of_mass, of_rows, missed, gap = soundness
    pairs = (
        (MASS_SOUND, of_mass),
        (rows_sound(solver), of_rows),
        (missed, HOLDS * size),
        (gap, WIDE_OPEN),
        (size, np.inf),
    )
    return reduce(mul, [where(less(low, high), 1.0, 0.0) for low, high in pairs])


def rows_sound(solver: str) -> float:
    """The least pivot of the rows that a solver works well with."""
    if solver in OF_ENERGY:
        return ENERGY_SOUND
    return EMBEDDED_SOUND if solver in EMBEDDED else SQUARED_SOUND


Terms: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # M, F, A, b


@dataclass(frozen=True, slots=True, eq=False)
class ConstrainedSolution:
    """q̈, λ of the rows solved for, the equations with these rows, and the solver's own view of how sound it was."""

    qdd: Vector
    lam: Vector
    equations: Equations
    pivots: Vector
    request: Request
    loads_sound: Scalar = 1.0  # one where loads with friction from load are found, else zero
    rubbing: Vector | None = None  # efforts of friction from load (nv,); None where there are none
    loaded: Loaded | None = None  # how they came about
    alone: Scalar = 1.0  # one where it is proved that no other loads fit, else zero

    def levels(self, state: State) -> Levels:
        """Friction from load of each rate: that may hold it, and that it begins to slide with."""
        assert self.loaded is not None
        x = self.loaded
        return levels_of(self.equations.at.model, state, x.own, x.forms, x.joints, x.N, self.holding)

    @property
    def power(self) -> Scalar:
        """Power of the constraint forces, λᵀA q̇; not zero where a constraint moves."""
        return self.lam @ (self.equations.A @ self.equations.at.qd) if len(self.lam) else 0.0

    @property
    def holding(self) -> Vector:
        """Efforts (nv,) that hold rates at rest: M q̈ − F − Aᵀλ, zero where none is locked."""
        x = self.equations
        rest = x.M @ self.qdd - x.F
        return rest - x.A.T @ self.lam if len(self.lam) else rest

    @property
    def soundness(self) -> tuple[Vector, Scalar]:
        """Four numbers, and one where none of them needs a closer look; see `constraints/quantities/solution.py`."""
        measures, sound = soundness(
            self.request, self.equations, Accelerations(self.qdd, self.lam, self.pivots)
        )
        return measures, sound * self.loads_sound


def solve(
    model: Model,
    request: Request,
    state: State,
    loads: External,
    alpha: float = 0.0,
    mu: Sequence[float] = (),
) -> ConstrainedSolution:
    """Accelerations at a state under the efforts `state.tau`, by the solver and the rows of `request`.

    With `alpha` [1/s] the rows are stabilised. With `mu`, a number for each row, they may be of any rank, see
    `constraints/solvers/slack.py`.
    """
    x = equations(model, request, state, loads, alpha)
    p = x.problem(request)
    held = None if model.slip is None else model.slip.held
    if held is not None:
        p = with_held(p, held)
        solved = of_rank(mu)(p)
    else:
        solved = slack.solve(p, mu) if mu else OF_MODEL[request.solver](model, request, state, loads, p)
    if not is_loaded(model, passive=request.passive):
        return ConstrainedSolution(solved.qdd, solved.lam, x, solved.soundness, request)
    rubbed = with_friction(model, request, state, loads, p, solved, of_rank(mu), changing=bool(mu))
    x = replace(x, F=x.F + rubbed.efforts)
    own = rubbed.solved
    return ConstrainedSolution(
        own.qdd, own.lam, x, own.soundness, request, rubbed.sound, rubbed.efforts, rubbed.loaded, rubbed.alone
    )


def solve_equations(
    x: Equations, request: Request, mu: Sequence[float] = (), tree: Tree | None = None
) -> ConstrainedSolution:
    """Solve equations that were changed, as those of an implicit step, by multipliers."""
    solved = of_rank(mu)(x.problem(request, tree))
    return ConstrainedSolution(solved.qdd, solved.lam, x, solved.soundness, request)


def solve_any_rank(model: Model, terms: Terms, drift: Drift = NO_DRIFT) -> Solved:
    """q̈ and λ of M, F and all rows in floats, with the rank found; see `constraints/solvers/rank_revealing.py`."""
    scales = np.array(inertia_scales(model)) if has_own_mass(model) else None
    return rank_revealing.solve(*terms, drift=drift, scales=scales)


def of_rank(mu: Sequence[float]) -> Solver:
    """The solver of rows of full rank, or, with `mu`, of any rank."""
    return (lambda x: slack.solve(x, mu)) if mu else SOLVERS["multipliers"]


def _of_problem(
    model: Model, request: Request, state: State, loads: External, problem: Problem
) -> Accelerations:
    """Solve by a solver that needs M, F, A and b only."""
    return SOLVERS[request.solver](problem)


def _of_screws(
    model: Model, request: Request, state: State, loads: External, problem: Problem
) -> Accelerations:
    """Solve by the block system of all bodies and joints: the tree eliminated from its tips, then the rows of the
    loops.

    The response to each row is an elimination of its own, with everything else at rest.
    """
    from kinpair.formulations import screw

    q, qd = state.q, state.qd
    acting = loads_on(model, state, loads, passive=request.passive)
    free = screw.forward_dynamics(model, q, qd, state.tau + acting.efforts, acting.wrenches)
    at_rest, still = replace(model, gravity=np.zeros(3)), np.zeros(model.nv)
    nothing = kinematics.no_wrenches(model)
    responses = [screw.forward_dynamics(at_rest, q, still, row, nothing).qdd for row in problem.A]
    of_mass = soundest(list(free.pivots), problem.inertias)
    return constrained(problem.A, problem.b, free.qdd, responses, of_mass)


def _of_reactions(
    model: Model, request: Request, state: State, loads: External, given: Problem
) -> Accelerations:
    """Solve by Zhao & Gu's equations: λ of the cut joints from the reaction equation, then q̈ from that of motion.

    λ comes from differences of large numbers, in thin bodies; the rows, applied to q̈ once, return the digits lost.
    """
    from kinpair.formulations import zhao_gu

    acting = loads_on(model, state, loads, passive=request.passive)
    every = wrench_rows(model, constraints_of(model), state.q, state.time)
    cuts = [every[k] or row for k, row in zip(request.kept, given.A, strict=True)]
    tau = state.tau + acting.efforts
    found = zhao_gu.cut_reactions(model, state.q, state.qd, tau, acting.wrenches, cuts, given.b)
    factors = tree_ldl.factor(given.M, given.parent, given.inward)
    lam, A, b = found.lam, given.A, given.b
    lam = lam + ldl.solve_factored(found.factors, b - A @ tree_ldl.solve(factors, given.F + A.T @ lam))
    qdd = tree_ldl.solve(factors, given.F + A.T @ lam)
    of_mass = soundest(list(tree_ldl.pivots(factors)), given.inertias)
    return Accelerations(qdd, lam, array([of_mass, soundest(found.factors.D, found.scales)]))


def _of_energy(
    model: Model, request: Request, state: State, loads: External, problem: Problem
) -> Accelerations:
    """Solve by Voronets' or Chaplygin's equations."""
    q, qd, time = state.q, state.qd, state.time
    constraints, still = constraints_of(model), np.zeros(model.nv)

    def mass(x: Vector) -> Matrix:
        return (
            METHODS["mass_matrix"][request.method](model, x)
            if model.terms is None
            else model.terms(x, still, time)[0]
        )

    def rows(x: Vector) -> Matrix:
        return all_rows.matrix(model, constraints, x, time)[list(request.kept)]

    Q, alone = voronets.applied(mass, problem.F, q, qd), request.solver == "chaplygin"
    qdd, pivots = voronets.solve(
        mass, rows, Q, q, qd, request.rows, request.dependent, only_independent=alone
    )
    return completed(problem, qdd, list(pivots))


OfModel: TypeAlias = Callable[[Model, Request, State, External, Problem], Accelerations]
OF_MODEL: dict[str, OfModel] = {
    **dict.fromkeys(SOLVERS, _of_problem),
    **dict.fromkeys(OF_ENERGY, _of_energy),
    "screw": _of_screws,
    "zhao-gu": _of_reactions,
}
