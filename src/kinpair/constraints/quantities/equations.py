"""The equations of motion under constraints at one state: M q̈ = F + Aᵀλ, A q̈ = b, with the rows that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, TypeAlias

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, is_nothing
from kinpair.algebra.choice import maximum
from kinpair.constraints.rows import stacked as all_rows
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.constraint import Motion, Rows
from kinpair.constraints.solvers import Problem
from kinpair.constraints.solvers.problem import full
from kinpair.evaluation.quantities.request import METHODS, External, Request
from kinpair.forces.elements import loads_on
from kinpair.model.inertia_scales import inertia_scales
from kinpair.model.model import Model
from kinpair.model.recursion import rate_tree
from kinpair.model.state import State

Tree: TypeAlias = tuple[Sequence[int], Sequence[int]]


@dataclass(frozen=True, slots=True, eq=False)
class Equations:
    """M, F, the rows A, psi and b that are kept, and the motion they are taken at; `every` has all rows."""

    M: Matrix
    F: Vector
    A: Matrix
    psi: Vector
    b: Vector
    every: Rows
    at: Motion

    @property
    def phi(self) -> Vector:
        """φ of every holonomic row."""
        return all_rows.residual_at(constraints_of(self.at.model), self.at)

    def problem(self, request: Request, tree: Tree | None = None) -> Problem:
        """Problem for a solver; `tree`: which entries of M are not zero, by default those of the model."""
        model = self.at.model
        scales = inertia_scales(model) if has_own_mass(model) else ()
        nonzero = tree or mass_tree(model)
        return Problem(self.M, self.F, self.A, self.b, *nonzero, request.rows, request.dependent, scales)


def equations(model: Model, request: Request, state: State, loads: External, alpha: float = 0.0) -> Equations:
    """Make the equations of the rows `request.kept`, in that order; with `alpha` [1/s] they are stabilised."""
    at = Motion(model, state.q, state.time, state.qd)
    M, F = _own_terms(model, request, state, loads)
    every = all_rows.rows_at(constraints_of(model), at)
    M, F = _lent(model, M, F, every)
    kept = list(request.kept)
    result = Equations(M, F, every.A[kept], every.psi[kept], every.b[kept], every, at)
    return replace(result, b=_stabilised(result, alpha)[kept]) if alpha else result


def _stabilised(x: Equations, alpha: float) -> Vector:
    """b of every row with Baumgarte's terms (1972): b − 2αψ − α²φ for holonomic rows, b − αψ for others.    (HD1)"""
    pull = dict(zip(all_rows.holonomic_rows(constraints_of(x.at.model)), x.phi, strict=True))
    return array(
        [
            b - 2.0 * alpha * psi - alpha * alpha * pull[k] if k in pull else b - alpha * psi
            for k, (psi, b) in enumerate(zip(x.every.psi, x.every.b, strict=True))
        ]
    )


def free_terms(model: Model, request: Request, state: State, loads: External) -> tuple[Matrix, Vector]:
    """M = H and F = τ + passive − h: the motion without constraints is M q̈ = F.

    Where M has no inverse of its own, the same motion under constraints comes from (Udwadia & Schutte 2010)

        M + AᵀA,   F + Aᵀb                             since A q̈ = b                             (PM1)
    """
    M, F = _own_terms(model, request, state, loads)
    if not model.singular_mass:
        return M, F
    return _lent(model, M, F, all_rows.rows(model, constraints_of(model), state.q, state.qd, state.time))


def _lent(model: Model, M: Matrix, F: Vector, every: Rows) -> tuple[Matrix, Vector]:
    """M and F with what the constraints lend to a mass matrix without an inverse."""
    if not model.singular_mass:
        return M, F
    return M + every.A.T @ every.A, F + every.A.T @ every.b  # (PM1)


def _own_terms(model: Model, request: Request, state: State, loads: External) -> tuple[Matrix, Vector]:
    q, qd, tau = state.q, state.qd, state.tau
    if model.terms is not None:
        M, F = model.terms(q, qd, state.time)
        return M, F + tau + loads_on(model, state, passive=request.passive).efforts
    M = METHODS["mass_matrix"][request.method](model, q)
    acting = loads_on(model, state, loads, passive=request.passive)
    h = METHODS["inverse_dynamics"][request.method](model, q, qd, np.zeros(model.nv), acting.wrenches)
    return M, tau - h + acting.efforts


def mass_tree(model: Model) -> Tree:
    """Nonzero entries of M, see `algebra.tree_ldl`."""
    return rate_tree(model) if has_own_mass(model) else full(model.nv)


def has_own_mass(model: Model) -> bool:
    """True if M is that of the bodies, and nothing else."""
    return model.terms is None and not model.singular_mass


def residuals(model: Model, q: Vector, qd: Vector, time: Vector) -> list[Scalar]:
    """The largest of |φ| and of |ψ|."""
    constraints, at = constraints_of(model), Motion(model, q, time[0], qd)
    return [
        largest(list(all_rows.residual_at(constraints, at))),
        largest(list(all_rows.rows_at(constraints, at).psi)),
    ]


def largest(entries: Sequence[Scalar]) -> Any:
    """The largest absolute value; zero of nothing."""
    return reduce(maximum, [np.abs(x) for x in entries if not is_nothing(x)], 0.0)
