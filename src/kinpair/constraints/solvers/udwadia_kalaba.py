"""Udwadia & Kalaba's equation: the force that the constraints add to the free motion.

    a = M⁻¹ F                                          the motion without constraints
    M q̈ = F + Aᵀ (A M⁻¹ Aᵀ)⁻¹ (b − A a)                rows of full rank                         (CS5)

With redundant rows (A M⁻¹ Aᵀ)⁻¹ becomes a pseudo-inverse, and with a singular mass matrix (Udwadia & Phohomsiri 2006)

    q̈ = [(1 − A⁺A) M; A]⁺ [F; b]                       unique where [M; A] has full rank         (CS6)

or, what is the same, an auxiliary mass M + α AᵀA and force F + α Aᵀb take the place of M and F (Udwadia & Schutte
2010). Both need a rank decision; `rank_revealing.py` has the latter.

Derivation, no line of code: (CS6).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinpair.algebra import ldl, tree_ldl
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.constraints.solvers.problem import Accelerations, Problem, soundest


def solve(x: Problem) -> Accelerations:
    """q̈ and λ of (CS1) by (CS5)."""
    factors = tree_ldl.factor(x.M, x.parent, x.inward)
    a = tree_ldl.solve(factors, x.F)
    Minv_AT = [tree_ldl.solve(factors, row) for row in x.A]
    of_mass = soundest([factors.D[k] for k in range(len(x.F))], x.inertias)
    return constrained(x.A, x.b, a, Minv_AT, of_mass)


def constrained(A: Matrix, b: Vector, a: Vector, Minv_AT: Sequence[Vector], of_mass: Scalar) -> Accelerations:
    """Solve from the free motion a and the responses M⁻¹A_kᵀ to each row, however they were found."""
    S = array([[row @ column for column in Minv_AT] for row in A]) if len(A) else np.zeros((0, 0))
    of_rows = ldl.factor(S)
    lam = ldl.solve_factored(of_rows, b - A @ a)  # (CS5)
    qdd = a
    for force, column in zip(lam, Minv_AT, strict=True):
        qdd = qdd + force * column
    return Accelerations(qdd, lam, array([of_mass, soundest(of_rows.D, list(np.diag(S)))]))
