"""Where the iteration begins: the straight line between the ends, or an earlier motion.

Cold start: the states lie on the straight line between the states of both ends, algebraic variables and inputs are
zero, a free duration is one second. Where boundary constraints leave states of the ends open, the ends are those
nearest to the start of the mechanism that satisfy these constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from kinpair.errors import InputError
from kinpair.motion.trajectory import Trajectory
from kinpair.optimisation.nonlinear_program import Block, Bounds, NonlinearProgram, Outcome
from kinpair.optimisation.optimum import Optimum
from kinpair.optimisation.pointwise import Pointwise
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
        _table(w, grids, guess, count)
    else:
        for grid, (first, last) in zip(grids, ends(on_mesh), strict=True):
            states = first + grid.fractions[:, None] * (last - first)
            w[grid.offsets[:, None] + np.arange(grid.phase.equations.nx)] = states
    return np.clip(w, lower, upper)


def _between(low: float, high: float) -> float:
    return (low + high) / 2 if np.isfinite(low + high) else float(np.clip(0.0, low, high))


def _transfer(w: np.ndarray, grid: Grid, old_w: np.ndarray, old: Grid) -> None:
    """Interpolate a solution on another mesh."""
    eq = grid.phase.equations
    own = np.arange(eq.nx)
    known = old.states(old_w)
    w[grid.offsets[:, None] + own] = _interpolated(grid.fractions, old.fractions, known)
    for group, span in eq.spans().items():
        if group != "states" and span.stop > span.start:
            values = _interpolated(
                grid.fractions[grid.evaluated], old.fractions[old.evaluated], old.group(old_w, group)
            )
            w[grid.offsets[grid.evaluated][:, None] + np.arange(span.start, span.stop)] = values


def _interpolated(at: np.ndarray, known: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.stack([np.interp(at, known, x) for x in values.T], axis=1)


def _table(w: np.ndarray, grids: Sequence[Grid], guess: Any, count: int) -> None:
    """States, and inputs where there are any, of a motion, a run or a table."""
    if len(grids) > 1:
        raise InputError("optimise: a guess for several phases is an earlier result of the same phases")
    grid = grids[0]
    eq = grid.phase.equations
    times, states, inputs = _columns(eq, guess)
    low, high = grid.phase.duration
    w[count] = np.clip(times[-1] - times[0], low, high)
    fraction = (times - times[0]) / (times[-1] - times[0])
    w[grid.offsets[:, None] + np.arange(eq.nx)] = _interpolated(grid.fractions, fraction, states)
    if inputs is not None:
        span = eq.spans()["inputs"]
        places = grid.offsets[grid.evaluated][:, None] + np.arange(span.start, span.stop)
        w[places] = _interpolated(grid.fractions[grid.evaluated], fraction, inputs)


def _columns(eq: Any, guess: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    if isinstance(guess, Trajectory):
        times = np.linspace(0.0, guess.duration, 201)
        x = guess.at(times)
        return times, np.concatenate([x.q, x.qd], axis=1)[:, : eq.nx] if "q" in eq.parts else x.q, None
    if hasattr(guess, "time") and hasattr(guess, "q") and hasattr(guess, "qd"):
        parts = [guess.q, guess.qd] + ([guess.x] if "x" in eq.parts and np.size(guess.x) else [])
        return np.asarray(guess.time), np.concatenate(parts, axis=-1), None
    try:
        times, states, *rest = (np.asarray(x, dtype=float) for x in guess)
    except (TypeError, ValueError) as problem:
        raise InputError(
            f"optimise: guess is {type(guess).__name__}; give an earlier result, a motion, a run, or (times, states) "
            "with inputs if known"
        ) from problem
    if times.ndim != 1 or states.shape != (len(times), eq.nx) or len(times) < 2:
        raise InputError(
            f"optimise: guess has states {states.shape} at {times.shape} times; expected (k, {eq.nx}) at (k,)"
        )
    return times, states, rest[0] if rest else None


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
