"""All solutions of a problem, and whether there is exactly one: analysis, outside of runs. In floats.

A group is inside its set, or at one of its ends; a disc slides along one of its directions, forward or backward. For
each choice Newton's method solves, in the scaled problem,

    c_k = 0   inside,        x_k = the end,   x_t = R z_t/‖z_t‖   at the boundary                          (NS12)

from several starts, and (NS4) accepts or rejects every candidate. The directions of a disc are starts only.

With the radii R given, the x of single rows are the one minimum of a convex function on a box, if D is symmetric and
positive definite: they are piecewise linear in R. On a piece, the rows T are inside and the others S at their ends:

    ∂x_S/∂R = ±1,     ∂x_T/∂R = ∓D_TT⁻¹ D_TS                                                             (NS13)
    M_jl: the largest |∂x_j/∂R_l| over all T                                                              (NS14)
    |ΔR_k| ≤ Σ_j S_kj |Δx_j|,     S_kj: weights of the parts of R_k times the lengths of their columns j    (NS15)

So R ← R(x(R)) contracts where the spectral radius of S M is below one, and then one R and one x fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from kinpair.constraints.rounding import NO_EFFECT, SAME_SOLUTION, SURE, TOLERANCE
from kinpair.constraints.solve.problem import Disc, Group, Interval, Scaling
from kinpair.constraints.solve.residual import (
    BOX,
    COUNT,
    DISC,
    FIRST,
    FORM,
    FORMS,
    KIND,
    LINEAR,
    LOAD,
    LOADS,
    LOWER,
    NONE,
    NORM,
    NORMAL,
    PART,
    SHAPE,
    SLIDES,
    UPPER,
    WIDTH,
    Problem,
    rounding,
)

MANY = 20_000  # choices: beyond, none is tried
STEPS = 25
STARTS = (0.0, 1.0, 4.0, 30.0)  # x at the ends, against the radii at x = 0
AT_ONCE = 4_096  # candidates
PROVED = 10  # groups at rest: beyond, nothing is proved


class Candidate(NamedTuple):
    """x (n,), and the largest |F| of the scaled problem there."""

    x: np.ndarray
    residual: float


def count(groups: Sequence[Group]) -> int:
    """Return the number of choices."""
    return int(np.prod([len(_options(x)) for x in groups], dtype=float))


def every(D: np.ndarray, g: np.ndarray, groups: Sequence[Group]) -> list[Candidate]:
    """Return all solutions that the choices lead to, without repetition; none where there are too many choices."""
    found: list[Candidate] = []
    if count(groups) > MANY or not len(g):
        return found
    scaling = Scaling(D, g, groups)
    for choices in _choices(groups):
        for x, residual in _solved(scaling.problem, choices):
            scale = max(1.0, float(np.abs(x).max()))
            y = x * scaling.gamma / scaling.T
            if not any(
                np.abs(x - other).max() <= SAME_SOLUTION * scale for other, _ in _scaled(found, scaling)
            ):
                found.append(Candidate(y, residual))
    return found


def _scaled(found: Sequence[Candidate], scaling: Scaling) -> Iterator[tuple[np.ndarray, float]]:
    for own in found:
        yield own.x * scaling.T / scaling.gamma, own.residual


def _options(group: Group) -> list[tuple[float, ...]]:
    """Return what a group may do: zeros inside, the direction of x at the boundary."""
    rows = len(group.rows)
    if isinstance(group, Interval):
        ends = [(-1.0,) if np.isfinite(group.lo) else None, (1.0,) if np.isfinite(group.hi) else None]
        return [(0.0,), *(x for x in ends if x is not None)]
    if group.direction is not None:
        return [tuple(-x for x in group.direction)]
    unit = np.eye(rows)
    return [(0.0,) * rows, *map(tuple, unit.tolist()), *map(tuple, (-unit).tolist())]


def _choices(groups: Sequence[Group]) -> Iterator[np.ndarray]:
    """Return choices (n, some), in parts."""
    order = [k for x in groups for k in x.rows]
    part: list[np.ndarray] = []
    for choice in product(*map(_options, groups)):
        w = np.empty(len(order))
        w[order] = [x for own in choice for x in own]
        part.append(w)
        if len(part) == AT_ONCE // len(STARTS):
            yield np.array(part).T
            part = []
    if part:
        yield np.array(part).T


class _Radii(NamedTuple):
    """R of each group (groups, candidates) at both ends, and ∂R/∂x (groups, n, candidates)."""

    R: list[np.ndarray]
    slope: list[np.ndarray]


def _radii(p: Problem, x: np.ndarray, z: np.ndarray) -> _Radii:
    """Compute (NS5) for many x (n, candidates) at once."""
    m, shape = len(p.radii), x.shape
    y, values, slopes = p.A @ x + p.b[:, None], list[np.ndarray](), list[np.ndarray]()
    for t in range(len(p.weights)):
        first = p.parts[PART * t + FORM]
        own = slice(first, first + p.parts[PART * t + FORMS])
        v, A, limit = y[own], p.A[own], p.weights[t, 2]
        if p.parts[PART * t + SHAPE] == NORM:
            size = np.sqrt((v * v).sum(0))
            values.append(size)
            slopes.append(A.T @ (v / np.where(size > 0.0, size, 1.0)))
        elif p.parts[PART * t + SHAPE] == LINEAR:
            values.append(v[0])
            slopes.append(np.repeat(A.T, shape[1], axis=1))
        else:
            inside = (v[0] > 0.0) & (v[0] < limit)
            values.append(np.clip(v[0], 0.0, limit) ** 2)
            slopes.append(np.multiply.outer(A[0], np.where(inside, 2.0 * v[0], 0.0)))
    R, slope = [np.zeros((m, shape[1])) for _ in (0, 1)], [np.zeros((m, *shape)) for _ in (0, 1)]
    for k in range(m):
        row = p.table[WIDTH * k : WIDTH * (k + 1)]
        for end in (LOWER, UPPER):
            R[end][k] = p.radii[k, end]
            for t in range(row[LOAD], row[LOAD] + row[LOADS]):
                R[end][k] += p.weights[t, end] * values[t]
                slope[end][k] += p.weights[t, end] * slopes[t]
        if row[NORMAL] != NONE:
            R[LOWER][k] += p.radii[k, 2] * np.maximum(z[row[NORMAL]], 0.0)
            by_z = np.eye(len(x))[row[NORMAL]] - p.D[row[NORMAL]]
            slope[LOWER][k] += p.radii[k, 2] * np.multiply.outer(by_z, z[row[NORMAL]] > 0.0)
    return _Radii(R, slope)


def residuals(p: Problem, x: np.ndarray) -> np.ndarray:
    """Compute F (n, candidates) of (NS4), with NumPy: a second method next to the loop functions."""
    z = x - (p.D @ x + p.g[:, None])
    R, F = _radii(p, x, z).R, np.empty_like(x)
    for k in range(len(p.radii)):
        row = p.table[WIDTH * k : WIDTH * (k + 1)]
        own = slice(row[FIRST], row[FIRST] + row[COUNT])
        if row[KIND] <= BOX:
            lo, hi = p.bounds[row[FIRST]]
            F[own] = x[own] - np.minimum(np.maximum(z[own], lo - R[LOWER][k]), hi + R[UPPER][k])
        elif row[KIND] == SLIDES:
            F[own] = x[own] + R[LOWER][k] * p.bounds[own, :1]
        else:
            size = np.linalg.norm(z[own], axis=0)
            share = np.where(size > R[LOWER][k], R[LOWER][k] / np.where(size > 0.0, size, 1.0), 1.0)
            F[own] = x[own] - share * z[own]
    return F


def _solved(p: Problem, choices: np.ndarray) -> list[tuple[np.ndarray, float]]:
    """Return x of the scaled problem that Newton's method ends at and (NS4) accepts, with |F|∞."""
    at_zero = _radii(p, np.zeros((len(p.g), 1)), -p.g[:, None])
    R = np.zeros((len(p.g), 2))
    for k in range(len(p.radii)):
        first, last = p.table[WIDTH * k + FIRST], p.table[WIDTH * k + FIRST] + p.table[WIDTH * k + COUNT]
        ends = [float(own[k, 0]) for own in at_zero.R]
        if p.table[WIDTH * k + KIND] <= BOX:
            ends = [ends[0] - p.bounds[first, 0], ends[1] + p.bounds[first, 1]]
        R[first:last] = ends if p.table[WIDTH * k + KIND] <= BOX else [ends[0], ends[0]]
    size = np.where(choices < 0.0, R[:, :1], np.where(choices > 0.0, R[:, 1:], 0.0))
    w = np.concatenate([choices] * len(STARTS), axis=1)
    x = np.concatenate([part * size * choices for part in STARTS], axis=1)
    joined = _joined(p)
    running, ended = np.arange(x.shape[1]), np.zeros(x.shape[1], dtype=bool)
    for _ in range(STEPS):
        with np.errstate(all="ignore"):
            F, J = _system(p, x[:, running], w[:, running])
        fine = np.isfinite(F).all(0) & np.isfinite(J).all((0, 1))
        running, F, J = running[fine], F[:, fine], J[:, :, fine]
        if not len(running):
            break
        step = _steps(J.transpose(2, 0, 1), -F.T, joined).T
        x[:, running] += step
        small = np.abs(step).max(0) <= TOLERANCE * np.maximum(1.0, np.abs(x[:, running]).max(0))
        ended[running[small]] = True
        running = running[~small]
        if not len(running):
            break
    x = x[:, ended]
    worst = np.abs(residuals(p, x)).max(0, initial=0.0)
    return [
        (own, float(f)) for own, f in zip(x.T, worst, strict=True) if f <= max(TOLERANCE, rounding(p, own))
    ]


