"""A bar on the terminal for work that takes longer than a second."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Timer

PATIENCE = 1.0  # seconds


@contextmanager
def progress(what: str, steps: int) -> Generator[Callable[[str], None]]:
    """A function to tell which step begins; the bar appears after a second, on terminals only."""
    if not sys.stderr.isatty():
        yield lambda step: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(what, total=steps)
    begun = iter(range(steps))
    timer = Timer(PATIENCE, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda step: bar.update(task, completed=next(begun, steps), description=f"{what}: {step}")
    finally:
        timer.cancel()
        timer.join()
        bar.stop()
