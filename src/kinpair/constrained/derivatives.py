"""Derivatives of the accelerations under constraints, by the rates that an embedding leaves free.

    A₁ Γ = −∂(A q̈ − b)                                 Γ: dependent rates, zero for the others
    X U = −Zᵀ (∂(M q̈ − F − Aᵀλ) + M Γ),   ∂q̈ = Γ + Z U                                          (CD2)
    ∂q̈/∂τ = Z X⁻¹ Zᵀ                                                                            (CD3)

It is the saddle-point system (CD1) with Z of (CS7) and X of (CS9): a matrix of the freedoms instead of one of all
rates and rows, and it keeps what is sparse in A₁ sparse.
"""

from __future__ import annotations

import numpy as np

from kinpair.algebra import ldl, lu
from kinpair.algebra.arrays import Matrix, symmetric
from kinpair.constraints.solvers import Problem
from kinpair.constraints.solvers.embedding import parts, virtual


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
