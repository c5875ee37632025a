"""Udwadia & Kalaba's equation: the force that the constraints add to the free motion.

    a = M⁻¹ F                                          the motion without constraints
    M q̈ = F + Aᵀ (A M⁻¹ Aᵀ)⁻¹ (b − A a)                rows of full rank                         (CS5)

With redundant rows (A M⁻¹ Aᵀ)⁻¹ becomes a pseudo-inverse, and with a singular mass matrix (Udwadia & Phohomsiri 2006)

    q̈ = [(1 − A⁺A) M; A]⁺ [F; b]                       unique where [M; A] has full rank         (CS6)

or, what is the same, an auxiliary mass M + α AᵀA and force F + α Aᵀb take the place of M and F (Udwadia & Schutte
2010). Both need a rank decision, so they stand in `rank_revealing.py`.
"""

from __future__ import annotations

import numpy as np

from kinpair.algebra import ldl, tree_ldl
from kinpair.algebra.arrays import array
from kinpair.constraints.solvers.problem import Accelerations, Problem, soundest


def solve(x: Problem) -> Accelerations:
    """q̈ and λ of (CS1) by (CS5)."""
    factors = tree_ldl.factor(x.M, x.parent, x.inward)
    a = tree_ldl.solve(factors, x.F)
    Minv_AT = [tree_ldl.solve(factors, row) for row in x.A]
    S = array([[row @ column for column in Minv_AT] for row in x.A]) if len(x.A) else np.zeros((0, 0))
    of_rows = ldl.factor(S)
    lam = ldl.solve_factored(of_rows, x.b - x.A @ a)  # (CS5)
    qdd = a
    for force, column in zip(lam, Minv_AT, strict=True):
        qdd = qdd + force * column
    of_mass = soundest([factors.D[k] for k in range(len(x.F))], list(np.diag(x.M)))
    return Accelerations(qdd, lam, array([of_mass, soundest(of_rows.D, list(np.diag(S)))]))
