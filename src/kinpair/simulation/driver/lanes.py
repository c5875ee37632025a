"""Motions with guards, many at once.

All motions run in vector code, those with a closed limit in a loop of their own. A motion in which a guard changes its
sign stops before that step; it is taken through the step as a single run is and rejoins the others. So is a motion
with friction from load whose step gives no number: an impulse of friction may go on where no force does. What
becomes of a motion depends neither on its neighbours nor on how many steps are taken at once.

A step with more than MOST events goes on without rebound at limits: so it comes to its end.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kinpair.compiler.time_loop.loop import Chunk
from kinpair.friction.loads.dynamics import is_loaded
from kinpair.simulation.driver.driver import Driver
from kinpair.simulation.events.events import EventRecord
from kinpair.simulation.loops import slide
from kinpair.simulation.modes.modes import Active, Mode
from kinpair.simulation.monitors.endings import LOST
from kinpair.simulation.run import Piece, Run, Stage
from kinpair.simulation.schedule import held_steps
from kinpair.simulation.status import Status
from kinpair.simulation.steppers.fixed import FixedStepper

MOST = 16  # events in a step
CROWDED = f"more than {MOST} events in a step"


class Standing(NamedTuple):
    """Place of a motion: state and inputs (ny + nu,) with all limits open, and which limits are closed (n,)."""

    numbers: np.ndarray
    closed: np.ndarray


class Passed(NamedTuple):
    """Result of some steps: where the motion stands, its samples, how it ended, and what happened."""

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
        """Dynamics while all limits are open."""
        return self._active(np.zeros(len(self.modes.limits), dtype=bool), self.run.start)

    @property
    def closing(self) -> Active:
        """Dynamics while any limit is closed."""
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


Group = tuple[int, bool]  # the step at which motions stand, and whether a limit of each of them is closed


class Samples(NamedTuple):
    """Memory of samples behind some `steps`: states Y (rows, n, ny), watched W (rows, n, nw), modes (rows, n)."""

    steps: Sequence[int]
    Y: np.ndarray
    W: np.ndarray
    mode: np.ndarray

    def between(self, n: int, end: int) -> Samples:
        """Return the samples behind steps beyond n, up to another one."""
        part = slice(bisect_right(self.steps, n), bisect_right(self.steps, end))
        return Samples(self.steps[part], self.Y[:, part], self.W[:, part], self.mode[:, part])


NO_SAMPLES = Samples((), np.zeros((0, 0, 0)), np.zeros((0, 0, 0)), np.zeros((0, 0)))


class Lanes:
    """Motions side by side: `state` and inputs (rows, ny + nu) with all limits open, and which limits are `closed`
    (rows, n). Of those that have ended, `why` and when."""

    def __init__(self, run: Run, lane: Lane, state: np.ndarray) -> None:
        assert run.plan is not None
        self.run, self.lane, self.state, self.dt = run, lane, state, run.plan.dt
        self.closed = np.zeros((len(state), len(lane.modes.limits)), dtype=bool)
        self.why, self.trouble = ["more"] * len(state), np.zeros(len(state))
        self.goes_on = is_loaded(
            run.d.model, passive=run.d.passive
        )  # by impulses, where no force satisfies friction
        period = run.torque.sample_time
        self.hold = held_steps(run.name, period, self.dt) if period is not None else 1

    def begin(self, rows: Sequence[int], time: float) -> None:
        """Decide impacts and phases where rows begin: of motions at limits or at rest, of equal ones once."""
        d, limits, chosen = self.run.d, self.lane.modes.limits, np.array(rows, dtype=int)
        self.closed[chosen] = False
        q = self.state[chosen][:, d.layout.q].T
        near = (
            np.any([x.is_reached(q) for x in limits], axis=0) if limits else np.zeros(len(rows), dtype=bool)
        )
        own, known = self.run.inputs.of(chosen), dict[bytes, Passed]()
        state = self.state[chosen]
        slide(d, own.parameters, d.parted(state)[0])
        self.state[chosen] = state
        rests = (state[:, d.layout.phase] != 0.0).any(axis=1)
        alike = own.parameters.ndim == 1 and own.rows.ndim < 3
        for row in chosen[(near | rests) & np.isfinite(state).all(axis=1)].tolist():
            key = self.state[row].tobytes() if alike else str(row).encode()
            if key not in known:
                known[key] = self.lane.begin(row, self.state[row].copy(), time)
            self._take(row, known[key], time)

    def look(self, samples: Samples) -> None:
        """Take a sample where all motions stand before the first step."""
        for (_, closing), rows in self.groups(0).items():
            self._run(np.array(rows), closing, 0, 1, 0, samples)

    def to(self, end: int, groups: dict[Group, list[int]], samples: Samples = NO_SAMPLES) -> None:
        """Take groups of rows to a step, those that are farthest behind first."""
        while groups:
            n, closing = min(groups)
            rows = np.sort(groups.pop((n, closing)))
            self.past(self._in_lanes(rows, closing, n, end, samples), end, groups, samples)

    def past(
        self,
        stopped: Sequence[tuple[int, int]],
        end: int,
        groups: dict[Group, list[int]],
        samples: Samples = NO_SAMPLES,
    ) -> None:
        """Take rows that guards have stopped, each with its step, through that step, and into their new groups."""
        for row, step in stopped:
            self._event(row, step, samples)
            if step + 1 < end:
                groups.setdefault((step + 1, bool(self.closed[row].any())), []).append(row)

    def groups(self, n: int) -> dict[Group, list[int]]:
        """Return all rows, at step n, by whether a limit is closed."""
        closes = self.closed.any(axis=1)
        both = {(n, closing): np.flatnonzero(closes == closing).tolist() for closing in (False, True)}
        return {group: rows for group, rows in both.items() if rows}

    def _in_lanes(
        self, rows: np.ndarray, closing: bool, n: int, end: int, samples: Samples
    ) -> list[tuple[int, int]]:
        """Take rows from step n on in vector code; return those that guards have stopped, each with its step."""
        assert self.run.plan is not None
        stopped = list[tuple[int, int]]()
        while n < end and len(rows):
            left, every = self.run.plan.ahead(n)
            count, k = (min(left, (end - n) // every), every) if end - n >= every else (1, end - n)
            before, start = self.state[rows] if self.goes_on else self.state[:0], n
            chunk = self._run(rows, closing, n, count, k, samples.between(n, n + count * k))
            n += count * k
            on = np.ones(len(rows), dtype=bool)
            for i, why in enumerate(chunk.why):
                if why == "crossed":
                    stopped.append((int(rows[i]), int(chunk.step[i])))
                    on[i] = False
                elif why in LOST and len(before) and np.isfinite(before[i]).all():
                    stopped.append((int(rows[i]), int(chunk.step[i])))
                    self.state[rows[i]], on[i] = before[i], False
                    self._run(rows[i : i + 1], closing, start, 1, int(chunk.step[i]) - start, NO_SAMPLES)
                elif why != "more":
                    self._fails(int(rows[i]), why, self.run.time + int(chunk.step[i]) * self.dt)
            rows = rows[on]
        return stopped

    def _run(
        self, rows: np.ndarray, closing: bool, n: int, count: int, every: int, samples: Samples
    ) -> Chunk:
        """Take rows through steps of the loop of their mode; write as many samples as there is room for."""
        run, active = self.run, self.lane.closing if closing else self.lane.open
        d, all_rows, taken = run.d, len(rows) == len(self.state), len(samples.steps)
        start = self.state if all_rows else self.state[rows]
        if active.d is not d:
            y, u = d.parted(start)
            y = d.layout.converted(y, active.d.layout)
            y[..., active.d.layout.closed] = self.closed[rows]
            start = np.concatenate([y, u], axis=-1)
        direct = all_rows and active.d is d and taken == count
        options: dict[str, Any] = {"dt": self.dt, "t0": run.time, "hold": self.hold, "threads": run.threads}
        options["inputs"] = run.inputs if all_rows else run.inputs.of(rows)
        options["out"] = (samples.Y, samples.W) if direct else None
        chunk = _chunk(
            active.stage.loop, start, run.batch is None, samples=count, every=every, first=n, **options
        )
        y, u = active.d.parted(chunk.end)
        self.state[rows] = np.concatenate([active.d.layout.converted(y, d.layout), u], axis=-1)
        if taken:
            samples.mode[rows] = self._modes(rows)[:, None]
        if taken and not direct:
            Y, W = active.stage.as_sampled(chunk.Y, chunk.W)
            samples.Y[rows], samples.W[rows] = Y[:, :taken], W[:, :taken]
        return chunk

    def _event(self, row: int, n: int, samples: Samples) -> None:
        """Take a row through a step in which a guard changes its sign, as a single run."""
        passed = self.lane.through(row, n, Standing(self.state[row], self.closed[row]), n + 1)
        self._take(row, passed, self.lane.stepper.time)
        here = samples.between(n, n + 1)
        if len(here.steps):
            own = [piece for piece in passed.pieces if len(piece.times)]
            Y, W = (np.nan, np.nan) if passed.why != "more" else (own[-1].Y[-1], own[-1].W[-1])
            here.Y[row, 0], here.W[row, 0] = Y, W
            here.mode[row] = self._modes(np.array([row]))

    def _take(self, row: int, passed: Passed, time: float) -> None:
        """Stand where a row came to as a single run; one that has ended has no numbers."""
        self.state[row], self.closed[row] = passed.standing
        self.run.event_log.extend(replace(x, row=row) for x in passed.events)
        if passed.ended is not None:
            self.run.rows_ended[row] = passed.ended
        if passed.why != "more":
            self._fails(row, passed.why, time)
            self.state[row, : self.run.d.ny], self.closed[row] = np.nan, False

    def _fails(self, row: int, why: str, time: float) -> None:
        if self.why[row] == "more":
            self.why[row], self.trouble[row] = why, time

    def _modes(self, rows: np.ndarray) -> np.ndarray:
        """Numbers (rows,) of the modes in which rows stand."""
        if not self.closed[rows].any():
            return np.full(len(rows), self.lane.number(Standing(self.state[rows[0]], self.closed[rows[0]])))
        _, first, where = np.unique(self.closed[rows], axis=0, return_index=True, return_inverse=True)
        chosen = rows[first].tolist()
        numbers = [self.lane.number(Standing(self.state[row], self.closed[row])) for row in chosen]
        return np.array(numbers, dtype=int)[where.reshape(-1)]


def _chunk(loop: Any, start: np.ndarray, single: bool, **options: Any) -> Chunk:
    """Run a loop from states (rows, n): in vector code, or a single one in scalar code."""
    if not single:
        return loop.run(start, **options)
    chunk = loop.run(start[0], **options)
    return Chunk(chunk.Y[None], chunk.W[None], chunk.end[None], [chunk.why], np.array([chunk.step]))
