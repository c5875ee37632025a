"""The problem in its own units: scaled, solved, and in its own units again. Loop functions; see nonsmooth.md.

    T_j = √D_jj, of a disc √λmax(D_tt);   γ = |T⁻¹ g|∞
    D ← T⁻¹ D T⁻¹,  g ← T⁻¹ g/γ,  x ← T x/γ,  bounds, levels as x,  μ ← μ T_t/T_n,  A ← A T⁻¹, b ← b/γ  (NS3)

A row θ of (NS11) has T = γ, since θ has no unit, and its c is divided by its largest entry. `solve_rows` is what other
loop functions call: it allocates nothing, and returns at once where the start already satisfies the problem.
"""

from __future__ import annotations

import math

from kinpair.compiler.loops.kinds import Integers, Matrix, Vector
from kinpair.constraints.rounding import NO_RESPONSE
from kinpair.constraints.solve.chain import solve_scaled
from kinpair.constraints.solve.elimination import FEW, Order, arrange
from kinpair.constraints.solve.newton import Memory, number_of_nodes
from kinpair.constraints.solve.residual import (
    BOX,
    COEFFICIENT,
    COUNT,
    DISC,
    FIRST,
    FORM,
    FORMS,
    JUMP,
    KIND,
    LIMIT,
    LOAD,
    LOADS,
    LOWER,
    NONE,
    NORMAL,
    PART,
    SHAPE,
    SQUARE,
    UPPER,
    WIDTH,
    Problem,
    defect,
    product,
)


def hypotenuse(a: float, b: float) -> float:
    """Compute √(a² + b²) without overflow; `math.hypot` of Python and of the C library differ in the last bit."""
    large, small = max(abs(a), abs(b)), min(abs(a), abs(b))
    if not large > 0.0:
        return 0.0
    ratio = small / large
    return large * math.sqrt(1.0 + ratio * ratio)


def largest_response(D: Matrix, first: int, count: int) -> float:
    """Compute λmax of the symmetric part of D_tt, two or three rows from `first` on."""
    i, j, k = first, first + 1, first + 2
    a, b, d = D[i, i], D[j, j], 0.5 * (D[i, j] + D[j, i])
    if count == 2:
        return 0.5 * (a + b) + hypotenuse(0.5 * (a - b), d)
    c, e, f = D[k, k], 0.5 * (D[i, k] + D[k, i]), 0.5 * (D[j, k] + D[k, j])
    mean = (a + b + c) / 3.0
    a, b, c = a - mean, b - mean, c - mean
    size = math.sqrt((a * a + b * b + c * c + 2.0 * (d * d + e * e + f * f)) / 6.0)
    if not size > 0.0:
        return mean
    a, b, c, d, e, f = a / size, b / size, c / size, d / size, e / size, f / size
    half = 0.5 * (a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e))
    half = min(max(half, -1.0), 1.0)
    return mean + 2.0 * size * math.cos(math.atan2(math.sqrt(1.0 - half * half), half) / 3.0)


def scales(p: Problem, T: Vector) -> float:
    """Compute T (n,) of (NS3) and return γ; NaN where g has an entry that is not finite."""
    n, largest, gamma = len(T), 0.0, 0.0
    for i in range(n):
        T[i] = abs(p.D[i, i])
    for k in range(len(p.radii)):
        first, count = p.table[WIDTH * k + FIRST], p.table[WIDTH * k + COUNT]
        if p.table[WIDTH * k + KIND] >= DISC and count > 1:
            size = largest_response(p.D, first, count)
            for i in range(first, first + count):
                T[i] = size
    for i in range(n):
        largest = max(largest, T[i])
    for i in range(n):
        size = T[i] if T[i] > NO_RESPONSE * largest else largest
        T[i] = math.sqrt(size) if size > 0.0 else 1.0
    for k in range(len(p.radii)):
        if p.table[WIDTH * k + KIND] == JUMP:
            T[p.table[WIDTH * k + FIRST]] = math.inf
    for i in range(n):
        gamma = max(gamma, abs(p.g[i]) / T[i])
        if not math.isfinite(p.g[i]):
            return math.nan
    gamma = gamma if gamma > 0.0 else 1.0
    for i in range(n):
        if T[i] == math.inf:
            T[i] = gamma
    return gamma


def jump_scale(p: Problem, row: int, gamma: float, T: Vector) -> float:
    """Compute by what c of a row θ is divided: its largest entry."""
    largest = abs(p.g[row]) / gamma
    for j in range(len(T)):
        largest = max(largest, abs(p.D[row, j]) / T[j])
    return largest if largest > 0.0 else 1.0


