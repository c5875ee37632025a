"""Functions of a user, recorded: run once on symbols, so that they become part of machine code.

A recording is taken only if it gives the number that the function gives. Two functions that record to the same formula
are one to whoever keeps compiled code.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kinpair.algebra.user_arrays import argument
from kinpair.algebra.user_functions import call, restoring
from kinpair.compiler.program import Program, interpret
from kinpair.compiler.trace import trace
from kinpair.errors import InputError, described, listed, nearest
from kinpair.simulation.rounding import AGREES

MOST = 10_000  # operations: a longer recording takes longer to compile than a run takes to call the function


@dataclass(frozen=True)
class Recorded:
    """A function (time, q, qd) that was recorded; equal to another one with the same formula.

    `forces`: names of those that it looks at, where it is a function (time, q, qd, forces). `takes_x`: is it one of
    (time, q, qd, x), x the internal states?
    """

    formula: str
    function: Callable[..., Any] = field(compare=False)
    program: Program = field(compare=False, repr=False)
    forces: frozenset[str] | None = field(default=None, compare=False)
    takes_x: bool = field(default=False, compare=False)

    def __call__(self, time: Any, q: Any, qd: Any, *more: Any) -> Any:
        """Value of the function; a list of numbers is an array."""
        value = call(self.function, time, q, qd, *more)
        return np.array(value) if isinstance(value, list | tuple) else value


class Forces(dict[str, Any]):
    """Multipliers of rows of constraints, and wrenches (6,) in joints, by name; it knows which were looked at."""

    def __init__(self, owner: str, forces: Any) -> None:
        super().__init__(forces)
        self.owner, self.seen = owner, set[str]()

    def __getitem__(self, name: str) -> Any:
        self.seen.add(name)
        return super().__getitem__(name)

    def __missing__(self, name: Any) -> Any:
        raise UnknownForceError(
            f"{self.owner} watches the force {name!r}; {nearest(str(name), self)}"
            f"Rows of constraints and joints: {listed(self, 12)}",
            force=name,
        )


class UnknownForceError(InputError):
    """A force that no constraint and no joint has."""


@dataclass(frozen=True, slots=True)
class NotRecorded:
    """Reason why a function cannot be recorded, and where in it; `works`: it gives finite numbers of the right
    shape."""

    reason: str
    works: bool = False


def recorded(
    function: Callable[..., Any],
    shape: tuple[int, ...],
    state: tuple[np.ndarray, np.ndarray, float],
    forces: Forces | None = None,
    x: np.ndarray | None = None,
) -> Recorded | NotRecorded:
    """The function on symbols, of results of this shape, compared with itself at a state (q, q̇, time).

    `forces` are numbers by name, for a function (time, q, qd, forces); `x` internal states, for one of
    (time, q, qd, x).
    """
    with restoring(function) as check_memory:
        return _recorded(function, shape, state, forces, x, check_memory)


def _recorded(
    function: Callable[..., Any],
    shape: tuple[int, ...],
    state: tuple[np.ndarray, np.ndarray, float],
    forces: Forces | None,
    x: np.ndarray | None,
    check_memory: Callable[[], None],
) -> Recorded | NotRecorded:
    q, qd, time = state
    as_array = Recorded("", function, None)  # type: ignore[arg-type]
    more: dict[str, Any] = dict(forces or {}) if x is None else {"x": x}
    shapes_of = {"time": (), "q": q.shape, "qd": qd.shape, **{x: np.shape(f) for x, f in more.items()}}
    seen: set[str] = set()

    def run(time: Any, q: Any, qd: Any, *values: Any) -> Any:
        if forces is None:
            return as_array(time, q, qd, *values)
        symbols = Forces(forces.owner, zip(more, map(argument, values), strict=True))
        try:
            return as_array(time, q, qd, symbols)
        finally:
            seen.update(symbols.seen)

    own = tuple(value.copy() for value in more.values()) if forces is None else (forces,)
    try:
        check_memory()
        program = trace(run, shapes_of, name=getattr(function, "__name__", ""))
        check_memory()
    except Exception as problem:
        reason = f"{described(problem)}{_place(problem, function)}"
        return NotRecorded(reason, _works(function, (time, q.copy(), qd.copy(), *own), shape))
    if (count := program.count["total"]) > MOST:
        reason = f"recorded, it has {count} operations, more than {MOST}; use a table (times, values) or a regulator"
        return NotRecorded(reason, _works(function, (time, q.copy(), qd.copy(), *own), shape))
    shapes = list(program.output_shapes.values())
    if shapes != [shape]:
        return NotRecorded(
            f"it returns {'shape ' + str(shapes[0]) if len(shapes) == 1 else 'several things'}"
        )
    try:
        plain = np.asarray(function(time, q.copy(), qd.copy(), *own), dtype=float)
    except Exception as problem:
        return NotRecorded(f"{described(problem)}{_place(problem, function)}")
    value = np.asarray(interpret(program, time, q, qd, *more.values()))
    scale = max(1.0, float(np.abs(plain).max(initial=0.0)))
    if plain.shape != shape or not np.abs(value - plain).max(initial=0.0) <= AGREES * scale:
        return NotRecorded(
            "recorded, it gives other numbers than called: it decides by something that changes",
            works=plain.shape == shape and bool(np.isfinite(plain).all()),
        )
    known = None if forces is None else frozenset(seen)
    return Recorded(str(program), function, program, known, x is not None)


def _works(function: Callable[..., Any], arguments: tuple[Any, ...], shape: tuple[int, ...]) -> bool:
    """True if the function of floats gives finite numbers of this shape."""
    try:
        with np.errstate(all="ignore"):
            value = np.asarray(function(*arguments), dtype=float)
            return value.shape == shape and bool(np.isfinite(value).all())
    except Exception:
        return False


def _place(problem: BaseException, function: Callable[..., Any]) -> str:
    """Return the name and line of the function at which it failed."""
    code = getattr(function, "__code__", getattr(type(function).__call__, "__code__", None))
    frames = [
        x for x in traceback.extract_tb(problem.__traceback__) if code and x.filename == code.co_filename
    ]
    if not frames:
        return ""
    last = frames[-1]
    return f" ({last.name}, line {last.lineno} of {Path(last.filename).name})"
