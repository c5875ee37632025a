"""Conversion of the arguments of `kp.optimise` to a problem: ends, limits, costs and constraints, checked and by
name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinpair.errors import InputError, listed, nearest
from kinpair.motion.trajectory import Trajectory
from kinpair.optimisation.equations import GROUPS, Equations, Point, called, inner
from kinpair.optimisation.nonlinear_program import Bounds
from kinpair.optimisation.transcription import Constraint, UserFunction
from kinpair.simulation.events.events import Event

FREE = (1e-3, 1e4)  # duration [s] where it is free
NUMBERS = (int, float, np.integer, np.floating)


def duration_bounds(value: Any) -> tuple[float, float]:
    """Bounds of a duration: a number, (lower, upper), or None where it is free."""
    if value is None:
        return FREE
    pair: Any = value if np.shape(value) == (2,) else (value, value)
    low, high = pair
    if not all(isinstance(x, NUMBERS) for x in (low, high)) or not 0.0 < low <= high < np.inf:
        raise InputError(
            f"optimise: duration is {value!r}; give seconds, (lower, upper), or None where it is free"
        )
    return float(low), float(high)


def end_values(eq: Equations, value: Any, which: str) -> np.ndarray:
    """States at an end (nx,), nan where they are free.

    None: all free. An array: all states, or of a mechanism its coordinates, at rest. A mapping: by part or by name;
    of a mechanism at rest unless "qd" is given. Internal states begin as in the file unless "x" is given.
    """
    states = np.full(eq.nx, np.nan)
    if value is None:
        return states
    if isinstance(value, Mapping):
        if "qd" in eq.parts and "qd" not in value:
            states[eq.parts["qd"][1]] = 0.0
        if which == "start":
            _begin_inside(eq, states)
        for key, x in value.items():
            _assign(eq, states, key, x, which)
        return _finite_or_nan(states, which)
    x = np.asarray(value, dtype=float)
    sizes = {eq.nx: slice(None)} | ({eq.parts["q"][1].stop: eq.parts["q"][1]} if "q" in eq.parts else {})
    if x.ndim != 1 or len(x) not in sizes:
        raise InputError(
            f"optimise: {which} has shape {x.shape}; {eq.name} has the {eq.nx} states {listed(eq.states)}",
            **{which: x},
        )
    if len(x) != eq.nx and "qd" in eq.parts:
        states[eq.parts["qd"][1]] = 0.0
        if which == "start":
            _begin_inside(eq, states)
    states[sizes[len(x)]] = x
    return _finite_or_nan(states, which)


def _begin_inside(eq: Equations, states: np.ndarray) -> None:
    """Internal states of a mechanism, such as pressures, begin as in its file."""
    if "q" in eq.parts and "x" in eq.parts:
        place = eq.parts["x"][1]
        states[place] = eq.origin[place]


def _finite_or_nan(states: np.ndarray, which: str) -> np.ndarray:
    if np.isinf(states).any():
        raise InputError(f"optimise: {which} has an infinite value; give numbers, nan where a state is free")
    return states


def _assign(eq: Equations, states: np.ndarray, key: str, x: Any, which: str) -> None:
    if key not in eq.states and key in eq.parts and eq.parts[key][0] == "states":
        place = eq.parts[key][1]
        if isinstance(x, Mapping):
            names = eq.short_names(key)
            for name, value in x.items():
                states[place.start + _place_of(names, name, f"optimise: {which}")] = value
        elif x is None:
            states[place] = np.nan
        else:
            values = np.asarray(x, dtype=float)
            if values.shape not in ((), states[place].shape):
                raise InputError(
                    f"optimise: {which} {key!r} has shape {values.shape}; expected {states[place].shape}"
                )
            states[place] = values
    else:
        states[_place_of(eq.states, key, f"optimise: {which}")] = np.nan if x is None else x


def _place_of(names: Sequence[str], name: str, what: str) -> int:
    if name not in names:
        raise InputError(
            f"{what}: {name!r} is not known; {nearest(name, names)}Names: {listed(names)}", name=name
        )
    return list(names).index(name)


def variable_bounds(eq: Equations, limits: Any, start: np.ndarray, end: np.ndarray) -> Bounds:
    """Bounds of the variables of a point: those of the file unless limits is False, and those given by part or name."""
    lower, upper = np.full(eq.size, -np.inf), np.full(eq.size, np.inf)
    spans = eq.spans()

    def part_place(part: str) -> slice:
        group, place = eq.parts[part]
        indices = range(spans[group].start, spans[group].stop)[place]
        return slice(indices.start, indices.stop)

    for part, (low, high) in eq.limits.items():
        if limits is not False or part == "power":
            lower[part_place(part)], upper[part_place(part)] = low, high
    given = limits if isinstance(limits, Mapping) else {}
    every = [x for group in GROUPS for x in getattr(eq, group)]
    for key, value in given.items():
        if key not in every and key in eq.parts:
            place = part_place(key)
            if isinstance(value, Mapping):
                for name, pair in value.items():
                    at = place.start + _place_of(eq.short_names(key), name, f"optimise: limits {key!r}")
                    lower[at], upper[at] = _pair(name, pair)
            else:
                lower[place], upper[place] = _pair(key, value)
        else:
            at = _place_of(every, key, "optimise: limits")
            lower[at], upper[at] = _pair(key, value)
    _check_bounds(eq, lower, upper, start, end)
    return Bounds(lower, upper)


def _pair(name: str, value: Any) -> tuple[Any, Any]:
    """Lower and upper bound: (lower, upper), or the largest size."""
    if isinstance(value, tuple) and len(value) == 2:
        low, high = (np.asarray(-np.inf if x is None and k == 0 else np.inf if x is None else x, dtype=float)
                     for k, x in enumerate(value))  # fmt: skip
    else:
        high = np.asarray(value, dtype=float)
        low = -high
    if np.isnan(low).any() or np.isnan(high).any() or (low > high).any():
        raise InputError(
            f"optimise: the limits of {name!r} contradict each other: {value!r}; give (lower, upper)"
        )
    return low, high


def _check_bounds(
    eq: Equations, lower: np.ndarray, upper: np.ndarray, start: np.ndarray, end: np.ndarray
) -> None:
    """Reject an end outside the limits."""
    slack = 1e-9
    for which, values in (("start", start), ("end", end)):
        out = (values < lower[: eq.nx] - slack) | (values > upper[: eq.nx] + slack)
        if out.any():
            k = int(out.argmax())
            raise InputError(
                f"optimise: {which} has {eq.states[k]} = {values[k]:.6g}, outside its limits "
                f"{lower[k]:.6g} to {upper[k]:.6g}; change {which} or limits",
                state=eq.states[k],
            )


def constraints(given: Any, points: Sequence[Point], what: str) -> tuple[Constraint, ...]:
    """Constraints by name: a function that is zero, or (lower, function, upper)."""
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        raise InputError(
            f"optimise: {what} is {given!r}; give a dict name → function or (lower, function, upper)"
        )
    found: list[Constraint] = []
    for name, value in given.items():
        low, f, high = value if isinstance(value, tuple) and len(value) == 3 else (0.0, value, 0.0)
        if not callable(f):
            raise InputError(
                f"optimise: {what} {name!r} is {value!r}; give a function or (lower, function, upper)"
            )
        size = np.size(_tried(f, points, f"{what} {name!r}"))
        bounds = (
            np.broadcast_to(np.asarray(default if x is None else x, dtype=float), (size,))
            for x, default in ((low, -np.inf), (high, np.inf))
        )
        own = Constraint(name, f, *bounds)
        if (own.lower > own.upper).any():
            raise InputError(
                f"optimise: the bounds of {what} {name!r} contradict each other: {low!r} and {high!r}"
            )
        found.append(own)
    return tuple(found)


def _tried(f: UserFunction, points: Sequence[Point], what: str) -> Any:
    """The value of a function of the user at plain points; InputError where it fails or is not a number."""
    with np.errstate(all="ignore"):
        value = called(f, *points)
    try:
        np.asarray(value, dtype=float)
    except (TypeError, ValueError) as problem:
        raise InputError(f"optimise: {what} returns {value!r}; it must return numbers") from problem
    return value


def running_costs(
    eq: Equations, given: Any, point: Point
) -> tuple[tuple[tuple[UserFunction, float], ...], float]:
    """Cost functions of a point with their weights, and the weight of the time.

    given: a name, a function, or a dict name or function → weight.
    """
    weighted = given if isinstance(given, Mapping) else {given: 1.0} if given is not None else {}
    functions: list[tuple[UserFunction, float]] = []
    time = 0.0
    for key, value in weighted.items():
        f, weight = (key, value)
        if key == "time":
            time += float(weight)
            continue
        if key == "tracking" and isinstance(value, (tuple, Trajectory)):
            reference, weight = value if isinstance(value, tuple) else (value, 1.0)
            f = _tracking(eq, reference)
        elif isinstance(key, str):
            known = [*eq.costs, "time", "tracking"]
            if key not in eq.costs:
                raise InputError(
                    f"optimise: cost {key!r} is not known for {eq.name}; {nearest(key, known)}Costs: {listed(known)}, "
                    "or a function of a point",
                    cost=key,
                )
            f = eq.costs[key]
        if not callable(f):
            raise InputError(
                f"optimise: cost is {given!r}; give a name, a function of a point, or a dict of weights"
            )
        if not isinstance(weight, NUMBERS) or not np.isfinite(weight):
            raise InputError(f"optimise: the weight of cost {key!r} is {weight!r}; give a number")
        if np.size(_tried(f, [point], f"cost {key!r}")) != 1:
            raise InputError(f"optimise: cost {key!r} returns several values; it must return one number")
        functions.append((f, float(weight)))
    return tuple(functions), time


def _tracking(eq: Equations, reference: Any) -> UserFunction:
    """Σ (q − q_ref)² of a motion of the coordinates, or of all states."""
    if not isinstance(reference, Trajectory):
        raise InputError(f"optimise: tracking takes a motion, or (motion, weight); this is {reference!r}")

    def squares(point: Point) -> Any:
        own = point.q if "q" in eq.parts else point.x
        return sum((a - b) * (a - b) for a, b in zip(own, reference.at(point.time).q, strict=True))

    return squares


def repeated(eq: Equations, repeat: Any) -> dict[str, UserFunction]:
    """Constraints of a periodic motion: the start is what becomes of the end.

    repeat: True (equal states), a matrix of the states or of the coordinates, an Event with its change (an impact), a
    list of names of states, or a function of the end point that returns the states after it.
    """
    if repeat is None or repeat is False:
        return {}
    if isinstance(repeat, Event):
        if not callable(repeat.action):
            raise InputError(f"optimise: event {repeat.name!r} changes nothing; repeat= needs an impact")
        return {
            f"position of {repeat.name}": inner(lambda start, end: repeat.function(end.time, end.q, end.qd)),
            repeat.name: inner(lambda start, end: start.values["states"] - _changed(repeat, end)),
        }
    if callable(repeat):
        return {"repeat": inner(lambda start, end: start.values["states"] - called(repeat, end))}
    if repeat is True:
        return {"repeat": inner(lambda start, end: start.values["states"] - end.values["states"])}
    if all(isinstance(x, str) for x in repeat):
        places = [_place_of(eq.states, x, "optimise: repeat") for x in repeat]
        return {
            "repeat": inner(lambda start, end: start.values["states"][places] - end.values["states"][places])
        }
    L = np.asarray(repeat, dtype=float)
    blocks = eq.nx // len(L) if L.ndim == 2 and len(L) and eq.nx % len(L) == 0 else 0
    if L.shape != (len(L), len(L)) or not blocks:
        raise InputError(f"optimise: repeat has shape {L.shape}; {eq.name} has {eq.nx} states")
    whole = np.kron(np.eye(blocks), L)
    return {"repeat": inner(lambda start, end: start.values["states"] - whole @ end.values["states"])}


def _changed(event: Event, end: Point) -> Any:
    change = event.action(end.time, end.q, end.qd)
    q = end.q if change.q is None else change.q
    qd = end.qd if change.qd is None else change.qd
    return np.concatenate([q, qd])
