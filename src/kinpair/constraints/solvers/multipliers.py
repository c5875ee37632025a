"""Lagrange's multipliers: the saddle-point system, block by block with the tree's own factors.

    H = Lᵀ D L,   Y = L⁻ᵀ Aᵀ,   y = L⁻ᵀ F                                                        (CS2)
    (Yᵀ D⁻¹ Y) λ = b − Yᵀ D⁻¹ y                                                                  (CS3)
    q̈ = L⁻¹ D⁻¹ (y + Y λ)                                                                        (CS4)

Where `damping` is given, it is added to the diagonal of Yᵀ D⁻¹ Y (Levenberg 1944), so that no multiplier is larger than
what its row misses over its damping.

A row of A touches only the joints on its loop, and rows of different loops meet only where they share joints, so Y
and Yᵀ D⁻¹ Y are sparse and the work grows with the number of loops, not with its cube.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kinpair.algebra import sparse_ldl, tree_ldl
from kinpair.algebra.arrays import Scalar, Vector, array, is_nothing
from kinpair.constraints.solvers.problem import Accelerations, Problem, soundest


class System(NamedTuple):
    """A problem factored: its mass matrix, the damped S = Yᵀ D⁻¹ Y (l, l), and the right side of (CS3) (l)."""

    mass: tree_ldl.TreeFactors
    Y: list[dict[int, Scalar]]
    y: list[Scalar]
    S: sparse_ldl.SparseFactors
    right: Vector

    def solve_rows(self, right: Vector) -> Vector:
        """Solve S λ = right for λ (l).    (CS3)"""
        return sparse_ldl.solve(self.S, right)

    def accelerations(self, lam: Vector) -> Vector:
        """Compute q̈ (n) from multipliers (l).    (CS4)"""
        y = list(self.y)
        for row, force in zip(self.Y, lam, strict=True):
            for k, v in row.items():
                y[k] = y[k] + v * force
        return tree_ldl.swept_outward(self.mass, {k: v * self.mass.over_D[k] for k, v in enumerate(y)})


def factored(x: Problem) -> System:
    """Factor the mass matrix and S of a problem.    (CS2)"""
    factors = tree_ldl.factor(x.M, x.parent, x.inward)
    Y = [_present(tree_ldl.swept_inward(factors, row)) for row in x.A]  # (CS2)
    y = tree_ldl.swept_inward(factors, x.F)
    scaled = [{k: v * factors.over_D[k] for k, v in row.items()} for row in Y]
    S = sparse_ldl.factor(_gram(Y, scaled, x.damping or [0.0] * len(Y)))
    right = [b - sum((v * y[k] for k, v in row.items()), 0.0) for b, row in zip(x.b, scaled, strict=True)]
    return System(factors, Y, y, S, array(right) if right else np.zeros(0))


def solve(x: Problem) -> Accelerations:
    """Solve (CS1) for q̈ and λ."""
    system = factored(x)
    lam = system.solve_rows(system.right)
    S = system.S
    of_rows = soundest([S.D[k] for k in S.order], [S.scale[k] for k in S.order])
    return Accelerations(system.accelerations(lam), lam, array([of_mass(x, system), of_rows]))


def of_mass(x: Problem, system: System) -> Scalar:
    """Compute the soundness of the mass matrix: its smallest pivot as a part of its scale."""
    return soundest([system.mass.D[k] for k in range(len(x.F))], x.inertias)


def _present(entries: list[Scalar]) -> dict[int, Scalar]:
    return {k: v for k, v in enumerate(entries) if not is_nothing(v)}


def _gram(
    Y: list[dict[int, Scalar]], scaled: list[dict[int, Scalar]], damping: Sequence[Scalar]
) -> dict[int, dict[int, Scalar]]:
    """Yᵀ D⁻¹ Y by rows, damped; only rows that share a rate meet."""
    meets: dict[int, list[int]] = {}
    for i, row in enumerate(Y):
        for k in row:
            meets.setdefault(k, []).append(i)
    entries: dict[int, dict[int, Scalar]] = {i: {i: damping[i]} for i in range(len(Y))}
    for k, those in meets.items():
        for n, i in enumerate(those):
            for j in those[n:]:
                entries[i][j] = entries[j][i] = entries[i].get(j, 0.0) + scaled[i][k] * Y[j][k]
    return entries
