"""Progress of work that takes long: a bar on a terminal, a line after a second and then every five elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from threading import Timer

from kinpair.compiler.patience import ticking

PATIENCE = 1.0  # seconds before the bar appears

Begin = Callable[[str], None]


def progress(what: str, steps: int) -> AbstractContextManager[Begin]:
    """A function called with the step that begins; it prints the step on standard error where that takes long."""
    return _bar(what, steps) if sys.stderr.isatty() else _lines(what, steps)


@contextmanager
def _lines(what: str, steps: int) -> Generator[Begin]:
    names: list[str] = []  # of the steps that have begun

    def tell() -> None:
        if names:
            done = f"{len(names) - 1} of {steps} done, now {names[-1]}"
            print(f"kinpair: {what}: {done}", file=sys.stderr, flush=True)

    with ticking(tell):
        yield names.append


@contextmanager
def _bar(what: str, steps: int) -> Generator[Begin]:
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
