"""The cases handed out in chunks, and what comes back; a process that dies takes no case with it.

When a process dies, every case it may have had in hand is a suspect. Suspects are computed one at a time with nothing
next to them, so that a second death names its case: that one is recorded as failed, and the rest goes on.

A subject as bytes, for other processes: functions of the user's own program travel with their code.
"""

from __future__ import annotations

import pickle
import sys
import sysconfig
import warnings
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any, TypeAlias

from kinpair.compiler.background import waiting
from kinpair.description.fields import counted
from kinpair.errors import ClusterWarning, InputError, KinpairError
from kinpair.sweeps.cases import Cases, Outcome, Row
from kinpair.sweeps.subject import Subject
from kinpair.sweeps.worker_pool import WorkerPool

INSTALLED = ("stdlib", "platstdlib", "purelib", "platlib")


def packed(subject: Subject) -> bytes:
    """Pack with the code of functions from modules that are not installed, since a worker elsewhere has no such
    files."""
    import cloudpickle

    with ExitStack() as stack:
        for module in set(_loose_modules(subject.own)):
            cloudpickle.register_pickle_by_value(module)
            stack.callback(cloudpickle.unregister_pickle_by_value, module)
        try:
            return cloudpickle.dumps(subject)
        except Exception as reason:
            raise InputError(
                f"{subject.name} cannot be sent to another process: {reason}; workers=0 computes in this one"
            ) from None


def _loose_modules(things: tuple[Any, ...]) -> Iterator[ModuleType]:
    installed = [Path(sysconfig.get_path(name)) for name in INSTALLED]
    for thing in things:
        module = sys.modules.get(getattr(thing, "__module__", "") or "")
        file = getattr(module, "__file__", None)
        if module is None or file is None or module.__name__.startswith(("kinpair.", "__main__")):
            continue
        if not any(folder in Path(file).parents for folder in installed):
            yield module


@lru_cache(maxsize=4)
def unpacked(parcel: bytes) -> Subject:
    """Kept, so that what it has compiled serves all chunks."""
    return pickle.loads(parcel)


CHUNK = 0.2  # seconds of work in a chunk
LOOK = 5.0  # seconds without an answer before one looks whether there are workers
LEAP = 20  # how much larger the next chunk may be
AHEAD = 2  # chunks for each worker, so that none waits for the driver
TRIES = 2  # deaths of a process that a case alone in it may cause
DIED = "the process that computed it ended without an answer; a crash, os._exit, or out of memory"

Answer: TypeAlias = tuple[list[int], list[Outcome]]


def answers(pool: WorkerPool, subject: Subject, cases: Cases, wanted: Sequence[int]) -> Iterator[Answer]:
    """Numbers of cases and their outcomes, as they come."""
    payload = packed(subject) if pool.distant else subject
    queue = Queue(wanted, pool.size)
    flying: dict[Future[Any], list[int]] = {}
    executor = pool.start()
    try:
        while queue or flying:
            if queue.broken and not flying:
                pool.stop(executor)
                executor = pool.start()
                queue.broken = False
            while chunk := queue.next(len(flying)):
                rows = [cases.rows[i] for i in chunk]
                try:
                    flying[executor.submit(work, payload, cases.names, rows)] = chunk
                except pool.died:  # before it was begun
                    queue.lost(chunk)
            for future in _finished(flying, pool):
                chunk = flying.pop(future)
                if result := _result(future, pool):
                    outcomes, took = result
                    queue.learn(len(chunk), took)
                    yield chunk, outcomes
                elif culprit := queue.lost(chunk):
                    yield [culprit[0]], [Outcome({}, DIED)]
    finally:
        pool.stop(executor)


def _finished(flying: Mapping[Future[Any], list[int]], pool: WorkerPool) -> set[Future[Any]]:
    """The first that are finished; while nobody is there who computes, a warning, and patience."""
    warned = False
    while not (done := wait(flying, LOOK, FIRST_COMPLETED).done) and flying:
        idle = pool.idle()
        if idle and not warned:
            handed = counted(sum(map(len, flying.values())), "case")
            warnings.warn(
                f"{pool.name}: no workers are left; {handed} handed out, waiting for some to come: dask worker "
                "ADDRESS. Ctrl-C ends the sweep, and what is finished is kept",
                ClusterWarning,
                stacklevel=2,
            )
        warned = idle
    return done


def _result(future: Future[Any], pool: WorkerPool) -> tuple[list[Outcome], float] | None:
    """The answer, or None if the process died."""
    try:
        return future.result()
    except pool.died:
        return None
    except pool.unreachable as reason:
        why = str(reason) or "the connection was closed"
        raise KinpairError(
            f"{pool.name}: the scheduler is gone ({why}); resume the sweep there when it is back, or elsewhere: only "
            "what is missing is computed"
        ) from None


class Queue:
    """Cases not handed out yet, and how many of them go into a chunk."""

    def __init__(self, wanted: Sequence[int], workers: int) -> None:
        self._waiting = deque(wanted)
        self._suspects: deque[int] = deque()
        self._deaths: Counter[int] = Counter()
        self._limit = AHEAD * workers
        self._size = 1.0
        self._trial = False  # is a suspect out, alone?
        self.broken = False  # did a process die since the executor was started?

    def __bool__(self) -> bool:
        return bool(self._waiting or self._suspects)

    def next(self, flying: int) -> list[int]:
        """Choose what to hand out now, while a number of chunks are out; nothing: wait."""
        if self.broken or self._trial or flying >= self._limit:
            return []
        if self._suspects:
            self._trial = not flying
            return [] if flying else [self._suspects.popleft()]
        share = -(-len(self._waiting) // self._limit)
        size = max(1, min(int(self._size), share))
        return [self._waiting.popleft() for _ in range(min(size, len(self._waiting)))]

    def learn(self, count: int, took: float) -> None:
        """Learn how long a number of cases took."""
        self._trial = False
        self._size = min(count * CHUNK / max(took, 1e-6), LEAP * count)

    def lost(self, chunk: Sequence[int]) -> list[int]:
        """A process died over these; the case that is to blame, if that is clear by now."""
        self.broken = True
        if self._trial:
            self._trial = False
            self._deaths.update(chunk)
            if self._deaths[chunk[0]] >= TRIES:
                return list(chunk)
        self._suspects.extend(chunk)
        return []


@waiting()
def work(payload: Any, names: Sequence[str], rows: Sequence[Row]) -> tuple[list[Outcome], float]:
    """Compute a chunk of cases, and how long they took [s]."""
    subject: Subject = unpacked(payload) if isinstance(payload, bytes) else payload
    start = perf_counter()
    return subject.run(names, rows), perf_counter() - start
