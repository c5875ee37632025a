"""The fastest pace along a path, by an interior-point method.

The least of a function under inequalities that see a few neighbours each: a primal-dual interior-point method.

Unknowns c > 0 (m,). Row i of the cost and of the inequalities sees c_k to c_{k+d} with k = window[i], so that Newton's
matrix has 2d + 1 diagonals. Inequalities r(c) ≤ 0 have slacks w > 0, multipliers λ > 0 and gradients A:

    ∇f + Aᵀλ = 0,   r + w = 0,   λ w = μ → 0                                                         (MO14)
    (∇²f + Aᵀ (λ/w) A) δc = −∇f − Aᵀ (μ + λ (r + w) − ε)/w,   ε = δw δλ of a step towards μ = 0      (MO15)

(MO15) is Newton's step for (MO14) with δw and δλ eliminated; ε and the choice of μ are Mehrotra's (SIAM J. Optim. 2
(1992) 575–601). Rows need not be convex: of their second derivatives none is used.

Derivation, no line of code: (MO14).

The fastest pace along a path: the square y of the rate of its parameter, over the parameter σ from 0 to 1.

With y(σ) = σ̇² the derivatives of the parameter are σ̈ = y′/2 and σ⃛ = y″ √y / 2. So along a path P(σ)

    q̇ = P′ √y,   q̈ = P″ y + P′ y′/2,   q⃛ = √y (P‴ y + 3/2 P″ y′ + 1/2 P′ y″)                     (MO12)

are linear in y and its derivatives, but for the roots, and the time taken is

    T = ∫ dσ/√y                                                                                      (MO13)

y is a spline with one continuous derivative, or two where jerk is limited. P leaves rest as σⁿ, n = 2 or 3, so that y
is not zero there; that the first derivatives of the parameter's own motion be those of a constant acceleration or jerk
fixes y′, and y″, at both ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, final

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


GAUSS = np.array([0.5 - 0.5 / np.sqrt(3.0), 0.5 + 0.5 / np.sqrt(3.0)])
# y′/y and y″/y where a motion along 3σ² − 2σ³ or 10σ³ − 15σ⁴ + 6σ⁵ begins with constant acceleration or jerk
LEAVING = {2: (4 / 3,), 3: (2.0, 6.6)}


class Limits(NamedTuple):
    """Rows k·(y, y′, y″) + constant + root √y ≤ inverse/√y at nodes: (n, R, 3), and (n, R) each."""

    k: np.ndarray
    constant: np.ndarray
    root: np.ndarray
    inverse: np.ndarray

    def at(self, y: np.ndarray) -> np.ndarray:
        """Excess beyond the limits (n, R), for y, y′ and y″ (n, 3)."""
        root = np.sqrt(y[:, :1])
        return (self.k @ y[..., None])[..., 0] + self.constant + self.root * root - self.inverse / root


@final
class Pace:
    """y as a spline of degree 2 or 3 over nodes (n + 1,) from 0 to 1."""

    def __init__(self, nodes: np.ndarray, degree: int) -> None:
        self.nodes, self.degree = nodes, degree
        self.knots = np.concatenate([np.zeros(degree), nodes, np.ones(degree)])
        last = len(nodes) - 2
        self.window = np.minimum(np.arange(last + 2), last)
        inside = nodes[:-1, None] + np.diff(nodes)[:, None] * GAUSS
        self.gauss_window = np.repeat(np.arange(last + 1), len(GAUSS))
        self.weights = np.repeat(np.diff(nodes) / 2, len(GAUSS))
        self.at_nodes = np.stack([self._basis(nodes, self.window, nu) for nu in range(3)], axis=1)
        self.inside = self._basis(inside.ravel(), self.gauss_window, 0)

    def fastest(self, limits: Limits, start: float) -> Solution:
        """The shortest time under the limits; the first guess is y = start."""

        def cost(c: np.ndarray) -> Cost:
            y = (self.inside * self._seen(c, self.gauss_window)).sum(1)
            first, second = -0.5 * self.weights * y**-1.5, 0.75 * self.weights * y**-2.5
            E = self.inside
            return Cost(
                float((self.weights * y**-0.5).sum()),  # (MO13)
                first[:, None] * E,
                second[:, None, None] * E[:, :, None] * E[:, None, :],
            )

        linear = limits.k @ self.at_nodes

        def inequalities(c: np.ndarray) -> Inequalities:
            seen = self._seen(c, self.window)
            y = (self.at_nodes @ seen[..., None])[..., 0]
            r, y = limits.at(y), y[:, :1]
            slope = 0.5 * limits.root * y**-0.5 + 0.5 * limits.inverse * y**-1.5
            return Inequalities(r, linear + slope[..., None] * self.at_nodes[:, None, 0])

        found = least(
            np.full(len(self.knots) - self.degree - 1, start),
            (self.gauss_window, self.window),
            cost,
            inequalities,
        )
        return found._replace(c=self._whole(found.c))

    def values(self, c: np.ndarray, x: np.ndarray, derivative: int = 0) -> np.ndarray:
        """y or a derivative of it."""
        from scipy.interpolate import BSpline

        return BSpline(self.knots, c, self.degree).derivative(derivative)(x)

    def _seen(self, c: np.ndarray, window: np.ndarray) -> np.ndarray:
        return c[window[:, None] + np.arange(self.degree + 1)]

    def _basis(self, x: np.ndarray, window: np.ndarray, derivative: int) -> np.ndarray:
        """Basis functions of the coefficients at a place (n, degree + 1)."""
        from scipy.interpolate import BSpline

        size = len(self.knots) - self.degree - 1
        found = np.empty((len(x), self.degree + 1))
        for k in range(self.degree + 1):  # coefficients so far apart that no place sees two of one colour
            for colour in range(self.degree + 1):
                c = np.zeros(size)
                c[colour :: self.degree + 1] = 1.0
                mine = (window + k) % (self.degree + 1) == colour
                found[mine, k] = BSpline(self.knots, c, self.degree).derivative(derivative)(x[mine])
        return self._folded(found, window)

    def _folded(self, basis: np.ndarray, window: np.ndarray) -> np.ndarray:
        """The coefficients at the ends are multiples of their neighbours."""
        found, size, d = basis.copy(), len(self.knots) - self.degree - 1, self.degree
        for side in (0, 1):
            for k, factor in enumerate(self._end_factors(side)):
                own = k if side == 0 else size - 1 - k
                master = d - 1 if side == 0 else size - d
                here = np.flatnonzero((window <= own) & (own <= window + d))
                found[here, master - window[here]] += factor * found[here, own - window[here]]
                found[here, own - window[here]] = 0.0
        return found

    def _whole(self, c: np.ndarray) -> np.ndarray:
        found, d = c.copy(), self.degree
        found[: d - 1] = c[d - 1] * self._end_factors(0)
        found[len(c) - d + 1 :] = c[len(c) - d] * self._end_factors(1)[::-1]
        return found

    def _end_factors(self, side: int) -> np.ndarray:
        """The first coefficients as multiples of the last that is free."""
        h = np.diff(self.nodes)[:2] if side == 0 else np.diff(self.nodes)[:-3:-1]
        slope, *bend = LEAVING[self.degree]
        c = [1.0, 1.0 + slope * h[0] / self.degree]
        if bend:
            c.append(c[1] + (h[0] + h[1]) / 3 * (slope + bend[0] * h[0] / 2))
        return np.array(c[:-1]) / c[-1]
