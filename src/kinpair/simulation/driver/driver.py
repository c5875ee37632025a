"""The driver of every run: a stepper, guards that may stop it, and what then happens.

A run without events is a run whose list of guards is empty. An event that never happens changes no bit of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from kinpair.simulation.driver.actions import MANY, Actions
from kinpair.simulation.driver.ongoing import EndError, Ongoing
from kinpair.simulation.driver.root_finding import RootFinder, search
from kinpair.simulation.driver.sticking import settle
from kinpair.simulation.driver.touching import slam, touch
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.events.events import EventRecord
from kinpair.simulation.loops import kernel_of
from kinpair.simulation.modes.modes import Entry, Mode, Modes
from kinpair.simulation.monitors.endings import LOST
from kinpair.simulation.monitors.lost_numbers import jam_of
from kinpair.simulation.monitors.singular_ends import without_ruins
from kinpair.simulation.run import GOOD, Piece, Run, Stage
from kinpair.simulation.status import Status
from kinpair.simulation.steppers.adaptive import AdaptiveStepper
from kinpair.simulation.steppers.external import ExternalStepper
from kinpair.simulation.steppers.fixed import FixedStepper
from kinpair.simulation.torques import RefusedError

BEGIN = "energies at the start"
ADDED = 8  # entries that a mode may add to the memory of a stepper next to phases of limits: its trace, slopes of it


class Driver:
    """Takes a run to its end, piece by piece; with `whole` False a piece is gone when the next one comes.

    `loop` gives what steps are taken by; who gives one takes the run from step to step and needs no memory of it.
    """

    def __init__(self, run: Run, *, whole: bool = True, loop: Callable[[Stage], Any] | None = None) -> None:
        self.run = run
        kind = FixedStepper if run.fixed else ExternalStepper if run.integrator.external else AdaptiveStepper
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
        """The same with all that is needed to go on, where samples go to a file."""
        return replace(piece, memory=self.memory()) if self._kept else piece

    @property
    def names(self) -> list[str]:
        """Of what may happen."""
        return self.modes.names

    def memory(self) -> np.ndarray:
        """All that is needed to go on: the mode, times of the last events, events that wait, where the stepper is."""
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
        self.modes.entered[:] = entered
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
        mode = self.modes.number(self.ongoing.active.mode)
        return replace(piece, mode=mode) if mode else piece

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
            if not begun:
                touch(self.ongoing)
                settle(self.ongoing, [])
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
        run, stepper = self.run, self.ongoing.stepper
        y = self.ongoing.active.d.layout.converted(stepper.y, run.d.layout)
        if jam_of(run, y, stepper.time, stepper.time + piece.dt, piece.dt) is None or not slam(self.ongoing):
            return False
        settle(self.ongoing, [])
        return True

    def _crossed(self) -> Iterator[Piece]:
        """What is ahead in the next step happens, or turns out to be nothing."""
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
