"""Runs of the compiled loops, chunk after chunk: between two chunks there is time to look, to stop and to save.

A run yields what each chunk found. What it has yielded is complete: whoever collects it, keeps it or writes it to disk
decides what happens with it. `at` is all that is needed to go on from there.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from kinpair.compiler.time_loop import AdaptiveLoop, FixedLoop
from kinpair.compiler.time_loop_inputs import Inputs
from kinpair.compiler.time_loop_standing import Standing
from kinpair.simulation.schedule import Plan

PAUSE = 0.1  # seconds between two looks
FIRST_STEPS = 200
NUMBERS = 1 << 21  # of a piece that goes to a file: a fast machine does not need more memory
LEAP = 50  # how much longer the next chunk may be
OWN = (
    {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_ANONYMOUS") else {}
)  # else it is kept


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Some samples: times (n,), states (..., n, ny), watched (..., n, nw); and how the run stands behind them.

    `why` is `more` while all is well, else what ended it, and `trouble` the time of that; `steps` and `rejected` count
    from the beginning. `at` is the
    state and inputs, from which `fixed_run` goes on, or the `Standing` of an adaptive run.
    """

    times: np.ndarray
    Y: np.ndarray
    W: np.ndarray
    why: Any
    trouble: Any
    reached: float
    steps: int
    rejected: int
    dt: float
    at: Any
    mode: int = 0  # its number, while they were taken


def emptied(piece: Piece) -> Piece:
    """The same without its samples."""
    return replace(piece, times=piece.times[:0], Y=piece.Y[:0], W=piece.W[:0])


class Room:
    """Memory for all samples of a run, given out piece by piece; what is joined later lies side by side already."""

    def __init__(self, lead: tuple[int, ...], samples: int, ny: int, nw: int) -> None:
        self.Y, self.W = (np.empty((*lead, samples + 1, n)) for n in (ny, nw))
        self.used = 0

    def next(self, samples: int) -> tuple[np.ndarray, np.ndarray]:
        """For so many samples."""
        here = slice(self.used, self.used + samples)
        return self.Y[..., here, :], self.W[..., here, :]

    def take(self, samples: int) -> None:
        """So many were written."""
        self.used += samples


