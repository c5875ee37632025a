"""The second road to periodic solutions: multiple shooting with exact derivatives; Floquet multipliers.

    c̈ = −F_c̈⁻¹ F(t, c, ċ, 0)                             the rows are linear in c̈                    (GS9)
    Φ̇ = [0 1; −F_c̈⁻¹F_c  −F_c̈⁻¹F_ċ] Φ,   Φ(t_i) = 1      variational equations                       (GS10)
    y_{i+1} = φ_i(y_i),   y_N = σ y_0                     by Newton, Δy_{i+1} = Φ_i Δy_i + d_i        (GS11)
    multipliers = eigenvalues of σ⁻¹ Φ_N ... Φ_1                                                       (GS12)

Flow and variational equations are integrated together by Gragg's midpoint rule, extrapolated (Hairer, Nørsett & Wanner,
Solving Ordinary Differential Equations I, section II.9), all parts of the mesh at once.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from kinpair.motion.collocation import closed
from kinpair.motion.free_rows import FreeRows, GivenMotion
from kinpair.motion.trajectory import Trajectory

STEPS = (2, 4, 6, 8, 10, 12, 14, 16)  # of the midpoint rule: order 16
ITERATIONS = 40
EXACT = 1e-13  # of the size of the states
DIVERGED = 1e6


class Flow(NamedTuple):
    """States at the ends of the parts (n, 2 free), their derivatives Φ by those at the beginnings, and an error."""

    y: np.ndarray
    Phi: np.ndarray
    error: float


class Shots(NamedTuple):
    """States at the mesh (n + 1, 2 free), transfer matrices, and what is left."""

    y: np.ndarray
    Phi: np.ndarray
    rest: float


class Shooting:
    """Flows from point to point of a mesh (n + 1,)."""

    def __init__(self, rows: FreeRows, motion: Trajectory, time: np.ndarray) -> None:
        self.rows, self.motion, self.time = rows, motion, time
        self.n, self.h = len(rows.names), np.diff(time)

    @cached_property
    def _given(self) -> dict[tuple[int, int], GivenMotion]:
        """The given motion at the points of every row of the extrapolation."""
        found: dict[tuple[int, int], GivenMotion] = {}
        for n in STEPS:
            for j in range(n + 1):
                side = "right" if j == 0 else "left" if j == n else ""
                at = self.time[1:] if j == n else self.time[:-1] + self.h * j / n
                found[n, j] = self.rows.given(self.motion, at, side)
        return found

    def rate(self, given: GivenMotion, Y: np.ndarray) -> np.ndarray:
        """d/dt of [y, Φ] (n, 2 free, 1 + 2 free), or of y alone."""
        n = self.n
        c, cd = (np.ascontiguousarray(x) for x in (Y[:, :n, 0], Y[:, n:, 0]))
        at = self.rows.terms(given, c, cd, np.zeros_like(c))
        cdd = -np.linalg.solve(at.by_cdd, at.F[..., None])[..., 0]  # (GS9)
        if Y.shape[-1] == 1:
            return np.concatenate([Y[:, n:], cdd[..., None]], axis=1)
        at = self.rows.terms(given, c, cd, cdd)
        slopes = np.concatenate([at.by_c, at.by_cd], axis=-1) @ Y[:, :, 1:]
        turned = -np.linalg.solve(at.by_cdd, slopes)  # (GS10)
        lower = np.concatenate([cdd[..., None], turned], axis=-1)
        return np.concatenate([Y[:, n:], lower], axis=1)

    def flow(self, y: np.ndarray, parts: slice = slice(None)) -> Flow:
        """Integrate from the beginning of each part of the mesh to its end; not finite where it diverges."""
        unit = np.broadcast_to(np.eye(2 * self.n), (len(y), 2 * self.n, 2 * self.n))
        with np.errstate(all="ignore"):
            return self._flow(np.concatenate([y[..., None], unit], axis=-1), parts)

    def _flow(self, start: np.ndarray, parts: slice) -> Flow:
        h = self.h[parts, None, None]
        table: list[np.ndarray] = []
        for n in STEPS:
            row = [self._midpoint(start, h / n, n, parts)]
            for k, before in enumerate(table):
                ratio = (n / STEPS[len(table) - 1 - k]) ** 2
                row.append(row[-1] + (row[-1] - before) / (ratio - 1.0))
            table = row
        Y, error = table[-1], np.abs(table[-1] - table[-2]).max()
        return Flow(Y[..., 0], Y[..., 1:], float(error / max(1.0, np.abs(Y).max())))

    def _midpoint(self, start: np.ndarray, h: np.ndarray, n: int, parts: slice) -> np.ndarray:
        """Gragg's rule with n steps; its table is extrapolated from the newest row backwards."""
        given = {j: GivenMotion(*(x[parts] for x in self._given[n, j])) for j in range(n + 1)}
        before, now = start, start + h * self.rate(given[0], start)
        for j in range(1, n):
            before, now = now, before + 2.0 * h * self.rate(given[j], now)
        return 0.5 * (now + before + h * self.rate(given[n], now))

    def solve(self, y: np.ndarray, sigma: np.ndarray) -> Shots:
        """Newton's iteration from states at the mesh (n + 1, 2 free)."""
        flow, rest = self.flow(y[:-1]), np.inf
        for _ in range(ITERATIONS):
            defects, gap = flow.y - y[1:], sigma * y[0] - y[-1]
            size = 1.0 + np.abs(y).max()
            now = max(np.abs(defects).max(), np.abs(gap).max()) / size
            if not np.isfinite(now) or now > DIVERGED or (now >= 0.5 * rest and rest < 1e3 * EXACT):
                break
            rest = now
            y = y + closed(flow.Phi, defects, sigma, gap)  # (GS11)
            flow = self.flow(y[:-1])
        return Shots(y, flow.Phi, float(rest))

    def forward(self, y: np.ndarray) -> np.ndarray:
        """States at the mesh (n + 1, 2 free) from those at time 0, one part after the other."""
        found = [y]
        for i in range(len(self.h)):
            with np.errstate(all="ignore"):
                found.append(self._flow(found[-1][None, :, None], slice(i, i + 1)).y[0])
        return np.array(found)


def multipliers(Phi: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """Floquet multipliers, the largest first.    (GS12)"""
    monodromy = np.eye(Phi.shape[-1])
    for each in Phi:
        monodromy = each @ monodromy
    found = np.linalg.eigvals(monodromy / sigma[:, None])  # (GS12)
    return found[np.argsort(-np.abs(found), kind="stable")]
