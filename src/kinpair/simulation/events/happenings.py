"""What events do: they are noted, they change the state and the constraints, they end the run."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from kinpair.errors import KinpairError, listed
from kinpair.simulation.events.course import Course, EndError
from kinpair.simulation.events.events import Change, Event, check_change
from kinpair.simulation.events.impacts import begun
from kinpair.simulation.events.modes import Mode, Watched
from kinpair.simulation.events.touching import touch
from kinpair.simulation.held import START
from kinpair.simulation.result import Status

MANY = 100  # so many events,
SHORT, BRIEF = 1e-7, 1e-6  # each after so small a part of the run, or [s], have no end


class Happenings:
    """Makes happen what was found; `hold` is told of events that begin a constraint."""

    def __init__(self, course: Course, hold: Callable[[Event], None]) -> None:
        self.course, self.hold = course, hold
        self.recent: deque[float] = deque(maxlen=MANY)  # times

    def happen(self, causes: list[Watched]) -> None:
        """Actions of events, then impacts and releases at limits."""
        walk = self.course.walk
        for cause in causes:
            if cause.event is not None:
                self._act(cause.event)
        released = frozenset(x.limit for x in causes if x.kind == "push" and x.limit is not None)
        if released or any(x.kind == "gap" for x in causes):
            touch(self.course, released)
        self.recent.append(walk.time)
        span = walk.time - self.recent[0]
        if len(self.recent) == MANY and span <= MANY * max(SHORT * self.course.run.duration, BRIEF):
            names = listed(dict.fromkeys(x.name for x in self.course.run.happened[-MANY:]), 4)
            message = f"{MANY} events within {span:.2g} s ({names}): they follow each other without end"
            raise EndError(Status("zeno", walk.time, f"Stopped at t = {walk.time:.9g} s: {message}"))

    def _act(self, event: Event) -> None:
        walk, d = self.course.walk, self.course.run.d
        q, qd, _ = d.parts(walk.y)
        action: Any = event.action
        if callable(action):
            try:
                action = action(walk.time, q.copy(), qd.copy())
            except Exception as problem:
                raise self.course.refused(event, problem) from problem
            if not isinstance(action, (Change, type(None))):
                said = f"the action of event {event.name!r} returned {type(action).__name__}"
                message = f"Stopped at t = {walk.time:.9g} s: {said}; it returns a kinpair.Change or None"
                raise EndError(Status("refused", walk.time, message))
        lost = self._change(event, action) if isinstance(action, Change) else 0.0
        if isinstance(action, Change) and action.add:
            self.hold(event)
        self.course.note(event.name, qd, lost)
        if (isinstance(action, str) and action == "stop") or (isinstance(action, Change) and action.stop):
            message = f"Stopped at t = {walk.time:.9g} s by event {event.name!r}"
            raise EndError(Status("event", walk.time, message))
        if isinstance(action, Change):
            touch(self.course, frozenset())

    def _change(self, event: Event, change: Change) -> float:
        """New state, new constraints; the energy lost."""
        time = self.course.walk.time
        try:
            return self._changed(change)
        except KinpairError as problem:
            message = f"Stopped at t = {time:.9g} s: event {event.name!r}: {problem}"
            raise EndError(Status("refused", time, message)) from problem
        except Exception as problem:  # of a function in a condition that begins
            raise self.course.refused(event, problem) from problem

    def _changed(self, change: Change) -> float:
        m, mode = self.course.run.wish.mechanism, self.course.stage.mode
        own = (*m.model.description.conditions, *mode.add)
        check_change(m, change, sorted({x.name for x in own} | mode.remove))
        y, nq, nv = self.course.walk.y, m.nq, m.nv
        before = self.course.energy(y)
        if change.q is not None:
            y[:nq] = change.q
        if change.qd is not None:
            y[nq : nq + nv] = change.qd
        add = tuple(x for x in (*mode.add, *change.add) if x.name not in change.remove)
        bare = Mode(add, mode.remove | frozenset(change.remove))
        y = self._obeying(bare, y)
        lost = before - self.course.energy(y)
        self.course.enter(bare, y, lost)
        return lost

    def _obeying(self, mode: Mode, y: np.ndarray) -> np.ndarray:
        """The state with rates that obey the constraints of a mode; its positions must do so already."""
        nq, nv, time = self.course.run.d.model.nq, self.course.run.d.model.nv, self.course.walk.time
        closure = self.course.modes.mechanism(mode).closure
        if closure is None:
            return y
        gap = np.abs(closure.positions(y[:nq], time)).max(initial=0.0)
        if gap > START:
            raise KinpairError(f"q does not obey the constraints that begin then, by {gap:.3g}")
        terms = self.course.modes.stage(mode, y[:nq], time).terms(
            self.course.run.inputs.parameters, time, y, self.course.walk.u
        )
        y[nq : nq + nv] = begun(terms.M, terms.A, terms.psi, y[nq : nq + nv])
        return y
