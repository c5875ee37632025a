"""The slope of the solution by D and g, by the implicit function theorem on its active set. Loop functions.

A change e = dg + dD x of c changes F of (NS4) by Z e, with Z = ∂(projection)/∂z, so

    J dx = −Z e,     J of (NS6) with δ = 0,  Z = J(δ = 1) − J(δ = 0)                                       (NS16)

Where x is not unique J is singular. J + ε Z with ε = 1e-6 selects one slope, as (NS10) selects one x; two more rounds
remove ε from what is unique. The slope is that of one side where a group is at the boundary between two phases.
"""

from __future__ import annotations

import math

from kinpair.compiler.loops.kinds import Matrix, Vector
from kinpair.compiler.loops.lapack import lu_factor, lu_solve
from kinpair.constraints.rounding import EDGE, SELECTED
from kinpair.constraints.solve.newton import Memory
from kinpair.constraints.solve.residual import (
    BOX,
    COUNT,
    DISC,
    FIRST,
    JUMP,
    KIND,
    LOWER,
    WIDTH,
    Problem,
    derivative,
    ends,
    length,
    radius,
    residual,
)
from kinpair.constraints.solve.scaling import jump_scale, scale

ROUNDS = 3


def at_boundary(s: Problem, x: Vector, z: Vector) -> bool:
    """True if a group of the scaled problem is between two phases: no force and no motion at an end of its set."""
    for k in range(len(s.radii)):
        kind, first, count = s.table[WIDTH * k + KIND], s.table[WIDTH * k + FIRST], s.table[WIDTH * k + COUNT]
        if kind <= BOX:
            lo, hi = ends(s, k, x, z)
            if abs(z[first] - lo) <= EDGE or abs(z[first] - hi) <= EDGE:
                return True
        if kind == DISC:
            R = radius(s, k, x, z, LOWER)
            if R > 0.0 and abs(length(z, first, count) - R) <= EDGE:
                return True
    return False


def solve_slopes(Z: Matrix, J: Matrix, m: Memory, S: Matrix) -> bool:
    """Solve J S = −Z column by column (NS16); False where J + ε Z is singular or has an entry that is not finite."""
    n, right, total = len(S), m.vectors[2], m.vectors[4]
    factors = m.part[: n * n].reshape(n, n)
    for i in range(n):
        for j in range(n):
            factors[i, j] = J[i, j] + SELECTED * Z[i, j]
            if not math.isfinite(factors[i, j]):
                return False
    if lu_factor(factors, m.pivots[:n]) != 0:
        return False
    for j in range(n):
        total[:] = 0.0
        for _ in range(ROUNDS):
            for i in range(n):
                right[i] = -Z[i, j]
                for k in range(n):
                    right[i] -= J[i, k] * total[k]
            lu_solve(factors, m.pivots[:n], right)
            for i in range(n):
                total[i] += right[i]
        for i in range(n):
            S[i, j] = total[i]
            if not math.isfinite(total[i]):
                return False
    return True


def slopes(p: Problem, s: Problem, x: Vector, m: Memory, S: Matrix) -> tuple[bool, bool]:
    """Compute S = ∂x/∂g (n, n) at a solution x of p, in the units of p; a change of D is a change dD x of g.

    Arguments are those of `scaling.solve_rows`. Returns whether a group is at the boundary between two phases, where S
    is the slope of one side, and whether S was found; if not, S = 0. No entry of S is ever NaN.
    """
    n, T, z, y = len(x), m.vectors[10], m.vectors[0], m.vectors[3]
    gamma = scale(p, s, T)
    S[:] = 0.0
    if math.isnan(gamma):
        return True, False
    for i in range(n):
        y[i] = x[i] * T[i] / gamma
    residual(s, y, z, m.vectors[1])
    m.regular[:], m.J[:] = 0.0, 0.0
    derivative(s, y, z, 1.0, m.regular, m.active)
    derivative(s, y, z, 0.0, m.J, m.active)
    for i in range(n):
        for j in range(n):
            m.regular[i, j] -= m.J[i, j]
    if not solve_slopes(m.regular, m.J, m, S):
        S[:] = 0.0
        return True, False
    for i in range(n):
        for j in range(n):
            S[i, j] /= T[i] * T[j]
    for k in range(len(p.radii)):
        row = p.table[WIDTH * k + FIRST]
        if p.table[WIDTH * k + KIND] == JUMP:
            for i in range(n):
                S[i, row] *= T[row] / jump_scale(p, row, gamma, T)
    return at_boundary(s, y, z), True
