"""Sweeps over the groups with exact local solves (Gauss–Seidel). Loop functions; see docs/equations/nonsmooth.md."""

from __future__ import annotations

import math

from kinpair.compiler.loops.kinds import Matrix, Vector
from kinpair.constraints.solve.newton import Memory
from kinpair.constraints.solve.residual import (
    BOX,
    COEFFICIENT,
    COUNT,
    EPS,
    FIRST,
    KIND,
    LOWER,
    NONE,
    NORMAL,
    SLIDES,
    WIDTH,
    Problem,
    ends,
    length,
    radius,
)

ROOTS = 60  # trials for the root of the secular equation


def row_value(p: Problem, x: Vector, i: int) -> float:
    """Compute c_i = (D x + g)_i."""
    total = p.g[i]
    for t in range(p.starts[i], p.starts[i + 1]):
        j = p.columns[t]
        total += p.D[i, j] * x[j]
    return total


def small_solve(S: Matrix, n: int, kappa: float, h: Vector, r: Vector, L: Matrix) -> bool:
    """Solve (S + κ) r = h for n ≤ 3 rows by elimination without pivots; False where a pivot is not positive."""
    for i in range(n):
        r[i] = h[i]
        for j in range(n):
            L[i, j] = S[i, j]
        L[i, i] += kappa
    for k in range(n):
        if not L[k, k] > 0.0:
            return False
        for i in range(k + 1, n):
            factor = L[i, k] / L[k, k]
            for j in range(k, n):
                L[i, j] -= factor * L[k, j]
            r[i] -= factor * r[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            r[k] -= L[k, j] * r[j]
        r[k] /= L[k, k]
    return True


def excess(r: Vector, n: int, R: float, rho: Vector) -> float:
    """Compute ‖r‖ − (R + ρᵀ r): positive outside the disc."""
    bound = R
    for i in range(n):
        bound += rho[i] * r[i]
    return length(r, 0, n) - bound


def secular(S: Matrix, n: int, h: Vector, R: float, rho: Vector, r: Vector, slope: Vector, L: Matrix) -> None:
    """Compute r = (S + κ)⁻¹ h, κ = 0 inside the disc ‖r‖ ≤ R + ρᵀ r, else the root κ > 0 on its boundary.    (NS9)"""
    trace = 0.0
    for i in range(n):
        trace += abs(S[i, i])
    trace = max(trace, 1e-300)
    if small_solve(S, n, EPS * trace, h, r, L) and excess(r, n, R, rho) <= 0.0:
        return
    low, high, kappa = EPS * trace, 0.0, trace
    for _ in range(ROOTS):
        value = 1.0
        if small_solve(S, n, kappa, h, r, L):
            value = excess(r, n, R, rho)
        if value > 0.0:
            low = kappa
        else:
            high = kappa
        if high > 0.0 and high - low <= 4.0 * EPS * high:
            break
        size = length(r, 0, n)
        guess = -1.0
        if size > 0.0 and small_solve(S, n, kappa, r, slope, L):
            change = 0.0
            for i in range(n):
                change += (rho[i] - r[i] / size) * slope[i]
            if change != 0.0:
                guess = kappa - value / change
        if low < guess and (high == 0.0 or guess < high):
            if guess == kappa:
                break
            kappa = guess
        elif high == 0.0:
            kappa *= 100.0
        else:
            kappa = math.sqrt(low * high)
    small_solve(S, n, kappa, h, r, L)


def sweep_contact(p: Problem, k: int, x: Vector, small: Matrix) -> None:
    """Solve one contact exactly with all others fixed: a normal and its disc.    (NS8)"""
    first, n, normal = p.table[WIDTH * k + FIRST], p.table[WIDTH * k + COUNT], p.table[WIDTH * k + NORMAL]
    D, mu = p.D, p.radii[k, COEFFICIENT]
    S, L, h, rho, r, slope = small[1:4, :3], small[4:7, :3], small[7], small[8], small[9], small[10]
    q_n = row_value(p, x, normal) - D[normal, normal] * x[normal]
    for j in range(n):
        q_n -= D[normal, first + j] * x[first + j]
    if q_n >= 0.0 or not D[normal, normal] > 0.0:
        x[normal] = 0.0
        for i in range(n):
            x[first + i] = 0.0
        return
    W = D[normal, normal]
    for i in range(n):
        q_i = row_value(p, x, first + i) - D[first + i, normal] * x[normal]
        for j in range(n):
            q_i -= D[first + i, first + j] * x[first + j]
            S[i, j] = D[first + i, first + j] - D[first + i, normal] * D[normal, first + j] / W
        h[i] = -(q_i - D[first + i, normal] * q_n / W)
        rho[i] = -mu * D[normal, first + i] / W
    R = -mu * q_n / W
    secular(S, n, h, float(R), rho, r, slope, L)
    total = -q_n
    for i in range(n):
        x[first + i] = r[i]
        total -= D[normal, first + i] * r[i]
    x[normal] = max(total / W, 0.0)


def sweep_disc(p: Problem, first: int, n: int, R: float, x: Vector, small: Matrix) -> None:
    """Solve one group in a disc or ball of radius R exactly with all others fixed.    (NS9)"""
    D = p.D
    S, L, h, rho, r, slope = small[1:4, :3], small[4:7, :3], small[7], small[8], small[9], small[10]
    for i in range(n):
        c = row_value(p, x, first + i)
        rho[i] = 0.0
        for j in range(n):
            c -= D[first + i, first + j] * x[first + j]
            S[i, j] = D[first + i, first + j]
        h[i] = -c
    if n == 1:
        x[first] = min(max(h[0] / S[0, 0], -R), R) if S[0, 0] > 0.0 else 0.0
        return
    secular(S, n, h, R, rho, r, slope, L)
    for i in range(n):
        x[first + i] = r[i]


def sweep_group(p: Problem, k: int, x: Vector, z: Vector, small: Matrix) -> None:
    """Solve one group with all others fixed; a load keeps its value meanwhile."""
    kind, first, count = p.table[WIDTH * k + KIND], p.table[WIDTH * k + FIRST], p.table[WIDTH * k + COUNT]
    if kind <= BOX:
        if p.D[first, first] > 0.0:
            c = row_value(p, x, first)
            lo, hi = ends(p, k, x, z)
            x[first] = min(max(x[first] - c / p.D[first, first], lo), hi)
        return
    normal = p.table[WIDTH * k + NORMAL]
    if kind != SLIDES and normal != NONE:
        sweep_contact(p, k, x, small)
        return
    if normal != NONE:
        z[normal] = x[normal]
    R = radius(p, k, x, z, LOWER)
    if kind == SLIDES:
        for i in range(first, first + count):
            x[i] = -R * p.bounds[i, 0]
        return
    sweep_disc(p, first, count, R, x, small)


def sweeps(p: Problem, x: Vector, m: Memory, count: int) -> None:
    """Sweep over all groups in order, then in the opposite order."""
    z = m.vectors[0]
    for _ in range(count):
        for k in range(len(p.radii)):
            sweep_group(p, k, x, z, m.small)
        for k in range(len(p.radii) - 1, -1, -1):
            sweep_group(p, k, x, z, m.small)
