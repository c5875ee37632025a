"""Events: functions that are watched for a change of sign, and what is then done."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from kinpair.description.constraint_parts import ConstraintPart
from kinpair.errors import InputError, listed, nearest
from kinpair.evaluation.arguments import Expected
from kinpair.simulation.recording import Forces, NotRecorded, Recorded, UnknownForceError, recorded
from kinpair.simulation.schedule import real

if TYPE_CHECKING:
    from kinpair.mechanism import Mechanism

ACTIONS = "'record', 'stop', a kinpair.Change, or a function (time, q, qd) → Change or None"


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """Change of the motion by an event: new coordinates or rates, constraints that begin or end, or the end.

    `add`: constraints (kinpair.constraint) that hold from now on; the rates jump to obey, by the least impulse.
    `remove`: names of constraints that hold no longer, of the description or added.
    """

    q: Any = None
    qd: Any = None
    add: Sequence[ConstraintPart] = ()
    remove: Sequence[str] = ()
    stop: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """Watch function(time, q, qd) for a change of sign: rising (`direction` +1), falling (−1), or both (0).

    A function (time, q, qd, forces) sees forces by name: `forces["row"]` is the multiplier of a row of a constraint,
    zero while that does not hold, and `forces["joint"]` the reaction (6,) in a joint.

    `action`: "record", "stop", a `Change`, or a function (time, q, qd) that returns one or None. `every` [s]: steps are
    no longer than that, for a function that may change its sign twice within a step.
    """

    name: str
    function: Callable[..., Any]
    direction: int = 0
    action: Any = "record"
    every: float | None = None
    watches_forces: bool = field(init=False, repr=False, default=False)
    """Does its function take forces?"""

    def __post_init__(self) -> None:
        try:
            forces = len(signature(self.function).parameters) == 4
        except (TypeError, ValueError):
            forces = False
        object.__setattr__(self, "watches_forces", forces)

    def happens(self, before: float, after: float) -> bool:
        """True if this change of sign is one of those watched for."""
        rising, falling = before < 0.0 <= after, before > 0.0 >= after
        return (rising and self.direction >= 0) or (falling and self.direction <= 0)


@dataclass(frozen=True, slots=True, eq=False)
class EventRecord:
    """An event that happened: state behind it, rates before it, and the energy lost [J].

    `beta`: the part of the coefficients of restitution by which an impact created no energy, 1 where it is all of them.
    `row`: the motion of a batch.
    """

    time: float
    name: str
    q: np.ndarray
    qd: np.ndarray
    qd_before: np.ndarray
    lost: float = 0.0
    beta: float = 1.0
    row: int = 0

    def __repr__(self) -> str:
        return f"<{self.name!r} at t = {self.time:.9g} s>"


def events_from(
    mechanism: Mechanism, value: Sequence[Event] | Event | None, q: np.ndarray, qd: np.ndarray, time: float
) -> tuple[tuple[Event, ...], tuple[Recorded | NotRecorded, ...]]:
    """Events, checked at a state; their functions recorded, or why not."""
    every: Any = (value,) if isinstance(value, Event) else value
    if not isinstance(every, (Iterable, type(None))) or isinstance(every, str):
        raise InputError(
            f"{mechanism.name}: events is {every!r}; give a list of kinpair.Event(name, function)"
        )
    events = tuple(every or ())
    for event in events:
        _check_kind(mechanism, event)
    forces = _forces(mechanism, events)
    for event in events:
        _check(mechanism, event, forces, q, qd, time)
    names = [event.name for event in events]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"{mechanism.name}: two events are called {twice[0]!r}; give each its own name")
    return events, tuple(_recorded(mechanism, event, forces, (q, qd, time)) for event in events)


def _forces(mechanism: Mechanism, events: Sequence[Event]) -> dict[str, Any]:
    """Forces that can be watched, with numbers to try a function on: also those of constraints that events begin."""
    if not any(event.watches_forces for event in events):
        return {}
    begun = [x for event in events if isinstance(event.action, Change) for x in event.action.add]
    every = mechanism.with_constraints(*begun) if begun else mechanism
    rows = () if every.closure is None else every.closure.row_names
    model = mechanism.model
    numbers = {row: 1.0 + 0.1 * k for k, row in enumerate(rows)}
    return numbers | {model.joint_names[i]: np.arange(1.0, 7.0) for i in model.moving}


def _recorded(
    mechanism: Mechanism,
    event: Event,
    forces: dict[str, Any],
    state: tuple[np.ndarray, np.ndarray, float],
) -> Recorded | NotRecorded:
    """Recorded function, or why it cannot be recorded; no reason where that is the user's choice."""
    if not event.watches_forces:
        free = getattr(event.function, "traceable", True)
        return recorded(event.function, (), state) if free else NotRecorded("")
    program = recorded(event.function, (), state, Forces(_owner(mechanism, event), forces))
    if isinstance(program, NotRecorded):
        raise InputError(
            f"{_owner(mechanism, event)} watches forces, and its function cannot be recorded: {program.reason}"
        )
    return program


