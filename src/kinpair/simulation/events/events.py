"""What happens on the way: functions that are watched for a change of sign, and what is then done."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from kinpair.compiler.interpret import interpret
from kinpair.description.conditions import Condition
from kinpair.errors import InputError, listed, nearest
from kinpair.evaluation import Expected
from kinpair.mechanism import Mechanism
from kinpair.simulation.schedule import real
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
    mechanism: Mechanism, given: Sequence[Event] | Event | None, q: np.ndarray, qd: np.ndarray, time: float
) -> tuple[tuple[Event, ...], tuple[bool, ...]]:
    """Events, checked at a state, and which of them can be recorded."""
    found: Any = (given,) if isinstance(given, Event) else given
    if not isinstance(found, (Iterable, type(None))) or isinstance(found, str):
        raise InputError(
            f"{mechanism.name}: events is {found!r}; give a list of kinpair.Event(name, function)"
        )
    events = tuple(found or ())
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
    if event.every is not None and not 0.0 < number(event.every) < np.inf:
        raise InputError(f"{where} has every = {event.every!r}; give seconds, above zero")
    if not callable(event.function):
        raise InputError(f"{where} watches {event.function!r}; give a function (time, q, qd) → number")
    try:
        found = np.asarray(event.function(time, q.copy(), qd.copy()), dtype=float)
    except Exception as problem:
        raise InputError(
            f"{where} raised {type(problem).__name__} at the start: {problem}; give a function (time, q, qd) → number"
        ) from problem
    if found.shape != ():
        raise InputError(f"{where} returned shape {found.shape} at the start; expected one number")
    if not np.isfinite(found):
        raise InputError(f"{where} is {float(found)} at the start; expected a number")


def number(value: Any) -> float:
    """The value as a float; NaN where it is none."""
    found = real(value)
    return np.nan if found.ndim else float(found)


def _is_list(value: Any) -> bool:
    return isinstance(value, Collection) and not isinstance(value, str)


def check_change(mechanism: Mechanism, change: Change, known: Sequence[str]) -> None:
    """Refuse what a mechanism cannot be changed to; known: names of conditions that can be removed."""
    name = mechanism.name
    for what, value, entries in (("q", change.q, mechanism.q_names), ("qd", change.qd, mechanism.v_names)):
        if value is None:
            continue
        found = Expected(f"{what} of Change", entries).checked(name, value)
        if found.ndim != 1:
            raise InputError(f"{name}: {what} of Change has shape {found.shape}; expected ({len(entries)},)")
        if not np.isfinite(found).all():
            raise InputError(f"{name}: {what} of Change holds NaN or infinity", argument=what)
    for what, value in (("add", change.add), ("remove", change.remove)):
        if not _is_list(value):
            raise InputError(
                f"{name}: {what} of Change is {type(value).__name__}; give a list", argument=what
            )
    for condition in change.add:
        if not isinstance(condition, get_args(Condition)):
            raise InputError(
                f"{name}: add of Change holds {type(condition).__name__}; give conditions of kinpair.conditions"
            )
    for removed in change.remove:
        if removed not in known:
            raise InputError(
                f"{name}: remove of Change names {removed!r}, which is no condition; {nearest(str(removed), known)}"
                f"Conditions: {listed(known) or 'none'}"
            )


def _records(mechanism: Mechanism, event: Event, q: np.ndarray, qd: np.ndarray, time: float) -> bool:
    """Can the function be recorded, and is the recording true at this state?"""
    if not getattr(event.function, "traceable", True):
        return False
    program = recorded(event.function, mechanism.nq, mechanism.nv)
    if program is None or list(program.output_shapes.values()) != [()]:
        return False
    plain, found = float(event.function(time, q, qd)), float(interpret(program, time, q, qd))
    return abs(plain - found) <= AGREES * max(1.0, abs(plain))
