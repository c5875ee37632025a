"""Solve for accelerations under rows whose rank changes along a motion: no row is left out, each gets a slack.

    A q̈ + s = b,   s = μ λ:   (S + μ) λ = r,   S = A M⁻¹ Aᵀ,   r = b − A M⁻¹ F                   (CS16)

μ is diagonal, a number for each row. The slacks leave the part μ(S + μ)⁻¹ of r. With G = S(S + μ)⁻¹, whose eigenvalues
are σ/(σ + μ), the multipliers are

    λ = Σ_j c_j (1 − G)^j G^(m−1) (S + μ)⁻¹ r,   c_j = (m − 1 + j over j),   j = 0 … k − 1       (CS18)

that is p(G) S⁺ r with the polynomial p that has p(0) = 0, p(1) = 1 and its first m − 1 derivatives zero at 0, its first
k − 1 at 1. An independent combination of rows, σ ≫ μ, is satisfied up to (μ/σ)^k. A dependent one, σ ≪ μ, is dropped
up to (σ/μ)^m.

The second property is what an integrator needs. Its stages satisfy the constraints only approximately. There the rows
that depend on others get a small σ and a right side that contradicts the others. With m = 1 (proximal iteration,
Carpentier, Budhiraja & Mansard 2021) they add accelerations of first order in σ/μ, so that q̈ changes over distances of
√μ from the constraints, and no error estimate of a longer step sees it. With m = 4 these are of fourth order.

At singular positions, where A loses rank, an independent combination becomes a dependent one in the same manner.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np

from kinpair.algebra.arrays import array
from kinpair.constraints.solvers.multipliers import factored, of_mass
from kinpair.constraints.solvers.problem import Accelerations, Problem

KEPT = 4  # k of (CS18): order to which independent rows are satisfied
DROPPED = 4  # m of (CS18): order to which dependent rows are dropped


def solve(x: Problem, mu: Sequence[float]) -> Accelerations:
    """Solve (CS1) for q̈ (n) and λ (l) with rows of any rank; the soundness of the rows is one."""
    slack = np.array(mu)
    system = factored(x._replace(damping=mu))
    term = system.solve_rows(system.right)  # (CS16)
    for _ in range(DROPPED - 1):
        term = term - system.solve_rows(slack * term)
    lam = term
    for j in range(1, KEPT):
        term = system.solve_rows(slack * term)
        lam = lam + comb(DROPPED - 1 + j, j) * term  # (CS18)
    return Accelerations(system.accelerations(lam), lam, array([of_mass(x, system), 1.0]))