def scale_loads(p: Problem, s: Problem, k: int, gamma: float, T: Vector) -> None:
    """Scale the loads of group k."""
    first = p.table[WIDTH * k + LOAD]
    for t in range(first, first + p.table[WIDTH * k + LOADS]):
        size = T[p.table[WIDTH * k + FIRST]] * (gamma if p.parts[PART * t + SHAPE] == SQUARE else 1.0)
        s.weights[t, LOWER], s.weights[t, UPPER] = p.weights[t, LOWER] * size, p.weights[t, UPPER] * size
        s.weights[t, LIMIT] = p.weights[t, LIMIT] / gamma
        start = p.parts[PART * t + FORM]
        for r in range(start, start + p.parts[PART * t + FORMS]):
            s.b[r] = p.b[r] / gamma
            for j in range(len(T)):
                s.A[r, j] = p.A[r, j] / T[j]


def find_entries(p: Problem, starts: Integers, columns: Integers) -> None:
    """Write where D is not zero, by rows; the diagonal always counts."""
    filled = 0
    for i in range(len(p.g)):
        starts[i] = filled
        for j in range(len(p.g)):
            if p.D[i, j] != 0.0 or i == j:
                columns[filled] = j
                filled += 1
    starts[len(p.g)] = filled


def scale(p: Problem, s: Problem, T: Vector) -> float:
    """Write the scaled problem to s and T (n,), and return γ: x of p is γ/T times x of s.    (NS3)

    Whole numbers are the same in both; `starts` and `columns` are written here. NaN, and s unchanged, where D or g has
    an entry that is not finite.
    """
    n, gamma = len(T), scale_numbers(p, s, T)
    if math.isnan(gamma):
        return gamma
    find_entries(p, s.starts, s.columns)
    for i in range(n):
        for t in range(s.starts[i], s.starts[i + 1]):
            if not math.isfinite(p.D[i, s.columns[t]]):
                gamma = math.nan
    if math.isnan(gamma):
        return gamma
    s.D[:] = 0.0
    for i in range(n):
        for t in range(s.starts[i], s.starts[i + 1]):
            j = s.columns[t]
            s.D[i, j] = p.D[i, j] / (T[i] * T[j])
    for k in range(len(p.radii)):
        if p.table[WIDTH * k + KIND] == JUMP:
            first = p.table[WIDTH * k + FIRST]
            largest = jump_scale(p, first, gamma, T)
            s.g[first] = p.g[first] / largest / gamma
            for j in range(n):
                s.D[first, j] = p.D[first, j] / (largest * T[j])
    return gamma


def scale_numbers(p: Problem, s: Problem, T: Vector) -> float:
    """Write g, bounds, levels and loads of the scaled problem and T (n,), and return γ.    (NS3)

    Of D the diagonal and the rows of a disc are read. NaN where g has an entry that is not finite.
    """
    gamma = scales(p, T)
    if math.isnan(gamma):
        return gamma
    for i in range(len(T)):
        s.g[i] = p.g[i] / T[i] / gamma
    for k in range(len(p.radii)):
        kind, first, count = p.table[WIDTH * k + KIND], p.table[WIDTH * k + FIRST], p.table[WIDTH * k + COUNT]
        size, normal = T[first] / gamma, p.table[WIDTH * k + NORMAL]
        for i in range(first, first + count):
            for end in range(2):
                s.bounds[i, end] = p.bounds[i, end] * size if kind <= BOX else p.bounds[i, end]
        s.radii[k, LOWER], s.radii[k, UPPER] = p.radii[k, LOWER] * size, p.radii[k, UPPER] * size
        s.radii[k, COEFFICIENT] = p.radii[k, COEFFICIENT] * T[first] / (1.0 if normal == NONE else T[normal])
        scale_loads(p, s, k, gamma, T)
    return gamma


def unscale(p: Problem, s: Problem, x: Vector, gamma: float, T: Vector, c: Vector, y: Vector) -> None:
    """Compute x of p from that of s; an interval without load that is at an end has exactly that end."""
    product(s, x, c)
    for i in range(len(x)):
        y[i] = x[i] * (gamma / T[i])
        c[i] = x[i] - c[i]
    confine(p, s, c, y)
    x[:] = y


