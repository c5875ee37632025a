"""A closer look, in floats, where the unrolled sweeps do not end at the loads that continue from μ = 0.

All coefficients of friction are multiplied by t and t goes from 0 to 1; each solution starts the next one:

    F(N, t) = N − load(c₀ + t C N, −t μ u N) = 0                                                       (FC1)

The path may end before t = 1: the loads grow without bound, or two solutions meet. Beyond there is none on it, and t is
the part of the given μ at which that begins.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kinpair.friction.loads.contraction import is_bounded, proved
from kinpair.friction.loads.system import Response, Slip, System
from kinpair.friction.rounding import FINE

SWEEPS = 30  # of Newton's method in a step of the path
PATIENCE = 3  # sweeps in which |F| is not halved
FIRST, SHORTEST = 0.25, 1e-10  # steps in t
GROWN = 1e12  # loads so many times the frictionless ones are without bound


class Path(NamedTuple):
    """End of the path of solutions: N there, t, and whether it got to t = 1."""

    N: np.ndarray
    t: float
    arrives: bool


def scaled(system: System, t: float) -> System:
    """Return the system with all coefficients of friction times t."""
    x = system.response
    by_load = [t * a for a in x.by_load]
    by_forms = [[[t * c for c in column] for column in row] for row in x.forms_by_load]
    slips = [Slip(slip.u, t * slip.mu) for slip in system.slips]
    return replace(system, slips=slips, response=Response(x.qdd, by_load, x.forms, by_forms))


def newton(system: System, N: np.ndarray) -> tuple[np.ndarray, bool]:
    """N nearby by (FS4) in floats, and whether |F| is rounding with det J > 0."""
    best, worse = np.inf, 0
    for _ in range(SWEEPS):
        F = np.asarray(system.residual(N), dtype=float)
        J = np.asarray(system.jacobian(N), dtype=float)
        if not (np.isfinite(F).all() and np.isfinite(J).all()):
            return N, False
        size = max(1.0, float(np.abs(N).max()))
        left = float(np.abs(F).max()) / size
        if left <= FINE:
            return N, bool(np.linalg.det(J) > 0.0 and (-FINE * size <= N).all())
        best, worse = (left, 0) if left < 0.5 * best else (best, worse + 1)
        if worse > PATIENCE:
            return N, False
        try:
            N = N - np.linalg.solve(J, F)
        except np.linalg.LinAlgError:
            return N, False
    return N, False


def follow(system: System, end: float = 1.0) -> Path:
    """The solutions of (FC1) from t = 0 to `end`, or to where they stop; at once where only one can be there."""
    n = len(system.surfaces)
    N = np.asarray(system.loads(np.zeros(n)), dtype=float)
    bound, t = GROWN * max(1.0, float(np.abs(N).max())), 0.0
    step = end if is_bounded(system.surfaces) and proved(system) else FIRST
    while t < end:
        ahead = min(t + step, end)
        there, met = newton(scaled(system, ahead), N)
        if met and np.abs(there).max() < bound:
            N, t, step = there, ahead, 2.0 * step
        elif step > SHORTEST * max(t, 1e-3):
            step = 0.5 * (ahead - t)
        else:
            return Path(N, t, False)
    return Path(N, t, True)
