"""The driver of every run: a stepper, guards that may stop it, and what then happens.

A run without events is a run whose list of guards is empty. An event that never happens changes no bit of it.
Events are noted, change the state and the constraints, or end the run.

The file is long because it is one driver and the actions of its events.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.errors import KinpairError, listed
from kinpair.simulation.driver.ongoing import EndError, Ongoing
from kinpair.simulation.driver.root_finding import RootFinder, search
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.events.events import Change, Event, EventRecord, check_change
from kinpair.simulation.held import START
from kinpair.simulation.loops import kernel_of
from kinpair.simulation.modes.guards import Watched
from kinpair.simulation.modes.modes import Entry, Mode, Modes, equations_of
from kinpair.simulation.monitors.endings import LOST
from kinpair.simulation.monitors.singular_ends import without_ruins
from kinpair.simulation.run import GOOD, Piece, Run, Stage
from kinpair.simulation.status import Status
from kinpair.simulation.steppers.adaptive import AdaptiveStepper
from kinpair.simulation.steppers.stepper import Root
from kinpair.simulation.torques import RefusedError

if TYPE_CHECKING:
    from kinpair.simulation.steppers.external import ExternalStepper
    from kinpair.simulation.steppers.fixed import FixedStepper

MANY = 100  # so many events,
SHORT, BRIEF = 1e-7, 1e-6  # each after so small a part of the run, or [s], have no end


class Actions:
    """Makes happen what was found; `hold` is called with events that begin a constraint."""

    def __init__(self, ongoing: Ongoing, hold: Callable[[Event], None]) -> None:
        self.ongoing, self.hold = ongoing, hold
        self.recent: deque[float] = deque(maxlen=MANY)  # times
        self.left: list[
            tuple[float, Mode]
        ] = []  # times of roots that were passed, each with the mode before it
        self.count = 0  # moments at which something happened

    def happen(self, causes: list[Watched]) -> None:
        """Actions of events, then impacts and releases at limits."""
        stepper = self.ongoing.stepper
        for cause in causes:
            if cause.event is not None:
                self._act(cause.event)
        self.decide(causes, any(x.kind == "gap" for x in causes))
        if any(x.kind == "switch" for x in causes):
            stepper.put(stepper.y, self.ongoing.active.stage)  # it begins afresh: forces jump here
        self._count(stepper.time, causes)

    def decide(self, causes: Sequence[Watched], touches: bool) -> None:
        """Impacts where a limit is reached, then phases of friction, limits and contact."""
        run = self.ongoing.run
        if touches and run.ends:
            from kinpair.simulation.driver.touching import touch

            touch(self.ongoing)
        if run.ends or run.d.sticking:
            from kinpair.simulation.driver.sticking import settle

            released = (x.limit for x in causes if x.kind == "push" and x.limit is not None)
            settle(self.ongoing, causes, frozenset(released))
        if run.d.touching is not None:
            from kinpair.simulation.driver.contacts import decide

            decide(self.ongoing)

    def passed(self, roots: Sequence[Root]) -> EndError | None:
        """Report what happened at roots that a stepper has passed by itself; say why the run ends at the last of
        them."""
        watched = self.ongoing.active.watched
        for root in roots:
            causes = [watched[k] for k in np.flatnonzero(root.hits).tolist()]
            mode = self.ongoing.active.mode
            self.ongoing.pass_ends(root, causes)
            if mode is not self.ongoing.active.mode:
                self.left.append((root.time, mode))
            if self.ongoing.active.d.groups:
                from kinpair.simulation.driver.sticking import note_phases

                note_phases(self.ongoing, root.time, root.y, root.later)
            try:
                self._count(root.time, causes)
            except EndError as end:
                return end
        return None

    @property
    def _brief(self) -> float:
        """Seconds: many events within them have no end."""
        return MANY * max(SHORT * self.ongoing.run.duration, BRIEF)

    @property
    def room(self) -> int:
        """Number of events that may follow before there can be too many."""
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
            groups = self.ongoing.active.d.groups
            of_friction = [groups[x.group].name for x in causes if x.group >= 0]
            logged = [x.name for x in self.ongoing.run.event_log[-MANY:]]
            names = listed(dict.fromkeys(logged or of_friction), 4)
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
            from kinpair.simulation.driver.touching import touch

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
        from kinpair.constraints.rows.bounded import stacked
        from kinpair.constraints.solve.stick import response
        from kinpair.simulation.driver.impacts import Struck, begun
        from kinpair.simulation.driver.standing import Standing

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
        M, _, A, *_, psi, _ = at.numbers(equations_of, there)
        qd, rough = begun(M, A, psi, qd), at.rough_surfaces(there, psi)
        if rough is not None:
            struck = Struck(M, response(M, A), stacked([], len(qd)), rough)
            qd = struck.after(qd, np.zeros(0), "newton")
        y[layout.qd] = qd
        return y


BEGIN = "energies at the start"
ADDED = 8  # entries that a mode may add to the memory of a stepper next to phases of limits: its trace, slopes of it


def _stepper_of(run: Run) -> type[FixedStepper] | type[ExternalStepper] | type[AdaptiveStepper]:
    """The kind of stepper that takes a run forward, imported where it is used."""
    if run.fixed:
        from kinpair.simulation.steppers.fixed import FixedStepper

        return FixedStepper
    if run.integrator.external:
        from kinpair.simulation.steppers.external import ExternalStepper

        return ExternalStepper
    return AdaptiveStepper


class Driver:
    """Takes a run to its end, piece by piece; with `whole` False a piece is gone when the next one comes.

    `loop` gives what steps are taken by; who gives one takes the run from step to step and needs no memory of it.
    """

    def __init__(self, run: Run, *, whole: bool = True, loop: Callable[[Stage], Any] | None = None) -> None:
        self.run = run
        kind = _stepper_of(run)
        self.modes = Modes(run, loop or kind.loop)
        q, _ = run.d.motion(np.atleast_2d(run.start)[0])
        active = self.modes.active(Mode(), q, run.time)
        self.ongoing = Ongoing(run, self.modes, active, kind(run, active.stage, whole))
        self.roots = RootFinder(self.ongoing)
        self.actions = Actions(self.ongoing, self.roots.hold)
        self.begin_energy = None if run.from_start else self._energies()
        self._names = [event.name for event in self.modes.events]
        self._head = 2 + MANY + 2 * len(self._names)
        self._kept, self._searches = not whole and loop is None, kind is AdaptiveStepper

    def _energies(self) -> np.ndarray:
        """Kinetic and potential energy (rows, 2) where the run starts; a function of the user is not called for it."""
        run, layout = self.run, self.run.d.watched_layout
        if run.caller is not None:
            return run.begin_energy
        if BEGIN not in run.shared:
            W = self.ongoing.stepper.sample("more").W
            both = [W[..., layout.kinetic], W[..., layout.potential]]
            run.shared[BEGIN] = np.concatenate(both, axis=-1).reshape(-1, 2)
        return run.shared[BEGIN].copy()

    @cached_property
    def _room(self) -> int:
        return (
            self._head
            + len(self.ongoing.stepper.memory())
            + (ADDED + len(self.run.ends) if self.run.guarded else 0)
        )

    def _with_memory(self, piece: Piece) -> Piece:
        """Return samples with all that is needed to continue, where samples go to a file."""
        return replace(piece, memory=self.memory()) if self._kept else piece

    @property
    def names(self) -> list[str]:
        """Names of what may happen."""
        return self.modes.names

    def memory(self) -> np.ndarray:
        """Memory that is needed to continue: the mode, times of the last events, events that wait, where the stepper
        is."""
        ongoing, recent, own = self.ongoing, self.actions.recent, self.ongoing.stepper.memory()
        memory = np.zeros(self._room)
        memory[0], memory[1] = self.modes.number(ongoing.active.mode), len(recent)
        memory[2 : 2 + len(recent)] = recent
        per_event = [[x.get(name, np.nan) for name in self._names] for x in (ongoing.bands, ongoing.fired)]
        memory[2 + MANY : self._head] = np.ravel(per_event)
        memory[self._head : self._head + len(own)] = own
        return memory

    def restore(
        self, memory: np.ndarray, steps: int, happened: Sequence[EventRecord], entered: Sequence[Entry]
    ) -> None:
        """Stand where a run stood after so many steps, with what happened and the modes it had entered by then."""
        self.modes.restore(entered)
        entry, ongoing = entered[int(memory[0])], self.ongoing
        self.run.event_log[:] = happened
        self.actions.recent.extend(memory[2 : 2 + int(memory[1])].tolist())
        per_event = memory[2 + MANY : self._head].reshape(2, len(self._names)).tolist()
        for known, values in zip((ongoing.bands, ongoing.fired), per_event, strict=True):
            known.update((name, x) for name, x in zip(self._names, values, strict=True) if not np.isnan(x))
        ongoing.active = self.modes.active(entry.mode, entry.q, entry.time)
        ongoing.stepper.restore(memory[self._head :], ongoing.active.stage, steps)

    def pieces(self, begun: bool = False) -> Iterator[Piece]:
        """The samples from where it stands, and one where the run ends early."""
        return without_ruins(self.run.d, map(self._in_mode, self._pieces(begun)))

    def _in_mode(self, piece: Piece) -> Piece:
        """Return a piece with the number of the mode of its samples; with roots that were passed, of each of them."""
        left, self.actions.left = self.actions.left, []
        mode: Any = self.modes.number(self.ongoing.active.mode)
        if left and len(piece.times):
            times, modes = zip(*left, strict=True)
            numbers = np.array([*map(self.modes.number, modes), mode])
            mode = numbers[np.searchsorted(times, piece.times, side="left")]
        return replace(piece, mode=mode) if np.any(mode) else piece

    def _pieces(self, begun: bool) -> Iterator[Piece]:
        """Yield the pieces of `_until_refused`; the start where even the first call for inputs fails."""
        empty = not begun and self.run.from_start
        for piece in self._until_refused(begun):
            empty = empty and not len(piece.times)
            yield self._start(piece) if empty and piece.why == "refused" else piece

    def _start(self, piece: Piece) -> Piece:
        """Return the start as a sample; efforts that depend on the inputs are NaN."""
        run, d = self.run, self.run.d
        y, u = (x.copy() for x in d.parted(run.start))
        u[d.input_layout.control] = np.nan
        own = (run.inputs.parameters,) if d.parameters else ()
        W = kernel_of(d, Dynamics.watched, time=(), y=(d.ny,), u=(d.nu,))(run.time, y, u, *own)
        return replace(piece, times=np.array([run.time]), Y=np.array([y]), W=np.array([W]))

    def _until_refused(self, begun: bool) -> Iterator[Piece]:
        """Yield the pieces of `steps`, up to where a call for inputs fails."""
        stepper = self.ongoing.stepper
        try:
            yield from self.steps(begun)
        except RefusedError:
            yield replace(stepper.move(stepper.time), why="refused")

    def steps(self, begun: bool) -> Iterator[Piece]:
        """Yield the samples up to where an event ends the run, and one there."""
        stepper = self.ongoing.stepper
        try:
            if not begun and self.run.guarded:
                self.actions.decide([], True)
            self.roots.look()
            while not stepper.finished:
                acts = search(self.ongoing, self.actions.room) if self._searches else None
                piece = stepper.advance(bool(self.modes.called), acts)
                roots = stepper.passed
                stopped = roots[-1] if piece.why == "root" else None
                end = self.actions.passed(roots[:-1] if stopped else roots)
                if piece.good and self.roots.called_changes():
                    stepper.back()
                    piece = replace(piece.first(0), why="crossed")
                if piece.why == "refused" and self.modes.called:
                    piece = piece.first(0)  # an event before its samples is not known
                if piece.why in LOST and self._slammed(piece):
                    yield replace(piece, why="more")
                    continue
                if piece.why == "crossed":
                    yield replace(piece, why="more")
                    yield from self._crossed()
                    continue
                if stopped is not None:
                    yield replace(piece, why="more")
                    causes = self.roots.stopped(stopped)
                    if causes:
                        self.actions.happen(causes)
                    piece = replace(piece.first(0), why="more")
                yield self._with_memory(piece)
                if end is not None:
                    raise end
                if not piece.good:
                    return
        except EndError as end:
            self.run.ended, self.run.error = end.status, end.__cause__
            yield stepper.sample("event")

    def _slammed(self, piece: Piece) -> bool:
        """Go on by an impact without collision where friction from load has no solution; False: that is not why a
        step has failed, or rates stay as they are."""
        from kinpair.simulation.driver.sticking import settle
        from kinpair.simulation.driver.touching import slam
        from kinpair.simulation.monitors.lost_numbers import jam_of

        run, stepper = self.run, self.ongoing.stepper
        y = self.ongoing.active.d.layout.converted(stepper.y, run.d.layout)
        if jam_of(run, y, stepper.time, stepper.time + piece.dt, piece.dt) is None or not slam(self.ongoing):
            return False
        settle(self.ongoing, [])
        return True

    def _crossed(self) -> Iterator[Piece]:
        """Decide if what is ahead in the next step happens."""
        stepper = self.ongoing.stepper
        time, causes, lost = self.roots.first(stepper.time, stepper.ahead)
        piece = stepper.move(time)
        slammed = piece.why in LOST and self._slammed(piece)
        yield replace(piece, why="more") if slammed else piece
        if slammed:
            return
        if piece.why not in GOOD:
            message = f"Stopped at t = {stepper.time:.9g} s: {piece.why}"
            raise EndError(Status(piece.why, stepper.time, message))
        if lost is not None and not causes:
            raise self.roots.nowhere(lost)
        if causes:
            self.actions.happen(causes)
        self.roots.look()
        yield self._with_memory(piece.first(0))
