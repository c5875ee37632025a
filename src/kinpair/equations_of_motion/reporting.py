"""How far the work is: a line on a terminal when it takes longer than a second, and what to say when it is stopped."""

from __future__ import annotations

import sys
from time import perf_counter
from typing import Any

PATIENCE = 1.0  # seconds


class Report:
    """Told what is being worked on; shows it on a terminal after a second, and knows it when asked."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.stage = ""
        self.doing = ""
        self._start = perf_counter()
        self._shown: Any = None

    def begin(self, stage: str) -> None:
        """A new part of the work."""
        self.stage, self.doing = stage, ""

    def __call__(self, doing: str) -> None:
        """Some progress in it."""
        self.doing = doing
        if perf_counter() - self._start > PATIENCE and sys.stderr.isatty():
            self._show()

    @property
    def so_far(self) -> str:
        """Where the work is."""
        return f"{self.stage} ({self.doing})" if self.doing else self.stage

    def _show(self) -> None:
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
