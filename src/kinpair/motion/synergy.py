"""Prescribed synergy: some coordinates are given in time, the free ones follow from the rows without actuator.

The semi-inverse method of Vukobratović: nothing drives the foot on the ground, so the motion of the trunk follows from
that of the legs. The rows are ordinary differential equations for the free coordinates, as a rule with a saddle, so the
motion that repeats itself is found as a boundary-value problem.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from kinpair.compiler.patience import patience
from kinpair.errors import InputError, SingularError, expect, listed, nearest
from kinpair.mechanism import Mechanism
from kinpair.motion.collocation import Attempt, Collocation, Shooting, mesh_of, multipliers
from kinpair.motion.free_rows import FreeRows, Resultant, Share, free_rows
from kinpair.motion.pieces import Pieces
from kinpair.motion.synergy_input import (
    Compensated,
    check_constraints,
    check_period,
    given_motion,
    mesh_times,
    signs_of,
    sizes_of,
)
from kinpair.motion.trajectory import Motion, Trajectory
from kinpair.viewer.curves import figure_of, write_figure
from kinpair.viewer.looks import Panel, distinct

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INTERVALS = 24
DOUBLINGS = 4
SOLVED = 1e-9  # what may be left of a row, as a part of its size
BETWEEN = 1e-8  # the same between the points of collocation
PERIODS = 200  # of an initial-value problem that settles
SETTLED = 1e-11
FAR = 1e3  # from one period to the next
SINGULAR = 1e-10  # of the size of F_c̈: free coordinates that move a row no more
METHODS = ("collocation", "shooting", "initial")


@final
@dataclass(frozen=True, eq=False)
class Synergy:
    """A motion whose free coordinates obey the rows without actuator, over one period [s].

    motion: of all coordinates. free: of the free coordinates alone. rest: the largest of what is left of a row, as a
    part of its size, at the points of the solution and between them.
    """

    mechanism: Mechanism
    motion: Trajectory
    free: Pieces
    names: tuple[str, ...]
    rows: FreeRows
    given: Trajectory
    signs: np.ndarray
    rest: float
    steps: int
    method: str

    @property
    def period(self) -> float:
        """Time after which it repeats, up to the signs of a symmetry [s]."""
        return self.motion.duration

    def at(self, time: Any, *, side: str = "") -> Motion:
        """Coordinates, rates, accelerations and jerk of all coordinates."""
        return self.motion.at(time, side=side)

    @cached_property
    def multipliers(self) -> np.ndarray:
        """Floquet multipliers of the free coordinates over the period, by the variational equations, the largest
        first: beyond 1 the motion repeats itself only if it is led, and forward integration leaves it."""
        shots = Shooting(self.rows, self.given, np.array(self.free.knots))
        x = self.free.at(np.array(self.free.knots), side="")
        flow = shots.flow(np.concatenate([x.q, x.qd], axis=1)[:-1])
        return multipliers(flow.Phi, np.tile(self.signs, 2))

    @property
    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """Free coordinates and their rates at the start."""
        x = self.free.at(0.0)
        return x.q, x.qd

    @property
    def repeats(self) -> float:
        """Distance of free coordinates and rates at the end from those at the start."""
        ends = [self.free.at(t) for t in (0.0, self.period)]
        gaps = [
            np.abs(self.signs * a - b).max() for a, b in ((ends[0].q, ends[1].q), (ends[0].qd, ends[1].qd))
        ]
        return float(max(gaps))

    def plot(self, path: str | os.PathLike[str] | None = None, *, title: str = "") -> Figure:
        """Free coordinates and rates over time, and against each other; written to the path if given."""
        time = np.linspace(0.0, self.period, 601)
        x = self.free.at(time)
        looks = distinct(self.names)
        panels = [
            Panel(word, letter, {name: values[:, k] for k, name in enumerate(self.names)}, looks)
            for word, letter, values in (
                ("free coordinates", "c [rad or m]", x.q),
                ("rates of the free coordinates", "ċ [rad/s or m/s]", x.qd),
            )
        ]
        figure = figure_of(time, [panels], title=title or f"{self.mechanism.name}: synergy")
        if path is not None:
            write_figure(figure, path)
        return figure

    def __str__(self) -> str:
        largest = listed([f"{x:.6g}" for x in self.multipliers], 4)
        return "\n".join(
            [
                f"{self.mechanism.name}: {listed(self.names)} follow from {listed(self.rows.row_names)}",
                f"period {self.period:.6g} s, repeats to {self.repeats:.2g}, rows hold to {self.rest:.2g} of their "
                "size",
                f"multipliers {largest}",
            ]
        )


def synergy(
    m: Mechanism,
    given: Trajectory | Mapping[str, Trajectory],
    free: Sequence[str | Share],
    rows: Sequence[str | Resultant] | None = None,
    *,
    period: float | None = None,
    symmetry: Sequence[int] | Mapping[str, int] | None = None,
    method: str = "collocation",
    intervals: int = INTERVALS,
    mesh: Sequence[float] | np.ndarray | None = None,
    start: Trajectory | Any = None,
) -> Synergy:
    """The motion of the `free` coordinates that repeats itself while the rest moves as `given`.

    given: motions by coordinate, or one motion of all coordinates to which the free ones are added. free: coordinates,
    or dicts {"left arm": 1, "right arm": -1} of those that share one. rows: what has no actuator, as many as free
    coordinates: joints by name, `kp.motion.moment(axis, about)`, `kp.motion.force(axis)`; by default the free joints.

    period [s]: the duration of the given motion by default. symmetry: ±1 for each free coordinate, which has at the end
    of the period so many times what it has at its start: half a stride of a gait has −1 for what swings to the sides.

    method: "collocation"; "shooting", the second road; "initial", forward from `start`, (c, ċ), until it repeats. start
    is otherwise a guess, a motion of the free coordinates. The mesh is refined until the rows hold between its points.

    SingularError where there is no solution: which row fails when, with what was found in `parts`.
    """
    expect("synergy", m, Mechanism)
    if method not in METHODS:
        raise InputError(
            f"synergy: method is {method!r}; {nearest(str(method), METHODS)}Methods: {listed(METHODS)}"
        )
    own = free_rows(m, free, rows)
    motion = given_motion(m, given, own, period)
    signs = signs_of(own, symmetry)
    check_constraints(own, motion)
    sizes = sizes_of(own, motion)
    check_period(own, motion, signs, sizes)
    problem = _Problem(own, motion, signs, sizes)
    with patience(f"synergy of {m.name!r}"):
        points = mesh_times(motion, own, intervals) if mesh is None else np.asarray(mesh, dtype=float)
        found = _METHODS[method](problem, points, start)
        for _ in range(DOUBLINGS):
            if found.rest <= BETWEEN:
                break
            points = _halved(points)
            found = _METHODS[method](problem, points, found.start if method == "initial" else found.free)
    return found


@dataclass(frozen=True, eq=False)
class _Problem:
    rows: FreeRows
    motion: Trajectory
    signs: np.ndarray
    sizes: np.ndarray

    @property
    def sigma(self) -> np.ndarray:
        return np.tile(self.signs, 2)

    def result(self, solver: Collocation, found: Attempt, method: str) -> Synergy:
        """The solution with what is left of the rows between its points."""
        free = solver.pieces(found.y, found.k)
        rest = max(found.largest, float(solver.between(self.motion, free).max()))
        rows, given = self.rows, self.motion
        knots = tuple(np.union1d(given.knots, free.knots).tolist())
        motion = Compensated(given.duration, given.shape, knots, given, free, rows.S_q, rows.S_v)
        return Synergy(
            rows.mechanism, motion, free, rows.names, rows, given, self.signs, rest, found.steps, method
        )


def _by_collocation(problem: _Problem, points: np.ndarray, start: Any) -> Synergy:
    solver = Collocation(problem.rows, mesh_of(problem.rows, problem.motion, points), problem.sizes)
    found = solver.solve(*_first(problem, solver, start), problem.sigma)
    _check_solved(problem, solver, found)
    return problem.result(solver, found, "collocation")


def _by_shooting(problem: _Problem, points: np.ndarray, start: Any) -> Synergy:
    solver = Collocation(problem.rows, mesh_of(problem.rows, problem.motion, points), problem.sizes)
    shots = Shooting(problem.rows, problem.motion, points)
    first, _ = _first(problem, solver, start)
    found = shots.solve(first, problem.sigma)
    if not found.rest <= SOLVED:
        raise _lost(problem, f"multiple shooting leaves {found.rest:.2g} of the states", found.y, points)
    k = solver.polynomials(found.y, _accelerations(problem, solver, found.y))
    return problem.result(solver, k, "shooting")


def _by_initial_value(problem: _Problem, points: np.ndarray, start: Any) -> Synergy:
    n = len(problem.rows.names)
    y = np.zeros(2 * n) if start is None else np.concatenate([np.ravel(x) for x in start]).astype(float)
    if y.shape != (2 * n,):
        raise InputError(f"synergy: start has {y.size} numbers; give c and ċ of {n} free coordinates")
    shots = Shooting(problem.rows, problem.motion, points)
    gap = np.inf
    for _ in range(PERIODS):
        found = shots.forward(y)
        after = problem.sigma * found[-1]
        gap, y = float(np.abs(after - y).max()), after
        if not gap <= FAR or gap <= SETTLED * (1.0 + np.abs(y).max()):
            break
    found = shots.forward(y)
    if not gap <= SETTLED * (1.0 + np.abs(y).max()):
        grows = "grows beyond all bounds" if not gap <= FAR else f"is still {gap:.2g} away from repeating"
        raise _lost(problem, f"forward integration {grows}", found, points)
    solver = Collocation(problem.rows, mesh_of(problem.rows, problem.motion, points), problem.sizes)
    k = solver.polynomials(found, _accelerations(problem, solver, found))
    return problem.result(solver, k, "initial")


_METHODS: Mapping[str, Callable[[_Problem, np.ndarray, Any], Synergy]] = {
    "collocation": _by_collocation,
    "shooting": _by_shooting,
    "initial": _by_initial_value,
}


def _lost(problem: _Problem, what: str, y: np.ndarray, time: np.ndarray) -> SingularError:
    return SingularError(
        f"{problem.rows.mechanism.name}: no synergy found: {what}; take method='collocation'",
        time=time,
        states=y,
    )


def _first(problem: _Problem, solver: Collocation, start: Any) -> tuple[np.ndarray, np.ndarray]:
    """Start of Newton's iteration: at a guess, or at rest."""
    n, mesh = solver.n, solver.mesh
    if start is None:
        return np.zeros((len(mesh.time), 2 * n)), np.zeros((*mesh.nodes.shape, n))
    if not isinstance(start, Trajectory) or start.shape != (n,):
        raise InputError(f"synergy: start is not a motion of {n} free coordinates")
    ends, nodes = start.at(mesh.time), start.at(mesh.nodes)
    return np.concatenate([ends.q, ends.qd], axis=1), np.ascontiguousarray(nodes.qdd)


