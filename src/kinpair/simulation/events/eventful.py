"""A run with events: it goes to the next one, something happens, and it goes on, perhaps in another mode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinpair.simulation.events.course import Course, EndError
from kinpair.simulation.events.crossings import Crossings
from kinpair.simulation.events.events import Event, Happening
from kinpair.simulation.events.happenings import MANY, Happenings
from kinpair.simulation.events.limits import Limits, limits_of
from kinpair.simulation.events.modes import Entry, Mode, Modes, Stage
from kinpair.simulation.events.touching import touch
from kinpair.simulation.methods.walks import GOOD, AdaptiveWalk, FixedWalk
from kinpair.simulation.result import Status
from kinpair.simulation.runs import Piece, emptied

ROUNDING = 1e-13  # of the value of an event's function at the start
TRACE = 2  # entries that a mode with constraints may add to the state, and to its rates


class Eventful:
    """Stands in the place of the plain run that it is made of."""

    def __init__(self, ready: Any, modes: Modes, limits: Limits) -> None:
        self.run, self.start, self.modes = ready.run, ready.start, modes
        self.samples = ready.samples + 1  # where an event ends the run there is one more
        q, qd, _ = self.run.d.parts(self.start)
        values = {x.name: float(x.function(self.run.time, q.copy(), qd.copy())) for x in modes.traced}
        modes.small = {name: ROUNDING * abs(value) for name, value in values.items()}
        stage = modes.stage(Mode(), self.start[: self.run.d.model.nq], self.run.time)
        walk = _walk(ready, modes, stage)
        self.course = Course(self.run, modes, limits, stage, walk)
        self.crossings = Crossings(self.course)
        self.happenings = Happenings(self.course, self.crossings.hold)
        self._held = [event.name for event in modes.events]
        self._memory = 2 + MANY + len(self._held)  # where that of the walk begins
        self._room = self._memory + len(walk.standing()) + 2 * TRACE

    def begin(self) -> np.ndarray:
        """What the run starts from."""
        return self._standing()

    def recall(self, happened: Sequence[Happening], entered: Sequence[Entry]) -> None:
        """What a run that goes on has behind it."""
        self.run.happened[:] = happened
        self.modes.entered[:] = entered

    def _standing(self) -> np.ndarray:
        """All that is needed to go on: the mode, times of the last events, events that wait, where the walk stands."""
        found, memory = np.zeros(self._room), self.course.walk.standing()
        found[0], found[1] = self.modes.number(self.course.stage.mode), len(self.happenings.recent)
        found[2 : 2 + len(self.happenings.recent)] = self.happenings.recent
        found[2 + MANY : self._memory] = [self.course.bands.get(name, np.nan) for name in self._held]
        found[self._memory : self._memory + len(memory)] = memory
        return found

    def _stand(self, state: np.ndarray, step: int) -> None:
        entry, times = self.modes.entered[int(state[0])], state[2 : 2 + int(state[1])]
        self.happenings.recent.extend(times.tolist())
        self.course.stage = self.modes.stage(entry.mode, entry.q, entry.time)
        bands = zip(self._held, state[2 + MANY : self._memory].tolist(), strict=True)
        self.course.bands.update({name: band for name, band in bands if not np.isnan(band)})
        self.course.walk.stand(state[self._memory :], self.course.stage.loop, step)

    def pieces(self, state: np.ndarray, step: int = 0, *, whole: bool = True) -> Iterator[Piece]:
        """The samples behind a state, and one where the run ends early; `at` is None while something is ahead."""
        for piece in self._pieces(state, step):
            yield replace(piece, mode=self.modes.number(self.course.stage.mode))

    def _pieces(self, state: np.ndarray, step: int) -> Iterator[Piece]:
        walk = self.course.walk
        try:
            if step:
                self._stand(state, step)
            else:
                touch(self.course, frozenset())
            self.crossings.look()
            while True:
                piece = walk.go(bool(self.modes.called))
                if piece.why in GOOD and self.crossings.called_changes():
                    walk.back()
                    piece = replace(emptied(piece), why="crossed")
                if piece.why == "crossed":
                    yield replace(piece, why="more", at=None)
                    yield from self._crossed()
                    continue
                yield replace(piece, at=self._standing())
                if piece.why != "more":
                    return
        except EndError as end:
            self.run.ended = end.status
            yield walk.last("event")

    def _crossed(self) -> Iterator[Piece]:
        """What is ahead in the next step happens, or turns out to be nothing."""
        walk, ahead = self.course.walk, self.course.walk.ahead
        time, causes, lost = self.crossings.first(walk.time, ahead)
        piece = walk.move(time)
        yield replace(piece, at=None)
        if piece.why not in GOOD:
            raise EndError(Status(piece.why, walk.time, f"Stopped at t = {walk.time:.9g} s: {piece.why}"))
        if lost is not None and not causes:
            raise self.crossings.nowhere(lost)
        if causes:
            self.happenings.happen(causes)
        self.crossings.look()
        yield replace(emptied(piece), at=self._standing())


def _walk(ready: Any, modes: Modes, stage: Stage) -> Any:
    """In equal steps, or in steps as long as the error, or a library, allows."""
    nw = ready.run.d.nw
    if not modes.adaptive:
        return FixedWalk(ready, stage.loop, nw)
    longest = min([event.every for event in modes.events if event.every is not None], default=np.inf)
    if ready.run.wish.integrator.outside:
        return ready.follower.walk(stage.loop, longest)
    return AdaptiveWalk(ready, stage.loop, nw, longest)


def with_events(
    ready: Any,
    happenings: tuple[tuple[Event, ...], tuple[bool, ...]],
    limits: Limits,
    constraints: tuple[str | None, str, float],
) -> Eventful:
    """A run ready to go, with events and limits to be watched."""
    wish = ready.run.wish
    ends = limits_of(wish.mechanism, limits) if limits.unilateral else ()
    solver, hold, alpha = constraints
    adaptive = not hasattr(ready, "plan")
    modes = Modes(wish, *happenings, ends, solver=solver, hold=hold, alpha=alpha, adaptive=adaptive)
    return Eventful(ready, modes, limits)
