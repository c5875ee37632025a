"""An interior-point method for problems of contacts only. Loop functions; see docs/equations/nonsmooth.md.

With y = (x_n, x_t/μ) and v = (c_n, μ c_t) + ‖μ c_t‖ e₀, the law of Coulomb is complementarity of two unit cones L:

    v = A y + b + ‖v_t‖ e₀,   A = S D S, b = S g, S = (1, μ),      y, v ∈ L,   y ∘ v = σ e,  σ → 0            (NS17)

Steps are those of Nesterov and Todd, with P the quadratic map for which P v = y, E = 1 − e₀ v_tᵀ/‖v_t‖ and r the
residual of the first equation; right-hand sides are predicted and corrected as by Mehrotra:

    (1 + P E⁻¹ A) dy = W q + P E⁻¹ r,    dv = E⁻¹ (A dy − r),    P = W²                                       (NS18)

W = η H(w), with H² = 2 w wᵀ − diag(1, −1, −1). Once σ is small, Newton's method on (NS4) is tried from y.
"""

from __future__ import annotations

import math

from kinpair.compiler.loops.kinds import Matrix, Vector
from kinpair.compiler.loops.lapack import lu_factor, lu_solve
from kinpair.constraints.solve.elimination import Order, clear, factor_nodes, solve_nodes
from kinpair.constraints.solve.newton import Memory, newton, number_of_nodes
from kinpair.constraints.solve.residual import (
    COEFFICIENT,
    COUNT,
    DISC,
    FIRST,
    KIND,
    LOADS,
    LOWER,
    NONE,
    NORMAL,
    WIDTH,
    Problem,
    length,
    residual,
)

ITERATIONS = 60
SMALL_GAP, LEAST_GAP = 1e-8, 1e-18  # against |F|² at x = 0: Newton's method is tried; the end
TRIAL = 8  # steps of Newton's method
LEAST_MU = 1e-6  # a cone without width has no interior
SHORT = 0.99  # of the step to the boundary


def only_contacts(p: Problem) -> bool:
    """True if every row belongs to a contact: a normal in [0, ∞) and its disc."""
    rows = 0
    for k in range(len(p.radii)):
        first, normal = p.table[WIDTH * k + FIRST], p.table[WIDTH * k + NORMAL]
        if p.table[WIDTH * k + LOADS] > 0 or p.table[WIDTH * k + KIND] > DISC:
            return False
        if p.table[WIDTH * k + KIND] < DISC:
            if p.bounds[first, 0] != 0.0 or p.bounds[first, 1] < math.inf:
                return False
        else:
            if normal == NONE or p.radii[k, LOWER] != 0.0:
                return False
            rows += 1 + p.table[WIDTH * k + COUNT]
    return rows == len(p.g)


def row_of(p: Problem, k: int, a: int) -> int:
    """Return row a of the contact whose disc is group k: the normal, then the tangents."""
    return p.table[WIDTH * k + NORMAL] if a == 0 else p.table[WIDTH * k + FIRST] + a - 1


def take(p: Problem, k: int, x: Vector, own: Vector) -> int:
    """Copy the entries of a contact, and return how many they are."""
    count = 1 + p.table[WIDTH * k + COUNT]
    for a in range(count):
        own[a] = x[row_of(p, k, a)]
    return count


def determinant(u: Vector, n: int) -> float:
    """Compute u₀² − ‖u_t‖² without cancellation."""
    size = length(u, 1, n - 1)
    return (u[0] - size) * (u[0] + size)


def scaling_point(y: Vector, v: Vector, n: int, w: Vector) -> float:
    """Compute w, and return η, of W = η H(w) with W v = W⁻¹ y."""
    a, b = math.sqrt(determinant(y, n)), math.sqrt(determinant(v, n))
    inner = 0.0
    for i in range(n):
        inner += y[i] / a * (v[i] / b)
    size = 2.0 * math.sqrt(0.5 * (1.0 + inner))
    for i in range(n):
        w[i] = (y[i] / a + (1.0 if i == 0 else -1.0) * v[i] / b) / size
    return math.sqrt(a / b)


def turned(w: Vector, u: Vector, n: int, sign: float, out: Vector) -> None:
    """Compute H(w) u, or H(w)⁻¹ u where sign = −1."""
    inner = 0.0
    for i in range(1, n):
        inner += sign * w[i] * u[i]
    out[0] = w[0] * u[0] + inner
    for i in range(1, n):
        out[i] = u[i] + sign * w[i] * (u[0] + inner / (1.0 + w[0]))


