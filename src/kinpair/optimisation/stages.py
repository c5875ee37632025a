"""Conversion of the arguments of `kp.optimise` to a problem: phases, their links, parameters and terminal costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinpair.errors import InputError
from kinpair.optimisation.equations import Equations, Point
from kinpair.optimisation.mechanism_equations import equations_of
from kinpair.optimisation.nonlinear_program import Bounds
from kinpair.optimisation.requirements import (
    constraints,
    duration_bounds,
    end_values,
    running_costs,
    variable_bounds,
)
from kinpair.optimisation.schemes import explicit
from kinpair.optimisation.transcription import Phase, Problem


@final
@dataclass(frozen=True, eq=False)
class Stage:
    """A phase with the weight of its time and constraints of its ends."""

    phase: Phase
    time_weight: float
    repeat: Mapping[str, Any]


def phase(
    subject: Any,
    *,
    start: Any = None,
    end: Any = None,
    duration: Any = None,
    cost: Any = None,
    limits: Any = True,
    path: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    actuators: Sequence[str] | None = None,
    passive: bool = True,
    shooting: bool = False,
) -> Stage:
    """Describe one phase of a motion of several phases; arguments as those of `kp.optimise`.

    shooting: for method="shooting", rates without algebraic variables.

    Units: SI, durations [s], coordinates [rad] or [m], efforts [N m] or [N].
    """
    eq = equations_of(subject, cost=cost, actuators=actuators, passive=passive, guess=start)
    return stage(eq, start, end, duration, cost, limits, path, parameters, shooting=shooting)


def stage(
    eq: Equations,
    start: Any,
    end: Any,
    duration: Any,
    cost: Any,
    limits: Any = True,
    path: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    *,
    shooting: bool = False,
) -> Stage:
    """A phase with given equations; the other arguments as those of `kp.optimise`."""
    eq = explicit(eq) if shooting else eq
    first, last = (end_values(eq, x, which) for x, which in ((start, "start"), (end, "end")))
    bounds = variable_bounds(eq, limits, first, last)
    T = duration_bounds(duration)
    names = {name: _middle(name, value) for name, value in (parameters or {}).items()}
    point = _example(eq, first, T, names)
    costs, time_weight = running_costs(eq, cost, point)
    of_file = {
        x.name: (x.lower, x.function, x.upper) for x in eq.path if limits is not False or x.name == "power"
    }
    every = of_file | dict(path) if path is not None else of_file
    eq.following(first, "start")
    following = eq.following(last, "end")
    own = Phase(eq, T, *bounds, first, last, costs, constraints(every, [point], "path"), following)
    return Stage(own, time_weight, {})


def problem_of(stages: Sequence[Any], boundary: Any, terminal: Any, parameters: Any) -> Problem:
    for x in stages:
        if not isinstance(x, Stage):
            raise InputError(f"optimise: {x!r} is no phase; make phases with kp.phase(...)")
    named = {name: _bounds_of(name, value) for name, value in (parameters or {}).items()}
    middle = {name: _middle(name, value) for name, value in (parameters or {}).items()}
    ends = [
        _example(x.phase.equations, v, x.phase.duration, middle)
        for x in stages
        for v in (x.phase.start, x.phase.end)
    ]
    for point in ends:
        point.values.pop("algebraic"), point.values.pop("inputs")  # type: ignore[attr-defined]
    links = (
        dict(stages[0].repeat) | dict(boundary or {}) if isinstance(boundary, Mapping | None) else boundary
    )
    terms = terminal if isinstance(terminal, Mapping) else {} if terminal is None else {terminal: 1.0}
    weights = {x.time_weight for x in stages}
    if len(weights) > 1:
        raise InputError("optimise: phases have different weights of the time; give all of them the same")
    return Problem(
        tuple(x.phase for x in stages),
        tuple(named),
        Bounds(*(np.array([x[k] for x in named.values()]) for k in (0, 1))),
        constraints(links, ends, "boundary"),
        tuple((f, float(w)) for f, w in terms.items()),
        weights.pop(),
    )


def _bounds_of(name: str, value: Any) -> tuple[float, float]:
    try:
        low, high = value
    except (TypeError, ValueError):
        low = high = value
    low, high = (float(default if x is None else x) for x, default in ((low, -np.inf), (high, np.inf)))
    if not low <= high:
        raise InputError(f"optimise: the bounds of parameter {name!r} contradict each other: {value!r}")
    return low, high


def _middle(name: str, value: Any) -> float:
    """A value between bounds: their middle, or the nearest one to zero."""
    low, high = _bounds_of(name, value)
    return (low + high) / 2 if np.isfinite(low + high) else float(np.clip(0.0, low, high))


def _example(
    eq: Equations, states: np.ndarray, duration: tuple[float, float], parameters: Mapping[str, Any]
) -> Point:
    """A point at which functions of the user are tried."""
    x = np.where(np.isnan(states), eq.origin, states)
    values = {"states": x, "algebraic": np.zeros(len(eq.algebraic)), "inputs": np.zeros(len(eq.inputs))}
    return Point(eq, values, 0.0, first_duration(duration), dict(parameters))


def first_duration(bounds: tuple[float, float]) -> float:
    """Duration of the cold start: one second, or the nearest bound [s]."""
    return float(np.clip(1.0, *bounds))