def _owner(mechanism: Mechanism, event: Event) -> str:
    return f"{mechanism.name}: event {event.name!r}"


def _check_kind(mechanism: Mechanism, event: Any) -> None:
    if not isinstance(event, Event):
        raise InputError(
            f"{mechanism.name}: events holds {type(event).__name__}; give kinpair.Event(name, function)"
        )


def _check(
    mechanism: Mechanism,
    event: Event,
    forces: dict[str, Any],
    q: np.ndarray,
    qd: np.ndarray,
    time: float,
) -> None:
    where = _owner(mechanism, event)
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
    own = (Forces(where, forces),) if event.watches_forces else ()
    try:
        numbers = np.asarray(event.function(time, q.copy(), qd.copy(), *own), dtype=float)
    except UnknownForceError:
        raise
    except Exception as problem:
        raise InputError(
            f"{where} raised {type(problem).__name__} at the start: {problem}; give a function (time, q, qd) → number"
        ) from problem
    if numbers.shape != ():
        raise InputError(f"{where} returned shape {numbers.shape} at the start; expected one number")
    if not np.isfinite(numbers):
        raise InputError(f"{where} is {float(numbers)} at the start; expected a number")


def number(value: Any) -> float:
    """The value as a float; NaN where it is none."""
    x = real(value)
    return np.nan if x.ndim else float(x)


def _is_list(value: Any) -> bool:
    return isinstance(value, Collection) and not isinstance(value, str)


def check_change(mechanism: Mechanism, change: Change, known: Sequence[str]) -> None:
    """Refuse what a mechanism cannot be changed to; known: names of constraints that can be removed."""
    name = mechanism.name
    for what, value, entries in (("q", change.q, mechanism.q_names), ("qd", change.qd, mechanism.v_names)):
        if value is None:
            continue
        numbers = Expected(f"{what} of Change", entries).checked(name, value)
        if numbers.ndim != 1:
            raise InputError(
                f"{name}: {what} of Change has shape {numbers.shape}; expected ({len(entries)},)"
            )
        if not np.isfinite(numbers).all():
            raise InputError(f"{name}: {what} of Change holds NaN or infinity", argument=what)
    for what, value in (("add", change.add), ("remove", change.remove)):
        if not _is_list(value):
            raise InputError(
                f"{name}: {what} of Change is {type(value).__name__}; give a list", argument=what
            )
    for constraint in change.add:
        if not isinstance(constraint, get_args(ConstraintPart)):
            raise InputError(
                f"{name}: add of Change holds {type(constraint).__name__}; give constraints of kinpair.constraint"
            )
    for removed in change.remove:
        if removed not in known:
            raise InputError(
                f"{name}: remove of Change names {removed!r}, which is not a constraint; {nearest(str(removed), known)}"
                f"Constraints: {listed(known) or 'none'}"
            )
