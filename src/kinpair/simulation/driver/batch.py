"""The driver of a batch with guards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from kinpair.simulation.driver.lanes import CROWDED, Lane, Lanes, Samples
from kinpair.simulation.events.events import EventRecord
from kinpair.simulation.modes.modes import Entry
from kinpair.simulation.run import Piece, Run
from kinpair.simulation.sample_memory import Room
from kinpair.simulation.steppers.stepper import Pace


class BatchDriver:
    """Takes a batch to its end, piece by piece; with `whole` False a piece is gone when the next one comes."""

    def __init__(self, run: Run, whole: bool) -> None:
        assert run.plan is not None
        self.run, self.plan, self._whole = run, run.plan, whole
        lane = Lane(run)
        self.modes, self.lanes = lane.modes, Lanes(run, lane, run.start.copy())
        self.begin_energy = None if run.from_start else run.begin_energy
        self.n, self._rows = 0, len(run.start)
        self._room: Room | None = None
        self._pace = Pace(self._rows)

    @property
    def names(self) -> list[str]:
        """Names of what may happen."""
        return [*self.modes.names, CROWDED]

    # what is kept

    def memory(self) -> np.ndarray:
        """Memory that is needed to continue, one vector."""
        return np.concatenate([[self.n], self.lanes.state.ravel(), self.lanes.closed.ravel()])

    def restore(
        self, memory: np.ndarray, steps: int, happened: Sequence[EventRecord], entered: Sequence[Entry]
    ) -> None:
        """Stand where a batch stood after some steps, with what happened and the modes that were entered by then."""
        self.modes.restore(entered)
        self.run.event_log[:] = happened
        own, size = self.lanes, self.lanes.state.size
        self.n = int(memory[0])
        own.state[...] = memory[1 : 1 + size].reshape(own.state.shape)
        own.closed[...] = memory[1 + size :].reshape(own.closed.shape) > 0.5

    # going

    def pieces(self, begun: bool = False) -> Iterator[Piece]:
        """Yield the samples from where the batch stands."""
        if not begun:
            yield self._start()
        while self.n < self.plan.steps:
            piece = self._portion()
            yield piece if self._whole else replace(piece, memory=self.memory())

    def _start(self) -> Piece:
        """Begin, and look at the start, which may be a sample."""
        self.lanes.begin(range(self._rows), self.run.time)
        samples = self._samples([0])
        self.lanes.look(samples)
        return self._piece(samples, int(self.plan.from_start))

    def _portion(self) -> Piece:
        """About as many steps as take the time of a pause."""
        from kinpair.simulation.steppers.fixed import NUMBERS

        run, start, steps = self.run, self.n, self._pace.begin()
        left, every = self.plan.ahead(start)
        most = left if self._whole else max(1, NUMBERS // (self._rows * (run.d.ny + run.d.nw)))
        count, k = (min(left, most, steps // every), every) if steps >= every else (1, steps)
        end = start + count * k
        samples = self._samples([m for m in range(start + k, end + 1, k) if self.plan.samples_at(m)])
        self.lanes.why, before = ["more"] * self._rows, len(run.event_log)
        self.lanes.to(end, self.lanes.groups(start), samples)
        run.event_log[before:] = sorted(run.event_log[before:], key=lambda x: (x.time, x.row))
        self.n = end
        self._pace.end(count * k)
        return self._piece(samples, len(samples.steps))

    # what was found

    def _samples(self, steps: Sequence[int]) -> Samples:
        """Memory for samples; those of a whole run lie side by side."""
        d, rows, n = self.run.d, self._rows, len(steps)
        if self._whole and self._room is None:
            self._room = Room((rows,), self.run.samples, d.ny, d.nw)
        own = (np.empty((rows, n, d.ny)), np.empty((rows, n, d.nw)))
        Y, W = own if self._room is None else self._room.next(n)
        return Samples(steps, Y, W, np.zeros((rows, n), dtype=int))

    def _piece(self, samples: Samples, n: int) -> Piece:
        """Return the first n samples."""
        if self._room is not None:
            self._room.take(n)
        own, dt, time = self.lanes, self.plan.dt, self.run.time
        times = time + np.array(samples.steps[:n], dtype=int) * dt
        Y, W, mode = samples.Y[:, :n], samples.W[:, :n], samples.mode[:, :n]
        reached, trouble = time + self.n * dt, own.trouble.copy()
        return Piece(times, Y, W, list(own.why), trouble, reached, self.n, 0, dt, mode=mode)
