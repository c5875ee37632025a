"""Progress of the work: a line on a terminal after a second, what to say when it is stopped, when its time is over."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from math import inf
from time import perf_counter
from typing import Any

from kinpair.errors import ClosedFormError

PATIENCE = 1.0  # seconds before a line is shown
PAUSE = 0.1  # seconds between two lines


class Report:
    """Progress of the work; shows it on a terminal after a second, knows it when asked, and ends it in time."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.stage = ""
        self.doing = ""
        self._next = perf_counter() + PATIENCE
        self._end = self._seconds = inf
        self._shown: Any = None

    def begin(self, stage: str) -> None:
        """A new part of the work."""
        self.stage, self.doing = stage, ""

    def __call__(self, doing: str) -> None:
        """Some progress in it."""
        self.doing, now = doing, perf_counter()
        if now > self._end:
            raise ClosedFormError(f"not finished after {self._seconds:g} s", seconds=self._seconds)
        if now >= self._next:
            self._next = now + PAUSE
            self._show()

    @contextmanager
    def within(self, seconds: float) -> Generator[None]:
        """No longer than that."""
        self._seconds, self._end = seconds, perf_counter() + seconds
        try:
            yield
        finally:
            self._end = inf

    @property
    def so_far(self) -> str:
        """Describe where the work is."""
        return f"{self.stage} ({self.doing})" if self.doing else self.stage

    def _show(self) -> None:
        if not sys.stderr.isatty():
            return
        text = f"kinpair: {self.what}: {self.so_far}; Ctrl-C keeps what is finished"
        if self._shown is None:
            from rich.console import Console
            from rich.status import Status

            self._shown = Status(text, console=Console(stderr=True))
            self._shown.start()
        self._shown.update(text)

    def end(self) -> None:
        """Take the line away."""
        if self._shown is not None:
            self._shown.stop()
