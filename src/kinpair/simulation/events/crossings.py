"""Where in a step something happens: the first time at which what is watched changes its sign."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinpair.simulation.events.course import Course, EndError
from kinpair.simulation.events.events import Event
from kinpair.simulation.events.modes import Watched
from kinpair.simulation.events.roots import beyond
from kinpair.simulation.result import Status

FINE = 1e-14  # of a step: how finely an event is located
BAND = 1e-8  # of the size of a function: so near to zero is held at zero
SAFE = 1.5  # a gap wider than so many times the way of a step is not passed within it


class Crossings:
    """Finds what happens within the step ahead."""

    def __init__(self, course: Course) -> None:
        self.course = course
        self._before: list[float] | None = None  # values of functions that are called, at the last look
        self._faults: dict[str, Exception] = {}  # of functions that raise, by name of the event
        self._sizes: dict[str, float] = {}  # the largest values seen, by name of the event

    def look(self) -> None:
        """At the functions that are called, where the walk stands."""
        walk = self.course.walk
        self._before = self._called(walk.time, walk.y) if self.course.modes.called else None

    def called_changes(self) -> bool:
        """Has a function that is not recorded changed its sign in the last step?"""
        called = self.course.modes.called
        if not called:
            return False
        values = self._called(self.course.walk.time, self.course.walk.y)
        before, self._before = self._before or values, values
        self._arm(called, before)
        pairs = zip(called, before, values, strict=True)
        return any(event.happens(a, b) or np.isnan(b) for event, a, b in pairs)

    def _called(self, time: float, y: np.ndarray) -> list[float]:
        q, qd, _ = self.course.run.d.parts(y)
        return [self._value(event, time, q, qd) for event in self.course.modes.called]

    def _value(self, event: Event, time: float, q: np.ndarray, qd: np.ndarray) -> float:
        try:
            return float(event.function(time, q.copy(), qd.copy()))
        except Exception as problem:
            self._faults[event.name] = problem
            return np.nan

    def _arm(self, events: Sequence[Event], values: Sequence[float]) -> None:
        """An event whose zero was held may happen again when its function has left zero."""
        for event, value in zip(events, values, strict=True):
            self._measure(event, value)
            if abs(value) > self.course.bands.get(event.name, 0.0):
                self.course.bands.pop(event.name, None)

    def _measure(self, event: Event, value: float) -> None:
        self._sizes[event.name] = float(np.fmax(self._sizes.get(event.name, 0.0), abs(value)))

    def hold(self, event: Event) -> None:
        """It has begun a constraint that may hold its function at zero: it waits until that is left."""
        self.course.bands[event.name] = BAND * self._sizes.get(event.name, 0.0)

    def _happens(self, event: Event, before: float, after: float) -> bool:
        return event.happens(before, after) and event.name not in self.course.bands

    @property
    def _all(self) -> tuple[Watched, ...]:
        return (*self.course.stage.watched, *(Watched("event", event=x) for x in self.course.modes.called))

    def _values(self, time: float, y: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Of everything watched."""
        d = self.course.stage.d.concrete(self.course.run.inputs.parameters)
        own = (
            self.course.stage.guards(d, time, y, self.course.inputs(time, y, u))
            if self.course.stage.watched
            else []
        )
        return np.array([*own, *self._called(time, y)], dtype=float)

    def _undefined(self, values: np.ndarray) -> Event | None:
        """The first event whose function is NaN."""
        pairs = zip(self._all, values, strict=True)
        return next((x.event for x, value in pairs if x.event is not None and np.isnan(value)), None)

    def nowhere(self, event: Event) -> EndError:
        """The end, since a function is NaN beyond, or raises."""
        time = self.course.walk.time
        if event.name in self._faults:
            return self.course.refused(event, self._faults[event.name])
        message = f"Stopped at t = {time:.9g} s: the function of event {event.name!r} turns NaN"
        return EndError(Status("refused", time, message))

    def _defined(self, a: float, b: float, width: float) -> tuple[float, np.ndarray, Event | None]:
        """The end of a step, or of the part in which every event has a value; the values there; which has none."""
        walk = self.course.walk
        after = self._values(b, *walk.peek(b))
        lost = self._undefined(after)
        if lost is None:
            return b, after, None
        low, values = a, after
        while b - low > width:
            middle = 0.5 * (low + b)
            found = self._values(middle, *walk.peek(middle))
            event = self._undefined(found)
            if event is None:
                low, values = middle, found
            else:
                b, lost = middle, event
        if low == a:
            raise self.nowhere(lost)
        return low, values, lost

    def first(self, a: float, b: float) -> tuple[float, list[Watched], Event | None]:
        """The first time in a step at which something happens, and what; its end, and nothing, or what turns NaN."""
        walk = self.course.walk
        width = max(FINE * (b - a), 4e-16 * max(abs(a), abs(b)))
        before = self._values(a, walk.y, walk.u)
        lost = self._undefined(before)
        if lost is not None:
            raise self.nowhere(lost)
        b, after, lost = self._defined(a, b, width)
        for x, first, last in zip(self._all, before, after, strict=True):
            if x.event is not None:
                self._arm([x.event], [first])
                self._measure(x.event, last)

        def value_at(k: int, time: float) -> float:
            found, event = self._values(time, *walk.peek(time))[k], self._all[k].event
            if event is not None and np.isnan(found):
                raise self.nowhere(event)
            return found

        def when(k: int, end: float, value: float) -> float:
            return beyond(lambda t: value_at(k, t), a, end, before[k], value, width)

        def reached(k: int, end: float, value: float) -> float:
            """Where the gap itself is zero: the slack is taken back."""
            time, limit = when(k, end, value), self._all[k].limit
            assert limit is not None
            rate = self._values(time, *walk.peek(time))[k + 1]
            return max(a, time + limit.slack / rate) if rate < 0.0 else time

        found: list[tuple[float, Watched]] = []
        for k, watched in enumerate(self._all):
            if watched.kind == "event":
                assert watched.event is not None
                if self._happens(watched.event, before[k], after[k]):
                    found.append((when(k, b, after[k]), watched))
            elif watched.kind == "push" and before[k] > 0.0 >= after[k]:
                found.append((when(k, b, after[k]), watched))
            elif watched.kind == "gap" and before[k] > 0.0 >= after[k]:
                found.append((reached(k, b, after[k]), watched))
            elif (
                watched.kind == "rate"
                and before[k] < 0.0 < after[k]
                and min(before[k - 1], after[k - 1]) > 0.0
            ):
                near = (before[k - 1] < -SAFE * before[k] * (b - a)) and (
                    after[k - 1] < SAFE * after[k] * (b - a)
                )
                if near:  # the gap may have been passed there and back
                    turn = when(k, b, after[k])
                    least = self._values(turn, *walk.peek(turn))[k - 1]
                    if least <= 0.0:
                        found.append((reached(k - 1, turn, least), self._all[k - 1]))
        if not found:
            return b, [], lost
        earliest = min(time for time, _ in found)
        return earliest, [watched for time, watched in found if time <= earliest + 2.0 * width], None
