"""What events do: they are noted, they change the state and the constraints, they end the run."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinpair.constraints.rows.bounded import stacked
from kinpair.errors import KinpairError, listed
from kinpair.simulation.driver.impacts import Struck, begun, mobility_matrix
from kinpair.simulation.driver.ongoing import EndError, Ongoing
from kinpair.simulation.driver.resting import Standing
from kinpair.simulation.driver.sticking import note_phases, settle
from kinpair.simulation.driver.touching import touch
from kinpair.simulation.events.events import Change, Event, check_change
from kinpair.simulation.held import START
from kinpair.simulation.modes.guards import Watched
from kinpair.simulation.modes.modes import Mode, equations_of
from kinpair.simulation.status import Status
from kinpair.simulation.steppers.stepper import Root

MANY = 100  # so many events,
SHORT, BRIEF = 1e-7, 1e-6  # each after so small a part of the run, or [s], have no end


class Actions:
    """Makes happen what was found; `hold` is told of events that begin a constraint."""

    def __init__(self, ongoing: Ongoing, hold: Callable[[Event], None]) -> None:
        self.ongoing, self.hold = ongoing, hold
        self.recent: deque[float] = deque(maxlen=MANY)  # times
        self.count = 0  # moments at which something happened

    def happen(self, causes: list[Watched]) -> None:
        """Actions of events, then impacts and releases at limits."""
        stepper = self.ongoing.stepper
        for cause in causes:
            if cause.event is not None:
                self._act(cause.event)
        released = frozenset(x.limit for x in causes if x.kind == "push" and x.limit is not None)
        if any(x.kind == "gap" for x in causes):
            touch(self.ongoing)
        settle(self.ongoing, causes, released)
        if any(x.kind == "switch" for x in causes):
            stepper.put(stepper.y, self.ongoing.active.stage)  # it begins afresh: forces jump here
        self._count(stepper.time, causes)

    def passed(self, roots: Sequence[Root]) -> EndError | None:
        """What happened at roots that a stepper has passed by itself; why the run ends at the last of them."""
        watched = self.ongoing.active.watched
        for root in roots:
            note_phases(self.ongoing, root.time, root.y, root.later)
            try:
                self._count(root.time, [watched[k] for k in np.flatnonzero(root.hits).tolist()])
            except EndError as end:
                return end
        return None

    @property
    def _brief(self) -> float:
        """Seconds: many events within them have no end."""
        return MANY * max(SHORT * self.ongoing.run.duration, BRIEF)

    @property
    def room(self) -> int:
        """So many events may follow before there can be too many."""
        since = self.ongoing.stepper.time - self._brief
        return max(1, MANY - sum(time >= since for time in self.recent))

    def _count(self, time: float, causes: Sequence[Watched]) -> None:
        """The run ends where there are many events within a moment."""
        self.count += 1
        if all(x.kind == "switch" for x in causes):
            return
        self.recent.append(time)
        span = time - self.recent[0]
        if len(self.recent) == MANY and span <= self._brief:
            names = listed(dict.fromkeys(x.name for x in self.ongoing.run.event_log[-MANY:]), 4)
            message = f"{MANY} events within {span:.2g} s ({names}): they follow each other without end"
            raise EndError(Status("zeno", time, f"Stopped at t = {time:.9g} s: {message}"))

    def _act(self, event: Event) -> None:
        stepper, (q, qd) = self.ongoing.stepper, self.ongoing.motion
        self.ongoing.fired[event.name] = self.ongoing.value(event)
        action: Any = event.action
        if callable(action):
            try:
                action = action(stepper.time, q.copy(), qd.copy())
            except Exception as problem:
                raise self.ongoing.refused(event, problem) from problem
            if not isinstance(action, (Change, type(None))):
                subject = f"the action of event {event.name!r} returned {type(action).__name__}"
                message = (
                    f"Stopped at t = {stepper.time:.9g} s: {subject}; it returns a kinpair.Change or None"
                )
                raise EndError(Status("refused", stepper.time, message))
        lost = self._change(event, action) if isinstance(action, Change) else 0.0
        if isinstance(action, Change) and action.add:
            self.hold(event)
        self.ongoing.note(event.name, qd, lost)
        if (isinstance(action, str) and action == "stop") or (isinstance(action, Change) and action.stop):
            message = f"Stopped at t = {stepper.time:.9g} s by event {event.name!r}"
            raise EndError(Status("event", stepper.time, message))
        if isinstance(action, Change):
            touch(self.ongoing)

    def _change(self, event: Event, change: Change) -> float:
        """New state, new constraints; the energy lost."""
        time = self.ongoing.stepper.time
        try:
            return self._changed(change)
        except KinpairError as problem:
            message = f"Stopped at t = {time:.9g} s: event {event.name!r}: {problem}"
            raise EndError(Status("refused", time, message)) from problem
        except Exception as problem:  # of a function in a constraint that begins
            raise self.ongoing.refused(event, problem) from problem

    def _changed(self, change: Change) -> float:
        m, mode = self.ongoing.run.mechanism, self.ongoing.active.mode
        own = (*m.model.description.constraints, *mode.add)
        check_change(m, change, sorted({x.name for x in own} | mode.remove))
        y, layout = self.ongoing.stepper.y, self.ongoing.active.d.layout
        before = self.ongoing.energy(y)
        if change.q is not None:
            y[layout.q] = change.q
        if change.qd is not None:
            y[layout.qd] = change.qd
        add = tuple(x for x in (*mode.add, *change.add) if x.name not in change.remove)
        bare = Mode(add, mode.remove | frozenset(change.remove))
        y = self._obeying(bare, y)
        lost = before - self.ongoing.energy(y)
        self.ongoing.enter(bare, y, lost)
        return lost

    def _obeying(self, mode: Mode, y: np.ndarray) -> np.ndarray:
        """The state with rates that obey the constraints of a mode; its positions must do so already."""
        time, (q, qd) = self.ongoing.stepper.time, self.ongoing.run.d.motion(y)
        closure = self.ongoing.modes.mechanism(mode).closure
        if closure is None:
            return y
        gap = np.abs(closure.positions(q, time)).max(initial=0.0)
        if gap > START:
            raise KinpairError(f"q does not obey the constraints that begin then, by {gap:.3g}")
        active, layout = self.ongoing.modes.active(mode, q, time), self.ongoing.active.d.layout
        there, p = layout.converted(y, active.d.layout), self.ongoing.run.inputs.parameters
        at = Standing(active.d, p, time, there, self.ongoing.stepper.u)
        M, _, A, psi, *_ = at.numbers(equations_of, there)
        qd, rough = begun(M, A, psi, qd), at.rough_surfaces(there, psi)
        if rough is not None:
            struck = Struck(M, mobility_matrix(M, A), stacked([], len(qd)), rough)
            qd = struck.after(qd, np.zeros(0), "newton")
        y[layout.qd] = qd
        return y
