"""Progress of work that takes long: a line on a terminal after a second, or a bar; elsewhere a line every 5 s.

`patience` is for work whose parts call each other, `progress` for known steps, `Progress` for a known part of the
whole, also with a function of the user, `Report` for symbolic work, which ends in time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from math import inf
from threading import Event, Lock, Thread, Timer
from time import perf_counter
from types import TracebackType
from typing import Any, final

from kinpair.errors import ClosedFormError, KinpairError, described

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


REFRESHED = 0.1  # seconds between two lines


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
            self._next = now + REFRESHED
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
