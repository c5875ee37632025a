"""Equal steps in compiled code: of one motion, or of a batch in SIMD lanes and threads.

Within a step the motion is that of a shorter step from the same state. A step that is cut by an event goes on to where
it would have ended. Step n leads from t₀ + n dt to t₀ + (n + 1) dt whatever came before, so a run that is cut in two
is the same to the last bit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinpair.compiler.time_loop.loop import Chunk, FixedLoop
from kinpair.simulation.loops import loop_of
from kinpair.simulation.rounding import STEP_END
from kinpair.simulation.run import NO_TIMES, Piece, Run, Stage
from kinpair.simulation.sample_memory import Room
from kinpair.simulation.schedule import held_steps
from kinpair.simulation.steppers.stepper import Pace, Root, Search
from kinpair.simulation.torques import RefusedError

NUMBERS = 1 << 21  # of a piece that goes to a file: a fast machine does not need more memory


class FixedStepper:
    """A stepper with the steps of a plan; with `whole` False each piece has memory of its own."""

    passed: tuple[Root, ...] = ()  # it searches for none by itself

    def __init__(self, run: Run, stage: Stage, whole: bool) -> None:
        assert run.plan is not None
        self.run, self.plan, self.stage = run, run.plan, stage
        period = run.torque.sample_time
        self.hold = held_steps(run.name, period, self.plan.dt) if period is not None else 1
        self.state = run.start.copy()
        self.n, self.time, self.ahead = 0, run.time, run.time
        self.until = self.plan.steps
        self._looked, self._before = False, (self.state, self.time, self.n)
        self._whole, self._room = whole, None
        self._pace = Pace(run.batch or 1)

    @staticmethod
    def loop(stage: Stage) -> FixedLoop:
        """Loop of compiled code."""
        run = stage.run
        compiled: Any = loop_of(stage.d, run.integrator, run.torque, False, stage.guard)
        return compiled

    @property
    def _loop(self) -> FixedLoop:
        return self.stage.loop

    @property
    def y(self) -> np.ndarray:
        """State that was reached."""
        return self.stage.d.parted(self.state)[0].copy()

    @property
    def u(self) -> np.ndarray:
        """Inputs at the state reached."""
        return self.stage.d.parted(self.state)[1].copy()

    @property
    def finished(self) -> bool:
        """True if the end is reached, or the step `until` which it goes."""
        return self._looked and self.n >= self.until

    def _grid(self, n: int) -> float:
        return self.run.time + n * self.plan.dt

    # going

    def advance(self, single: bool = False, search: Search | None = None) -> Piece:
        """Some steps, or one; before a step in which a guard changes its sign it stops."""
        self._before = self.state, self.time, self.n
        if not self._looked:
            return self._start()
        if self.time != self._grid(self.n):
            piece = self._rest_of_step(self._grid(self.n + 1), minding=True)
        else:
            piece = self._portion(1 if single else min(self._pace.begin(), self.until - self.n))
        self.ahead = self._grid(self.n + 1)
        return piece

    def _options(self) -> dict[str, Any]:
        run = self.run
        shared: dict[str, Any] = {"inputs": run.inputs, "threads": run.threads}
        return {"dt": self.plan.dt, "t0": run.time, "hold": self.hold, **shared}

    def _start(self) -> Piece:
        """A look at the start, which may be a sample."""
        chunk = self._sampled(every=0, first=0, out=self._place(1), **self._options())
        self.state, self._looked, self.ahead = chunk.end, True, self._grid(1)
        return self._piece(chunk, np.arange(int(self.plan.from_start)))

    def _portion(self, steps: int) -> Piece:
        """About so many steps of the plan."""
        left, every = self.plan.ahead(self.n)
        d, motions = self.run.d, self.run.batch or 1
        most = left if self._whole else max(1, NUMBERS // (motions * (d.ny + d.nw)))
        many = steps >= every
        samples, k = (min(left, most, steps // every), every) if many else (1, steps)
        chunk = self._loop.run(
            self.state, samples=samples, every=k, first=self.n, out=self._place(samples), **self._options()
        )
        self._pace.end(samples * k)
        ended = isinstance(chunk.why, str) and chunk.why != "more"
        at_end = self.n + samples * k == self.plan.steps
        taken = 0 if k < every else samples - (at_end and not self.plan.to_end)
        complete = min(taken, (chunk.step - self.n) // k) if ended else taken
        reached = self.n + np.arange(1, complete + 1) * k
        self.n = chunk.step if ended else self.n + samples * k
        self.state, self.time = chunk.end, self._grid(self.n)
        return self._piece(chunk, reached)

    def _rest_of_step(self, time: float, minding: bool) -> Piece:
        """To a time within the step, or to its end, where a sample may be due."""
        end = self._grid(self.n + 1)
        whole = end - time <= STEP_END * self.plan.dt
        due = whole and (self.n + 1) % self.hold == 0
        chunk = self._shorter(end if whole else time, 1 if due else 2, minding)
        if chunk.why != "more":
            return replace(self._piece(None, NO_TIMES), why=chunk.why)
        self.state, self.time = chunk.end, end if whole else time
        self.n += whole
        sampled = whole and self.plan.samples_at(self.n)
        return self._piece(chunk, np.array([self.n] if sampled else []))

    def _shorter(self, time: float, hold: int, minding: bool) -> Chunk:
        """Take one step from here to a time."""
        options: dict[str, Any] = {**self._options(), "dt": time - self.time, "t0": self.time, "hold": hold}
        return self._sampled(every=1, minding=minding, **options)

    def _sampled(self, **options: Any) -> Chunk:
        """Run the loop for one sample; RefusedError where a call for inputs failed."""
        chunk = self._loop.run(self.state, samples=1, **options)
        if chunk.why == "refused":
            raise RefusedError
        return chunk

    # events

    def back(self) -> None:
        """To before the last step, which is then ahead."""
        self.state, self.time, self.n = self._before
        self.ahead = self._grid(self.n + 1)

    def peek(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """State and inputs at a time within the step ahead."""
        if time <= self.time:
            return self.y, self.u
        return self.stage.d.parted(self._shorter(time, 2, minding=False).end)

    def move(self, time: float) -> Piece:
        """Go to a time within the step ahead."""
        if time <= self.time:
            return self._piece(None, NO_TIMES)
        return self._rest_of_step(time, minding=False)

    def put(self, y: np.ndarray, stage: Stage) -> None:
        """Go on from a state (ny,) of another stage."""
        self.state, self.stage = np.concatenate([y, self.u]), stage

    def sample(self, why: str) -> Piece:
        """The state reached as a sample."""
        options: dict[str, Any] = {**self._options(), "t0": self.time}
        chunk = self._sampled(every=0, first=0, **options)
        return replace(
            self._piece(chunk, np.array([0])), times=np.array([self.time]), why=why, trouble=self.time
        )

    # what is kept

    def memory(self) -> np.ndarray:
        """Memory that is needed to continue in the mode, one vector."""
        return np.concatenate([[self.n, self.time], self.state.ravel()])

    def restore(self, memory: np.ndarray, stage: Stage, steps: int) -> None:
        """Stand where a stepper of this kind stood."""
        width = stage.d.ny + stage.d.nu
        count = int(np.prod(self.state.shape[:-1], dtype=int))
        state = memory[2 : 2 + count * width].reshape(*self.state.shape[:-1], width).copy()
        self.stand(int(memory[0]), float(memory[1]), state, stage)

    def stand(self, n: int, time: float, state: np.ndarray, stage: Stage) -> None:
        """Go on from a state with its inputs (..., ny + nu) of a stage, at a time in step n."""
        self.stage, self._looked = stage, True
        self.n, self.time, self.state = n, time, state
        self.ahead = self._grid(self.n + 1)

    # what was found

    def _place(self, samples: int) -> Any:
        """Memory for samples of the whole run, side by side; None: each piece has its own."""
        if not self._whole or self.stage.d is not self.run.d:
            return None
        if self._room is None:
            d = self.run.d
            self._room = Room(self.state.shape[:-1], self.run.samples, d.ny, d.nw)
        return self._room.next(samples)

    def _piece(self, chunk: Chunk | None, steps: np.ndarray) -> Piece:
        """The samples of a chunk taken behind these steps."""
        run, d, n = self.run, self.stage.d, len(steps)
        times, why, trouble = run.time + steps * self.plan.dt, "more", self.time
        Y, W = np.zeros((0, d.ny)), np.zeros((0, d.nw))
        if chunk is not None:
            Y, W, why = chunk.Y[..., :n, :], chunk.W[..., :n, :], chunk.why
            trouble = run.time + np.asarray(chunk.step) * self.plan.dt if why != "more" else trouble
            if self._room is not None and chunk.Y.base is self._room.Y:
                self._room.take(n)
        return Piece(times, *self.stage.as_sampled(Y, W), why, trouble, self.time, self.n, 0, self.plan.dt)
