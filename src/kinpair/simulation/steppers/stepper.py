"""Interface of steppers, and how much is done before the next look."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from kinpair.simulation.run import Piece, Stage

PAUSE = 0.1  # seconds between two looks
FIRST_STEPS = 200
LEAP = 50  # how much longer the next chunk may be


class Pace:
    """Number of steps to take in a chunk, so that it takes about as long as a pause."""

    def __init__(self, motions: int = 1) -> None:
        self.amount = max(1, FIRST_STEPS // motions)
        self._start = perf_counter()

    def begin(self) -> int:
        """Number of steps this time."""
        self._start = perf_counter()
        return self.amount

    def end(self, done: int) -> None:
        """Note the number of steps done."""
        took = max(perf_counter() - self._start, 1e-9)
        self.amount = int(min(max(1.0, done * PAUSE / took), LEAP * max(1, done)))


class Search(NamedTuple):
    """Response to changes of sign of guards, see `compiler/time_loop/roots.py`, and the number of roots that may be
    passed."""

    acts: np.ndarray
    room: int


class Root(NamedTuple):
    """Root where guards have left their side: which of them; all at the ends of the step; the state before and
    behind."""

    time: float
    hits: np.ndarray
    before: np.ndarray
    after: np.ndarray
    y: np.ndarray
    later: np.ndarray


class Stepper(Protocol):
    """Takes a run forward; within a step ahead it can look at any time, and go there."""

    @property
    def time(self) -> float:
        """Time reached [s]."""
        ...

    @property
    def ahead(self) -> float:
        """The end of the step in which a guard changes its sign."""
        ...

    @staticmethod
    def loop(stage: Stage) -> Any:
        """Loop that it steps by in a mode: compiled code, or an external solver."""
        ...

    @property
    def y(self) -> np.ndarray:
        """State that was reached."""
        ...

    @property
    def u(self) -> np.ndarray:
        """Inputs at the state reached."""
        ...

    @property
    def finished(self) -> bool:
        """True if the end is reached."""
        ...

    @property
    def passed(self) -> tuple[Root, ...]:
        """Roots in the last advance; the last one is where it stopped, if `why` is "root"."""
        ...

    def advance(self, single: bool = False, search: Search | None = None) -> Piece:
        """Some steps, or one; before a step in which a guard changes its sign it stops, `why` is "crossed", unless the
        search calls for something else, and it is a stepper that searches."""
        ...

    def back(self) -> None:
        """To before the last step, which is then ahead."""
        ...

    def peek(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """State and inputs at a time within the step ahead."""
        ...

    def move(self, time: float) -> Piece:
        """Go to a time within the step ahead."""
        ...

    def put(self, y: np.ndarray, stage: Stage) -> None:
        """Go on from a state (ny,) of another stage."""
        ...

    def sample(self, why: str) -> Piece:
        """The state reached as a sample."""
        ...

    def memory(self) -> np.ndarray:
        """Memory that is needed to continue in the mode, one vector."""
        ...

    def restore(self, memory: np.ndarray, stage: Stage, steps: int) -> None:
        """Stand where a stepper of this kind stood after so many steps."""
        ...
