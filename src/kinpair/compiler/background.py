"""Machine code made while its caller goes on, and who waits for it.

Whoever makes code is alone in `building()`: LLVM works on one module at a time. What takes long is made by one
thread, in the order in which it was asked for, stage by stage. At exit the thread ends after the stage it is in: LLVM
does not run while the process is taken down. A fork waits until no code is being made: the child has no thread that
would finish what LLVM had begun. Code that was waiting to be made is then made in both processes.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Generator, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock, RLock, Thread
from time import sleep

from kinpair.compiler.patience import patience, silent

VARIABLE = "KINPAIR_WAIT"
BREATH = 0.001  # seconds between two jobs, in which others who wait come first
Stages = Callable[[], Iterator[None]]

_lock = RLock()
_waiting: ContextVar[bool] = ContextVar("waiting", default=False)
_in_passing: ContextVar[bool] = ContextVar("in passing", default=False)


@contextmanager
def building() -> Generator[None]:
    """Alone with LLVM; waits for others."""
    if not _lock.acquire(blocking=False):
        with patience("waiting for machine code that is being made"):
            _lock.acquire()
    try:
        yield
    finally:
        _lock.release()


@contextmanager
def building_at_once() -> Generator[bool]:
    """Begin building without waiting: False where somebody else is there."""
    free = _lock.acquire(blocking=False)
    try:
        yield free
    finally:
        if free:
            _lock.release()


@contextmanager
def waiting() -> Generator[None]:
    """Inside, every call waits for its machine code instead of taking the reference: results come from one code."""
    token = _waiting.set(True)
    try:
        yield
    finally:
        _waiting.reset(token)


@contextmanager
def in_passing() -> Generator[None]:
    """Context in which nothing long is compiled, unless somebody waits: each quantity is wanted once."""
    token = _in_passing.set(True)
    try:
        yield
    finally:
        _in_passing.reset(token)


def must_wait() -> bool:
    """True if the caller is to wait for machine code."""
    return _waiting.get() or os.environ.get(VARIABLE, "0") not in ("", "0")


def is_in_passing() -> bool:
    """True where nothing long is to be compiled."""
    return _in_passing.get() and not must_wait()


class Worker:
    """The thread that makes code, there as long as there is something to make."""

    def __init__(self) -> None:
        self._guard = Lock()  # of what follows; who has it takes no other lock
        self._jobs: dict[Hashable, Stages] = {}
        self._current: tuple[Hashable, Stages] | None = None
        self._thread: Thread | None = None
        self._stopping = False

    @property
    def busy(self) -> bool:
        """True if there is something to make."""
        return self._thread is not None

    def begin(self, key: Hashable, stages: Stages) -> None:
        """Order something to be made, if it is not going to be made already."""
        if _in_passing.get():
            return
        with self._guard:
            if self._stopping:
                return
            if self._current is None or self._current[0] != key:
                self._jobs.setdefault(key, stages)
            if self._thread is None:
                self._thread = Thread(target=self._work, name="kinpair compiler", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        with silent():
            while self._takes_next():
                assert self._current is not None
                with _lock:
                    for _ in self._current[1]():
                        if self._stopping:
                            break
                sleep(BREATH)

    def _takes_next(self) -> bool:
        with self._guard:
            self._current = None
            if self._stopping or not self._jobs:
                self._thread = None
                return False
            key = next(iter(self._jobs))
            self._current = key, self._jobs.pop(key)
            return True

    def stop(self) -> None:
        """Make nothing more, and wait for the end of the stage at hand."""
        with self._guard:
            self._stopping, thread = True, self._thread
        if thread is not None:
            thread.join()

    def before_fork(self) -> None:
        """Wait until nothing is being made."""
        _lock.acquire()
        self._guard.acquire()

    def after_fork_in_parent(self) -> None:
        """Continue after a fork."""
        self._guard.release()
        _lock.release()

    def after_fork_in_child(self) -> None:
        """Go on without the thread; it is started anew when somebody asks."""
        if self._current is not None:
            self._jobs = dict([self._current]) | self._jobs
        self._thread = self._current = None
        self.after_fork_in_parent()


worker = Worker()
atexit.register(worker.stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=worker.before_fork,
        after_in_parent=worker.after_fork_in_parent,
        after_in_child=worker.after_fork_in_child,
    )