def confine(p: Problem, s: Problem, z: Vector, x: Vector) -> None:
    """Put intervals without load of p to the end that z of the scaled problem s has reached, or between its ends."""
    for k in range(len(p.radii)):
        row = p.table[WIDTH * k + FIRST]
        if p.table[WIDTH * k + KIND] <= BOX and p.table[WIDTH * k + LOADS] == 0:
            lo, hi = p.bounds[row, 0], p.bounds[row, 1]
            inside = min(max(x[row], lo), hi)
            x[row] = lo if z[row] <= s.bounds[row, 0] else hi if z[row] >= s.bounds[row, 1] else inside


def satisfies(
    p: Problem, s: Problem, x: Vector, c: Vector, m: Memory, tolerance: float
) -> tuple[float, bool]:
    """Return |F|∞ of the scaled problem at x, whose c = D x + g is known, and whether it is within the tolerance.

    Of D the diagonal and the rows of a disc are read, so that a start which satisfies the problem needs no more of it.
    No group may have the kind JUMP. An x within the tolerance is confined to its intervals.
    """
    T, scaled, z = m.vectors[10], m.vectors[0], m.vectors[1]
    gamma = scale_numbers(p, s, T)
    if math.isnan(gamma):
        return math.inf, False
    for i in range(len(x)):
        scaled[i] = x[i] * T[i] / gamma
        z[i] = scaled[i] - c[i] / T[i] / gamma
    worst = defect(s, scaled, z, m.vectors[2])
    if not worst <= tolerance:
        return worst, False
    confine(p, s, z, x)
    return worst, True


def arranged(p: Problem, m: Memory) -> None:
    """Write the order of elimination to the memory; its last entry is the number of nodes, 0 for LAPACK."""
    n = len(p.g)
    if len(m.sparse) == 0:
        return
    m.sparse[len(m.sparse) - 1] = 0
    if len(p.weights) == 0 and FEW * p.starts[n] <= n * n:
        o = Order(
            m.sparse[:n],
            m.sparse[n : 2 * n],
            m.sparse[2 * n : 3 * n],
            m.sparse[3 * n : 4 * n],
            m.sparse[4 * n : 5 * n],
            m.sparse[5 * n : 6 * n],
            m.sparse[6 * n : 7 * n],
            m.sparse[7 * n : 8 * n],
            m.sparse[8 * n : 8 * n + n * n],
        )
        m.sparse[len(m.sparse) - 1] = arrange(p, o)


def solve_rows(
    p: Problem, s: Problem, x: Vector, m: Memory, plan: Matrix, tolerance: float
) -> tuple[float, int, bool]:
    """Solve (NS2) for the n multipliers x of m groups, in their own units and from a start.

    p           the problem: D (n, n), g (n,), and for each group k six entries of `table` (6 m,): kind (JUMP, BOX, DISC
                or SLIDES), first row, number of rows, row of the normal or NONE, first part of its load, number of its
                parts. `radii` (m, 3): constant parts L of R at the lower and the upper end, μ of the normal; a disc has
                the lower one. `bounds` (n, 2): lo and hi of an interval; in column 0 the direction of a disc that
                slides. `parts` (3 t,), `weights` (t, 3), `A` (f, n), `b` (f,): the parts of loads as in `residual`,
                with weights times μ; all four are empty where no group has a load. `starts` (n + 1,) and
                `columns` (n²,): memory for where D is not zero, written here.
    s           memory of the scaled problem: arrays of the same shapes; those of whole numbers are those of p.
    x           the start (n,), zeros if nothing is known; the solution replaces it.
    m, plan     working memory and methods, see `problem.memory(n)` and `chain.PLAN` as an array.
    tolerance   of |F|∞ of the scaled problem.

    All arrays may be parts of larger ones: views such as D[:n, :n] cost nothing. Returns |F|∞ of the scaled problem,
    the number of rounds, 0 if the start was accepted, and whether |F|∞ is within the tolerance or rounding. If not, x
    is that of the last round. `m.counts` has the numbers of Newton and interior-point steps. D or g that are not
    finite: x = 0, and |F|∞ = ∞.
    """
    T = m.vectors[10]
    gamma = scale(p, s, T)
    if math.isnan(gamma):
        x[:] = 0.0
        return math.inf, 0, False
    for i in range(len(x)):
        x[i] = x[i] * T[i] / gamma if math.isfinite(x[i]) else 0.0
    arranged(s, m)
    worst, rounds, met = solve_scaled(s, x, m, plan, tolerance)
    if not met and number_of_nodes(m) > 0:  # pivots within nodes were not enough
        m.sparse[len(m.sparse) - 1] = 0
        worst, rounds, met = solve_scaled(s, x, m, plan, tolerance)
    unscale(p, s, x, gamma, T, m.vectors[0], m.vectors[1])
    return worst, rounds, met
