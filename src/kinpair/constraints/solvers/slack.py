"""Rows of which it changes along the way which ones are independent: none is left out, each gets a slack of its own.

    A q̈ + s = b,   heavy s:   (A M⁻¹ Aᵀ + μ) λ = b − A M⁻¹ F                                     (CS16)

and what the slacks took is given back by the same solve with b ← s, F ← 0: the error is then μ² (proximal iteration,
Carpentier, Budhiraja & Mansard 2021). Also right through singular positions, where A loses rank.
"""

from __future__ import annotations

import numpy as np

from kinpair.algebra.arrays import array, assemble
from kinpair.constraints.solvers import multipliers
from kinpair.constraints.solvers.problem import Accelerations, Problem

TURNS = 3


def solve(x: Problem, mu: float) -> Accelerations:
    """q̈ and λ of (CS1), rows of any rank; the soundness says nothing about rows."""
    n, rows = len(x.F), len(x.b)
    own, slacks = slice(0, n), slice(n, n + rows)
    M = assemble((n + rows, n + rows), [(own, own, x.M), (slacks, slacks, np.eye(rows) / mu)])
    A = np.concatenate([x.A, np.eye(rows)], axis=1)
    tree = [*x.parent, *[-1] * rows], [*range(n, n + rows), *x.inward]
    F = np.concatenate([x.F, np.zeros(rows)])
    scales = [*x.inertias, *[1.0 / mu] * rows]
    first = multipliers.solve(Problem(M, F, A, x.b, *tree, scales=scales))  # (CS16)
    qdd, lam, missing = first.qdd[:n], first.lam, first.qdd[n:]
    for _ in range(TURNS - 1):
        again = multipliers.solve(Problem(M, np.zeros(n + rows), A, missing, *tree))
        qdd, lam, missing = qdd + again.qdd[:n], lam + again.lam, again.qdd[n:]
    return Accelerations(qdd, lam, array([first.soundness[0], 1.0]))
