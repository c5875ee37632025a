"""Derivatives of the accelerations under constraints, by the rates that an embedding leaves free.

    A₁ Γ = −∂(A q̈ − b)                                 Γ: dependent rates, zero for the others
    X U = −Zᵀ (∂(M q̈ − F − Aᵀλ) + M Γ),   ∂q̈ = Γ + Z U                                          (CD2)
    ∂q̈/∂τ = Z X⁻¹ Zᵀ                                                                            (CD3)

It is the saddle-point system (CD1) with Z of (CS7) and X of (CS9): a matrix of the freedoms instead of one of all
rates and rows, and it keeps what is sparse in A₁ sparse.

Friction from load depends on accelerations and multipliers, so it changes the matrix as well. With e its efforts,

    R = [H q̈ + h − τ − Aᵀλ − e(q, q̇, τ, q̈, λ); A q̈ − b] = 0                                     (FD1)
    ∂R/∂(q̈, λ) [∂q̈; ∂λ] = −∂R                            ∂: by q, q̇ or τ, with q̈ and λ constant    (FD2)

Loads that depend on nothing but q̈ and λ are no unknowns: e has them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kinpair.algebra import ldl, lu
from kinpair.algebra.arrays import Matrix, Vector, symmetric
from kinpair.constraints.quantities.equations import free_terms
from kinpair.constraints.quantities.friction import of_motion
from kinpair.constraints.rows import stacked as all_rows
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.solvers import Problem
from kinpair.constraints.solvers.embedding import parts, virtual
from kinpair.evaluation.quantities.request import External, Request
from kinpair.forces.elements import loads_on
from kinpair.friction.loads.dynamics import is_loaded
from kinpair.friction.surfaces.table import at_moment
from kinpair.model.model import Model
from kinpair.model.slip import sliding
from kinpair.model.state import State


def embedded(x: Problem, *balances: tuple[Matrix, Matrix]) -> list[Matrix]:
    """∂q̈ (n, any) for each pair of derivatives: of M q̈ − F − Aᵀλ (n, any) and of A q̈ − b (l, any); then ∂q̈/∂τ."""
    p = parts(x)
    Z = virtual(x, p)
    factors = ldl.factor(symmetric(Z.T @ (x.M @ Z)))
    found: list[Matrix] = []
    for by_motion, by_rows in balances:
        Gamma = np.zeros(by_motion.shape, dtype=object)
        Gamma[p.one] = -lu.solve_columns(p.A1, by_rows[list(x.rows)])
        U = ldl.solve_columns(factors, -Z.T @ (by_motion + x.M @ Gamma))
        found.append(Gamma + Z @ U)  # (CD2)
    return [*found, symmetric(Z @ ldl.solve_columns(factors, Z.T))]  # (CD3)


class Moving(NamedTuple):
    """A motion and what makes it: q (nq,), q̇ and τ (nv,), time (1,), q̈ (nv,), and λ of the rows kept."""

    q: Vector
    qd: Vector
    tau: Vector
    time: Vector
    qdd: Vector
    lam: Vector


def balance(model: Model, request: Request, x: Moving, loads: External) -> Vector:
    """Residual of the motion: M q̈ − F − Aᵀλ, then A q̈ − b, of the rows kept.    (FD1)"""
    q, qd, tau, time, qdd, lam = x
    constraint_rows = all_rows.rows(model, constraints_of(model), q, qd, time[0], request.kept)
    state = State(q, qd, tau=tau, time=time[0])
    if model.terms is not None:
        M, F = free_terms(model, request, state, loads)
        needed = M @ qdd - F
    else:
        model = sliding(model, qd, qdd) if model.slip is None else model
        acting = loads_on(model, state, loads, passive=request.passive)
        tree = replace(request, quantity="inverse_dynamics")
        needed = tree.formulation(model, q, qd, qdd, acting.wrenches) - acting.efforts - tau
        if is_loaded(model, passive=request.passive):
            moment = at_moment(model, state.time)
            needed = needed - of_motion(moment, request, state, qdd, lam, acting)
    missing = needed - constraint_rows.A.T @ lam, constraint_rows.A @ qdd - constraint_rows.b
    return np.concatenate(missing)


class Slopes(NamedTuple):
    """Derivatives of R by q along the rates, q̇, τ, q̈ and λ (n + l, ...)."""

    q: Matrix
    qd: Matrix
    tau: Matrix
    qdd: Matrix
    lam: Matrix


def by_slopes(x: Slopes, model: Model) -> tuple[Matrix, Matrix, Matrix]:
    """∂q̈/∂q, ∂q̈/∂q̇ and ∂q̈/∂τ, by one matrix of all rates and rows.    (FD2)"""
    n = model.nv
    if model.singular_mass:  # (PM1)
        At = x.qdd[n:].T
        x = Slopes(*(np.concatenate([part[:n] + At @ part[n:], part[n:]]) for part in x))
    factors = lu.factor(np.concatenate([x.qdd, x.lam], axis=1))
    by_q, by_qd, by_tau = (-lu.solve_columns(factors, part)[:n] for part in (x.q, x.qd, x.tau))  # (FD2)
    return by_q, by_qd, by_tau
