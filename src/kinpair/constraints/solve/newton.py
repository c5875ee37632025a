"""Newton's method on F(x) = 0 with a proximal term that adapts. Loop functions; see docs/equations/nonsmooth.md.

A step is accepted where ‖F‖₂ falls below `slack` times the largest of the last few; slack = ∞ accepts every step.
Where a step of length 1 is accepted, the term δ shrinks; where no step is, it grows. Rows of J that are those of the
unit matrix are solved at once. Within the tolerance, steps go on as long as each reduces |F|∞ below `polish`
times what it was.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from kinpair.compiler.loops.kinds import Integers, Matrix, Vector
from kinpair.compiler.loops.lapack import lu_factor, lu_solve
from kinpair.constraints.solve.elimination import Order, clear, factor_nodes, solve_nodes
from kinpair.constraints.solve.residual import Problem, derivative, length, residual, rounding

LEAST, LARGEST = 1e-10, 0.1  # of δ
MEMORY = 4  # steps: |F| may grow, but not beyond the largest of the last ones
PATIENCE = 12  # steps without a gain of 10 %
SMALL = 6  # rows that are eliminated without a call of LAPACK


class Memory(NamedTuple):
    """Working memory of the methods: rows as long as x, rows of length 4, J, its active part, numbers of rows, D of
    (NS10), the numbers of Newton steps and of interior-point steps, and the order of elimination, see `arranged`: empty
    where rows are eliminated by LAPACK."""

    vectors: Matrix
    small: Matrix
    J: Matrix
    part: Vector
    pivots: Integers
    active: Integers
    regular: Matrix
    counts: Integers
    sparse: Integers


def eliminate(J: Matrix, f: Vector) -> bool:
    """Solve J y = f for few rows, with pivots; y replaces f. False where J is singular."""
    n = len(f)
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(J[i, k]) > abs(J[best, k]):
                best = i
        if J[best, k] == 0.0:
            return False
        for j in range(n):
            J[k, j], J[best, j] = J[best, j], J[k, j]
        f[k], f[best] = f[best], f[k]
        for i in range(k + 1, n):
            factor = J[i, k] / J[k, k]
            for j in range(k, n):
                J[i, j] -= factor * J[k, j]
            f[i] -= factor * f[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            f[k] -= J[k, j] * f[j]
        f[k] /= J[k, k]
    return True


def solved_step(F: Vector, step: Vector, memory: Memory) -> bool:
    """Solve J step = −F: rows of the unit matrix at once, the others by elimination. False where J is singular."""
    J, active, pivots, n, m = memory.J, memory.active, memory.pivots, len(F), 0
    for i in range(n):
        step[i] = -F[i]
        if active[i] == 1:
            pivots[n + m] = i
            m += 1
    part, right = memory.part[: m * m].reshape(m, m), memory.part[m * m : m * m + m]
    for r in range(m):
        i = pivots[n + r]
        right[r] = -F[i]
        for j in range(n):
            if active[j] == 0:
                right[r] -= J[i, j] * step[j]
        for s in range(m):
            part[r, s] = J[i, pivots[n + s]]
    if m <= SMALL:
        if not eliminate(part, right):
            return False
    else:
        for r in range(m):
            if not math.isfinite(right[r]):
                return False
        if lu_factor(part, pivots[:m]) != 0:
            return False
        lu_solve(part, pivots[:m], right)
    for r in range(m):
        step[pivots[n + r]] = right[r]
        if not math.isfinite(right[r]):
            return False
    return True


def solved_by_nodes(F: Vector, step: Vector, J: Matrix, o: Order, nodes: int) -> bool:
    """Solve J step = −F by nodes. False where J is singular."""
    if not factor_nodes(J, o, nodes):
        return False
    largest = 0.0
    for i in range(len(F)):
        step[i] = -F[i]
    solve_nodes(J, o, nodes, step)
    for i in range(len(F)):
        largest = max(largest, abs(step[i])) if step[i] == step[i] else math.inf
    return largest < math.inf


def number_of_nodes(m: Memory) -> int:
    """Return the number of nodes by which rows are eliminated, 0 where LAPACK does that."""
    return m.sparse[len(m.sparse) - 1] if len(m.sparse) > 0 else 0


def line_search(p: Problem, x: Vector, m: Memory, bar: float, slack: float) -> tuple[float, float, float]:
    """Try the whole step, a half and a quarter of it; return the part that is accepted, |F|∞ and ‖F‖₂ there.

    The part is 0 if none is accepted. The trial is left in `m`.
    """
    step, trial, z, F = m.vectors[2], m.vectors[3], m.vectors[4], m.vectors[5]
    part = 1.0
    while part > 0.2:
        for i in range(len(x)):
            trial[i] = x[i] + part * step[i]
        worst, size = residual(p, trial, z, F), length(F, 0, len(F))
        if size <= (1.0 - 1e-4 * part) * bar * slack:
            return part, worst, size
        part *= 0.5
    return 0.0, math.inf, math.inf


def newton(
    p: Problem, x: Vector, m: Memory, delta: float, slack: float, steps: int, tolerance: float, polish: float
) -> tuple[float, bool]:
    """Improve x by Newton's method (NS6); the best x met replaces x.

    Returns its |F|∞, and whether that is within the tolerance or rounding.
    """
    z, F, step, best, before = m.vectors[0], m.vectors[1], m.vectors[2], m.vectors[6], m.small[0]
    n, nodes = len(x), number_of_nodes(m)
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
    least = residual(p, x, z, F)
    best[:] = x
    size, since, count = length(F, 0, len(F)), 0, 0
    milestone = size
    for k in range(MEMORY):
        before[k] = size
    floor = rounding(p, x)
    while least > 0.0 and count < steps and since < PATIENCE and delta <= LARGEST:
        if nodes > 0:
            clear(m.J, o, nodes)
        else:
            m.J[:] = 0.0
        derivative(p, x, z, delta, m.J, m.active)
        count += 1
        since += 1
        m.counts[0] += 1
        bar = max(max(before[0], before[1]), max(before[2], before[3]))
        part, gain, worst, new = 0.0, 1.0, least, size
        solved = False
        if nodes > 0:
            solved = solved_by_nodes(F, step, m.J, o, nodes)
        else:
            solved = solved_step(F, step, m)
        if solved:
            part, worst, new = line_search(p, x, m, bar, slack)
        if part > 0.0:
            x[:], z[:], F[:] = m.vectors[3], m.vectors[4], m.vectors[5]
            size = new
            before[count % MEMORY] = size
            if worst < least:
                gain = worst / least
                least = worst
                best[:] = x
                floor = rounding(p, x)
            if size < 0.9 * milestone:
                milestone, since = size, 0
            if part == 1.0:
                delta = max(delta / 5.0, LEAST)
            elif part == 0.25:
                delta = 2.0 * delta
        if least <= max(tolerance, floor) and gain > polish:
            break
        if part == 0.0:
            delta = max(10.0 * delta, 1e-8)
    x[:] = best
    return least, least <= max(tolerance, floor)
