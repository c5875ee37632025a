"""Transcription of phases of motion to a nonlinear program: collocation at the places of a scheme.

With τ from 0 to 1 over a phase of duration T, its states satisfy dx/dτ = T f. So free durations are variables of each
point, and everything nonlinear happens at points: the rows of (OP2) are constant combinations of

    r_point = (T f, g, h, T ℓ)          rates, residuals, path constraints, running cost                (OP6)

at all points, and of the boundary functions at the ends of the phases. w is (parameters, durations, phase after phase,
point after point: x, z, u).

The file is long because it is one program: variables, rows and bounds share one numbering.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

import numpy as np
from scipy import sparse

from kinpair.optimisation.equations import GROUPS, Equations, Point, called
from kinpair.optimisation.nonlinear_program import Block, Bounds, NonlinearProgram, Pointwise
from kinpair.optimisation.schemes import Scheme, interval

UserFunction = Callable[..., Any]
Place = tuple[str, int, float]  # name of a row, number of its phase, fraction of the duration or nan


@final
@dataclass(frozen=True, eq=False)
class Constraint:
    """lower ≤ function(points) ≤ upper; the function has `size` values."""

    name: str
    function: UserFunction
    lower: np.ndarray
    upper: np.ndarray

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.lower)


@final
@dataclass(frozen=True, eq=False)
class Phase:
    """A part of a motion with one set of equations.

    duration: bounds (lower, upper) [s]. lower, upper: bounds of the variables of a point (size,). start, end: values of
    states there (nx,), nan where they are free. running: cost functions of a point with their weights.
    """

    equations: Equations
    duration: tuple[float, float]
    lower: np.ndarray
    upper: np.ndarray
    start: np.ndarray
    end: np.ndarray
    running: tuple[tuple[UserFunction, float], ...] = ()
    path: tuple[Constraint, ...] = ()
    following: tuple[int, ...] = ()  # states at the end that follow from the others by the residuals


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """Phases one after the other, parameters, and what is required of the ends of all phases."""

    phases: tuple[Phase, ...]
    parameters: tuple[str, ...] = ()
    parameter_bounds: Bounds = field(default_factory=lambda: Bounds(np.zeros(0), np.zeros(0)))
    boundary: tuple[Constraint, ...] = ()
    terminal: tuple[tuple[UserFunction, float], ...] = ()
    time_weight: float = 0.0

    @cached_property
    def functions(self) -> tuple[Pointwise, ...]:
        """The recorded functions of the phases, and that of the ends."""
        return (*(self._at_point(x) for x in self.phases), self._at_ends())

    @cached_property
    def shots(self) -> tuple[Pointwise, ...]:
        """The recorded intervals of the phases, for multiple shooting."""
        return tuple(interval(x, self.parameters) for x in self.phases)

    def _at_point(self, phase: Phase) -> Pointwise:
        count, eq = len(self.parameters), phase.equations
        spans = eq.spans()

        def values(v: Any, d: Any) -> Any:
            T, own = v[count], v[count + 1 :]
            groups = {group: own[spans[group]] for group in GROUPS}
            named = dict(zip(self.parameters, v[:count], strict=True))
            point = Point(eq, groups, d[0] * T, T, named)
            parts = [[T * x for x in eq.rates(point)], list(np.reshape(eq.residual(point), -1))]
            parts += [_flat(called(x.function, point)) for x in phase.path]
            cost = sum((w * called(f, point) for f, w in phase.running), 0.0)
            return _stacked([*parts, [T * cost]])  # (OP6)

        return Pointwise(values, count + 1 + eq.size, 1, f"{eq.name}: point")

    def _at_ends(self) -> Pointwise:
        count, n = len(self.parameters), len(self.phases)

        def values(v: Any, d: Any) -> Any:
            named = dict(zip(self.parameters, v[:count], strict=True))
            points, start = [], count + n
            for k, phase in enumerate(self.phases):
                T, nx = v[count + k], phase.equations.nx
                for time in (0.0, T):
                    states = {"states": v[start : start + nx]}
                    points.append(Point(phase.equations, states, time, T, named))
                    start += nx
            parts = [_flat(called(x.function, *points)) for x in self.boundary]
            cost = sum((w * called(f, *points) for f, w in self.terminal), 0.0)
            return _stacked([*parts, [cost + self.time_weight * sum(v[count : count + n])]])

        size = count + n + 2 * sum(x.equations.nx for x in self.phases)
        return Pointwise(values, size, 1, "boundary")


def _flat(values: Any) -> list[Any]:
    return list(np.reshape(np.asarray(values, dtype=object), -1))


def _stacked(parts: Sequence[Sequence[Any]]) -> np.ndarray:
    every = [x for part in parts for x in part]
    stacked = np.empty(len(every), dtype=object)
    stacked[:] = every
    return stacked


@final
@dataclass(frozen=True, eq=False)
class Grid:
    """A phase on a mesh: fractions of its duration τ (intervals + 1,) and the scheme in each interval.

    `first`: number of its first variable in w. The first point of a scheme without left end has states only.
    """

    phase: Phase
    scheme: Scheme
    mesh: np.ndarray
    first: int

    @property
    def intervals(self) -> int:
        """Number of intervals."""
        return len(self.mesh) - 1

    @cached_property
    def fractions(self) -> np.ndarray:
        """τ of the points, the first one among them."""
        c = self.scheme.c[1:] if self.scheme.shares else self.scheme.c
        inside = self.mesh[:-1, None] + np.diff(self.mesh)[:, None] * c
        return np.append(self.mesh[0], inside.ravel())

    @property
    def step(self) -> int:
        """Points from one node to the next."""
        return len(self.scheme.c) - self.scheme.shares

    @cached_property
    def offsets(self) -> np.ndarray:
        """Number in w of the first variable of each point."""
        eq, count = self.phase.equations, len(self.fractions)
        head = eq.size if self.scheme.shares else eq.nx
        return self.first + np.append(0, head + eq.size * np.arange(count - 1))

    @property
    def end(self) -> int:
        """Number of the variable after the last one."""
        return int(self.offsets[-1]) + self.phase.equations.size

    @property
    def evaluated(self) -> np.ndarray:
        """Points at which the equations hold."""
        return np.arange(0 if self.scheme.shares else 1, len(self.fractions))

    def states(self, w: np.ndarray) -> np.ndarray:
        """States at all points (points, nx)."""
        return w[self.offsets[:, None] + np.arange(self.phase.equations.nx)]

    def group(self, w: np.ndarray, group: str) -> np.ndarray:
        """Algebraic variables or inputs at the evaluated points (points, n)."""
        span = self.phase.equations.spans()[group]
        return w[self.offsets[self.evaluated][:, None] + np.arange(span.start, span.stop)]

    def powers(self, w: np.ndarray, group: str) -> np.ndarray:
        """Coefficients (intervals, s, n) of the polynomials of a group over x from 0 to 1, the lowest power first."""
        if group == "states":
            c = self.scheme.c if self.scheme.shares else np.append(0.0, self.scheme.c)
            values = self.states(w)[self.step * np.arange(self.intervals)[:, None] + np.arange(len(c))]
        else:
            c, values = self.scheme.c, self.group(w, group)[self.places()]
        return np.einsum("pj,kjn->kpn", np.linalg.inv(np.vander(c, increasing=True)), values)

    def between(self, w: np.ndarray, group: str, tau: np.ndarray, side: str = "right") -> np.ndarray:
        """Values (k, n) of a group at fractions τ (k,), by the polynomials; at a node by those on a side of it."""
        k = np.clip(np.searchsorted(self.mesh, tau, side) - 1, 0, self.intervals - 1)  # type: ignore[call-overload]
        x, powers = (tau - self.mesh[k]) / np.diff(self.mesh)[k], self.powers(w, group)[k]
        return np.einsum("kp,kpn->kn", x[:, None] ** np.arange(powers.shape[1]), powers)

    def places(self) -> np.ndarray:
        """Positions (intervals, s) of the places of each interval among the evaluated points."""
        return self.step * np.arange(self.intervals)[:, None] + np.arange(len(self.scheme.c))


@final
@dataclass(frozen=True, eq=False)
class Transcription:
    """A problem on meshes: the nonlinear program, and what its variables and rows mean."""

    problem: Problem
    grids: tuple[Grid, ...]
    program: NonlinearProgram

    def smooth(self, weight: float) -> NonlinearProgram:
        """The program with a cost of differences of inputs.

        weight · N Σ_k (u_{k+1} − u_k)²                                                                (OP17)
        """
        pairs = list[np.ndarray]()
        for grid in self.grids:
            span = grid.phase.equations.spans()["inputs"]
            places = grid.offsets[grid.evaluated][:, None] + np.arange(span.start, span.stop)
            pairs.append(np.stack([places[:-1].ravel(), places[1:].ravel()], axis=1))
        every = np.concatenate(pairs)
        squares = Pointwise(
            lambda v, d: np.array([(v[1] - v[0]) * (v[1] - v[0])]), 2, 1, "differences"
        )  # (OP17)
        count = sum(len(grid.evaluated) for grid in self.grids)
        return self.program.with_cost(Block(squares, every, np.zeros((len(every), 1))), weight * count)


def transcribe(problem: Problem, schemes: Sequence[Scheme], meshes: Sequence[np.ndarray]) -> Transcription:
    """The program of a problem on meshes of its phases."""
    first = len(problem.parameters) + len(problem.phases)
    grids: list[Grid] = []
    for phase, scheme, mesh in zip(problem.phases, schemes, meshes, strict=True):
        grids.append(Grid(phase, scheme, mesh, first))
        first = grids[-1].end
    rows = _Rows(first)
    blocks: list[Block] = []
    for k, grid in enumerate(grids):
        blocks.append(rows.phase(problem, k, grid))
        if grid.scheme.shoots:
            blocks.append(rows.shots(problem, k, grid))
    blocks.append(rows.ends(problem, grids))
    program = NonlinearProgram(
        blocks, *rows.matrices(), rows.costs(), _bounds(problem, grids, first), rows.bounds(), rows.place
    )
    return Transcription(problem, tuple(grids), program)


class _Rows:
    """Rows A w + C r of the program while they are collected."""

    def __init__(self, variables: int) -> None:
        self.n, self.m, self.r = variables, 0, 0
        self.A: list[tuple[np.ndarray, ...]] = []
        self.C: list[tuple[np.ndarray, ...]] = []
        self.c: list[np.ndarray] = []
        self.limits: list[tuple[np.ndarray, np.ndarray]] = []
        self.names: list[tuple[int, Callable[[int], Place]]] = []

    def phase(self, problem: Problem, k: int, grid: Grid) -> Block:
        """Defects, residuals, path constraints and the running cost of a phase."""
        function, eq, scheme = problem.functions[k], grid.phase.equations, grid.scheme
        points, count = grid.evaluated, len(problem.parameters)
        block = Block(
            function,
            np.concatenate(
                [
                    np.tile([*range(count), count + k], (len(points), 1)),
                    grid.offsets[points][:, None] + np.arange(eq.size),
                ],
                axis=1,
            ),
            grid.fractions[points][:, None],
        )
        m, start, h = function.m, self.r, np.diff(grid.mesh)
        if not scheme.shoots:
            self._defects(grid, k, start, m, h)
            self._linear_inputs(grid, k)
        place = start + np.arange(len(points))[:, None] * m
        path = [x for x in grid.phase.path for _ in range(x.size)]
        residuals = m - 1 - eq.nx - len(path)
        lower = np.concatenate([np.zeros(residuals), *(x.lower for x in grid.phase.path)])
        upper = np.concatenate([np.zeros(residuals), *(x.upper for x in grid.phase.path)])
        own = place + np.arange(eq.nx, m - 1)
        self._direct(own.ravel(), np.tile(lower, len(points)), np.tile(upper, len(points)))
        titles = [f"equations of {eq.name}, row {j + 1}" for j in range(residuals)] + [x.name for x in path]
        times = grid.fractions[points]
        if titles:
            self._named(own.size, lambda i: (titles[i % len(titles)], k, float(times[i // len(titles)])))
        weights = np.zeros((len(points), m))
        if not scheme.shoots:
            np.add.at(weights[:, -1], grid.places().ravel(), (h[:, None] * scheme.a[-1]).ravel())
        self.c.append(weights.ravel())
        self.r += weights.size
        return block

    def shots(self, problem: Problem, own: int, grid: Grid) -> Block:
        """x_{k+1} − Φ_k = 0 of all intervals, and their running costs.    (OP12)"""
        function, eq, count = problem.shots[own], grid.phase.equations, len(problem.parameters)
        nodes, x, u = grid.offsets, np.arange(eq.nx), np.arange(eq.nx, eq.size)
        head = np.tile([*range(count), count + own], (grid.intervals, 1))
        parts = [nodes[:-1, None] + x, nodes[:-1, None] + u, nodes[1:, None] + u]
        data = np.stack([grid.mesh[:-1], np.diff(grid.mesh)], axis=1)
        k, i = np.arange(grid.intervals)[:, None], np.asarray(x)[None, :]
        row, ones = self.m + k * eq.nx + i, np.ones((grid.intervals, eq.nx))
        self.A.append((row, nodes[k + 1] + i, ones))
        self.C.append((row, self.r + k * function.m + i, -ones))
        self.limits.append((np.zeros(row.size), np.zeros(row.size)))
        self._named(
            row.size, lambda n: (f"motion of {eq.states[n % eq.nx]}", own, float(grid.mesh[n // eq.nx]))
        )
        self.m += row.size
        weights = np.zeros((grid.intervals, function.m))
        weights[:, -1] = 1.0
        self.c.append(weights.ravel())
        self.r += weights.size
        return Block(function, np.concatenate([head, *parts], axis=1), data)

    def _defects(self, grid: Grid, own: int, start: int, m: int, h: np.ndarray) -> None:
        """X_j − x_k − h Σ_l a_jl T f_l = 0.    (OP5)"""
        eq, scheme = grid.phase.equations, grid.scheme
        first = 1 if scheme.shares else 0
        s = len(scheme.c)
        node = grid.step * np.arange(grid.intervals)
        k, j, i = np.indices((grid.intervals, s - first, eq.nx), sparse=True)
        row = self.m + (k * (s - first) + j) * eq.nx + i
        point = node[k] + j + 1
        ones = np.ones(row.shape)
        self.A += [(row, grid.offsets[point] + i, ones), (row, grid.offsets[node[k]] + i + 0 * j, -ones)]
        for stage in range(s):
            coefficient = -h[k] * scheme.a[first:, stage][j] * ones
            raw = start + (node[k] + stage) * m + i + 0 * j
            self.C.append((row, raw, coefficient))
        size = row.size
        self.limits.append((np.zeros(size), np.zeros(size)))
        width, names = (s - first) * eq.nx, eq.states
        middle = (grid.mesh[1:] + grid.mesh[:-1]) / 2
        self._named(size, lambda i: (f"motion of {names[i % eq.nx]}", own, float(middle[i // width])))
        self.m += size

    def _linear_inputs(self, grid: Grid, own: int) -> None:
        """Inputs with limits are linear in each interval, so that limits at its ends are limits at all times. They stay
        polynomials of the scheme where the jerk or equations of the path determine them.

        u_j = u_1 + (c_j − c_1)/(1 − c_1) (u_s − u_1),   u_lower ≤ u(0) ≤ u_upper                      (OP11)
        """
        eq, span, c = grid.phase.equations, grid.phase.equations.spans()["inputs"], grid.scheme.c
        low, high = grid.phase.lower[span], grid.phase.upper[span]
        determined = "jerk" in eq.parts or any((x.lower == x.upper).any() for x in grid.phase.path)
        limited = np.flatnonzero((np.isfinite(low) | np.isfinite(high)) & (not determined))
        places = [(x, np.zeros_like(low), np.zeros_like(high)) for x in c[1:-1]] + (
            [] if grid.scheme.shares else [(0.0, low, high)]
        )
        k, i = np.indices((grid.intervals, len(limited)), sparse=True)
        points = grid.offsets[grid.evaluated][grid.places()]
        names = [eq.inputs[n] for n in limited]
        for x, lower, upper in places if len(limited) else ():
            row, part = self.m + k * len(limited) + i, (x - c[0]) / (1.0 - c[0])
            weights = {0: 1.0 - part, len(c) - 1: part} | ({int(np.argmax(c == x)): -1.0} if x in c else {})
            for stage, weight in weights.items():  # (OP11)
                self.A.append((row, points[k, stage] + span.start + limited[i], np.full(row.shape, weight)))
            self.limits.append(tuple(np.tile(b[limited], grid.intervals) for b in (lower, upper)))  # type: ignore[arg-type]
            self._named(row.size, lambda n: (names[n % len(names)], own, float(grid.mesh[n // len(names)])))
            self.m += row.size

    def _direct(self, raw: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> None:
        """Rows that are values of r themselves."""
        self.C.append((self.m + np.arange(len(raw)), raw, np.ones(len(raw))))
        self.limits.append((lower, upper))
        self.m += len(raw)

    def _named(self, count: int, name: Callable[[int], Place]) -> None:
        self.names.append((count, name))

    def ends(self, problem: Problem, grids: Sequence[Grid]) -> Block:
        """Boundary constraints and terminal costs."""
        variables = [np.arange(len(problem.parameters) + len(grids))]
        for grid in grids:
            own = np.arange(grid.phase.equations.nx)
            variables += [grid.offsets[0] + own, grid.offsets[-1] + own]
        function = problem.functions[-1]
        block = Block(function, np.concatenate(variables)[None], np.zeros((1, 1)))
        every = [x.name for x in problem.boundary for _ in range(x.size)]
        none = [np.zeros(0)]
        lower = np.concatenate([*none, *(x.lower for x in problem.boundary)])
        upper = np.concatenate([*none, *(x.upper for x in problem.boundary)])
        self._direct(self.r + np.arange(len(every)), lower, upper)
        self._named(len(every), lambda i: (every[i], 0, np.nan))
        self.c.append(np.append(np.zeros(len(every)), 1.0))
        self.r += len(every) + 1
        return block

    def matrices(self) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
        """A (m, n) and C (m, size of r)."""
        return tuple(  # type: ignore[return-value]
            sparse.csr_matrix(
                (
                    np.concatenate([x[2].ravel() for x in entries]),
                    tuple(np.concatenate([x[k].ravel() for x in entries]) for k in (0, 1)),
                ),
                shape=(self.m, size),
            )
            for entries, size in ((self.A, self.n), (self.C, self.r))
        )

    def costs(self) -> np.ndarray:
        """c, one weight for each value of r."""
        return np.concatenate(self.c)

    def bounds(self) -> Bounds:
        """Bounds of the rows."""
        return Bounds(*(np.concatenate(x) for x in zip(*self.limits, strict=True)))

    def place(self, row: int) -> Place:
        """Describe a row: its kind, its phase, and its place in it."""
        for count, name in self.names:
            if row < count:
                return name(row)
            row -= count
        raise IndexError(row)


def _bounds(problem: Problem, grids: Sequence[Grid], n: int) -> Bounds:
    """Bounds of all variables: ends are fixed where they are given."""
    lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    count = len(problem.parameters)
    lower[:count], upper[:count] = problem.parameter_bounds
    for k, grid in enumerate(grids):
        phase, eq = grid.phase, grid.phase.equations
        lower[count + k], upper[count + k] = phase.duration
        for p, offset in enumerate(grid.offsets):
            size = eq.size if p or grid.scheme.shares else eq.nx
            lower[offset : offset + size] = phase.lower[:size]
            upper[offset : offset + size] = phase.upper[:size]
        for offset, values in ((grid.offsets[0], phase.start), (grid.offsets[-1], phase.end)):
            given = np.isfinite(values)
            given[list(phase.following if offset == grid.offsets[-1] else ())] = False
            fixed = np.flatnonzero(given)
            lower[offset + fixed] = upper[offset + fixed] = values[fixed]
    return Bounds(lower, upper)
