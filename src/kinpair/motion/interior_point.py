"""The least of a function under inequalities that see a few neighbours each: a primal-dual interior-point method.

Unknowns c > 0 (m,). Row i of the cost and of the inequalities sees c_k to c_{k+d} with k = window[i], so that Newton's
matrix has 2d + 1 diagonals. Inequalities r(c) ≤ 0 have slacks w > 0, multipliers λ > 0 and gradients A:

    ∇f + Aᵀλ = 0,   r + w = 0,   λ w = μ → 0                                                         (MO14)
    (∇²f + Aᵀ (λ/w) A) δc = −∇f − Aᵀ (μ + λ (r + w) − ε)/w,   ε = δw δλ of a step towards μ = 0      (MO15)

(MO15) is Newton's step for (MO14) with δw and δλ eliminated; ε and the choice of μ are Mehrotra's (SIAM J. Optim. 2
(1992) 575–601). Rows need not be convex: of their second derivatives none is used.

Derivation, no line of code: (MO14).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

STEPS = 150
LEVEL = 1e-4  # Σ |c ∂(f + λr)/∂c|, as a part of f: its square is what is missed of the least
RESTS = 1e-10  # what f changes in a step, as a part of it
GAP = 1e-10  # Σ λ w, as a part of f
CLOSED = 1e-9  # r + w
BACK = 0.995  # of the way to where a slack or a multiplier is zero
SHRINK = 0.7  # no unknown loses more than this part of itself in a step
FIRST = 0.1  # slacks of rows that the start does not obey, and the first gap as a part of f
SLOWEST = 1e-3  # μ of a step, as a part of the one before
TINY = 1e-13  # of the diagonal: keeps the factors real where rows are a million times as stiff as others


class Cost(NamedTuple):
    """f, and its gradient (n, d + 1) and second derivatives (n, d + 1, d + 1) by row."""

    value: float
    gradient: np.ndarray
    hessian: np.ndarray


class Inequalities(NamedTuple):
    """r (n, R), and its gradients (n, R, d + 1)."""

    r: np.ndarray
    gradient: np.ndarray


class Solution(NamedTuple):
    """c, whether it is one, and the rows there (n, R)."""

    c: np.ndarray
    solved: bool
    r: np.ndarray


class _Step(NamedTuple):
    c: np.ndarray
    w: np.ndarray
    lam: np.ndarray


def least(
    start: np.ndarray,
    windows: tuple[np.ndarray, np.ndarray],
    cost: Callable[[np.ndarray], Cost],
    inequalities: Callable[[np.ndarray], Inequalities],
) -> Solution:
    """The positive c of least cost, from a positive start that need not obey the rows. windows: of cost and of rows."""
    c, f, at = start, cost(start), inequalities(start)
    w = np.maximum(-at.r, FIRST)
    lam = FIRST * f.value / at.r.size / w
    last = np.inf
    for _ in range(STEPS):
        total = float((lam * w).sum())
        pull = _sum(f.gradient, windows[0], len(c)) + _sum(_weighed(lam, at), windows[1], len(c))
        level = np.abs(pull * c).sum() <= LEVEL * f.value
        rests = abs(f.value - last) <= RESTS * f.value
        if (level or rests) and total <= GAP * f.value and np.abs(at.r + w).max() <= CLOSED:
            return Solution(c, True, at.r)
        last = f.value
        matrix = _matrix(f, at, lam / w, windows, len(c))
        newton = _Newton(matrix, f, at, w, lam, windows)
        aim = newton.step(0.0, 0.0)
        reach = min(_reach(w, aim.w), _reach(lam, aim.lam))
        after = float(((w + reach * aim.w) * (lam + reach * aim.lam)).sum())
        mu = total / at.r.size * max((after / total) ** 3, SLOWEST)
        step = newton.step(mu, aim.w * aim.lam)
        reach = min(_reach(w, step.w), _reach(lam, step.lam), _reach(c, step.c * BACK / SHRINK))
        c, w, lam = c + reach * step.c, w + reach * step.w, lam + reach * step.lam
        f, at = cost(c), inequalities(c)
    return Solution(c, False, at.r)


class _Newton:
    """Steps from one place, whose matrix is factored once."""

    def __init__(self, matrix: np.ndarray, f: Cost, at: Inequalities, w: Any, lam: Any, windows: Any) -> None:
        from scipy.linalg import cholesky_banded

        self.f, self.at, self.w, self.lam, self.windows = f, at, w, lam, windows
        self.factors = cholesky_banded(matrix, lower=True, check_finite=False)

    def step(self, mu: float, epsilon: Any) -> _Step:
        """Newton's step towards λ w = μ."""
        from scipy.linalg import cho_solve_banded

        w, lam, size = self.w, self.lam, self.factors.shape[1]
        open_by = self.at.r + w
        push = (mu + lam * open_by - epsilon) / w  # (MO15)
        right = _sum(self.f.gradient, self.windows[0], size)
        right = right + _sum(_weighed(push, self.at), self.windows[1], size)
        dc = cho_solve_banded((self.factors, True), -right, check_finite=False)
        seen = dc[self.windows[1][:, None] + np.arange(self.at.gradient.shape[-1])]
        dw = -open_by - (self.at.gradient @ seen[..., None])[..., 0]
        return _Step(dc, dw, (mu - epsilon - lam * dw) / w - lam)


def _weighed(weights: np.ndarray, at: Inequalities) -> np.ndarray:
    return (weights[:, None] @ at.gradient)[:, 0]


def _reach(x: np.ndarray, dx: np.ndarray) -> float:
    """Part of dx that leaves x positive, 1 at most."""
    falling = dx < 0
    return min(1.0, BACK * float((x[falling] / -dx[falling]).min(initial=1.0 / BACK)))


def _sum(rows: np.ndarray, window: np.ndarray, size: int) -> np.ndarray:
    """Rows (n, d + 1), each added where it belongs."""
    return np.bincount(
        (window[:, None] + np.arange(rows.shape[1])).ravel(), weights=rows.ravel(), minlength=size
    )


def _matrix(f: Cost, at: Inequalities, stiffness: np.ndarray, windows: Any, size: int) -> np.ndarray:
    """The lower diagonals (d + 1, m) of ∇²f + Aᵀ (λ/w) A."""
    blocks = (f.hessian, np.swapaxes(at.gradient * stiffness[..., None], 1, 2) @ at.gradient)
    d = blocks[0].shape[1]
    found = np.zeros((d, size))
    for window, block in zip(windows, blocks, strict=True):
        for j in range(d):
            for k in range(j + 1):
                found[j - k] += np.bincount(window + k, weights=block[:, j, k], minlength=size)
    found[0] += TINY * found[0] + np.where(found[0] == 0.0, 1.0, 0.0)
    return found
