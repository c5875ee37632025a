"""Start of the iteration: the straight line between the ends, or an earlier motion.

Cold start: the states lie on the straight line between the states of both ends, algebraic variables and inputs are
zero, a free duration is one second. Where boundary constraints leave states of the ends open, the ends are those
nearest to the start of the mechanism that satisfy these constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from kinpair.errors import InputError
from kinpair.motion.rated import with_rates
from kinpair.motion.trajectory import Trajectory
from kinpair.optimisation.equations import Equations
from kinpair.optimisation.nonlinear_program import Block, Bounds, NonlinearProgram, Outcome, Pointwise
from kinpair.optimisation.optimum import Optimum
from kinpair.optimisation.transcription import Grid, Phase, Problem, Transcription

Ends = list[tuple[np.ndarray, np.ndarray]]


def guess_on(on_mesh: Transcription, guess: Any, ends: Callable[[Transcription], Ends]) -> np.ndarray:
    """Variables w to begin with."""
    problem, grids = on_mesh.problem, on_mesh.grids
    lower, upper = on_mesh.program.bounds
    w = np.zeros(on_mesh.program.n)
    count = len(problem.parameters)
    head = count + len(grids)
    w[:head] = [_between(a, b) for a, b in zip(lower[:head], upper[:head], strict=True)]
    for k in range(len(grids)):
        w[count + k] = np.clip(1.0, lower[count + k], upper[count + k])
    if isinstance(guess, Optimum):
        w[:head] = guess.outcome.w[:head]
        for grid, old in zip(grids, guess.transcription.grids, strict=True):
            _transfer(w, grid, guess.outcome.w, old)
    elif guess is not None:
        tables = [guess] if len(grids) == 1 else guess
        if not isinstance(tables, Sequence) or len(tables) != len(grids):  # type: ignore[redundant-expr]
            raise InputError(
                f"optimise: a guess for {len(grids)} phases is an earlier result, or a list with a motion or table for "
                "each phase"
            )
        for k, (grid, table) in enumerate(zip(grids, tables, strict=True)):
            _table(w, grid, table, count + k)
    else:
        for grid, (first, last) in zip(grids, ends(on_mesh), strict=True):
            states = first + grid.fractions[:, None] * (last - first)
            w[grid.offsets[:, None] + np.arange(grid.phase.equations.nx)] = states
    return np.clip(w, lower, upper)


def _between(low: float, high: float) -> float:
    return (low + high) / 2 if np.isfinite(low + high) else float(np.clip(0.0, low, high))


def _transfer(w: np.ndarray, grid: Grid, old_w: np.ndarray, old: Grid) -> None:
    """Evaluate the polynomials of a solution on another mesh."""
    for group, span in grid.phase.equations.spans().items():
        points = grid.evaluated if group != "states" else np.arange(len(grid.fractions))
        places = grid.offsets[points][:, None] + np.arange(span.start, span.stop)
        w[places] = old.between(old_w, group, grid.fractions[points], "left")


def _interpolated(at: np.ndarray, known: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.stack([np.interp(at, known, x) for x in values.T], axis=1)


def _table(w: np.ndarray, grid: Grid, guess: Any, duration: int) -> None:
    """Write the states of a motion, a run or a table to w, and its inputs and algebraic variables where it has any."""
    eq = grid.phase.equations
    times, values = _columns(eq, guess)
    w[duration] = np.clip(times[-1] - times[0], *grid.phase.duration)
    fraction = (times - times[0]) / (times[-1] - times[0])
    for group, columns in values.items():
        points = grid.evaluated if group != "states" else np.arange(len(grid.fractions))
        span = eq.spans()[group]
        places = grid.offsets[points][:, None] + np.arange(span.start, span.stop)
        w[places] = _interpolated(grid.fractions[points], fraction, columns)


def _columns(eq: Equations, guess: Any) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Times (k,) and values (k, n) by group of a guess."""
    if isinstance(guess, Trajectory):
        times = np.linspace(0.0, guess.duration, 201)
        m = eq.subject
        motion = with_rates(m, guess) if m is not None and guess.shape == (m.nq,) != (m.nv,) else guess
        x = motion.at(times)
        return times, {"states": _states(eq, times, {"q": x.q, "qd": x.qd, "qdd": x.qdd})}
    if hasattr(guess, "time") and hasattr(guess, "q") and hasattr(guess, "qd"):
        times = np.asarray(guess.time)
        return times, {"states": _states(eq, times, {"q": guess.q, "qd": guess.qd, "x": guess.x})}
    try:
        times, *rest = (np.asarray(x, dtype=float) for x in guess)
    except (TypeError, ValueError) as problem:
        raise InputError(
            f"optimise: guess is {type(guess).__name__}; give an earlier result, a motion, a run, or (times, states) "
            "with inputs if known; of several phases a list of them"
        ) from problem
    values: dict[str, np.ndarray] = dict(zip(("states", "inputs", "algebraic"), rest, strict=False))
    for group, x in values.items():
        expected = len(getattr(eq, group))
        if times.ndim != 1 or len(times) < 2 or x.shape != (len(times), expected):
            raise InputError(
                f"optimise: guess has {group} {x.shape} at {times.shape} times; expected (k, {expected}) at (k,)"
            )
    return times, values


