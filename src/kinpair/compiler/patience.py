"""A line on a terminal when something takes longer than a second."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock, Timer
from time import perf_counter
from typing import final

PATIENCE = 1.0  # seconds


@final
class Line:
    """What is going on: shown once, then each part of it as it begins, and in the end how long it took."""

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

    @contextmanager
    def part(self, what: str) -> Generator[Line]:
        """Do a part of the work."""
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
def patience(what: str) -> Generator[Line]:
    """Say what is going on if it takes longer than a second, and how long it took; on terminals only.

    Work inside of other work is a part of it and continues its line.
    """
    if (outer := _line.get()) is not None:
        with outer.part(what):
            yield outer
        return
    if not sys.stderr.isatty():
        yield Line(what)
        return
    line = Line(what)
    timer, token = _started(line), _line.set(line)
    try:
        yield line
    finally:
        _line.reset(token)
        timer.cancel()
        line.end()


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
