"""Multipliers within bounds: a linear complementarity problem with boxes, D symmetric and positive semidefinite.

    c = D x + g,   lo ≤ x ≤ hi:   x = lo where c > 0,  x = hi where c < 0,  c = 0 between               (BR1)
    F = x − clip(x − c, lo, hi) = 0                            the same as one equation                 (BR2)
    T = √D_jj,  γ = |T⁻¹g|∞:   D ← T⁻¹D T⁻¹,  g ← T⁻¹g/γ,  x ← T x/γ,  bounds as x                     (BR3)
    D + ε,  g − ε x_c,   x_c = 0, then x_c ← x, until F of (BR2) is met                                 (BR4)
    J δ = −F,   J: rows of D where lo < x − c < hi, of 1 elsewhere                                      (BR5)
    x_j ← clip(x_j − c_j/D_jj, lo_j, hi_j)                     row after row                            (BR6)
    D + s,   s = 1, then smaller and smaller, to 0             each x the start of the next             (BR7)

c is unique; x is not where D is singular. (BR4) then selects the shortest x of (BR3), whatever the start, and makes
(BR5) regular. Newton's method (BR5), with a line search that lets |F| grow for a few steps, solves most problems at
once. Where it does not, rounds follow: sweeps (BR6) and Newton's method, then the path (BR7), in turns, with twice as
many sweeps each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kinpair.errors import InputError

EPSILON = 1e-8  # the proximal term, against the unit diagonal of D
FINE = 1e-12  # of |F|, against the largest of 1 and |x|: some hundred times the rounding of D x
LARGE = 1e4  # an x beyond this allows no larger |F|
ROUNDS = 12
SWEEPS = 50  # in the second round
STRIDE, SHORTEST = (
    0.1,
    0.9,
)  # how much smaller s becomes at a time; where a step fails, its square root is tried
STEPS = 15  # of Newton's method in a round
MEMORY = 5  # |F| may grow, but not beyond the largest of so many steps before
HALVINGS = 5
SELECTIONS = 20
NO_RESPONSE = 1e-14  # D_jj below this part of the largest is zero


class Solution(NamedTuple):
    """x (n,), c = D x + g (n,), the largest |F| of the scaled problem, and whether that is rounding."""

    x: np.ndarray
    c: np.ndarray
    residual: float
    met: bool


class _Box(NamedTuple):
    """A scaled problem."""

    D: np.ndarray
    g: np.ndarray
    lo: np.ndarray
    hi: np.ndarray

    def c(self, x: np.ndarray) -> np.ndarray:
        return self.D @ x + self.g

    def clipped(self, x: np.ndarray) -> np.ndarray:
        return np.minimum(np.maximum(x, self.lo), self.hi)

    def F(self, x: np.ndarray) -> np.ndarray:
        return x - self.clipped(x - self.c(x))  # (BR2)


def solve(
    D: np.ndarray,
    g: np.ndarray,
    lo: np.ndarray,
    hi: np.ndarray,
    names: Sequence[str] = (),
    start: np.ndarray | None = None,
) -> Solution:
    """x of (BR1). `names` of the rows are for messages; `start` is an x nearby, as that of the step before."""
    _check(D, g, lo, hi, names)
    if not len(g):
        return Solution(np.zeros(0), np.zeros(0), 0.0, True)
    diagonal = np.diag(D)
    largest = diagonal.max()
    T = np.sqrt(np.where(diagonal > NO_RESPONSE * largest, diagonal, largest or 1.0))
    gamma = float(np.abs(g / T).max()) or 1.0
    scaled = 0.5 * (D + D.T) / np.outer(T, T)
    box = _Box(scaled, g / T / gamma, T * lo / gamma, T * hi / gamma)  # (BR3)
    first = box.clipped(np.zeros(len(g)) if start is None else T * start / gamma)
    x = _selected(box, first)
    y = x - box.c(x)
    inside = np.clip(x * gamma / T, lo, hi)
    found = np.where(y <= box.lo, lo, np.where(y >= box.hi, hi, inside))
    return Solution(found, D @ found + g, _size(box.F(x)), _is_met(box, x))


def _selected(box: _Box, x: np.ndarray) -> np.ndarray:
    """(BR4)."""
    D, center = box.D + EPSILON * np.eye(len(x)), np.zeros(len(x))
    for _ in range(SELECTIONS):
        x = _solved(box._replace(D=D, g=box.g - EPSILON * center), x)
        if _is_met(box, x):
            break
        center = x
    return x


def _solved(box: _Box, x: np.ndarray) -> np.ndarray:
    """The regular problem, in rounds."""
    x = _newton(box, x)
    for turn in range(ROUNDS - 1):
        if _is_met(box, x):
            break
        x = _followed(box) if turn % 2 else _newton(box, _swept(box, x, SWEEPS * 2 ** (turn // 2)))
    return x


def _followed(box: _Box) -> np.ndarray:
    """(BR7): with s = 1 Newton's method does not fail, and from one s to the next few rows change sides."""
    x, s, stride, one = box.clipped(np.zeros(len(box.g))), 1.0, STRIDE, np.eye(len(box.g))
    while s > EPSILON and stride < SHORTEST:
        nearer = box._replace(D=box.D + s * stride * one)
        there = _newton(nearer, x)
        if _is_met(nearer, there):
            x, s = there, s * stride
        else:
            stride = np.sqrt(stride)
    return _newton(box, x)


