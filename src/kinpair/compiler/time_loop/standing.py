"""Where a run stands when a loop returns, and what made it return."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinpair.compiler.time_loop import memory
from kinpair.compiler.time_loop.step import CROSSED, FULL, NOT_FINITE, REFUSED, STUCK

WHY = {  # what ended a run
    0.0: "more",
    NOT_FINITE: "not finite",
    STUCK: "not converged",
    REFUSED: "refused",
    CROSSED: "crossed",
    FULL: "full",
    memory.COLLAPSED: "collapsed",
    memory.SHORT: "short",
    memory.ROOT: "root",
    memory.FULL: "more",
    memory.DONE: "done",
}


@dataclass(slots=True, eq=False)
class Standing:
    """Where an adaptive run stands: its whole memory between two calls, and the samples so far."""

    memory: np.ndarray
    Y: np.ndarray
    W: np.ndarray

    def number(self, k: int) -> float:
        """A number of the head."""
        return float(self.memory[k])

    @property
    def time(self) -> float:
        """Reached."""
        return self.number(memory.TIME)

    @property
    def samples(self) -> int:
        """Written."""
        return int(self.number(memory.CURSOR))

    @property
    def why(self) -> str:
        """What ended the last call."""
        return WHY[self.number(memory.STATUS)]

    @property
    def steps(self) -> int:
        """Accepted."""
        return int(self.number(memory.ACCEPTED))

    @property
    def rejected(self) -> int:
        """Tried in vain."""
        return int(self.number(memory.REJECTED))

    @property
    def roots(self) -> int:
        """Rows of the log that the last call has written."""
        return int(self.number(memory.LOGGED))

    @property
    def dt(self) -> float:
        """Length the next step would have."""
        return self.number(memory.LENGTH)

    @property
    def largest(self) -> float:
        """Length of the longest step so far."""
        return self.number(memory.LARGEST)

    def state(self, ny: int) -> np.ndarray:
        """y reached."""
        return self.memory[memory.HEAD : memory.HEAD + ny].copy()
