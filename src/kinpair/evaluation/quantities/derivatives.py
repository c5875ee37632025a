"""Derivatives of efforts and accelerations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from kinpair.algebra import lu, tree_ldl
from kinpair.algebra.arrays import Matrix, Vector, array
from kinpair.evaluation.quantities.dynamics import forward_dynamics, inverse_dynamics
from kinpair.evaluation.quantities.request import METHODS, External, Request
from kinpair.formulations import composite, kinematics
from kinpair.friction.loads.dynamics import is_loaded
from kinpair.model.model import Model
from kinpair.model.recursion import rate_tree

STEP = 1e-200  # of the complex step: its square vanishes beside any number


def _complex_step(f: Callable[[Vector], Vector], x: Vector, direction: Vector) -> Vector:
    """Derivative of f at x along a direction, exact to rounding: Im f(x + i ε d) / ε."""
    return array([np.imag(y) / STEP for y in f(x + 1j * STEP * direction)])


def effort_derivatives(
    model: Model, request: Request, q: Vector, qd: Vector, qdd: Vector, loads: External
) -> tuple[Matrix, Matrix]:
    """∂τ/∂q and ∂τ/∂q̇ by complex steps along the unit rates: slow, and what compiled ones are judged by."""
    units = np.eye(model.nv)
    by_q = [
        _complex_step(
            lambda x: inverse_dynamics(model, request, x, qd, qdd, loads), q, kinematics.dq_dt(model, q, unit)
        )
        for unit in units
    ]
    by_qd = [
        _complex_step(lambda x: inverse_dynamics(model, request, q, x, qdd, loads), qd, unit)
        for unit in units
    ]
    return _side_by_side(by_q), _side_by_side(by_qd)


def _side_by_side(columns: Sequence[Vector]) -> Matrix:
    return array([list(x) for x in columns]).T if columns else np.zeros((0, 0))


def acceleration_derivatives(
    model: Model, request: Request, q: Vector, qd: Vector, qdd: Vector, loads: External
) -> tuple[Matrix, Matrix, Matrix]:
    """∂q̈/∂q, ∂q̈/∂q̇, ∂q̈/∂τ at the q̈ of the forward dynamics: ∂q̈ = H⁻¹ (∂τ − ∂(inverse dynamics))."""
    by_q, by_qd = effort_derivatives(model, request, q, qd, qdd, loads)
    if not is_loaded(model, passive=request.passive):
        return solved_for(model, q, by_q, by_qd)
    units = np.eye(model.nv)
    columns = [
        _complex_step(lambda x: inverse_dynamics(model, request, q, qd, x, loads), qdd, unit)
        for unit in units
    ]
    return solved_for(model, q, by_q, by_qd, _side_by_side(columns))


def solved_for(
    model: Model, q: Vector, by_q: Matrix, by_qd: Matrix, by_qdd: Matrix | None = None
) -> tuple[Matrix, Matrix, Matrix]:
    """∂q̈ from ∂τ of the inverse dynamics, by the tree factors of H; by those of `by_qdd` where that is not H."""
    if by_qdd is None:
        factors = tree_ldl.factor(composite.mass_matrix(model, q), *rate_tree(model))
        one: Callable[[Vector], Vector] = partial(tree_ldl.solve, factors)
    else:
        one = partial(lu.solve, lu.factor(by_qdd))

    def solved(B: Matrix) -> Matrix:
        return _side_by_side([one(column) for column in B.T])

    return -solved(by_q), -solved(by_qd), solved(np.eye(model.nv))


def derivatives_at_efforts(
    model: Model, request: Request, q: Vector, qd: Vector, tau: Vector, loads: External
) -> tuple[tuple[Matrix, Matrix, Matrix], Vector]:
    """Derivatives at the q̈ that the efforts make, and the accuracy of the solve for it."""
    qdd, soundness = forward_dynamics(model, forward_of(request), q, qd, tau, loads)
    wanted = replace(request, quantity="forward_dynamics_derivatives")
    return acceleration_derivatives(model, wanted, q, qd, qdd, loads), soundness


def forward_of(request: Request) -> Request:
    """The accelerations at which derivatives are taken: by the default formulation, with the same loads."""
    return replace(request, quantity="forward_dynamics", method=next(iter(METHODS["forward_dynamics"])))
