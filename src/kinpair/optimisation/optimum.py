"""The result of `kp.optimise`: a motion, what it costs, which limits it touches, and how accurate it is."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from kinpair.errors import InputError, listed, nearest
from kinpair.motion.joints import through
from kinpair.motion.trajectory import Trajectory
from kinpair.optimisation.accuracy import Errors
from kinpair.optimisation.equations import Point, called
from kinpair.optimisation.nonlinear_program import Outcome
from kinpair.optimisation.transcription import Grid, Transcription
from kinpair.viewer.curves import figure_of, write_figure
from kinpair.viewer.looks import Panel, distinct
from kinpair.viewer.still import html_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOUCHED = 1e-6  # of the size of a limit: a value nearer to it lies on it
TITLES = {
    "q": ("coordinates", "q [rad or m]"),
    "qd": ("rates", "q̇ [rad/s or m/s]"),
    "qdd": ("accelerations", "q̈ [rad/s² or m/s²]"),
    "x": ("states", "x"),
    "u": ("inputs", "u"),
    "jerk": ("jerk", "q⃛ [rad/s³ or m/s³]"),
    "power": ("positive power", "[W]"),
}
DENSE = 12  # points of a picture in each interval


class ActiveLimit(NamedTuple):
    """A limit that the motion touches: name, side ("lower" or "upper"), times (k,) [s], largest multiplier."""

    name: str
    side: str
    times: np.ndarray
    multiplier: float


@final
@dataclass(frozen=True, eq=False, repr=False)
class Optimum(Trajectory):
    """An optimal motion; of a mechanism a motion of its coordinates, else of all states.

    cost: value of the cost. time (k,) [s], states (k, nx), inputs (k, nu), algebraic (k, nz): at the points of the
    mesh. status: "solved", "acceptable", "stopped" or what else the solver reported. errors: by simulation.
    """

    motion: Trajectory
    cost: float
    status: str
    transcription: Transcription
    outcome: Outcome
    errors: tuple[Errors, ...]
    seconds: float
    rounds: tuple[Mapping[str, Any], ...] = ()

    def __repr__(self) -> str:
        return (
            f"<Optimum: cost {self.cost:.6g}, {self.duration:.6g} s, {self.status}, error {self.error:.1e}>"
        )

    def within(self, time: Any, order: int, side: str) -> list[Any]:
        return self.motion.within(time, order, side)

    # what was found

    @property
    def solved(self) -> bool:
        """True if the solver reached its tolerance."""
        return self.status in ("solved", "acceptable")

    @property
    def error(self) -> float:
        """Largest error by simulation, relative to 1 + the size of each state."""
        return max(x.largest for x in self.errors)

    @property
    def durations(self) -> np.ndarray:
        """Durations (phases,) [s]."""
        count = len(self.transcription.problem.parameters)
        return self.outcome.w[count : count + len(self.transcription.grids)]

    @property
    def parameters(self) -> dict[str, float]:
        """Parameters by name."""
        names = self.transcription.problem.parameters
        return dict(zip(names, self.outcome.w.tolist(), strict=False))

    @property
    def _starts(self) -> np.ndarray:
        return np.append(0.0, np.cumsum(self.durations))

    @property
    def time(self) -> np.ndarray:
        """Times (n,) of all points [s]; those between phases appear twice."""
        each = zip(self.transcription.grids, self.durations, self._starts, strict=False)
        return np.concatenate([start + T * grid.fractions for grid, T, start in each])

    @property
    def states(self) -> np.ndarray:
        """States at all points (k, nx), of phases with equal states."""
        return np.concatenate([grid.states(self.outcome.w) for grid in self.transcription.grids])

    @property
    def inputs(self) -> np.ndarray:
        """Inputs at all points (k, nu)."""
        return np.concatenate([self._at_points(grid, "inputs") for grid in self.transcription.grids])

    @property
    def algebraic(self) -> np.ndarray:
        """Algebraic variables at all points (k, nz): accelerations, multipliers of constraints."""
        return np.concatenate([self._at_points(grid, "algebraic") for grid in self.transcription.grids])

    def _at_points(self, grid: Grid, group: str) -> np.ndarray:
        """Values at all points; at the start of a scheme without it those of its polynomial there."""
        values = grid.group(self.outcome.w, group)
        if grid.scheme.shares:
            return values
        return np.concatenate([grid.powers(self.outcome.w, group)[:1, 0], values])

    def input_at(self, time: Any) -> np.ndarray:
        """Inputs (..., nu) at times, by the polynomials of the intervals."""
        t = np.clip(np.asarray(time, dtype=float), 0.0, self._starts[-1])
        k = np.clip(np.searchsorted(self._starts, t, "right") - 1, 0, len(self.durations) - 1)
        found = np.zeros((*t.shape, len(self.transcription.grids[0].phase.equations.inputs)))
        for n, grid in enumerate(self.transcription.grids):
            chosen = k == n
            tau = (t[chosen] - self._starts[n]) / self.durations[n]
            found[chosen] = grid.between(self.outcome.w, "inputs", tau)
        return found

    def named(self, name: str) -> np.ndarray:
        """A state, input or algebraic variable by name at all points (k,)."""
        eq = self.transcription.grids[0].phase.equations
        tables = {"states": self.states, "inputs": self.inputs, "algebraic": self.algebraic}
        for group, table in tables.items():
            if name in getattr(eq, group):
                return table[:, getattr(eq, group).index(name)]
        known = [x for group in tables for x in getattr(eq, group)]
        raise InputError(
            f"{eq.name} has no variable {name!r}; {nearest(name, known)}Variables: {listed(known)}"
        )

    def values(self, function: Callable[[Point], Any]) -> np.ndarray:
        """A function of a point, such as `lambda point: point.position("hand")`, at all points (k, ...)."""
        named, found = self.parameters, list[Any]()
        for grid, T in zip(self.transcription.grids, self.durations, strict=True):
            groups = {"states": grid.states(self.outcome.w)}
            groups |= {group: self._at_points(grid, group) for group in ("algebraic", "inputs")}
            for k, tau in enumerate(grid.fractions):
                own = {group: x[k] for group, x in groups.items()}
                found.append(called(function, Point(grid.phase.equations, own, tau * T, T, named)))
        return np.array(found, dtype=float)

    # limits

    @cached_property
    def active(self) -> tuple[ActiveLimit, ...]:
        """Limits of variables and path constraints that the motion touches."""
        found: list[ActiveLimit] = []
        starts = self._starts
        for grid, T, start in zip(self.transcription.grids, self.durations, starts, strict=False):
            found += self._touched(grid, T, start)
        return (*found, *self._touched_rows())

    def _touched(self, grid: Grid, T: float, start: float) -> list[ActiveLimit]:
        eq, found = grid.phase.equations, list[ActiveLimit]()
        names = (*eq.states, *eq.algebraic, *eq.inputs)
        z = {"lower": self.outcome.lower, "upper": self.outcome.upper}
        for k, name in enumerate(names):
            points = grid.evaluated if k >= eq.nx else np.arange(len(grid.fractions))
            places = grid.offsets[points] + k
            for side, bound in (("lower", grid.phase.lower[k]), ("upper", grid.phase.upper[k])):
                if not np.isfinite(bound):
                    continue
                near = np.abs(self.outcome.w[places] - bound) <= TOUCHED * (1.0 + abs(bound))
                if near.any():
                    times = start + T * grid.fractions[points[near]]
                    found.append(ActiveLimit(name, side, times, float(np.abs(z[side][places[near]]).max())))
        return found

    def _touched_rows(self) -> list[ActiveLimit]:
        program, found = self.transcription.program, list[ActiveLimit]()
        low, high = program.row_bounds
        g = program.rows(self.outcome.w)
        inequality = low < high
        for side, bound in (("lower", low), ("upper", high)):
            near = inequality & np.isfinite(bound) & (np.abs(g - bound) <= TOUCHED * (1.0 + np.abs(bound)))
            rows: dict[str, list[tuple[float, float]]] = {}
            for row in np.flatnonzero(near):
                name, phase, fraction = program.place(int(row))
                if name in self.transcription.grids[phase].phase.equations.inputs:
                    continue  # is among the limits of variables
                time = self._starts[phase] + fraction * self.durations[phase]
                rows.setdefault(name, []).append((time, abs(self.outcome.rows[row])))
            for name, touched in rows.items():
                times, multipliers = (np.array(x) for x in zip(*touched, strict=True))
                found.append(ActiveLimit(name, side, times[np.isfinite(times)], float(multipliers.max())))
        return found

    # words and pictures

    def summary(self) -> str:
        """Cost, duration, status, accuracy, size and active limits as text."""
        program, grids = self.transcription.program, self.transcription.grids
        lines = [
            f"{self.status}: cost {self.cost:.8g}, duration {self.duration:.6g} s",
            f"error by simulation {self.error:.2e} (end of the motion {max(x.end for x in self.errors):.2e})",
            f"{', '.join(f'{g.intervals} intervals {g.scheme.name}' for g in grids)}: {program.n} variables, "
            f"{program.m} constraints, {self.outcome.iterations} iterations, {self.seconds:.3g} s",
            f"violation {self.outcome.violation:.1e}, distance to optimality {self.outcome.optimality:.1e}",
        ]
        lines += [f"{name} = {value:.6g}" for name, value in self.parameters.items()]
        for x in self.active[:12]:
            where = (
                f", {x.times[0]:.3g} to {x.times[-1]:.3g} s at {len(x.times)} points" if len(x.times) else ""
            )
            lines.append(f"active: {x.side} limit of {x.name}{where}, multiplier {x.multiplier:.3g}")
        if len(self.active) > 12:
            lines.append(f"and {len(self.active) - 12} more active limits")
        return "\n".join(lines)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write a page of HTML with summary, picture, active limits and meshes."""
        image = BytesIO()
        self.plot().savefig(image, format="png", dpi=100)
        picture = b64encode(image.getvalue()).decode()
        limits = [
            (
                x.name,
                x.side,
                f"{x.times[0]:.4g} to {x.times[-1]:.4g}" if len(x.times) else "",
                f"{x.multiplier:.3g}",
            )
            for x in self.active
        ]
        meshes = [[f"{value:.6g}" for value in x.values()] for x in self.rounds]
        parts = [
            "<!DOCTYPE html><html><head><meta charset='utf-8'><title>Optimal motion</title></head><body>",
            f"<h1>Optimal motion of {escape(self.transcription.grids[0].phase.equations.name)}</h1>",
            f"<pre>{escape(self.summary())}</pre>",
            f'<img src="data:image/png;base64,{picture}" alt="states and inputs over time">',
            "<h2>Active limits</h2>",
            html_table(("limit", "side", "time [s]", "largest multiplier"), limits),
            "<h2>Meshes</h2>",
            html_table(("intervals", "cost", "iterations", "error by simulation"), meshes),
            "</body></html>",
        ]
        file = Path(path)
        try:
            file.write_text("\n".join(parts), encoding="utf-8")
        except OSError as reason:
            raise InputError(f"{file}: cannot be written ({reason.strerror})", path=str(file)) from None
        return file

    def plot(self, path: str | os.PathLike[str] | None = None, *, title: str = "", **options: Any) -> Figure:
        """States and inputs over time with their limits as a figure of matplotlib; written to the path if given."""
        grid = self.transcription.grids[0]
        eq = grid.phase.equations
        time = np.unique(
            np.concatenate([np.linspace(a, b, DENSE) for a, b in zip(self.time, self.time[1:], strict=False)])
        )
        panels = [
            Panel(
                *TITLES.get(part, (part, part)),
                dict(zip(eq.short_names(part), curves.T, strict=True)),
                distinct([*eq.short_names(part)]),
            )
            for part, curves in self._curves(time).items()
        ]
        figure = figure_of(
            time, [panels[k : k + 2] for k in range(0, len(panels), 2)], title=title or repr(self)[1:-1]
        )
        if path is not None:
            write_figure(figure, path)
        return figure

    def _curves(self, time: np.ndarray) -> dict[str, np.ndarray]:
        """Values of the parts of the states and of the inputs at times."""
        eq, points = self.transcription.grids[0].phase.equations, self.time
        order = np.unique(points, return_index=True)[1]
        curves: dict[str, np.ndarray] = {}
        for part, (group, place) in eq.parts.items():
            if group == "inputs":
                curves[part] = self.input_at(time)[:, place]
            elif group == "states" and eq.states[place]:
                values = self.states[:, place][order]
                curves[part] = np.stack([np.interp(time, points[order], x) for x in values.T], axis=1)
        return curves


