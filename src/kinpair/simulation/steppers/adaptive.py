"""Steps as long as the error allows, in compiled code.

Within a step the motion is that of a shorter step from the same state, so a time is found as well as the method steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinpair.compiler.time_loop.loop import AdaptiveLoop
from kinpair.compiler.time_loop.memory import CURSOR, HEAD, LENGTH, STALE, Standing
from kinpair.simulation.loops import loop_of
from kinpair.simulation.monitors.runaways import STEPS, Runaway
from kinpair.simulation.monitors.singular_ends import Passage
from kinpair.simulation.run import GOOD, NO_TIMES, Piece, Run, Stage
from kinpair.simulation.sample_memory import Pages
from kinpair.simulation.steppers.stepper import Pace, Root, Search
from kinpair.simulation.torques import RefusedError


class AdaptiveStepper:
    """A stepper with steps as long as the error allows; with `whole` False the memory of each piece is given back
    with the next."""

    def __init__(self, run: Run, stage: Stage, whole: bool) -> None:
        self.run, self.stage, self._whole = run, stage, whole
        every = [event.every for event in run.events if event.every is not None]
        self._longest = min(run.longest, run.longest_at_rest, *every)
        self.at = self._loop.begin(run.start, run.time, NO_TIMES)
        self.ahead = run.time
        self._released, self._pages = 0, list[Pages]()
        self._before = self.at.memory.copy()
        self._pace, self._runaway = Pace(), Runaway(run, 0, self.time, self.y, STEPS)
        self._allow()
        self._reserve()

    @staticmethod
    def loop(stage: Stage) -> AdaptiveLoop:
        """Loop of compiled code."""
        run = stage.run
        compiled: Any = loop_of(stage.d, run.integrator, run.torque, True, stage.guard)
        return compiled

    @property
    def _loop(self) -> AdaptiveLoop:
        return self.stage.loop

    @property
    def time(self) -> float:
        """Time reached [s]."""
        return self.at.time

    @property
    def y(self) -> np.ndarray:
        """State that was reached."""
        return self.at.state(self.stage.d.ny)

    @property
    def u(self) -> np.ndarray:
        """Inputs at the state reached."""
        return self.stage.d.parted(self.at.memory[HEAD:])[1].copy()

    @property
    def finished(self) -> bool:
        """True if the end is reached."""
        return self.at.why == "done"

    # going

    def advance(self, single: bool = False, search: Search | None = None) -> Piece:
        """Some steps, or one; before a step in which a guard changes its sign it stops, or does as the search says."""
        self._release()
        at, first, done = self.at, self.at.samples, self.at.steps + self.at.rejected
        self._before = at.memory.copy()
        steps = 1 if single else min(self._pace.begin(), self._runaway.left(done))
        least = self._passage.least
        self._loop.run(
            at, stop=self.run.stop, steps=steps, least=least, **self._searched(search), **self._options
        )
        if not single:
            self._pace.end(at.steps + at.rejected - done)
        passing = at.why == "short"
        why = self._passage.over(at) if passing else at.why
        self._within = self._passage.options if passing else self._options
        if why == "more":
            why = self._runaway(at.steps + at.rejected, at.time, self.y)
        self.ahead = min(self.run.stop, at.time + at.dt)
        return self._piece(first, why)

    def _searched(self, search: Search | None) -> dict[str, Any]:
        if search is None:
            return {}
        if len(self._log) < search.room:
            self._log = self._loop.log(search.room)
        return {"acts": search.acts, "log": self._log[: search.room]}

    @property
    def passed(self) -> tuple[Root, ...]:
        """Roots in the last advance."""
        if not self.at.roots:
            return ()
        ny, rows = self.stage.d.ny, self._log[: self.at.roots].copy()
        ng = (rows.shape[1] - 1 - 2 * ny) // 3
        times, *parts = np.split(rows, np.cumsum([1, ng, ng, ng, ny]), axis=1)
        return tuple(map(Root, times[:, 0].tolist(), *parts))

    def _allow(self) -> None:
        """Errors; what a mode adds to the state does not decide the steps."""
        run, d = self.run, self.stage.d
        allowed = run.atol
        if d is not run.d:
            known = run.d.layout.converted(run.atol, d.layout)
            allowed = np.where(known > 0.0, known, np.inf)
        self._options: dict[str, Any] = {
            "inputs": run.inputs,
            "rtol": run.rtol,
            "atol": allowed,
            "hold": run.torque.sample_time or 0.0,
            "t0": run.time,
            "longest": self._longest,
            "wanted": run.wanted,
        }
        self._log = np.zeros((0, 0))
        self._within = self._options  # by which it goes to a time within the step ahead
        self._passage = Passage(self.stage, self._options)

    def _reach(self, at: Standing, time: float) -> None:
        """Go to a time within the step ahead."""
        length = at.dt
        while at.time < time:
            self._loop.run(at, stop=time, steps=1, minding=False, **self._within)
            if at.why == "refused":
                raise RefusedError
            if at.why not in GOOD:
                return
        at.memory[LENGTH] = length

    # events

    def back(self) -> None:
        """To before the last step, which is then ahead."""
        end = self.time
        self.at.memory[:] = self._before
        self.at.memory[LENGTH] = end - self.time
        self.ahead = end

    def peek(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """State and inputs at a time within the step ahead."""
        trial = Standing(self.at.memory.copy(), self.at.Y, self.at.W)
        self._reach(trial, time)
        return self.stage.d.parted(trial.memory[HEAD:])

    def move(self, time: float) -> Piece:
        """Go to a time within the step ahead."""
        first = self.at.samples
        if time <= self.at.time:
            return self._piece(first, "more")
        self._reach(self.at, time)
        return self._piece(first, self.at.why if self.at.why not in GOOD else "more")

    def put(self, y: np.ndarray, stage: Stage) -> None:
        """Go on from a state (ny,) of another stage."""
        head = self.at.memory[:HEAD].copy()
        self._enter(stage, np.concatenate([y, self.u]))
        self.at.memory[:HEAD] = head
        self.at.memory[STALE] = 1.0

    def _enter(self, stage: Stage, start: np.ndarray) -> None:
        before, now, self.stage = self.stage, self.at, stage
        self.at = self._loop.begin(start, now.time, NO_TIMES)
        if (before.d.ny, before.d.nw) == (stage.d.ny, stage.d.nw):
            self.at.Y, self.at.W = now.Y, now.W
        else:
            self._reserve()
        self._allow()

    def sample(self, why: str) -> Piece:
        """The state reached as a sample."""
        here = np.array([self.time])
        trial = self._loop.begin(np.concatenate([self.y, self.u]), self.time, here)
        trial.memory[:] = self.at.memory
        trial.memory[CURSOR] = 0.0
        options: dict[str, Any] = {**self._options, "wanted": here}
        self._loop.run(trial, stop=self.time, steps=1, minding=False, **options)
        if trial.why == "refused":
            raise RefusedError
        return self._piece_of(here, trial.Y, trial.W, why)

    # what is kept

    def memory(self) -> np.ndarray:
        """Memory that is needed to continue in the mode, one vector."""
        return self.at.memory.copy()

    def restore(self, memory: np.ndarray, stage: Stage, steps: int) -> None:
        """Stand where a stepper of this kind stood."""
        self._enter(stage, np.zeros(stage.d.ny + stage.d.nu))
        self.at.memory[:] = memory[: len(self.at.memory)]
        self._released = self.at.samples
        self._runaway = Runaway(self.run, self.at.steps + self.at.rejected, self.time, self.y, STEPS)

    # what was found

    def _reserve(self) -> None:
        """Memory for the samples in the layout of this mode."""
        samples, sizes = len(self.run.wanted), (self.stage.d.ny, self.stage.d.nw)
        if self._whole:
            self.at.Y, self.at.W = (np.empty((samples, n)) for n in sizes)
        else:
            self._pages = [Pages(samples, n) for n in sizes]
            self.at.Y, self.at.W = (pages.array for pages in self._pages)

    def _release(self) -> None:
        for pages in self._pages:
            pages.release(self._released, self.at.samples)
        self._released = self.at.samples

    def _piece(self, first: int, why: str) -> Piece:
        now = slice(first, self.at.samples)
        return self._piece_of(self.run.wanted[now], self.at.Y[now], self.at.W[now], why)

    def _piece_of(self, times: np.ndarray, Y: np.ndarray, W: np.ndarray, why: str) -> Piece:
        at, time = self.at, self.at.time
        own = self.stage.as_sampled(Y, W)
        return Piece(times.copy(), *own, why, time, time, at.steps, at.rejected, at.dt)
