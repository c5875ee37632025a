"""One motion of a batch, or of a stepper, taken through steps with events as a single run is.

A step with more than MOST events goes on without rebound at limits: so it comes to its end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kinpair.simulation.driver.driver import Driver
from kinpair.simulation.events.events import EventRecord
from kinpair.simulation.modes.modes import Active, Mode
from kinpair.simulation.piece import Piece
from kinpair.simulation.run import Run
from kinpair.simulation.stage import Stage
from kinpair.simulation.status import Status
from kinpair.simulation.steppers.fixed import FixedStepper

MOST = 16  # events in a step
CROWDED = f"more than {MOST} events in a step"


class Standing(NamedTuple):
    """Where a motion stands: state and inputs (ny + nu,) with all limits open, and which limits are closed (n,)."""

    numbers: np.ndarray
    closed: np.ndarray


class Passed(NamedTuple):
    """What came of some steps: where the motion stands, its samples, how it ended, and what happened."""

    standing: Standing
    pieces: list[Piece]
    why: str
    ended: Status | None
    events: list[EventRecord]


class Lane:
    """Takes one motion at a time forward, by the driver of a single run."""

    def __init__(self, run: Run, loop: Callable[[Stage], Any] = FixedStepper.loop) -> None:
        self.batch = run
        self.run = run.alone(0)
        self.driver = Driver(self.run, whole=False, loop=loop)
        self.modes, self.ongoing = self.driver.modes, self.driver.ongoing
        assert isinstance(self.ongoing.stepper, FixedStepper)
        self.stepper = self.ongoing.stepper

    @property
    def open(self) -> Active:
        """What moves while all limits are open."""
        return self._active(np.zeros(len(self.modes.limits), dtype=bool), self.run.start)

    @property
    def closing(self) -> Active:
        """What moves while any limit is closed."""
        return self._active(np.ones(len(self.modes.limits), dtype=bool), self.run.start)

    def compile(self, batch: bool) -> None:
        """Compile all loops now, of one motion and of a `batch`: none is made in the midst of steps."""
        for active in (self.open, self.closing)[: 1 + bool(self.modes.limits)]:
            for form in {False, batch}:
                active.stage.loop.code(batch=form)

    def _active(self, closed: np.ndarray, numbers: np.ndarray) -> Active:
        limits = zip(self.modes.limits, closed.tolist(), strict=True)
        mode = Mode(resting=tuple(x for x, flag in limits if flag))
        return self.modes.active(mode, numbers[self.run.d.layout.q], self.stepper.time)

    def number(self, standing: Standing) -> int:
        """Return the number of the mode in which a motion stands."""
        active = self._active(standing.closed, standing.numbers)
        return self.modes.number(active.mode)

    def begin(self, row: int, numbers: np.ndarray, time: float) -> Passed:
        """Decide impacts and phases where a motion begins, at state and inputs (ny + nu,)."""
        self._stand(row, 0, time, Standing(numbers, np.zeros(len(self.modes.limits), dtype=bool)))
        self.stepper.until = 0
        return self._passed(begun=False)

    def through(self, row: int, n: int, standing: Standing, until: int) -> Passed:
        """Take the motion of a row from step n to another one."""
        self._stand(row, n, self.run.time + n * self.stepper.plan.dt, standing)
        self.stepper.until = until
        return self._passed(begun=True)

    def _stand(self, row: int, n: int, time: float, standing: Standing) -> None:
        run, ongoing = self.run, self.ongoing
        run.inputs = self.batch.inputs.of(row)
        run.event_log.clear()
        run.ended = None
        self.driver.actions.recent.clear()
        self.stepper.time = time
        ongoing.active = self._active(standing.closed, standing.numbers)
        d, (y, u) = ongoing.active.d, run.d.parted(standing.numbers)
        state = np.concatenate([ongoing.active.entered(run.d.layout.converted(y, d.layout)), u])
        self.stepper.stand(n, time, state, ongoing.active.stage)

    def _passed(self, begun: bool) -> Passed:
        pieces, why = list[Piece](), "more"
        actions, ongoing, n = self.driver.actions, self.ongoing, self.stepper.n
        before, ongoing.rest = actions.count, self.run.limits.rest
        for piece in self.driver.steps(begun):
            if not piece.good:
                why = piece.why
                break
            pieces.append(piece)
            if self.stepper.n != n:
                n, before, ongoing.rest = self.stepper.n, actions.count, self.run.limits.rest
            elif actions.count - before >= MOST and np.isfinite(ongoing.rest):
                ongoing.rest = np.inf
                ongoing.note(CROWDED, ongoing.motion[1], 0.0)
        return Passed(self._standing(), pieces, why, self.run.ended, list(self.run.event_log))

    def _standing(self) -> Standing:
        active, d = self.ongoing.active, self.run.d
        y = active.d.layout.converted(self.stepper.y, d.layout)
        closed = np.array([x in active.mode.resting for x in self.modes.limits], dtype=bool)
        return Standing(np.concatenate([y, self.stepper.u]), closed)