def _joined(p: Problem) -> bool:
    """True if rows are redundant, so that x may not be unique."""
    rows = [
        i
        for k in range(len(p.radii))
        for i in range(p.table[WIDTH * k + FIRST], p.table[WIDTH * k + FIRST] + p.table[WIDTH * k + COUNT])
        if p.table[WIDTH * k + KIND] != SLIDES and p.D[i, i] > 0.0
    ]
    own = np.linalg.svd(p.D[np.ix_(rows, rows)], compute_uv=False)
    return bool(len(own)) and not own[-1] > NO_EFFECT * own[0]


def _steps(J: np.ndarray, right: np.ndarray, joined: bool) -> np.ndarray:
    """Return Newton's step of each candidate."""
    if not joined:
        try:
            return np.linalg.solve(J, right[..., None])[..., 0]
        except np.linalg.LinAlgError:
            pass
    return (np.linalg.pinv(J, rcond=NO_EFFECT) @ right[..., None])[..., 0]


def _system(p: Problem, x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute (NS12) as F = 0 (n, candidates), and its slope (n, n, candidates)."""
    c = p.D @ x + p.g[:, None]
    z, one = x - c, np.eye(len(x))
    radii = _radii(p, x, z)
    F, J = np.empty_like(x), np.empty((len(x), *x.shape))
    for k in range(len(p.radii)):
        kind, first = p.table[WIDTH * k + KIND], p.table[WIDTH * k + FIRST]
        own = slice(first, first + p.table[WIDTH * k + COUNT])
        way, edge = w[own], one[own][:, :, None]
        R, slope = radii.R[LOWER][k], radii.slope[LOWER][k]
        if kind <= BOX:
            upper = way[0] > 0.0
            ends = p.bounds[first, 0] - R, p.bounds[first, 1] + radii.R[UPPER][k]
            R = np.where(upper, ends[1], -ends[0])
            slope = np.where(upper, radii.slope[UPPER][k], slope)
        if kind == DISC and len(way) > 1:
            far = np.linalg.norm(z[own], axis=0)
            far = np.where(far > 0.0, far, 1.0)
            way = np.where(np.abs(way).max(0) > 0.0, z[own] / far, 0.0)
            by_z = (one[own] - p.D[own])[:, :, None]
            along = np.einsum("iz,inz->nz", way, by_z + np.zeros_like(J[own]))
            edge = edge - R / far * (by_z - way[:, None, :] * along[None, :, :])
        inside = (np.abs(way).max(0) == 0.0) & (kind != SLIDES)
        F[own] = np.where(inside, c[own], x[own] - R * way)  # (NS12)
        J[own] = np.where(inside, p.D[own][:, :, None], edge - way[:, None, :] * slope[None, :, :])
    return F, J


def is_unique(D: np.ndarray, groups: Sequence[Group]) -> bool:
    """Return True if it is proved that the problem has exactly one solution, whatever g is."""
    if any(isinstance(x, Interval) and x.jump for x in groups):
        return False
    if any(
        not np.isfinite(part.limit) and part.shape not in (NORM, LINEAR) for x in groups for part in x.load
    ):
        return False
    response = _responses(D, groups)
    if response is None:
        return False
    return bool(np.abs(np.linalg.eigvals(_spread(len(D), groups) @ response)).max(initial=0.0) < SURE)


def _spread(n: int, groups: Sequence[Group]) -> np.ndarray:
    """S (groups, n).    (NS15)"""
    S = np.zeros((len(groups), n))
    for k, x in enumerate(groups):
        mu = x.mu if isinstance(x, Disc) else 1.0
        lower, upper = np.zeros(n), np.zeros(n)
        for part in x.load:
            columns = np.sqrt((part.A * part.A).sum(0))
            slope = 1.0 if part.shape in (NORM, LINEAR) else 2.0 * part.limit
            lower += abs(part.weights[0]) * slope * columns
            upper += abs(part.weights[1]) * slope * columns
        S[k] = mu * (lower if isinstance(x, Disc) else np.maximum(lower, upper))
        if isinstance(x, Disc) and x.normal is not None:
            S[k, x.normal] += x.mu
    return S


def _responses(D: np.ndarray, groups: Sequence[Group]) -> np.ndarray | None:
    """M (n, groups); None where it is not known.    (NS13), (NS14)"""
    still = [k for k, x in enumerate(groups) if isinstance(x, Interval) or x.direction is None]
    if len(still) > PROVED or any(len(groups[k].rows) > 1 for k in still):
        return None
    rows = [groups[k].rows[0] for k in still]
    A = D[np.ix_(rows, rows)]
    if len(rows) and not np.linalg.eigvalsh(A)[0] > NO_EFFECT * np.abs(A).max():
        return None
    levels = np.zeros((len(D), len(groups)))
    for k, x in enumerate(groups):
        levels[list(x.rows), k] = (
            np.abs(x.direction) if isinstance(x, Disc) and x.direction is not None else 1.0
        )
    moving = [v for v in range(len(D)) if v not in rows]
    inside = np.array(list(product((False, True), repeat=len(rows))), dtype=bool)
    both = inside[:, :, None] & inside[:, None, :]
    inverse = np.linalg.inv(np.where(both, A, np.eye(len(rows))))
    among = np.where(inside[:, :, None] & ~inside[:, None, :], A, 0.0)
    outside = np.where(inside[:, :, None], D[np.ix_(rows, moving)], 0.0)
    most = levels.copy()
    most[rows] = np.maximum(
        levels[rows],
        (np.abs(inverse @ among) @ levels[rows] + np.abs(inverse @ outside) @ levels[moving]).max(0),
    )
    return most