def as_motion(grids: tuple[Grid, ...], w: np.ndarray, durations: np.ndarray) -> Trajectory:
    """The coordinates of a mechanism, or all states, as polynomials through values and derivatives at the points."""
    times, values = list[np.ndarray](), list[tuple[np.ndarray, ...]]()
    start = 0.0
    for k, (grid, T) in enumerate(zip(grids, durations, strict=True)):
        skip = int(k > 0)
        own = _derivatives(grid, w, T)
        times.append((start + T * grid.fractions)[skip:])
        values.append(tuple(x[skip:] for x in own))
        start += T
    return through(np.concatenate(times), *(np.concatenate(x) for x in zip(*values, strict=True)))


def _derivatives(grid: Grid, w: np.ndarray, T: float) -> tuple[np.ndarray, ...]:
    """Coordinates, rates and accelerations of a mechanism at the points; of other equations states and their rates."""
    eq, X = grid.phase.equations, grid.states(w)
    if "q" in eq.parts and eq.subject is not None and eq.subject.nq == eq.subject.nv:
        return X[:, eq.parts["q"][1]], X[:, eq.parts["qd"][1]]
    h = np.diff(grid.mesh)[:, None, None] * T
    slopes = np.empty_like(X)
    c = grid.scheme.c if grid.scheme.shares else np.append(0.0, grid.scheme.c)
    places = grid.step * np.arange(grid.intervals)[:, None] + np.arange(len(c))
    V = np.linalg.inv(np.vander(c, increasing=True))
    D = np.vander(c, increasing=True)[:, :-1] * np.arange(1, len(c)) @ V[1:]
    each = np.einsum("ij,kjn->kin", D, X[places]) / h
    slopes[places.ravel()] = each.reshape(-1, X.shape[1])
    slopes[places[:, 0]] = each[:, 0]
    return X, slopes
