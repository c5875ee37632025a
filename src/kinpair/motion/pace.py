"""The fastest pace along a path: the square y of the rate of its parameter, over the parameter σ from 0 to 1.

With y(σ) = σ̇² the derivatives of the parameter are σ̈ = y′/2 and σ⃛ = y″ √y / 2. So along a path P(σ)

    q̇ = P′ √y,   q̈ = P″ y + P′ y′/2,   q⃛ = √y (P‴ y + 3/2 P″ y′ + 1/2 P′ y″)                     (MO12)

are linear in y and its derivatives, but for the roots, and the time taken is

    T = ∫ dσ/√y                                                                                      (MO13)

y is a spline with one continuous derivative, or two where jerk is limited. P leaves rest as σⁿ, n = 2 or 3, so that y
is not zero there; that the first derivatives of the parameter's own motion be those of a constant acceleration or jerk
fixes y′, and y″, at both ends.
"""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np

from kinpair.motion.interior_point import Cost, Inequalities, Solution, least

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
