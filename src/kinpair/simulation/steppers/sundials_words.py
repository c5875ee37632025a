"""SUNDIALS says in two ways on the standard output what went wrong in a step; a run says it in its status.

Errors are printed by scikit-sundae through `sys.stdout`: they are left out while the library is at work, and what a
user's function prints there is printed. Warnings (steps too short to change the time) are printed in C by a logger that
reads the name of its file from the environment when a solver is set up: they go to no file. Who has named a file gets
them there.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Generator
from contextlib import contextmanager
from threading import RLock, local
from typing import Any

MESSAGE = re.compile(r"\n\[\w+, Error: -?\d+\] ")
WARNINGS = "SUNLOGGER_WARNING_FILENAME"


class _Without:
    """A stream without the messages of the library, which come as one text and the end of its line."""

    def __init__(self, stream: Any) -> None:
        self.stream, self._of_thread = stream, local()

    def write(self, text: str) -> int:
        """All but them."""
        ends_message = text == "\n" and getattr(self._of_thread, "message", False)
        self._of_thread.message = bool(MESSAGE.match(text))
        return len(text) if ends_message or self._of_thread.message else self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class Silence:
    """Silence of the library while it is at work in any thread."""

    def __init__(self) -> None:
        self._lock, self._at_work, self._without = RLock(), 0, _Without(None)

    @contextmanager
    def at_work(self) -> Generator[None]:
        """While the library steps; what a torque prints is printed."""
        with self._lock:
            self._at_work += 1
            if self._at_work == 1 and sys.stdout is not None and not isinstance(sys.stdout, _Without):
                self._without = sys.stdout = _Without(sys.stdout)
        try:
            yield
        finally:
            with self._lock:
                self._at_work -= 1
                if not self._at_work and sys.stdout is self._without:
                    sys.stdout = self._without.stream

    @contextmanager
    def set_up(self) -> Generator[None]:
        """While a solver is set up: its warnings go to no file, unless the environment names one."""
        with self._lock:
            named = WARNINGS in os.environ
            if not named:
                os.environ[WARNINGS] = os.devnull
            try:
                yield
            finally:
                if not named:
                    del os.environ[WARNINGS]


SILENCE = Silence()
