"""Search within a step for what happens: the first time at which what is watched changes its sign.

A stepper finds roots of compiled guards by itself. A switch of an element, and a rate with dry friction whose phases
compiled code can decide, are passed. At an event of the user, and at a limit that is reached or opens, it stops at the
root. Events that wait and functions that are called are searched for in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from kinpair.compiler.time_loop.roots import FALL, FIRED, LASTS, LOOK, NOTHING, PASS, RISE, STOP
from kinpair.compiler.time_loop.step import SAFE
from kinpair.simulation.driver.ongoing import EndError, Ongoing
from kinpair.simulation.events.events import Event
from kinpair.simulation.held import WORST
from kinpair.simulation.modes.guards import Watched
from kinpair.simulation.rounding import BAND, GRAZES, LOCATED
from kinpair.simulation.status import Status
from kinpair.simulation.steppers.stepper import Root, Search

Pair = tuple[float, float]  # what a fall and a rise call for


def search(ongoing: Ongoing, room: int) -> Search | None:
    """Search for what the guards of the active mode call for; `room`: number of roots that may be passed. None: all
    are looked at."""
    active = ongoing.active
    if not active.watched or ongoing.modes.called:
        return None
    if active.stage not in ongoing.acts:
        slopes = dict(active.guards.slopes)
        pairs = [_PAIRS[x.kind](ongoing, x) for x in active.watched]
        rows = zip(*pairs, strict=True)
        places = [slopes.get(k, -1) for k in range(len(pairs))]
        ongoing.acts[active.stage] = np.array([*rows, [0.0] * len(pairs), places], dtype=float)
    acts = ongoing.acts[active.stage]
    for k, x in enumerate(active.watched[: len(ongoing.modes.traced)]):  # events come first
        acts[(FALL, RISE), k] = _of_event(ongoing, x)
        acts[FIRED, k] = x.event is not None and _has_fired(ongoing, x.event)
    return Search(acts, room)


def _has_fired(ongoing: Ongoing, event: Event) -> bool:
    """True if its function is where the event happened last."""
    return event.name in ongoing.fired and ongoing.fired[event.name] == ongoing.value(event)


def _of_event(ongoing: Ongoing, x: Watched) -> Pair:
    assert x.event is not None
    act = LOOK if x.event.name in ongoing.bands else STOP
    direction = x.event.direction
    return act if direction <= 0 else NOTHING, act if direction >= 0 else NOTHING


def _of_switch(ongoing: Ongoing, x: Watched) -> Pair:
    d = ongoing.active.d
    act = PASS if not d.sticking or ongoing.active.guards.changes(d) else STOP
    return act, act


def _of_phase(ongoing: Ongoing, x: Watched) -> Pair:
    active = ongoing.active
    return PASS if active.guards.changes(active.d) else STOP, LASTS


def _of_end(ongoing: Ongoing, x: Watched) -> Pair:
    active = ongoing.active
    act = PASS if active.d.stops and active.guards.changes(active.d) else STOP
    return act, NOTHING if x.kind == "gap" else LASTS


_PAIRS: dict[str, Callable[[Ongoing, Watched], Pair]] = {
    "event": _of_event,
    "gap": _of_end,
    "rate": lambda ongoing, x: (NOTHING, NOTHING),
    "push": _of_end,
    "switch": _of_switch,
    "phase": _of_phase,
    "slowing": lambda ongoing, x: (NOTHING, NOTHING),
    "contact": lambda ongoing, x: (STOP, NOTHING),
}


TURNS = 200  # in which a root is found
LOOKS = 18  # at a step in which a rate slows down and speeds up again: has it turned round in between?


class RootFinder:
    """Finds what happens within the step ahead."""

    def __init__(self, ongoing: Ongoing) -> None:
        self.ongoing = ongoing
        self._before: list[float] | None = None  # values of functions that are called, at the last look
        self._faults: dict[str, Exception] = {}  # of functions that raise, by name of the event
        self._sizes: dict[str, float] = {}  # the largest values seen, by name of the event

    def look(self) -> None:
        """Look at the functions that are called, where the run stands."""
        stepper = self.ongoing.stepper
        self._before = self._called(stepper.time, stepper.y) if self.ongoing.modes.called else None

    def called_changes(self) -> bool:
        """True if a function that is not recorded has changed its sign in the last step."""
        called = self.ongoing.modes.called
        if not called:
            return False
        values = self._called(self.ongoing.stepper.time, self.ongoing.stepper.y)
        before, self._before = self._before or values, values
        self._arm(called, before)
        pairs = zip(called, before, values, strict=True)
        return any(event.happens(a, b) or np.isnan(b) for event, a, b in pairs)

    def _called(self, time: float, y: np.ndarray) -> list[float]:
        q, qd = self.ongoing.run.d.motion(y)
        return [self._value(event, time, q, qd) for event in self.ongoing.modes.called]

    def _value(self, event: Event, time: float, q: np.ndarray, qd: np.ndarray) -> float:
        try:
            return float(event.function(time, q.copy(), qd.copy()))
        except Exception as problem:
            self._faults[event.name] = problem
            return np.nan

    def _arm(self, events: Sequence[Event], values: Sequence[float]) -> None:
        """An event whose zero was active may happen again when its function has left zero."""
        for event, value in zip(events, values, strict=True):
            self._measure(event, value)
            if abs(value) > self.ongoing.bands.get(event.name, 0.0):
                self.ongoing.bands.pop(event.name, None)

    def _measure(self, event: Event, value: float) -> None:
        self._sizes[event.name] = float(np.fmax(self._sizes.get(event.name, 0.0), abs(value)))

    def hold(self, event: Event) -> None:
        """Note that an event has begun a constraint that may hold its function at zero: it waits until that is left."""
        self.ongoing.bands[event.name] = BAND * self._sizes.get(event.name, 0.0)

    def _happens(self, event: Event, before: float, after: float) -> bool:
        """True if it happens, from a value that is not the one at which it has just happened."""
        ongoing = self.ongoing
        again = before == ongoing.fired.get(event.name)
        return event.happens(before, after) and not again and event.name not in ongoing.bands

    @staticmethod
    def _leaves(watched: Watched, before: float, after: float) -> bool:
        """True if a value leaves its side. A closed limit pushes, and lets go where it would have to pull."""
        rises = watched.kind == "switch" and before < 0.0 <= after
        return before > 0.0 >= after or rises

    @property
    def _all(self) -> tuple[Watched, ...]:
        return (*self.ongoing.active.watched, *(Watched("event", event=x) for x in self.ongoing.modes.called))

    def _values(self, time: float, y: np.ndarray, u: np.ndarray) -> list[float]:
        """Values of everything watched: Python's floats, from which compiled code is called at once."""
        active, p = self.ongoing.active, self.ongoing.run.inputs.parameters
        own = active.values(p, time, y, self.ongoing.inputs(time, y, u)) if active.watched else []
        return [*np.asarray(own, dtype=float).tolist(), *self._called(time, y)]

    def _undefined(self, values: Sequence[float]) -> Event | None:
        """The first event whose function is NaN."""
        pairs = zip(self._all, values, strict=True)
        return next((x.event for x, value in pairs if x.event is not None and np.isnan(value)), None)

    def nowhere(self, event: Event) -> EndError:
        """The end, since a function is NaN beyond, or raises."""
        time = self.ongoing.stepper.time
        if event.name in self._faults:
            return self.ongoing.refused(event, self._faults[event.name])
        message = f"Stopped at t = {time:.9g} s: the function of event {event.name!r} turns NaN"
        return EndError(Status("refused", time, message))

    def _defined(self, a: float, b: float, width: float) -> tuple[float, list[float], Event | None]:
        """The end of a step, or of the part in which every event has a value; the values there; which has none."""
        stepper = self.ongoing.stepper
        after = self._values(b, *stepper.peek(b))
        lost = self._undefined(after)
        if lost is None:
            return b, after, None
        low, values = a, after
        while b - low > width:
            middle = 0.5 * (low + b)
            signs = self._values(middle, *stepper.peek(middle))
            event = self._undefined(signs)
            if event is None:
                low, values = middle, signs
            else:
                b, lost = middle, event
        if low == a:
            raise self.nowhere(lost)
        return low, values, lost

    def _torn(self, time: float) -> bool:
        """True if the loops are torn apart at a time within the step. Nothing happens in a motion that is lost."""
        active, stepper = self.ongoing.active, self.ongoing.stepper
        if active.mechanism.closure is None or not active.d.traced:
            return False
        q, _ = active.d.motion(stepper.peek(time)[0])
        return not np.abs(active.mechanism.closure.positions(q, time)).max(initial=0.0) < WORST

    def stopped(self, root: Root) -> list[Watched]:
        """Find what happens where a stepper has stopped by itself."""
        watched = self.ongoing.active.watched
        for x, first, last in zip(watched, root.before.tolist(), root.after.tolist(), strict=True):
            if x.event is not None:
                self._arm([x.event], [first])
                self._measure(x.event, last)
        lost = self._torn(root.time)
        return [x for x, hit in zip(watched, root.hits.tolist(), strict=True) if hit and not lost]

    def first(self, a: float, b: float) -> tuple[float, list[Watched], Event | None]:
        """The first time in a step at which something happens, and what; its end, and nothing, or what turns NaN."""
        stepper = self.ongoing.stepper
        width = max(LOCATED * (b - a), 4e-16 * max(abs(a), abs(b)))
        before = self._values(a, stepper.y, stepper.u)
        lost = self._undefined(before)
        if lost is not None:
            raise self.nowhere(lost)
        if self._torn(b):
            return b, [], None
        b, after, lost = self._defined(a, b, width)
        for x, first, last in zip(self._all, before, after, strict=True):
            if x.event is not None:
                self._arm([x.event], [first])
                self._measure(x.event, last)

        def value_at(k: int, time: float) -> float:
            roots, event = self._values(time, *stepper.peek(time))[k], self._all[k].event
            if event is not None and np.isnan(roots):
                raise self.nowhere(event)
            return roots

        def when(k: int, end: float, value: float) -> float:
            return beyond(lambda t: value_at(k, t), a, end, before[k], value, width)

        def reached(k: int, end: float, value: float) -> float:
            """Time where the gap itself is zero: the slack is taken back."""
            time, limit = when(k, end, value), self._all[k].limit
            assert limit is not None
            rate = self._values(time, *stepper.peek(time))[k + 1]
            fast = -rate * (time - a) * GRAZES > limit.slack  # else it grazes, and the slack is no way back
            return time + limit.slack / rate if fast else time

        roots: list[tuple[float, Watched]] = []
        for k, watched in enumerate(self._all):
            if watched.kind == "event":
                assert watched.event is not None
                if self._happens(watched.event, before[k], after[k]):
                    roots.append((when(k, b, after[k]), watched))
            elif watched.kind in ("push", "switch", "phase", "contact") and self._leaves(
                watched, before[k], after[k]
            ):
                roots.append((when(k, b, after[k]), watched))
            elif watched.kind in ("phase", "push", "contact") and before[k] <= 0.0:
                roots.append((a, watched))
            elif watched.kind == "slowing" and before[k] < 0.0 <= after[k]:
                phase = self._all.index(replace(watched, kind="phase"))
                if min(before[phase], after[phase]) > 0.0 > before[phase] + SAFE * before[k] * (b - a):
                    turned = next(
                        (t for t in np.linspace(a, b, LOOKS)[1:-1] if value_at(phase, t) < 0.0), None
                    )
                    if turned is not None:
                        roots.append((when(phase, turned, value_at(phase, turned)), self._all[phase]))
            elif watched.kind == "gap" and before[k] > 0.0 >= after[k]:
                roots.append((reached(k, b, after[k]), watched))
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
                    least = self._values(turn, *stepper.peek(turn))[k - 1]
                    if least <= 0.0:
                        roots.append((reached(k - 1, turn, least), self._all[k - 1]))
        if not roots:
            return b, [], lost
        earliest = min(time for time, _ in roots)
        return earliest, [watched for time, watched in roots if time <= earliest + 2.0 * width], None


def beyond(f: Callable[[float], float], a: float, b: float, fa: float, fb: float, width: float) -> float:
    """The end, on b's side, of an interval no wider than `width` in which f leaves the sign it has at a.

    Illinois' rule; halving where that does not shrink the interval by half in three turns.
    """
    side, rest, last = 0, 0, b - a
    for _ in range(TURNS):
        if b - a <= width:
            break
        c = b - fb * (b - a) / (fb - fa) if rest < 3 else 0.5 * (a + b)
        c = min(max(c, a + 0.5 * width), b - 0.5 * width)
        rest = rest + 1 if rest < 3 else 0
        fc = f(c)
        if not a < c < b:
            break
        if (fc > 0.0 and fa > 0.0) or (fc < 0.0 and fa < 0.0):  # their product may vanish
            a, fa = c, fc
            fb = 0.5 * fb if side == 1 else fb
            side = 1
        else:
            b, fb = c, fc
            fa = 0.5 * fa if side == -1 else fa
            side = -1
        if b - a <= 0.5 * last:
            last, rest = b - a, 0
    return b
