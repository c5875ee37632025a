"""Progress of a run: a bar on terminals when it takes longer than a second, or a function of the user."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter
from types import TracebackType
from typing import Any

from kinpair.errors import KinpairError, described

PATIENCE = 1.0  # seconds


class ProgressError(KinpairError):
    """A progress function of the user failed; the error that it raised is the cause."""


class Progress:
    """`with Progress(what, option) as report: report(0.3)`; option: None, True, False, or a function of the part."""

    def __init__(self, what: str, option: bool | Callable[[float], Any] | None) -> None:
        self.what, self.option = what, option
        self.start = perf_counter()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def __call__(self, part: float) -> None:
        """Report the part that is done, of 1."""
        if callable(self.option):
            self._tell(self.option, part)
            return
        if self.option is False or (self.option is None and not sys.stderr.isatty()):
            return
        if self._bar is None and perf_counter() - self.start > PATIENCE:
            self._open()
        if self._bar is not None:
            self._bar.update(self._task, completed=part)

    def _tell(self, option: Callable[[float], Any], part: float) -> None:
        """Call the function of the user; what it raises ends the work."""
        try:
            option(part)
        except Exception as problem:
            raise ProgressError(f"progress raised {described(problem)}") from problem

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(self.what, total=1.0)
        self._bar.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