def _states(eq: Equations, times: np.ndarray, parts: Mapping[str, Any]) -> np.ndarray:
    """States (k, nx) from parts of them; the others as in the origin."""
    if "q" not in eq.parts:
        return np.asarray(parts["q"], dtype=float)
    states = np.tile(eq.origin, (len(times), 1))
    for part, values in parts.items():
        if part in eq.parts and eq.parts[part][0] == "states" and np.size(values):
            states[:, eq.parts[part][1]] = values
    return states


def straight_ends(problem: Problem, solve: Callable[..., Outcome]) -> Ends:
    """States at both ends of each phase: given, or nearest to the origin under the boundary constraints."""
    plain = [_given(x) for x in problem.phases]
    open_ends = any(np.isnan(y).any() for x in problem.phases for y in (x.start, x.end))
    if not problem.boundary or not open_ends:
        return plain
    return _nearest(problem, plain, solve)


def _given(phase: Phase) -> tuple[np.ndarray, np.ndarray]:
    """Ends as given; what is free at one end is as at the other, or as in the origin."""
    origin = np.clip(
        phase.equations.origin, phase.lower[: phase.equations.nx], phase.upper[: phase.equations.nx]
    )
    start = np.where(np.isnan(phase.start), np.where(np.isnan(phase.end), origin, phase.end), phase.start)
    return start, np.where(np.isnan(phase.end), start, phase.end)


def _nearest(problem: Problem, plain: Ends, solve: Callable[..., Outcome]) -> Ends:
    """Solve: least squares from the plain ends under the boundary constraints."""
    function = problem.functions[-1]
    count, n = len(problem.parameters), len(problem.phases)
    bounds = [
        (x.lower[: x.equations.nx], x.upper[: x.equations.nx], values)
        for x in problem.phases
        for values in (x.start, x.end)
    ]
    low = np.concatenate([problem.parameter_bounds.lower, [x.duration[0] for x in problem.phases],
                          *(np.where(np.isnan(v), a, v) for a, _, v in bounds)])  # fmt: skip
    high = np.concatenate([problem.parameter_bounds.upper, [x.duration[1] for x in problem.phases],
                           *(np.where(np.isnan(v), b, v) for _, b, v in bounds)])  # fmt: skip
    first = [np.clip(1.0, *x.duration) for x in problem.phases]
    w = np.concatenate([np.zeros(count), first, *(x for pair in plain for x in pair)])
    w = np.clip(w, low, high)
    distance = Pointwise(
        lambda v, d: np.array([((v - d) * (v - d)).sum()], dtype=object), len(w), len(w), "distance"
    )
    rows = sum(x.size for x in problem.boundary)
    size = function.m + 1
    C = sparse.csr_matrix((np.ones(rows), (np.arange(rows), np.arange(rows))), shape=(rows, size))
    c = np.zeros(size)
    c[-1] = 1.0
    every = np.arange(len(w))[None]
    blocks = [Block(function, every, np.zeros((1, 1))), Block(distance, every, w[None].copy())]
    limits = Bounds(
        *(np.concatenate([getattr(x, side) for x in problem.boundary]) for side in ("lower", "upper"))
    )
    program = NonlinearProgram(
        blocks,
        sparse.csr_matrix((rows, len(w))),
        C,
        c,
        Bounds(low, high),
        limits,
        lambda row: ("boundary", 0, np.nan),
    )
    found = solve(program, w).w
    ends, start = list[tuple[np.ndarray, np.ndarray]](), count + n
    for x in problem.phases:
        nx = x.equations.nx
        ends.append((found[start : start + nx], found[start + nx : start + 2 * nx]))
        start += 2 * nx
    return ends
