"""What happens on the way: functions that are watched for a change of sign, and what is then done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinpair.compiler.interpret import interpret
from kinpair.description.conditions import Condition
from kinpair.errors import InputError
from kinpair.mechanism import Mechanism
from kinpair.simulation.torques import AGREES, recorded

ACTIONS = "'record', 'stop', a kinpair.Change, or a function (time, q, qd) → Change or None"


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """What an event does to the motion: new coordinates or rates, constraints that begin or end, or the end.

    `add`: conditions (kinpair.conditions) that hold from now on; the rates jump to obey, by the least impulse.
    `remove`: names of conditions that hold no longer, of the description or added.
    """

    q: Any = None
    qd: Any = None
    add: Sequence[Condition] = ()
    remove: Sequence[str] = ()
    stop: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """Watch function(time, q, qd) for a change of sign: rising (`direction` +1), falling (−1), or both (0).

    `action`: "record", "stop", a `Change`, or a function (time, q, qd) that returns one or None. `every` [s]: steps are
    no longer than that, for a function that may change its sign twice within a step.
    """

    name: str
    function: Callable[..., Any]
    direction: int = 0
    action: Any = "record"
    every: float | None = None

    def happens(self, before: float, after: float) -> bool:
        """Is this change of sign one of those watched for?"""
        rising, falling = before < 0.0 <= after, before > 0.0 >= after
        return (rising and self.direction >= 0) or (falling and self.direction <= 0)


@dataclass(frozen=True, slots=True, eq=False)
class Happening:
    """An event that happened: state behind it, rates before it, and the energy it took [J]."""

    time: float
    name: str
    q: np.ndarray
    qd: np.ndarray
    qd_before: np.ndarray
    lost: float = 0.0

    def __repr__(self) -> str:
        return f"<{self.name!r} at t = {self.time:.9g} s>"


def events_given(
    mechanism: Mechanism, given: Sequence[Event] | None, q: np.ndarray, qd: np.ndarray, time: float
) -> tuple[tuple[Event, ...], tuple[bool, ...]]:
    """Events, checked at a state, and which of them can be recorded."""
    events = tuple(given or ())
    for event in events:
        _check(mechanism, event, q, qd, time)
    names = [event.name for event in events]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"{mechanism.name}: two events are called {twice[0]!r}; give each its own name")
    return events, tuple(_records(mechanism, event, q, qd, time) for event in events)


def _check(mechanism: Mechanism, event: Any, q: np.ndarray, qd: np.ndarray, time: float) -> None:
    name = mechanism.name
    if not isinstance(event, Event):
        raise InputError(f"{name}: events holds {type(event).__name__}; give kinpair.Event(name, function)")
    where = f"{name}: event {event.name!r}"
    if event.direction not in (-1, 0, 1):
        raise InputError(
            f"{where} has direction {event.direction!r}; it is 1 (rising), -1 (falling) or 0 (both)"
        )
    known = event.action in ("record", "stop") if isinstance(event.action, str) else False
    if not (known or isinstance(event.action, Change) or callable(event.action)):
        raise InputError(f"{where} has action {event.action!r}; it is {ACTIONS}")
    if event.every is not None and not 0.0 < event.every < np.inf:
        raise InputError(f"{where} has every = {event.every!r}; give seconds, above zero")
    found = np.asarray(event.function(time, q.copy(), qd.copy()), dtype=float)
    if found.shape != ():
        raise InputError(f"{where} returned shape {found.shape} at the start; expected one number")
    if not np.isfinite(found):
        raise InputError(f"{where} is {float(found)} at the start; expected a number")


def _records(mechanism: Mechanism, event: Event, q: np.ndarray, qd: np.ndarray, time: float) -> bool:
    """Can the function be recorded, and is the recording true at this state?"""
    if not getattr(event.function, "traceable", True):
        return False
    program = recorded(event.function, mechanism.nq, mechanism.nv)
    if program is None or list(program.output_shapes.values()) != [()]:
        return False
    plain, found = float(event.function(time, q, qd)), float(interpret(program, time, q, qd))
    return abs(plain - found) <= AGREES * max(1.0, abs(plain))
