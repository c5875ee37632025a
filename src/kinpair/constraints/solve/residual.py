"""The scaled problem as one equation F(x) = 0, and its derivative. Loop functions; see docs/equations/nonsmooth.md.

Groups of rows are numbers in flat arrays: group k has the entries `table[WIDTH * k + KIND]` and so on, and in the row k
of `radii` the constant part of R at its lower and its upper end, and μ of its normal. A disc has one radius, the lower
one. Part t of a load has the entries `parts[PART * t + SHAPE]` and so on, its weights at both ends and its limit in the
row t of `weights`, and its forms in rows of `A`, with `b`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from kinpair.compiler.loops.kinds import Integers, Matrix, Vector

JUMP, BOX, DISC, SLIDES = range(4)  # kinds of groups; the first two are intervals
WIDTH = 6  # numbers of a group: its kind, its rows, the row of its normal, the parts of its load
KIND, FIRST, COUNT, NORMAL, LOAD, LOADS = range(WIDTH)
NORM, LINEAR, SQUARE = range(3)  # shapes of the parts of a load
PART = 3  # numbers of a part: its shape, its forms
SHAPE, FORM, FORMS = range(PART)
NONE = -1  # a group without normal
LOWER, UPPER, COEFFICIENT = range(3)  # columns of `radii`; those of `weights` are LOWER, UPPER and LIMIT
LIMIT = 2
EPS = 2.220446049250313e-16


class Problem(NamedTuple):
    """A problem: c = D x + g, the groups, bounds of intervals or directions of sliding, loads, and where D is not zero:
    row i has entries in the columns `columns[starts[i]:starts[i + 1]]`."""

    D: Matrix
    g: Vector
    table: Integers
    radii: Matrix
    bounds: Matrix
    parts: Integers
    weights: Matrix
    A: Matrix
    b: Vector
    starts: Integers
    columns: Integers


def product(p: Problem, x: Vector, c: Vector) -> None:
    """Compute c = D x + g."""
    for i in range(len(x)):
        total = 0.0
        for t in range(p.starts[i], p.starts[i + 1]):
            j = p.columns[t]
            total += p.D[i, j] * x[j]
        c[i] = total + p.g[i]


def length(x: Vector, first: int, count: int) -> float:
    """Compute ‖x‖₂ of some entries."""
    total = 0.0
    for i in range(first, first + count):
        total += x[i] * x[i]
    return math.sqrt(total)


def form(p: Problem, i: int, x: Vector) -> float:
    """Compute the form y_i = (A x + b)_i."""
    entry = p.b[i]
    for j in range(len(x)):
        entry += p.A[i, j] * x[j]
    return entry


def load(p: Problem, t: int, x: Vector) -> float:
    """Compute part t of a load: ‖y‖, y, or the square of y between 0 and its limit.    (NS5)"""
    shape, first = p.parts[PART * t + SHAPE], p.parts[PART * t + FORM]
    if shape == LINEAR:
        return form(p, first, x)
    if shape == SQUARE:
        y = min(max(form(p, first, x), 0.0), p.weights[t, LIMIT])
        return y * y
    total = 0.0
    for i in range(first, first + p.parts[PART * t + FORMS]):
        entry = form(p, i, x)
        total += entry * entry
    return math.sqrt(total)


def radius(p: Problem, k: int, x: Vector, z: Vector, end: int) -> float:
    """Compute R = L + μ max(z_n, 0) + Σ (parts of the load) of one end.    (NS5)"""
    R = p.radii[k, end]
    normal = p.table[WIDTH * k + NORMAL]
    if normal != NONE:
        R += p.radii[k, COEFFICIENT] * max(z[normal], 0.0)
    first = p.table[WIDTH * k + LOAD]
    for t in range(first, first + p.table[WIDTH * k + LOADS]):
        R += p.weights[t, end] * load(p, t, x)
    return R


def ends(p: Problem, k: int, x: Vector, z: Vector) -> tuple[float, float]:
    """Compute the ends lo − R₋ and hi + R₊ of an interval."""
    row = p.table[WIDTH * k + FIRST]
    if p.table[WIDTH * k + LOADS] == 0:
        return p.bounds[row, 0], p.bounds[row, 1]
    return p.bounds[row, 0] - radius(p, k, x, z, LOWER), p.bounds[row, 1] + radius(p, k, x, z, UPPER)


def residual(p: Problem, x: Vector, z: Vector, F: Vector) -> float:
    """Compute F(x) and its largest entry; z = x − c is left for `derivative`.    (NS4)"""
    product(p, x, z)
    for i in range(len(x)):
        z[i] = x[i] - z[i]
    return defect(p, x, z, F)


def defect(p: Problem, x: Vector, z: Vector, F: Vector) -> float:
    """Compute F(x) and its largest entry where z = x − c is known.    (NS4)"""
    for k in range(len(p.radii)):
        kind, first, count = p.table[WIDTH * k + KIND], p.table[WIDTH * k + FIRST], p.table[WIDTH * k + COUNT]
        if kind <= BOX:
            lo, hi = ends(p, k, x, z)
            F[first] = x[first] - min(max(z[first], lo), hi)
            continue
        R = radius(p, k, x, z, LOWER)
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


def add_row(J: Matrix, i: int, p: Problem, j: int, delta: float, weight: float) -> None:
    """Add −Z + Z (D + δ) of one entry Z_ij = weight to the row i of J."""
    for t in range(p.starts[j], p.starts[j + 1]):
        J[i, p.columns[t]] += weight * p.D[j, p.columns[t]]
    J[i, j] += weight * (delta - 1.0)


def add_load_slope(p: Problem, J: Matrix, i: int, t: int, x: Vector, weight: float) -> None:
    """Add weight · ∂(part t)/∂x to the row i of J: yᵀ A/‖y‖, A, or 2 y A; 0 where y = 0, or beyond a limit."""
    shape, first, count = p.parts[PART * t + SHAPE], p.parts[PART * t + FORM], p.parts[PART * t + FORMS]
    factor = weight
    if shape == SQUARE:
        y = form(p, first, x)
        factor = 2.0 * weight * y if 0.0 < y < p.weights[t, LIMIT] else 0.0
    if shape == NORM:
        N = load(p, t, x)
        factor = weight / N if N > 0.0 else 0.0
    if factor == 0.0:
        return
    for r in range(first, first + count):
        share = factor * form(p, r, x) if shape == NORM else factor
        for j in range(len(x)):
            J[i, j] += share * p.A[r, j]


def add_radius_slope(
    p: Problem, J: Matrix, i: int, k: int, x: Vector, z: Vector, end: int, delta: float, sign: float
) -> bool:
    """Add −sign · ∂R/∂x of an end of group k to the row i of J; False where R is constant."""
    normal, active = p.table[WIDTH * k + NORMAL], False
    if normal != NONE and z[normal] > 0.0:
        add_row(J, i, p, normal, delta, p.radii[k, COEFFICIENT] * sign)
        active = True
    first = p.table[WIDTH * k + LOAD]
    for t in range(first, first + p.table[WIDTH * k + LOADS]):
        add_load_slope(p, J, i, t, x, -p.weights[t, end] * sign)
        active = True
    return active


def derivative(p: Problem, x: Vector, z: Vector, delta: float, J: Matrix, active: Integers) -> None:
    """Compute J = 1 − Z + Z (D + δ) − d ∂R/∂x; `active` is one for each row that is not of the unit matrix.    (NS6)

    J is zero before, at least where D is not.
    """
    active[:] = 0
    for i in range(len(x)):
        J[i, i] = 1.0
    for k in range(len(p.radii)):
        kind, first, count = p.table[WIDTH * k + KIND], p.table[WIDTH * k + FIRST], p.table[WIDTH * k + COUNT]
        if kind <= BOX:
            lo, hi = ends(p, k, x, z)
            if lo < z[first] < hi:
                add_row(J, first, p, first, delta, 1.0)
                active[first] = 1
            elif z[first] >= hi:
                active[first] = 1 if add_radius_slope(p, J, first, k, x, z, UPPER, delta, 1.0) else 0
            else:
                active[first] = 1 if add_radius_slope(p, J, first, k, x, z, LOWER, delta, -1.0) else 0
            continue
        R, size = radius(p, k, x, z, LOWER), length(z, first, count)
        if kind == DISC and size <= R:
            for i in range(first, first + count):
                add_row(J, i, p, i, delta, 1.0)
                active[i] = 1
            continue
        for i in range(first, first + count):
            d_i = -p.bounds[i, 0] if kind == SLIDES else z[i] / size
            if kind == DISC and R > 0.0 and count > 1:
                for j in range(first, first + count):
                    weight = R / size * ((1.0 if i == j else 0.0) - d_i * z[j] / size)
                    add_row(J, i, p, j, delta, weight)
                active[i] = 1
            if add_radius_slope(p, J, i, k, x, z, LOWER, delta, d_i):
                active[i] = 1


def rounding(p: Problem, x: Vector) -> float:
    """Compute 4 ε max(|D||x| + |g|, |weight| (|A||x| + |b|)): what rounding leaves of F.    (NS7)"""
    largest = 0.0
    for i in range(len(x)):
        total = abs(p.g[i])
        for t in range(p.starts[i], p.starts[i + 1]):
            j = p.columns[t]
            total += abs(p.D[i, j] * x[j])
        largest = max(largest, total)
    for t in range(len(p.weights)):
        total = 0.0
        for i in range(p.parts[PART * t + FORM], p.parts[PART * t + FORM] + p.parts[PART * t + FORMS]):
            total += abs(p.b[i])
            for j in range(len(x)):
                total += abs(p.A[i, j] * x[j])
        slope = 2.0 * p.weights[t, LIMIT] if p.parts[PART * t + SHAPE] == SQUARE else 1.0
        largest = max(largest, max(abs(p.weights[t, LOWER]), abs(p.weights[t, UPPER])) * slope * total)
    return 4.0 * EPS * largest
