"""Coordinates and rates brought to the constraints.

In a run by the least displacement as the mass matrix measures it:

M δ = Aᵀμ,   A δ = −φ,   q ← q ⊕ δ          holonomic rows                               (PR1)
M δ = Aᵀμ,   A δ = −ψ,   q̇ ← q̇ + δ          all rows, at the new q                       (PR2)

In a singular position rows are lost, and next to it they make a small ψ as large as one likes. Where it is known how
large A M⁻¹ Aᵀ was elsewhere, the solve is damped by 1e-12 of that: such rows then project nothing.

Elsewhere rates, accelerations and steps of coordinates are as near as can be to those that are given:

    A_f δ_f = r                                        δ_f of least norm, f: rates that are free     (OB1)
    A_f A_fᵀ μ = r,   δ_f = A_fᵀ μ                     A_f: rows that are independent
    δ_f = −A_fᵀ (A_f A_fᵀ + ε |A_f A_fᵀ| 1)⁻¹ φ         the step of (CA1), for rows of any rank       (OB2)

`request.dependent` are the free rates, `request.kept` the rows that are solved for; all of them are judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import mul
from typing import Any

import numpy as np

from kinpair.algebra import tree_ldl
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, is_nothing
from kinpair.algebra.choice import less, minimum, where
from kinpair.constraints.quantities.equations import free_terms, largest, mass_tree
from kinpair.constraints.quantities.solution import of_rank
from kinpair.constraints.rounding import (
    CONSISTENT,
    DAMPED_RATES,
    DAMPED_STEP,
    EMPTY,
    SMALLEST,
    SQUARED_SOUND,
    WIDE_OPEN,
)
from kinpair.constraints.rows import stacked as all_rows
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.constraint import Motion
from kinpair.constraints.solvers import SOLVERS, Accelerations, Problem
from kinpair.constraints.solvers.problem import with_held
from kinpair.evaluation.quantities.request import Request
from kinpair.formulations import kinematics
from kinpair.model.model import Model
from kinpair.model.state import State


def nearest_rates(
    model: Model, request: Request, q: Vector, qd: Vector, time: Vector
) -> tuple[Vector, Scalar, Scalar]:
    """Rates near to qd that obey; how far they are from it; and one where nothing needs a closer look, else zero.

    Where rows are not linear in the rates, it is one step towards such rates.
    """
    rows = all_rows.rows(model, constraints_of(model), q, qd, time[0])
    step, of_rows = _least(model, request, rows.A, -rows.psi)
    x = qd + step
    return x, largest(list(step)), _sound(x, of_rows, _left(rows.A, -rows.psi, step), [])


def nearest_accelerations(
    model: Model, request: Request, q: Vector, qd: Vector, qdd: Vector, time: Vector
) -> tuple[Vector, Scalar]:
    """Accelerations near to q̈ that obey, and one where nothing needs a closer look, else zero."""
    constraints, at = constraints_of(model), Motion(model, q, time[0], qd)
    rows = all_rows.rows_at(constraints, at)
    right = rows.b - rows.A @ qdd
    step, of_rows = _least(model, request, rows.A, right)
    gap = largest(list(all_rows.residual_at(constraints, at) / all_rows.scales(model, constraints)))
    x = qdd + step
    return x, _sound(x, of_rows, _left(rows.A, right, step), [(gap, WIDE_OPEN)])


def closing_step(model: Model, request: Request, q: Vector, time: Vector) -> tuple[Vector, Scalar]:
    """The step of all rates towards φ = 0, zero where they are locked; and |φ|, a part of the reach where of
    lengths."""
    constraints, free = constraints_of(model), list(request.dependent)
    scales = all_rows.scales(model, constraints)
    phi = all_rows.residual(model, constraints, q, time[0]) / scales
    numbers = all_rows.holonomic_rows(constraints)
    A = (all_rows.matrix(model, constraints, q, time[0])[numbers] / scales[:, None])[:, free]
    gram = A @ A.T
    size = np.sqrt(sum((x * x for x in gram.reshape(-1)), SMALLEST * SMALLEST))
    solved = _solved(A, -phi, [DAMPED_STEP * size] * len(phi))
    return _spread(model, free, solved.qdd), np.sqrt(phi @ phi)  # (OB2)


def _least(model: Model, request: Request, A: Matrix, right: Vector) -> tuple[Vector, Scalar]:
    """δ of (OB1) by the rows kept, what rounding left of them added once; and their smallest pivot."""
    kept, free = list(request.kept), list(request.dependent)
    own, r = A[np.ix_(kept, free)], right[kept]
    first = _solved(own, r)
    delta = first.qdd + _solved(own, r - own @ first.qdd).qdd  # (OB1)
    return _spread(model, free, delta), first.soundness[1]


def _solved(A: Matrix, right: Vector, damping: Sequence[Scalar] = ()) -> Accelerations:
    """Least squares as the motion of unit masses."""
    n = A.shape[1]
    unit = Problem(np.eye(n), np.zeros(n), A, right, [-1] * n, range(n), damping=damping)
    return SOLVERS["multipliers"](unit)


def _spread(model: Model, free: Sequence[int], delta: Vector) -> Vector:
    """Spread values by rate, zero for those that are locked."""
    by_rate = dict(zip(free, delta, strict=True))
    return array([by_rate.get(k, 0.0) for k in range(model.nv)])


def _left(A: Matrix, right: Vector, step: Vector) -> list[tuple[Scalar, Scalar]]:
    """Residual of each row, and its length."""
    missed = right - A @ step
    return [(np.abs(x), np.sqrt(row @ row) + EMPTY) for x, row in zip(missed, A, strict=True)]


def _sound(
    x: Vector,
    of_rows: Scalar,
    left: Sequence[tuple[Scalar, Scalar]],
    others: Sequence[tuple[Scalar, Scalar]],
) -> Scalar:
    size = largest(list(x))
    obeyed = [(missed, CONSISTENT * (1.0 + size) * length) for missed, length in left]
    pairs = [(SQUARED_SOUND, of_rows), *obeyed, (size, np.inf), *others]
    return reduce(mul, [where(less(low, high), 1.0, 0.0) for low, high in pairs])


def least_step(
    model: Model, M: Matrix, A: Matrix, right: Vector, mu: Sequence[float] = (), sizes: Sequence[float] = ()
) -> Accelerations:
    """δ of M δ = Aᵀμ, A δ = right; rows of any rank with `mu`, damped where `sizes` of A M⁻¹ Aᵀ are given."""
    damping = [DAMPED_RATES * size for size in sizes]
    problem = Problem(M, np.zeros(model.nv), A, right, *mass_tree(model), damping=damping)
    held = None if model.slip is None else model.slip.held
    return of_rank(mu)(problem if held is None else with_held(problem, held))


def projected(
    model: Model,
    request: Request,
    q: Vector,
    qd: Vector,
    time: Vector,
    mu: Sequence[float] = (),
    sizes: Sequence[float] = (),
) -> tuple[Vector, Vector, Scalar]:
    """q and q̇ that obey, and how far the rows are from dependence: the smallest pivot of A M⁻¹ Aᵀ, times the smallest
    of its entries as a part of the `sizes` they had."""
    nothing, constraints = np.zeros(model.nv), constraints_of(model)
    M, _ = free_terms(model, request, State(q, qd, tau=nothing, time=time[0]), {})
    numbers = all_rows.holonomic_rows(constraints)
    holonomic = [k for k in request.kept if k in numbers]
    phi = all_rows.residual(model, constraints, q, time[0])[[numbers.index(k) for k in holonomic]]
    A = all_rows.matrix(model, constraints, q, time[0])[holonomic]
    own = [n for n, k in enumerate(request.kept) if k in numbers]
    of_holonomic = [[each[n] for n in own if each] for each in (mu, sizes)]
    back = least_step(model, M, A, -phi, *of_holonomic).qdd  # (PR1)
    there = kinematics.nudged(model, q, back) if holonomic else q
    M, _ = free_terms(model, request, State(there, qd, tau=nothing, time=time[0]), {})
    constraint_rows = all_rows.rows(model, constraints, there, qd, time[0], request.kept)
    solved = least_step(model, M, constraint_rows.A, -constraint_rows.psi, mu, sizes)  # (PR2)
    return there, qd + solved.qdd, solved.soundness[1] * _shrunk(model, M, constraint_rows.A, sizes)


def _shrunk(model: Model, M: Matrix, A: Matrix, sizes: Sequence[float]) -> Scalar:
    """The smallest of A_k M⁻¹ A_kᵀ, each as a part of its size."""
    if not len(sizes):
        return 1.0
    factors = tree_ldl.factor(M, *mass_tree(model))
    shrunk: list[Any] = []
    for row, size in zip(A, sizes, strict=True):
        Y = enumerate(tree_ldl.swept_inward(factors, row))
        shrunk.append(sum((y * y * factors.over_D[k] for k, y in Y if not is_nothing(y)), 0.0) / size)
    return reduce(minimum, shrunk)
