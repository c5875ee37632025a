"""A run that can be stopped anywhere: some steps, a look ahead into the next one, a move to a time within it.

Within a step the motion is that of a shorter step from the same state, so a time is found as well as the method steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kinpair.compiler.time_loop import AdaptiveLoop, Chunk, FixedLoop
from kinpair.compiler.time_loop_memory import CURSOR, HEAD, LENGTH, STALE
from kinpair.compiler.time_loop_standing import Standing
from kinpair.simulation.runs import FIRST_STEPS, Pace, Pages, Piece, fixed_run
from kinpair.simulation.schedule import Plan
from kinpair.simulation.watch.runaways import Runaway

NO_TIMES = np.zeros(0)
NEAR = 1e-12  # of a step: so near to its end is its end
GOOD = ("more", "done")


def fitted(x: np.ndarray, n: int) -> np.ndarray:
    """A copy with n numbers in a row: what modes have in common comes first."""
    found = np.zeros((*x.shape[:-1], n))
    common = min(n, x.shape[-1])
    found[..., :common] = x[..., :common]
    return found


class AdaptiveWalk:
    """By steps as long as the error allows, none longer than `longest`."""

    def __init__(self, ready: Any, loop: AdaptiveLoop, nw: int, longest: float) -> None:
        self.run, self.wanted, self.loop, self.nw = ready.run, ready.wanted, loop, nw
        self.at = loop.begin(ready.start, self.run.time, NO_TIMES)
        self._rooms()
        self.atol, self.ny = ready.atol, self.run.d.ny
        self.options: dict[str, Any] = {
            "inputs": self.run.inputs,
            "rtol": ready.rtol,
            "atol": self._allowed,
            "hold": self.run.wish.torque.sample_time or 0.0,
            "t0": self.run.time,
            "longest": min(longest, self.run.longest),
        }
        self.ahead = self.at.time
        self._pace, self._watch = Pace(FIRST_STEPS), Runaway(self.run, 0, self.time, self.y)
        self._before = self.at.memory.copy()

    @property
    def time(self) -> float:
        """Reached."""
        return self.at.time

    @property
    def y(self) -> np.ndarray:
        """State reached."""
        return self.at.state(self.loop.flow.ny)

    @property
    def u(self) -> np.ndarray:
        """Inputs there."""
        first = HEAD + self.loop.flow.ny
        return self.at.memory[first : first + self.loop.flow.nu].copy()

    def go(self, single: bool) -> Piece:
        """Some steps, or one; before a step in which a guard changes its sign it stops, and `ahead` is its end."""
        at, first, done = self.at, self.at.samples, self.at.steps + self.at.rejected
        self._before = at.memory.copy()
        steps = 1 if single else self._pace.begin()
        self.loop.run(at, stop=self.run.stop, wanted=self.wanted, steps=steps, **self.options)
        if not single:
            self._pace.end(at.steps + at.rejected - done)
        self.ahead = min(self.run.stop, at.time + at.dt)
        why = self._watch(at.steps + at.rejected, at.time, self.y) if at.why == "more" else at.why
        return self._piece(first, why)

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
        return self._parts(trial.memory[HEAD:])

    def _parts(self, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        ny, nu = self.loop.flow.ny, self.loop.flow.nu
        return start[:ny].copy(), start[ny : ny + nu].copy()

    def move(self, time: float) -> Piece:
        """Go there."""
        first = self.at.samples
        self._reach(self.at, time)
        return self._piece(first, self.at.why if self.at.why not in GOOD else "more")

    def _reach(self, at: Standing, time: float) -> None:
        length = at.dt
        while at.time < time:
            self.loop.run(at, stop=time, wanted=self.wanted, steps=1, minding=False, **self.options)
            if at.why not in GOOD:
                return
        at.memory[LENGTH] = length

    def put(self, y: np.ndarray, loop: AdaptiveLoop) -> None:
        """Go on from another state, by another loop."""
        head = self.at.memory[:HEAD].copy()
        self._change(loop, np.concatenate([fitted(y, loop.flow.ny), self.u]))
        self.at.memory[:HEAD] = head
        self.at.memory[STALE] = 1.0

    def _change(self, loop: AdaptiveLoop, start: np.ndarray) -> None:
        now, same = self.at, (loop.flow.ny, loop.flow.nw) == (self.loop.flow.ny, self.loop.flow.nw)
        self.at, self.loop = loop.begin(start, now.time, NO_TIMES), loop
        if same:
            self.at.Y, self.at.W = now.Y, now.W
        else:
            self._rooms()
        self.options["atol"] = self._allowed

    def _rooms(self) -> None:
        """Memory for the samples of this loop; what was handed on is given back."""
        flow = self.loop.flow
        self._pages = [Pages(len(self.wanted), n) for n in (flow.ny, flow.nw)]
        self.at.Y, self.at.W = (pages.array for pages in self._pages)

    @property
    def _allowed(self) -> np.ndarray:
        """Errors; what a mode adds to the state does not decide the steps."""
        ny = self.loop.flow.ny
        return np.append(self.atol, np.full(max(0, ny - len(self.atol)), np.inf))[:ny]

    def standing(self) -> np.ndarray:
        """All that is needed to go on in the same mode."""
        return self.at.memory.copy()

    def stand(self, memory: np.ndarray, loop: AdaptiveLoop, step: int) -> None:
        """Where a walk stood after so many steps."""
        self._change(loop, np.zeros(loop.flow.ny + loop.flow.nu))
        self.at.memory[:] = memory[: len(self.at.memory)]

    def last(self, why: str) -> Piece:
        """The state reached as a sample."""
        here = np.array([self.time])
        trial = self.loop.begin(np.concatenate([self.y, self.u]), self.time, here)
        trial.memory[:] = self.at.memory
        trial.memory[CURSOR] = 0.0
        self.loop.run(trial, stop=self.time, wanted=here, steps=1, minding=False, **self.options)
        return self._made(here, trial.Y, trial.W, why)

    def _piece(self, first: int, why: str) -> Piece:
        now = slice(first, self.at.samples)
        piece = self._made(self.wanted[now], self.at.Y[now], self.at.W[now], why)
        for pages in self._pages:
            pages.release(first, self.at.samples)
        return piece

    def _made(self, times: np.ndarray, Y: np.ndarray, W: np.ndarray, why: str) -> Piece:
        at, time = self.at, self.at.time
        own = fitted(Y, self.ny), fitted(W, self.nw)
        return Piece(times.copy(), *own, why, time, time, at.steps, at.rejected, at.dt, at)


class FixedWalk:
    """By equal steps; one that is cut by an event goes on to where it would have ended."""

    def __init__(self, ready: Any, loop: FixedLoop, nw: int) -> None:
        self.run, self.loop, self.nw, self.hold = ready.run, loop, nw, ready.hold
        self.ny = self.run.d.ny
        self.plan: Plan = ready.plan
        self.start: np.ndarray = ready.start
        self.time, self.n = self.run.time, 0
        self.ahead = self.time
        self._pieces: Iterator[Piece] | None = None
        self._looked = False
        self._before = self._standing()

    def _standing(self) -> tuple[np.ndarray, float, int]:
        return self.start, self.time, self.n

    def _grid(self, n: int) -> float:
        return self.run.time + n * self.plan.dt

    @property
    def y(self) -> np.ndarray:
        """State reached."""
        return self.start[: self.loop.flow.ny].copy()

    @property
    def u(self) -> np.ndarray:
        """Inputs there."""
        return self.start[self.loop.flow.ny :].copy()

    def go(self, single: bool) -> Piece:
        """Some steps, or one; before a step in which a guard changes its sign it stops, and `ahead` is its end."""
        self._before = self._standing()
        on_grid = self.time == self._grid(self.n)
        if self._looked and (single or not on_grid):
            self.ahead = self._grid(self.n + 1)
            if self.n >= self.plan.steps:
                return self._made(NO_TIMES, None, "done")
            return self._stepped(self.ahead, minding=True)
        if self._pieces is None:
            self._pieces = self._run()
        self._looked = True
        piece = next(self._pieces, None)
        if piece is None:
            return self._made(NO_TIMES, None, "done")
        self.start, self.n = piece.at, piece.steps
        self.time = self._grid(self.n)
        self.ahead = self._grid(self.n + 1)
        if single or piece.why not in GOOD:
            self._pieces = None
        return self._cut(piece)

    def _run(self) -> Iterator[Piece]:
        run = self.run
        return fixed_run(
            self.loop,
            self.start,
            self.plan,
            t0=run.time,
            hold=self.hold,
            inputs=run.inputs,
            step=self.n,
            whole=False,
        )

    def _sub(self, time: float, hold: int, minding: bool) -> Chunk:
        """One step from here to a time."""
        dt, inputs = time - self.time, self.run.inputs
        return self.loop.run(
            self.start, dt=dt, samples=1, every=1, t0=self.time, hold=hold, inputs=inputs, minding=minding
        )

    def _stepped(self, time: float, minding: bool) -> Piece:
        """To a time within the step, or to its end, where a sample may be due."""
        end = self._grid(self.n + 1)
        whole = end - time <= NEAR * self.plan.dt
        due = whole and (self.n + 1) % self.hold == 0
        chunk = self._sub(end if whole else time, 1 if due else 2, minding)
        if chunk.why != "more":
            return self._made(NO_TIMES, None, chunk.why)
        self.start, self.time, self._pieces = chunk.end, time, None
        if whole:
            self.n += 1
            self.time = end
        sampled = whole and self.plan.samples_at(self.n)
        return self._made(np.array([end]) if sampled else NO_TIMES, chunk if sampled else None, "more")

    def back(self) -> None:
        """To before the last step, which is then ahead."""
        self.start, self.time, self.n = self._before
        self.ahead = self._grid(self.n + 1)

    def peek(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """State and inputs at a time within the step ahead."""
        if time <= self.time:
            return self.y, self.u
        end, ny = self._sub(time, 2, minding=False).end, self.loop.flow.ny
        return end[:ny], end[ny:]

    def move(self, time: float) -> Piece:
        """Go there."""
        if time <= self.time:
            return self._made(NO_TIMES, None, "more")
        return self._stepped(time, minding=False)

    def put(self, y: np.ndarray, loop: FixedLoop) -> None:
        """Go on from another state, by another loop."""
        self.start, self.loop, self._pieces = np.concatenate([fitted(y, loop.flow.ny), self.u]), loop, None

    def standing(self) -> np.ndarray:
        """All that is needed to go on in the same mode."""
        return np.concatenate([[self.n, self.time], self.start])

    def stand(self, memory: np.ndarray, loop: FixedLoop, step: int) -> None:
        """Where a walk stood after so many steps."""
        self.loop, self._pieces, self._looked = loop, None, True
        self.n, self.time = int(memory[0]), float(memory[1])
        self.start = memory[2 : 2 + loop.flow.ny + loop.flow.nu].copy()

    def last(self, why: str) -> Piece:
        """The state reached as a sample."""
        run = self.run
        found = self.loop.run(
            self.start, dt=self.plan.dt, samples=1, every=0, t0=self.time, hold=self.hold, inputs=run.inputs
        )
        return self._made(np.array([self.time]), found, why)

    def _cut(self, piece: Piece) -> Piece:
        return self._made(piece.times, piece, piece.why)

    def _made(self, times: np.ndarray, found: Any, why: str) -> Piece:
        flow, dt = self.loop.flow, self.plan.dt
        Y, W = (found.Y, found.W) if found is not None else (np.zeros((0, flow.ny)), np.zeros((0, flow.nw)))
        own = fitted(Y, self.ny), fitted(W, self.nw)
        return Piece(times, *own, why, self.time, self.time, self.n, 0, dt, self.start)
