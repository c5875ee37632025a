"""A line on a terminal when something takes longer than a second; of commands, a line every 5 s elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from threading import Event, Lock, Thread, Timer
from time import perf_counter
from typing import final

PATIENCE = 1.0  # seconds
PAUSE = 5.0  # seconds between two lines where there is no terminal


@final
class Line:
    """Progress line: shown once, then each part of it as it begins, and in the end how long it took."""

    def __init__(self, what: str) -> None:
        self._what, self._part = what, ""
        self._shown, self._ended = False, False
        self._start, self._lock = perf_counter(), Lock()

    def show(self) -> None:
        """Begin the line."""
        with self._lock:
            if not self._shown and not self._ended:
                self._shown = True
                _say(f"kinpair: {self._what} ...{self._part}")

    def tell(self) -> None:
        """Print what is going on, and for how long, as a line of its own."""
        _say(f"kinpair: {self._what} ...{self._part} {perf_counter() - self._start:.0f} s\n")

    @contextmanager
    def part(self, what: str) -> Generator[Line]:
        """Do one part of the work."""
        with self._lock:
            before, self._part = self._part, f" {what} ..."
            if self._shown:
                _say(self._part)
        try:
            yield self
        finally:
            self._part = before

    def end(self) -> None:
        """Say how long it took, if it was shown."""
        with self._lock:
            self._ended = True
            if self._shown:
                _say(f" {perf_counter() - self._start:.1f} s\n")


_line: ContextVar[Line | None] = ContextVar("line", default=None)  # of the work that is going on


@contextmanager
def patience(what: str, *, lines: bool = False) -> Generator[Line]:
    """Say what is going on if it takes longer than a second, and how long it took; on terminals only.

    Work inside of other work is a part of it and continues its line. lines: where there is no terminal, print a line
    after a second and then every five.
    """
    if (outer := _line.get()) is not None:
        with outer.part(what):
            yield outer
        return
    line = Line(what)
    if not sys.stderr.isatty():
        with _as_lines(line) if lines else nullcontext():
            yield line
        return
    timer, token = _started(line), _line.set(line)
    try:
        yield line
    finally:
        _line.reset(token)
        timer.cancel()
        line.end()


@contextmanager
def _as_lines(line: Line) -> Generator[None]:
    token = _line.set(line)
    try:
        with ticking(line.tell):
            yield
    finally:
        _line.reset(token)


@contextmanager
def ticking(say: Callable[[], None]) -> Generator[None]:
    """Call `say` after a second and then every five, until the work inside ends."""
    ended = Event()

    def tick() -> None:
        wait = PATIENCE
        while not ended.wait(wait):
            say()
            wait = PAUSE

    thread = Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextmanager
def silent() -> Generator[None]:
    """Work that nobody waits for shows nothing."""
    token = _line.set(Line(""))
    try:
        yield
    finally:
        _line.reset(token)


def _started(line: Line) -> Timer:
    timer = Timer(PATIENCE, line.show)
    timer.daemon = True
    timer.start()
    return timer


def _say(text: str) -> None:
    print(text, end="", file=sys.stderr, flush=True)
