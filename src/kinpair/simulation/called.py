"""Functions of a user that a run calls from Python, which is slow: what the summary and a warning say about them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import NamedTuple

from kinpair.errors import RecordingWarning, caller_level
from kinpair.simulation.recording import NotRecorded
from kinpair.simulation.run import Run


class Called(NamedTuple):
    """A function that is called from Python: what it is, why, and whether it could be compiled if it were rewritten."""

    what: str
    reason: str
    avoidable: bool

    @property
    def sentence(self) -> str:
        """The note in the summary of a run."""
        return f"{self.what}, which is slow: {self.reason}."


def called_of(run: Run) -> Iterator[Called]:
    """Yield every function of the run that is called from Python and has a reason for it."""
    torque = run.torque
    if torque.reason:
        yield Called(f"The {torque.word} is called from Python", torque.reason, torque.avoidable)
    for wrench in torque.wrenches:
        yield Called(f"{wrench.word} is called from Python", wrench.reason, wrench.avoidable)
    for event, function in zip(run.events, run.recorded, strict=True):
        if isinstance(function, NotRecorded) and function.reason:
            what = f"Event {event.name!r} is called from Python after each step"
            yield Called(what, function.reason, function.works)


def warn_of_calls(run: Run) -> None:
    """Give one warning with every function that is slow for a reason that the user can remove."""
    sentences = [called.sentence for called in called_of(run) if called.avoidable]
    if sentences:
        warnings.warn(
            f"{run.name}: {' '.join(sentences)} To call a function from Python without this warning, set its attribute "
            "traceable = False.",
            RecordingWarning,
            stacklevel=caller_level(),
        )
