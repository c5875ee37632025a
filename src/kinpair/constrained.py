"""The quantities of a mechanism under constraints: rows, accelerations and multipliers by any solver.

Time is a vector of one number, so that it may have a batch in front like the rest of the state.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, is_nothing
from kinpair.algebra.choice import maximum
from kinpair.algebra.jet import rate
from kinpair.constraints import rows as all_rows
from kinpair.constraints.build import constraints_of
from kinpair.constraints.constraint import Rows
from kinpair.constraints.solvers import SOLVERS, Accelerations, Problem
from kinpair.constraints.solvers.embedding import rosenberg
from kinpair.forces.applied import applied_wrenches
from kinpair.forces.passive import passive_efforts
from kinpair.formulations import kinematics
from kinpair.model.model import Model
from kinpair.model.recursion import rate_tree
from kinpair.quantities import METHODS, QUANTITIES, Ask, External, Quantity


def free_terms(
    model: Model, ask: Ask, q: Vector, qd: Vector, tau: Vector, loads: External
) -> tuple[Matrix, Vector]:
    """M = H and F = τ + passive − h: the motion without constraints is M q̈ = F."""
    M = METHODS["mass_matrix"][ask.method](model, q)
    h = METHODS["inverse_dynamics"][ask.method](
        model, q, qd, np.zeros(model.nv), applied_wrenches(model, q, loads)
    )
    F = tau - h
    return M, (F + passive_efforts(model, q, qd) if ask.passive else F)


def problem(model: Model, ask: Ask, M: Matrix, F: Vector, found: Rows) -> Problem:
    """What the solver is given: the rows kept, in the order chosen."""
    kept = list(ask.kept)
    return Problem(M, F, found.A[kept], found.b[kept], *rate_tree(model), ask.rows, ask.dependent)


def accelerations(
    model: Model, ask: Ask, q: Vector, qd: Vector, tau: Vector, time: Vector, loads: External
) -> tuple[Vector, Vector, Vector]:
    """q̈; λ of the kept rows; soundness: pivots of mass and rows, how far rows left out are from holding, and how
    far the loops are from closing."""
    M, F = free_terms(model, ask, q, qd, tau, loads)
    constraints = constraints_of(model)
    found = all_rows.rows(model, constraints, q, qd, time[0])
    solved: Accelerations = SOLVERS[ask.solver](problem(model, ask, M, F, found))
    left_out = [k for k in range(len(found.b)) if k not in ask.kept]
    missed = largest([found.A[k] @ solved.qdd - found.b[k] for k in left_out])
    gap = largest(list(all_rows.residual(model, constraints, q, time[0])))
    return solved.qdd, solved.lam, array([*solved.soundness, missed, gap])


def acceleration_derivatives(
    model: Model, ask: Ask, q: Vector, qd: Vector, tau: Vector, time: Vector, loads: External
) -> tuple[Matrix, Matrix, Matrix]:
    """∂q̈/∂q, ∂q̈/∂q̇, ∂q̈/∂τ by jets along unit rates: slow, and what compiled ones are judged by."""

    def qdd(q: Vector, qd: Vector, tau: Vector) -> Vector:
        return accelerations(model, ask, q, qd, tau, time, loads)[0]

    units = np.eye(model.nv)
    by_q = [rate(lambda x: qdd(x, qd, tau), (q,), (kinematics.dq_dt(model, q, unit),)) for unit in units]
    by_qd = [rate(lambda x: qdd(q, x, tau), (qd,), (unit,)) for unit in units]
    by_tau = [rate(lambda x: qdd(q, qd, x), (tau,), (unit,)) for unit in units]
    return tuple(np.stack(columns, axis=1) for columns in (by_q, by_qd, by_tau))  # type: ignore[return-value]


def reduced_equations(
    model: Model, ask: Ask, q: Vector, qd: Vector, tau: Vector, time: Vector, loads: External
) -> tuple[Matrix, Vector]:
    """Rosenberg's n − l equations: ZᵀM and ZᵀF of ZᵀM q̈ = ZᵀF."""
    M, F = free_terms(model, ask, q, qd, tau, loads)
    found = all_rows.rows(model, constraints_of(model), q, qd, time[0])
    return rosenberg(problem(model, ask, M, F, found))


def terms(
    model: Model, ask: Ask, q: Vector, qd: Vector, tau: Vector, time: Vector, loads: External
) -> tuple[Matrix, Vector, Matrix, Vector]:
    """M, F, A, b with every row."""
    found = all_rows.rows(model, constraints_of(model), q, qd, time[0])
    return *free_terms(model, ask, q, qd, tau, loads), found.A, found.b


def constraint_positions(model: Model, ask: Ask, q: Vector, time: Vector) -> Vector:
    """φ of every holonomic row."""
    return all_rows.residual(model, constraints_of(model), q, time[0])


def constraint_matrix(model: Model, ask: Ask, q: Vector, time: Vector) -> Matrix:
    """A of every row."""
    return all_rows.matrix(model, constraints_of(model), q, time[0])


def constraint_rows(
    model: Model, ask: Ask, q: Vector, qd: Vector, time: Vector
) -> tuple[Matrix, Vector, Vector]:
    """A, ψ and b of every row."""
    found = all_rows.rows(model, constraints_of(model), q, qd, time[0])
    return found.A, found.psi, found.b


def largest(entries: Sequence[Scalar]) -> Any:
    """The largest absolute value; zero of nothing."""
    return reduce(maximum, [np.abs(x) for x in entries if not is_nothing(x)], 0.0)


_FORCED = ("q", "qd", "tau", "time")
CONSTRAINED: dict[str, Quantity] = {
    "accelerations": Quantity(_FORCED, accelerations, loaded=True, columns=False),
    "acceleration_derivatives": Quantity(_FORCED, acceleration_derivatives, loaded=True, columns=False),
    "reduced_equations": Quantity(_FORCED, reduced_equations, loaded=True, columns=False),
    "terms": Quantity(_FORCED, terms, loaded=True, columns=False),
    "constraint_positions": Quantity(("q", "time"), constraint_positions, columns=False),
    "constraint_matrix": Quantity(("q", "time"), constraint_matrix, columns=False),
    "constraint_rows": Quantity(("q", "qd", "time"), constraint_rows, columns=False),
}
EVERY: dict[str, Quantity] = QUANTITIES | CONSTRAINED
