"""Coordinates and rates brought back to the constraints, by the least displacement as the mass matrix measures it.

M δ = Aᵀμ,   A δ = −φ,   q ← q ⊕ δ          holonomic rows                               (PR1)
M δ = Aᵀμ,   A δ = −ψ,   q̇ ← q̇ + δ          all rows, at the new q                       (PR2)

In a singular position rows are lost, and next to it they make a small ψ as large as one likes. Where it is known how
large A M⁻¹ Aᵀ was elsewhere, the solve is damped by 1e-12 of that: such rows then project nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from kinpair.algebra import tree_ldl
from kinpair.algebra.arrays import Matrix, Scalar, Vector, is_nothing
from kinpair.algebra.choice import minimum
from kinpair.constraints.quantities.equations import free_terms, mass_tree
from kinpair.constraints.quantities.solution import of_rank
from kinpair.constraints.rows import stacked as all_rows
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.solvers import Accelerations, Problem
from kinpair.constraints.solvers.problem import with_held
from kinpair.formulations import kinematics
from kinpair.model.model import Model
from kinpair.model.state import State
from kinpair.quantities import Request

DAMPING = 1e-12  # of the entries that A M⁻¹ Aᵀ had: the rates change by 5e5 times ψ at most


def least_step(
    model: Model, M: Matrix, A: Matrix, right: Vector, mu: Sequence[float] = (), sizes: Sequence[float] = ()
) -> Accelerations:
    """δ of M δ = Aᵀμ, A δ = right; rows of any rank with `mu`, damped where `sizes` of A M⁻¹ Aᵀ are given."""
    damping = [DAMPING * size for size in sizes]
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