def to_boundary(u: Vector, du: Vector, n: int) -> float:
    """Compute the largest step t for which u + t du is in the cone; ∞ where all are."""
    a, b, c = determinant(du, n), u[0] * du[0], determinant(u, n)
    for i in range(1, n):
        b -= u[i] * du[i]
    if a >= 0.0 and du[0] >= 0.0:
        return math.inf
    root = math.sqrt(max(b * b - a * c, 0.0))
    if b <= 0.0:
        return c / (root - b) if root - b > 0.0 else math.inf
    return (-b - root) / a if a < 0.0 else math.inf


def mu_of(p: Problem, k: int, a: int) -> float:
    """Return the entry of S of row a of a contact."""
    return 1.0 if a == 0 else max(p.radii[k, COEFFICIENT], LEAST_MU)


def opened(v: Vector, n: int, u: Vector) -> None:
    """Compute u ← E⁻¹ u = u + e₀ (v_tᵀ u_t)/‖v_t‖."""
    size = length(v, 1, n - 1)
    for i in range(1, n):
        u[0] += v[i] * u[i] / size if size > 0.0 else 0.0


def multiply(p: Problem, s: Vector, y: Vector, out: Vector) -> None:
    """Compute A y."""
    for i in range(len(y)):
        total = 0.0
        for t in range(p.starts[i], p.starts[i + 1]):
            j = p.columns[t]
            total += p.D[i, j] * s[j] * y[j]
        out[i] = s[i] * total


def factor(p: Problem, s: Vector, y: Vector, v: Vector, m: Memory, K: Matrix, o: Order, nodes: int) -> bool:
    """Factor K = 1 + P E⁻¹ A of (NS18); False where it is singular."""
    own_y, own_v, w, u, out = m.small[1], m.small[2], m.small[3], m.small[4], m.small[5]
    if nodes > 0:
        clear(K, o, nodes)
    else:
        K[:] = 0.0
    for k in range(len(p.radii)):
        if p.table[WIDTH * k + KIND] != DISC:
            continue
        n = take(p, k, y, own_y)
        take(p, k, v, own_v)
        eta = scaling_point(own_y, own_v, n, w)
        for b in range(n):
            u[:] = 0.0
            u[b] = eta * eta
            opened(own_v, n, u)
            turned(w, u, n, 1.0, out)
            u[:] = out
            turned(w, u, n, 1.0, out)
            j = row_of(p, k, b)
            for a in range(n):
                i = row_of(p, k, a)
                for t in range(p.starts[j], p.starts[j + 1]):
                    K[i, p.columns[t]] += out[a] * s[j] * p.D[j, p.columns[t]] * s[p.columns[t]]
    for i in range(len(y)):
        K[i, i] += 1.0
    if nodes > 0:
        return factor_nodes(K, o, nodes)
    for i in range(len(y)):
        for j in range(len(y)):
            if not math.isfinite(K[i, j]):
                return False
    return lu_factor(K, m.pivots[: len(y)]) == 0


def right_side(p: Problem, y: Vector, v: Vector, m: Memory, target: float, corrected: bool) -> None:
    """Write W q + P E⁻¹ r to the row 3 of the memory; r is its row 2, the predicted dy and dv its rows 4 and 5."""
    r, right, dy, dv = m.vectors[2], m.vectors[3], m.vectors[4], m.vectors[5]
    own_y, own_v, w, u, out = m.small[1], m.small[2], m.small[3], m.small[4], m.small[5]
    lam, first, second = m.small[6], m.small[7], m.small[8]
    for k in range(len(p.radii)):
        if p.table[WIDTH * k + KIND] != DISC:
            continue
        n = take(p, k, y, own_y)
        take(p, k, v, own_v)
        eta = scaling_point(own_y, own_v, n, w)
        take(p, k, r, u)
        opened(own_v, n, u)
        turned(w, u, n, 1.0, out)
        for a in range(n):
            second[a] = eta * out[a]
        turned(w, own_v, n, 1.0, lam)
        for a in range(n):
            lam[a] *= eta
            second[a] -= lam[a]
        if corrected:
            take(p, k, dy, u)
            turned(w, u, n, -1.0, first)
            take(p, k, dv, u)
            turned(w, u, n, 1.0, out)
            inner = target
            for a in range(n):
                inner -= first[a] * out[a]
            for a in range(1, n):
                u[a] = -(first[0] * out[a] + out[0] * first[a])
            u[0] = inner
            inner = lam[0] * u[0]
            for a in range(1, n):
                inner -= lam[a] * u[a]
            inner /= determinant(lam, n)
            second[0] += inner
            for a in range(1, n):
                second[a] += (u[a] - inner * lam[a]) / lam[0]
        turned(w, second, n, 1.0, out)
        for a in range(n):
            right[row_of(p, k, a)] = eta * out[a]


