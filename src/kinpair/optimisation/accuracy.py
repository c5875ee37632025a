"""Accuracy of a solution on a mesh, by simulation of the motion that its inputs produce; and a finer mesh.

The inputs are the polynomials through their values at the places of each interval. Interval by interval, and once over
the whole motion from its start, the equations are integrated by the method of Dormand and Prince with steps of a part
of the interval. Of a mechanism, the rates then come from its mass matrix, not from the residuals that the solver
satisfied.

    e_k = max_j |x_j(t_{k+1}) − X_j| / (1 + max |X_j|)     from X at t_k, in interval k                (OP7)
    e_k ≥ |∫_k ℓ − Σ_j b_j ℓ_j| / Σ_k |∫_k ℓ|              of the running cost, by Gauss's points       (OP18)
    n_k = ⌈(e_k / ε)^{1/(p+1)}⌉                            parts of interval k, for order p             (OP8)

An interval in which an input goes from one limit towards the other is split too: the switch lies somewhere in it. So
is one in which limits or path constraints of the states are exceeded between the points of the mesh.

An unstable motion magnifies every error as it goes on, by E = e_end / Σ e_k. Where ε/E is below what rounding leaves,
no mesh brings the end of such a simulation to its place, and errors of intervals of ε/100 are required.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from kinpair.optimisation.equations import GROUPS
from kinpair.optimisation.nonlinear_program import Pointwise
from kinpair.optimisation.transcription import Grid
from kinpair.simulation.methods.tableaux import DOPRI5

STEPS = 4  # of an interval
MOST = 5  # parts into which an interval is split at once
SWITCHED = 3  # parts of an interval with a switch
SWITCH, STILL = 0.5, 1e-3  # parts of the range of an input that count as a switch, and as no change
ROUNDING = 1e-12  # errors of intervals are not much smaller
EXCEEDED = 10.0  # largest excess of a limit between points, as a multiple of the accuracy
NOTHING = 1e-6  # a cost that counts as none
GAUSS = tuple(x / 2 + y for x, y in zip(np.polynomial.legendre.leggauss(7), (0.5, 0.0), strict=True))


class Errors(NamedTuple):
    """Errors of intervals (intervals,), and of the end of the motion simulated from its start, each as in (OP7).

    `exceeded` (intervals,): violation of limits and path constraints of states, relative to 1 + the size of the limit.
    """

    intervals: np.ndarray
    end: float
    exceeded: np.ndarray

    def unstable(self, accuracy: float) -> bool:
        """True if the motion magnifies rounding beyond the accuracy."""
        growth = self.end / max(float(self.intervals.sum()), ROUNDING * len(self.intervals))
        return self.end > accuracy and growth * ROUNDING > accuracy

    def met(self, accuracy: float) -> bool:
        """True if no finer mesh is needed."""
        error = 100 * float(self.intervals.max(initial=0.0)) if self.unstable(accuracy) else self.largest
        return error <= accuracy and float(self.exceeded.max(initial=0.0)) <= EXCEEDED * accuracy

    @property
    def largest(self) -> float:
        """The largest of both."""
        return max(float(self.intervals.max(initial=0.0)), self.end)


def inputs_between(powers: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Inputs (..., k, n) at x (..., k) of intervals with polynomials (k, s, n)."""
    return np.einsum("...kp,kpn->...kn", x[..., None] ** np.arange(powers.shape[1]), powers)


def errors(
    grid: Grid,
    function: Pointwise,
    w: np.ndarray,
    duration: float,
    parameters: Mapping[str, float],
    accuracy: float,
) -> Errors:
    """Errors of a solution on a grid. The whole motion is simulated once the errors of all intervals are below the
    accuracy; before that its end has the sum of them.    (OP7)"""
    X = grid.states(w)[:: grid.step]
    size = 1.0 + np.abs(X).max(axis=0)
    simulation = _Simulation(grid, w, duration, parameters)
    with np.errstate(all="ignore"):
        local = _finite(np.abs(simulation.over(X[:-1], slice(None)) - X[1:]) / size).max(axis=1)
        inside = _Inside(grid, function, w, duration, parameters)
        over, local = inside.exceeded(), np.maximum(local, _finite(inside.cost()))
        if local.max(initial=0.0) > accuracy:
            return Errors(local, float(local.sum()), over)
        x = X[:1]
        for k in range(grid.intervals):
            x = simulation.over(x, slice(k, k + 1))
        return Errors(local, float(_finite(np.abs(x[0] - X[-1]) / size).max()), over)


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