def _accelerations(problem: _Problem, solver: Collocation, y: np.ndarray) -> np.ndarray:
    """c̈ at the points, guessed from the states at the mesh."""
    n, h = solver.n, solver.mesh.h[:, None]
    mean = (y[1:, n:] - y[:-1, n:]) / h
    return np.repeat(mean[:, None], solver.mesh.nodes.shape[1], axis=1)


def _halved(points: np.ndarray) -> np.ndarray:
    return np.sort(np.concatenate([points, (points[1:] + points[:-1]) / 2]))


def _check_solved(problem: _Problem, solver: Collocation, found: Attempt) -> None:
    """Refuse what is no solution: the row that is left, and when; what was found is kept."""
    own, name = problem.rows, problem.rows.mechanism.name
    if found.largest <= SOLVED:
        return
    parts = {"time": solver.mesh.time, "states": found.y}
    at = solver.terms(found.y, found.k)
    reach = np.abs(np.linalg.det(at.by_cdd / problem.sizes[:, None]))
    weak = np.unravel_index(int(reach.argmin()), reach.shape)
    if not reach[weak] > SINGULAR * max(reach.max(), 1e-300):
        raise SingularError(
            f"{name}: no synergy: at {solver.mesh.nodes[weak]:.4g} s accelerations of {listed(own.names)} do not move "
            f"{listed(own.row_names)} in all directions; free other coordinates",
            **parts,
        )
    rest = np.where(np.isfinite(found.rest), found.rest, np.inf)
    i, j, row = np.unravel_index(int(rest.argmax()), rest.shape)
    time, size = float(solver.mesh.nodes[i, j]), float(problem.sizes[row])
    raise SingularError(
        f"{name}: no synergy found: row {own.row_names[row]!r} is left with {rest[i, j, row] * size:.4g} at {time:.4g} "
        f"s (its size is {size:.4g}) after {found.steps} steps; {listed(own.names)} cannot make up for what is given. "
        "Move it less, or slower, or free coordinates that carry more mass",
        row=own.row_names[row],
        when=time,
        **parts,
    )
