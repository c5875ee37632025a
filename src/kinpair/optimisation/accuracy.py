"""Accuracy of a solution on a mesh, by simulation of the motion that its inputs produce; and a finer mesh.

The inputs are the polynomials through their values at the places of each interval. Interval by interval, and once over
the whole motion from its start, the equations are integrated by the method of Dormand and Prince with steps of a part
of the interval. Of a mechanism, the rates then come from its mass matrix, not from the residuals that the solver
satisfied.

    e_k = max_j |x_j(t_{k+1}) − X_j| / (1 + max |X_j|)     from X at t_k, in interval k                (OP7)
    n_k = ⌈(e_k / ε)^{1/(p+1)}⌉                            parts of interval k, for order p             (OP8)

An interval in which an input goes from one limit towards the other is split too: the switch lies somewhere in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from kinpair.optimisation.transcription import Grid
from kinpair.simulation.methods.tableaux import DOPRI5

STEPS = 4  # of an interval
MOST = 5  # parts into which an interval is split at once
SWITCHED, SWITCH = (
    3,
    0.5,
)  # parts of an interval with a switch; part of the range of an input that counts as one


class Errors(NamedTuple):
    """Errors of intervals (intervals,), and of the end of the motion simulated from its start, each as in (OP7)."""

    intervals: np.ndarray
    end: float

    @property
    def largest(self) -> float:
        """The largest of both."""
        return max(float(self.intervals.max(initial=0.0)), self.end)


def inputs_between(powers: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Inputs (..., k, n) at x (..., k) of intervals with polynomials (k, s, n)."""
    return np.einsum("...kp,kpn->...kn", x[..., None] ** np.arange(powers.shape[1]), powers)


def errors(
    grid: Grid, w: np.ndarray, duration: float, parameters: Mapping[str, float], accuracy: float
) -> Errors:
    """Errors of a solution on a grid. The whole motion is simulated once the errors of all intervals are below the
    accuracy; before that its end has the sum of them.    (OP7)"""
    X = grid.states(w)[:: grid.step]
    size = 1.0 + np.abs(X).max(axis=0)
    simulation = _Simulation(grid, w, duration, parameters)
    with np.errstate(all="ignore"):
        local = _finite(np.abs(simulation.over(X[:-1], slice(None)) - X[1:]) / size).max(axis=1)
        if local.max(initial=0.0) > accuracy:
            return Errors(local, float(local.sum()))
        x = X[:1]
        for k in range(grid.intervals):
            x = simulation.over(x, slice(k, k + 1))
        return Errors(local, float(_finite(np.abs(x[0] - X[-1]) / size).max()))


def _finite(e: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(e), e, np.inf)


class _Simulation:
    """The equations under the inputs of a solution, by the method of Dormand and Prince with fixed steps."""

    def __init__(self, grid: Grid, w: np.ndarray, duration: float, parameters: Mapping[str, float]) -> None:
        self.rates, self.parameters = grid.phase.equations.simulated, parameters
        self.h = duration * np.diff(grid.mesh)[:, None]
        parts = (np.arange(STEPS)[:, None] + np.array(DOPRI5.c)) / STEPS  # (steps, stages)
        powers = grid.powers(w, "inputs")
        self.u = inputs_between(powers, np.broadcast_to(parts[..., None], (*parts.shape, len(powers))))
        self.time = duration * grid.mesh[:-1] + parts[..., None] * self.h[:, 0]

    def over(self, x: np.ndarray, chosen: slice) -> np.ndarray:
        """States (k, nx) at the ends of the chosen intervals, from those at their starts."""
        h = self.h[chosen] / STEPS
        slopes = np.empty((len(DOPRI5.c), *x.shape))
        for step in range(STEPS):
            for stage, a in enumerate(DOPRI5.a):
                y = x + h * np.tensordot(a, slopes[:stage], 1) if stage else x
                u, time = self.u[step, stage, chosen], self.time[step, stage, chosen]
                slopes[stage] = self.rates(y, u, time, self.parameters)
            x = x + h * np.tensordot(DOPRI5.b, slopes, 1)
        return x


def switches(grid: Grid, w: np.ndarray) -> np.ndarray:
    """True for intervals (k,) in which an input with limits switches."""
    powers = grid.powers(w, "inputs")
    span = grid.phase.equations.spans()["inputs"]
    room = grid.phase.upper[span] - grid.phase.lower[span]
    change = np.abs(powers[:, 1:].sum(axis=1))
    return (np.isfinite(room) & (change > SWITCH * room)).any(axis=1)


def refined(grid: Grid, found: Errors, accuracy: float, switching: np.ndarray) -> np.ndarray:
    """A finer mesh: intervals with an error above the share of each are split.    (OP8)"""
    share = accuracy * min(1.0, accuracy / max(found.end, 1e-300)) / 4
    e = np.minimum(found.intervals, 1e300)
    parts = np.clip(np.ceil((e / share) ** (1.0 / (grid.scheme.order + 1))), 1, MOST).astype(int)  # (OP8)
    parts[switching] = np.maximum(parts[switching], SWITCHED)
    if parts.max() == 1:
        parts[:] = 2
    pieces = [np.linspace(a, b, n + 1)[:-1] for a, b, n in zip(grid.mesh, grid.mesh[1:], parts, strict=False)]
    return np.append(np.concatenate(pieces), grid.mesh[-1])