class _Inside:
    """Values of the recorded function of a phase inside the intervals, by the polynomials of a solution."""

    def __init__(
        self, grid: Grid, function: Pointwise, w: np.ndarray, duration: float, parameters: Mapping[str, float]
    ) -> None:
        self.grid, self.function, self.w, self.parameters = grid, function, w, parameters
        self.duration = duration
        tau = (grid.mesh[:-1, None] + np.diff(grid.mesh)[:, None] * GAUSS[0]).ravel()
        groups = [grid.between(w, group, tau) for group in GROUPS]
        head = np.tile([*parameters.values(), duration], (len(tau), 1))
        self.states = groups[0]
        self.rows = function.values(np.concatenate([head, *groups], axis=1), tau[:, None])

    def cost(self) -> np.ndarray:
        """Difference of the integral of the running cost from that of the scheme, as a part of the whole.    (OP18)"""
        grid, function = self.grid, self.function
        if grid.scheme.shoots:
            return np.zeros(grid.intervals)
        h = np.diff(grid.mesh)
        points = grid.evaluated
        own = grid.offsets[points][:, None] + np.arange(grid.phase.equations.size)
        head = np.tile([*self.parameters.values(), self.duration], (len(points), 1))
        nodes = function.values(np.concatenate([head, self.w[own]], axis=1), grid.fractions[points][:, None])
        rate = nodes[:, -1][grid.places()]
        whole = float((h * (np.abs(rate) @ np.abs(grid.scheme.a[-1]))).sum())
        inside = h * (self.rows[:, -1].reshape(grid.intervals, -1) @ GAUSS[1])
        return np.abs(inside - h * (rate @ grid.scheme.a[-1])) / (whole + NOTHING)  # (OP18)

    def exceeded(self) -> np.ndarray:
        """Violation of limits and path constraints of states (intervals,)."""
        phase, nx, function = self.grid.phase, self.grid.phase.equations.nx, self.function
        found = [_outside(self.states, phase.lower[:nx], phase.upper[:nx])]
        if phase.path:
            low, high = (
                np.concatenate([getattr(x, side) for x in phase.path]) for side in ("lower", "upper")
            )
            first, states = function.m - 1 - len(low), len(self.parameters) + 1 + nx
            mixed = np.bincount(function.rows, function.columns >= states, function.m)[first:-1] > 0
            own = ~mixed & (low < high)
            found.append(_outside(self.rows[:, first:-1][:, own], low[own], high[own]))
        over = _finite(np.concatenate(found, axis=1)).max(axis=1, initial=0.0)
        return over.reshape(self.grid.intervals, -1).max(axis=1)


def _outside(values: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Violation of limits, relative to 1 + the size of the limit."""
    sizes = (np.where(np.isfinite(x), 1.0 + np.abs(x), 1.0) for x in (lower, upper))
    below, above = (x / size for x, size in zip((lower - values, values - upper), sizes, strict=True))
    return np.maximum(np.maximum(below, above), 0.0)


def switches(grid: Grid, w: np.ndarray) -> np.ndarray:
    """True for intervals (k,) in which an input with limits switches."""
    powers = grid.powers(w, "inputs")
    span = grid.phase.equations.spans()["inputs"]
    room = grid.phase.upper[span] - grid.phase.lower[span]
    first, last = powers[:, 0], powers.sum(axis=1)
    before, after = np.concatenate([first[:1], last[:-1]]), np.concatenate([first[1:], last[-1:]])
    own = np.abs(last - first)
    change = np.where(own > STILL * room, np.maximum(np.abs(after - before), own), 0.0)
    return np.any(np.isfinite(room) & (change > SWITCH * room), axis=1)


def refined(grid: Grid, found: Errors, accuracy: float, switching: np.ndarray) -> np.ndarray:
    """A finer mesh: intervals with an error above the share of each are split.    (OP8)"""
    part = 0.01 if found.unstable(accuracy) else min(1.0, accuracy / max(found.end, 1e-300))
    share = max(accuracy * part / 4, ROUNDING)
    e = np.minimum(found.intervals, 1e100)
    parts = np.clip(np.ceil((e / share) ** (1.0 / (grid.scheme.order + 1))), 1, MOST).astype(int)  # (OP8)
    split = switching | (found.exceeded > EXCEEDED * accuracy)
    parts[split] = np.maximum(parts[split], SWITCHED)
    if parts.max() == 1:
        parts[:] = 2
    pieces = [np.linspace(a, b, n + 1)[:-1] for a, b, n in zip(grid.mesh, grid.mesh[1:], parts, strict=False)]
    return np.append(np.concatenate(pieces), grid.mesh[-1])
