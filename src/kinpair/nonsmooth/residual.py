"""The scaled problem as one equation F(x) = 0, and its derivative. Loop functions; see docs/equations/nonsmooth.md.

Groups of rows are numbers in flat arrays: group k has the entries `table[WIDTH * k + KIND]` and so on, and its level L
and coefficient μ in the row k of `radii`. Rows of `A`, with `b`, give the load of a group.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from kinpair.compiler.loops.kinds import Integers, Matrix, Vector

BOX, DISC, SLIDES = range(3)  # kinds of groups
WIDTH = 6  # numbers of a group: its kind, its rows, the row of its normal, rows of its load
KIND, FIRST, COUNT, NORMAL, LOAD, LOADS = range(WIDTH)
NONE = -1  # a group without normal
EPS = 2.220446049250313e-16


class Scaled(NamedTuple):
    """A scaled problem: c = D x + g, the groups, bounds of intervals or directions of sliding, and loads."""

    D: Matrix
    g: Vector
    table: Integers
    radii: Matrix
    bounds: Matrix
    A: Matrix
    b: Vector


def product(D: Matrix, x: Vector, g: Vector, c: Vector) -> None:
    """Compute c = D x + g."""
    for i in range(len(x)):
        total = 0.0
        for j in range(len(x)):
            total += D[i, j] * x[j]
        c[i] = total + g[i]


def length(x: Vector, first: int, count: int) -> float:
    """Compute ‖x‖₂ of some entries."""
    total = 0.0
    for i in range(first, first + count):
        total += x[i] * x[i]
    return math.sqrt(total)


def load(p: Scaled, first: int, count: int, x: Vector) -> float:
    """Compute N = ‖A x + b‖ of the rows of a load."""
    total = 0.0
    for i in range(first, first + count):
        entry = p.b[i]
        for j in range(len(x)):
            entry += p.A[i, j] * x[j]
        total += entry * entry
    return math.sqrt(total)


def radius(p: Scaled, k: int, x: Vector, z: Vector) -> float:
    """Compute R = L + μ N with N = max(z_n, 0) of a normal, ‖A x + b‖ of a load, or 0.    (NS5)"""
    R = p.radii[k, 0]
    normal = p.table[WIDTH * k + NORMAL]
    if normal != NONE:
        R += p.radii[k, 1] * max(z[normal], 0.0)
    count = p.table[WIDTH * k + LOADS]
    if count > 0:
        R += p.radii[k, 1] * load(p, p.table[WIDTH * k + LOAD], count, x)
    return R


def residual(p: Scaled, x: Vector, z: Vector, F: Vector) -> float:
    """Compute F(x) and its largest entry; z = x − c is left for `derivative`.    (NS4)"""
    product(p.D, x, p.g, z)
    for i in range(len(x)):
        z[i] = x[i] - z[i]
    for k in range(len(p.radii)):
        kind, first, count = p.table[WIDTH * k + KIND], p.table[WIDTH * k + FIRST], p.table[WIDTH * k + COUNT]
        if kind == BOX:
            F[first] = x[first] - min(max(z[first], p.bounds[first, 0]), p.bounds[first, 1])
            continue
        R = radius(p, k, x, z)
        if kind == SLIDES:
            for i in range(first, first + count):
                F[i] = x[i] + R * p.bounds[i, 0]
            continue
        size = length(z, first, count)
        share = R / size if size > R else 1.0
        for i in range(first, first + count):
            F[i] = x[i] - share * z[i]
    worst = 0.0
    for i in range(len(F)):
        worst = max(worst, abs(F[i])) if F[i] == F[i] else math.inf
    return worst


def add_row(J: Matrix, i: int, D: Matrix, j: int, delta: float, weight: float) -> None:
    """Add −Z + Z (D + δ) of one entry Z_ij = weight to the row i of J."""
    for k in range(len(D)):
        J[i, k] += weight * D[j, k]
    J[i, j] += weight * (delta - 1.0)


def add_load_slope(p: Scaled, J: Matrix, i: int, first: int, count: int, x: Vector, weight: float) -> None:
    """Add weight · ∂N/∂x = weight · (A x + b)ᵀ A / ‖A x + b‖ to the row i of J; 0 where the norm is 0."""
    N = load(p, first, count, x)
    if N == 0.0:
        return
    for r in range(first, first + count):
        entry = p.b[r]
        for j in range(len(x)):
            entry += p.A[r, j] * x[j]
        for j in range(len(x)):
            J[i, j] += weight * entry / N * p.A[r, j]


def derivative(p: Scaled, x: Vector, z: Vector, delta: float, J: Matrix, active: Integers) -> None:
    """Compute J = 1 − Z + Z (D + δ) − d ∂R/∂x; `active` is one for each row that is not of the unit matrix.    (NS6)"""
    J[:] = 0.0
    active[:] = 0
    for i in range(len(x)):
        J[i, i] = 1.0
    for k in range(len(p.radii)):
        kind, first, count = p.table[WIDTH * k + KIND], p.table[WIDTH * k + FIRST], p.table[WIDTH * k + COUNT]
        if kind == BOX:
            if p.bounds[first, 0] < z[first] < p.bounds[first, 1]:
                add_row(J, first, p.D, first, delta, 1.0)
                active[first] = 1
            continue
        R, size = radius(p, k, x, z), length(z, first, count)
        if kind == DISC and size <= R:
            for i in range(first, first + count):
                add_row(J, i, p.D, i, delta, 1.0)
                active[i] = 1
            continue
        for i in range(first, first + count):
            d_i = -p.bounds[i, 0] if kind == SLIDES else z[i] / size
            normal = p.table[WIDTH * k + NORMAL]
            if kind == DISC and R > 0.0 and count > 1:
                for j in range(first, first + count):
                    weight = R / size * ((1.0 if i == j else 0.0) - d_i * z[j] / size)
                    add_row(J, i, p.D, j, delta, weight)
                active[i] = 1
            if normal != NONE and z[normal] > 0.0:
                add_row(J, i, p.D, normal, delta, p.radii[k, 1] * d_i)
                active[i] = 1
            loads = p.table[WIDTH * k + LOADS]
            if loads > 0:
                add_load_slope(p, J, i, p.table[WIDTH * k + LOAD], loads, x, -p.radii[k, 1] * d_i)
                active[i] = 1


def rounding(p: Scaled, x: Vector) -> float:
    """Compute 4 ε max(|D||x| + |g|): what rounding leaves of F.    (NS7)"""
    largest = 0.0
    for i in range(len(x)):
        total = abs(p.g[i])
        for j in range(len(x)):
            total += abs(p.D[i, j] * x[j])
        largest = max(largest, total)
    return 4.0 * EPS * largest