def direction(p: Problem, s: Vector, v: Vector, m: Memory, K: Matrix, o: Order, nodes: int) -> None:
    """Solve (NS18) for dy and dv, rows 4 and 5 of the memory."""
    r, right, dy, dv, u, own_v = (
        m.vectors[2],
        m.vectors[3],
        m.vectors[4],
        m.vectors[5],
        m.small[4],
        m.small[2],
    )
    if nodes > 0:
        solve_nodes(K, o, nodes, right)
    else:
        lu_solve(K, m.pivots[: len(v)], right)
    dy[:] = right
    multiply(p, s, dy, dv)
    for i in range(len(v)):
        dv[i] -= r[i]
    for k in range(len(p.radii)):
        if p.table[WIDTH * k + KIND] == DISC:
            n = take(p, k, dv, u)
            take(p, k, v, own_v)
            opened(own_v, n, u)
            dv[row_of(p, k, 0)] = u[0]


def step_length(p: Problem, y: Vector, v: Vector, m: Memory) -> float:
    """Compute the largest step for which y and v stay in their cones, at most 1/SHORT."""
    u, du, most = m.small[1], m.small[2], 1.0 / SHORT
    for k in range(len(p.radii)):
        if p.table[WIDTH * k + KIND] == DISC:
            n = take(p, k, y, u)
            take(p, k, m.vectors[4], du)
            most = min(most, to_boundary(u, du, n))
            take(p, k, v, u)
            take(p, k, m.vectors[5], du)
            most = min(most, to_boundary(u, du, n))
    return most


def start(p: Problem, s: Vector, y: Vector, v: Vector, unit: float) -> int:
    """Write y = v = unit · e and S, and return the number of contacts."""
    contacts = 0
    y[:] = 0.0
    v[:] = 0.0
    for k in range(len(p.radii)):
        if p.table[WIDTH * k + KIND] == DISC:
            contacts += 1
            for a in range(1 + p.table[WIDTH * k + COUNT]):
                i = row_of(p, k, a)
                s[i] = mu_of(p, k, a)
                y[i] = unit if a == 0 else 0.0
                v[i] = y[i]
    return contacts


def misfit(p: Problem, s: Vector, y: Vector, v: Vector, m: Memory) -> float:
    """Write r = v − ‖v_t‖ e₀ − A y − b (NS17) to the row 2 of the memory, and return yᵀ v."""
    r, own, total = m.vectors[2], m.small[1], 0.0
    multiply(p, s, y, r)
    for i in range(len(y)):
        r[i] = v[i] - r[i] - s[i] * p.g[i]
        total += y[i] * v[i]
    for k in range(len(p.radii)):
        if p.table[WIDTH * k + KIND] == DISC:
            r[row_of(p, k, 0)] -= length(own, 1, take(p, k, v, own) - 1)
    return total


def interior(p: Problem, x: Vector, m: Memory, tolerance: float) -> tuple[float, bool]:
    """Solve a problem of contacts for x from a start of its own; return |F|∞ and whether it is within the tolerance or
    rounding, as `newton` does. Where the method does not apply, |F|∞ = ∞."""
    size, met, n = math.inf, False, len(x)
    if not only_contacts(p):
        return size, met
    s, y, v, dy, dv = m.vectors[11], m.vectors[12], m.vectors[13], m.vectors[4], m.vectors[5]
    K, nodes = m.part[: n * n].reshape(n, n), number_of_nodes(m)
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
    x[:] = 0.0
    unit = residual(p, x, m.vectors[0], m.vectors[1])
    contacts = start(p, s, y, v, unit)
    for count in range(ITERATIONS):
        m.counts[1] += 1
        gap = misfit(p, s, y, v, m) / contacts
        if gap < SMALL_GAP * unit * unit and count % 2 == 0:
            for i in range(n):
                x[i] = s[i] * y[i]
            size, met = newton(p, x, m, 1e-4, 1.0, TRIAL, tolerance, 0.5)
            if met:
                break
            misfit(p, s, y, v, m)
        if not gap > LEAST_GAP * unit * unit or not factor(p, s, y, v, m, K, o, nodes):
            break
        right_side(p, y, v, m, 0.0, False)
        direction(p, s, v, m, K, o, nodes)
        part, ahead = min(SHORT * step_length(p, y, v, m), 1.0), 0.0
        for i in range(n):
            ahead += (y[i] + part * dy[i]) * (v[i] + part * dv[i]) / contacts
        ratio = min(max(ahead / gap, 1e-3), 1.0)
        right_side(p, y, v, m, ratio * ratio * ratio * gap, True)
        direction(p, s, v, m, K, o, nodes)
        part = min(SHORT * step_length(p, y, v, m), 1.0)
        for i in range(n):
            y[i] += part * dy[i]
            v[i] += part * dv[i]
    return size, met
