"""What becomes of a run that did not go well: an error with the run, a warning, or a status alone.

| end of the run | one motion | batch |
|---|---|---|
| a function of the user, or the disk, failed | `RunError`; `error.run` is the result | `RunError` |
| Ctrl-C | the result, status `interrupted`; within `whole_runs`, `KeyboardInterrupt` | the same |
| any other exception that is not an error, such as `SystemExit` | raised again, with the result at `run` | the same |
| early, for a reason of the motion; or in doubt | the result, and one `RunWarning` | the same; rows have their status |
"""

from __future__ import annotations

import warnings
from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import NamedTuple

from kinpair.errors import RunError, RunWarning, caller_level, described
from kinpair.runs.progress import ProgressError
from kinpair.runs.result import Result
from kinpair.simulation.run import Run
from kinpair.simulation.status import FAILED, INTERRUPTED

_whole: ContextVar[bool] = ContextVar("whole runs", default=False)


class Outcome(NamedTuple):
    """A run that has ended: its result, what was raised in it, and whether it was only read from its file."""

    run: Result
    raised: BaseException | None = None
    read: bool = False

    @property
    def judged(self) -> Result:
        """The result; raises or warns as the table above says."""
        run, raised, read = self
        if read:
            return run
        if raised is not None and not isinstance(raised, Exception | KeyboardInterrupt):
            with suppress(AttributeError):
                raised.run = run  # type: ignore[attr-defined]
            raise raised
        name, status = run.mechanism.name, run.status
        hindered = status.name == INTERRUPTED and isinstance(raised, Exception)
        if status.name in FAILED or hindered:
            message = f"{status.message[:1].lower()}{status.message[1:]}"
            raise RunError(
                f"{name}: {message}; error.run has the samples before", run=run, time=status.time
            ) from raised
        if status.name == INTERRUPTED:
            if _whole.get():
                raise KeyboardInterrupt
            return run
        if not status.ok:
            warnings.warn(f"{name}: {status.message}", RunWarning, stacklevel=caller_level())
        return run


@contextmanager
def whole_runs() -> Generator[None]:
    """Raise `KeyboardInterrupt` where a run is interrupted: inside, one run is a part of some other work."""
    token = _whole.set(True)
    try:
        yield
    finally:
        _whole.reset(token)


@contextmanager
def interruptible(run: Run) -> Generator[None]:
    """Keep what interrupts the run, so that what was computed can be returned; errors are raised."""
    try:
        yield
    except ProgressError as failed:
        run.error, run.hindrance = failed.__cause__, str(failed)
    except Exception:
        raise
    except BaseException as interrupt:
        run.error = interrupt
    raised = run.raised
    if (
        raised is not None
        and run.interrupted
        and not run.hindrance
        and not isinstance(raised, KeyboardInterrupt)
    ):
        run.hindrance = described(raised)