def joined(pieces: Sequence[np.ndarray]) -> np.ndarray:
    """Pieces (..., n, k) as one array: where they lie side by side, without a copy."""
    first, total = pieces[0], sum(x.shape[-2] for x in pieces)
    base = first.base
    if base is not None and all(x.base is base for x in pieces) and base.shape[:-2] == first.shape[:-2]:
        skip = (first.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // first.itemsize
        if skip == 0:
            return base[..., :total, :]
    return np.concatenate(pieces, axis=-2)


class Pages:
    """Memory (rows, width) that can be given back piece by piece."""

    def __init__(self, rows: int, width: int) -> None:
        self._memory = mmap.mmap(-1, max(1, rows * width * 8), **OWN)
        self._row = width * 8
        self.array = np.frombuffer(self._memory, dtype=float, count=rows * width).reshape(rows, width)

    def release(self, start: int, stop: int) -> None:
        """Rows that nobody reads again, those before them neither."""
        size = mmap.PAGESIZE
        begin, end = start * self._row // size * size, stop * self._row // size * size
        if end > begin and hasattr(mmap, "MADV_DONTNEED"):
            self._memory.madvise(mmap.MADV_DONTNEED, begin, end - begin)


class Pace:
    """How much to do in a chunk, so that it takes about as long as a pause."""

    def __init__(self, first: int) -> None:
        self.amount = max(1, first)
        self._start = perf_counter()

    def begin(self) -> int:
        """How much this time."""
        self._start = perf_counter()
        return self.amount

    def end(self, done: int) -> None:
        """So much was done."""
        took = max(perf_counter() - self._start, 1e-9)
        self.amount = int(min(max(1.0, done * PAUSE / took), LEAP * max(1, done)))


def fixed_run(
    loop: FixedLoop,
    start: np.ndarray,
    plan: Plan,
    *,
    t0: float,
    hold: int,
    inputs: Inputs,
    threads: int = 1,
    step: int = 0,
    whole: bool = True,
) -> Iterator[Piece]:
    """Samples of the plan behind `step`; start: state and inputs there (..., ny + nu).

    A run goes on from a piece with start=piece.at, step=piece.steps. With `whole` False each piece has memory of its
    own, and whoever drops it frees it.
    """
    options: dict[str, Any] = {"dt": plan.dt, "t0": t0, "hold": hold, "inputs": inputs, "threads": threads}
    at = start
    lead = start.shape[:-1]
    room = Room(lead, plan.samples, loop.flow.ny, loop.flow.nw) if whole else None
    if step == 0:
        look = loop.run(at, samples=1, every=0, first=0, out=room.next(1) if room else None, **options)
        at = look.end
        n = int(plan.from_start)
        if room:
            room.take(n)
        yield _piece(plan, t0, np.arange(n), look.Y[..., :n, :], look.W[..., :n, :], look, 0, at)
        if _ended(look.why):
            return
    batch = max(1, int(np.prod(lead, dtype=int)))
    pace = Pace(max(1, FIRST_STEPS // batch))
    most = plan.samples if whole else max(1, NUMBERS // (batch * (loop.flow.ny + loop.flow.nw)))
    for samples, every in plan.segments(step):
        left, need = samples, every  # samples to be taken, steps to the next
        while left:
            n, k = _portion(pace.begin(), min(left, most), need, every)
            place = room.next(n) if room else None
            chunk = loop.run(at, samples=n, every=k, first=step, out=place, **options)
            pace.end(n * k)
            taken = 0 if k < need else n
            complete = taken if not _ended(chunk.why) else min(taken, (chunk.step - step) // k)
            reached = step + np.arange(1, complete + 1) * k
            if room:
                room.take(taken)
            at, step, left = chunk.end, step + n * k, left - taken
            need = need - k if not taken else every
            yield _piece(
                plan, t0, reached, chunk.Y[..., :complete, :], chunk.W[..., :complete, :], chunk, step, at
            )
            if _ended(chunk.why):
                return


def _portion(steps: int, left: int, need: int, every: int) -> tuple[int, int]:
    """About so many steps: samples, and steps before each; one that is no sample yet where they are too few for it."""
    if need == every and steps >= every:
        return min(left, steps // every), every
    return 1, min(need, steps)


def _ended(why: Any) -> bool:
    """Of one trajectory; a batch goes on."""
    return isinstance(why, str) and why != "more"


def _piece(
    plan: Plan, t0: float, reached: np.ndarray, Y: np.ndarray, W: np.ndarray, chunk: Any, steps: int, at: Any
) -> Piece:
    done = chunk.step if _ended(chunk.why) else steps
    trouble = t0 + np.asarray(chunk.step) * plan.dt
    return Piece(t0 + reached * plan.dt, Y, W, chunk.why, trouble, t0 + done * plan.dt, done, 0, plan.dt, at)


def adaptive_run(
    loop: AdaptiveLoop,
    at: Standing,
    wanted: np.ndarray,
    *,
    stop: float,
    over: Callable[[Standing], str] | None = None,
    watch: Callable[[int, float, np.ndarray], str] | None = None,
    **options: Any,
) -> Iterator[Piece]:
    """Samples at the wanted times, from where the run stands.

    `over` takes a run whose steps have become short over what makes them so; `watch` sees the run after each chunk;
    both say how it stands then.
    """
    pace = Pace(FIRST_STEPS)
    while True:
        before, steps_before = at.samples, at.steps + at.rejected
        loop.run(at, stop=stop, wanted=wanted, steps=pace.begin(), **options)
        pace.end(at.steps + at.rejected - steps_before)
        why = over(at) if over is not None and at.why == "short" else at.why
        if why == "more" and watch is not None:
            why = watch(at.steps + at.rejected, at.time, at.state(loop.flow.ny))
        now = slice(before, at.samples)
        yield Piece(
            wanted[now], at.Y[now], at.W[now], why, at.time, at.time, at.steps, at.rejected, at.dt, at
        )
        if why != "more":
            return


def released(pieces: Iterator[Piece], room: Sequence[Pages], row: int) -> Iterator[Piece]:
    """The same pieces; the memory of each, from `row` on, is given back when the next one is asked for."""
    for piece in pieces:
        yield piece
        for pages in room:
            pages.release(row, row + len(piece.times))
        row += len(piece.times)