def _newton(box: _Box, x: np.ndarray) -> np.ndarray:
    """(BR5): the best x met on the way."""
    F = box.F(x)
    best, before = (x, F), [float(np.linalg.norm(F))]
    for _ in range(STEPS):
        if before[-1] == 0.0:
            break
        y = x - box.c(x)
        between = (box.lo < y) & (y < box.hi)
        step = np.linalg.solve(np.where(between[:, None], box.D, np.eye(len(x))), -F)
        x, F = _shortened(box, x, step, max(before[-MEMORY:]))
        before.append(float(np.linalg.norm(F)))
        if _size(F) < _size(best[1]):
            best = x, F
        elif _size(best[1]) <= _allowed(x):
            break
    return best[0]


def _shortened(box: _Box, x: np.ndarray, step: np.ndarray, bar: float) -> tuple[np.ndarray, np.ndarray]:
    """The first of the halved steps after which |F| is below the bar, or the last; and F there."""
    for _ in range(HALVINGS):
        F = box.F(x + step)
        if np.linalg.norm(F) < bar:
            return x + step, F
        step = 0.5 * step
    return x + step, box.F(x + step)


def _swept(box: _Box, x: np.ndarray, sweeps: int) -> np.ndarray:
    """(BR6): projected Gauss–Seidel."""
    x = box.clipped(x)
    rows = [(j, box.D[j], box.g[j], 1.0 / box.D[j, j], box.lo[j], box.hi[j]) for j in range(len(x))]
    for _ in range(sweeps):
        for j, D_j, g_j, over, lo, hi in rows:
            x[j] = min(max(x[j] - (D_j @ x + g_j) * over, lo), hi)
    return x


def _is_met(box: _Box, x: np.ndarray) -> bool:
    return _size(box.F(x)) <= _allowed(x)


def _size(F: np.ndarray) -> float:
    return float(np.abs(F).max())


def _allowed(x: np.ndarray) -> float:
    return FINE * min(max(1.0, float(np.abs(x).max())), LARGE)


def _check(D: np.ndarray, g: np.ndarray, lo: np.ndarray, hi: np.ndarray, names: Sequence[str]) -> None:
    """Refuse what is not a number, bounds that leave nothing, and a row that moves against its force."""
    wrong = {
        "its response or its rate is not a number": ~(np.isfinite(D).all(1) & np.isfinite(g)),
        "its lower bound is above its upper one": ~(lo <= hi),
        "its response to its own force is negative": np.diag(D) < -NO_RESPONSE * np.abs(D).max(initial=0.0),
    }
    for reason, rows in wrong.items():
        if rows.any():
            k = int(np.flatnonzero(rows)[0])
            name = repr(names[k]) if len(names) else str(k)
            raise InputError(f"bounded row {name}: {reason}", row=name)
