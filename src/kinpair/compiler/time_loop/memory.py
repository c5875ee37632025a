"""The memory of a loop that chooses its steps: all that it knows between two calls, in one array, and its settings;
where a run stands when a loop returns, and what made it return."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from kinpair.compiler.time_loop.step import CROSSED, NOT_FINITE, REFUSED, STUCK, Step
from kinpair.compiler.time_loop.step import FULL as NO_ROOM

STOP, RTOL, STEPS, LONGEST, WANTED, HOLD, T0 = range(7)  # of the settings; then ROWS
TIME, LENGTH, ERROR, ACCEPTED, REJECTED, CURSOR, STALE, STATUS, HOLDS, FRESH, LARGEST, LOGGED = range(
    12
)  # of the memory
HEAD = 16  # where the state begins; behind it the inputs and the first slope
MORE, COLLAPSED, SHORT, ROOT, FULL, DONE = (
    0.0,
    4.0,
    6.0,
    7.0,
    8.0,
    10.0,
)  # statuses beside the verdicts of a step


class Memory:
    """Numbers of the memory and of the settings, as the code of a loop reads and writes them."""

    def __init__(self, step: Step) -> None:
        self.step, self.code = step, step.code
        pointers = step.arrays.pointers
        self._settings, self._state, self._wanted = (pointers[x] for x in ("settings", "state", "wanted"))

    def get(self, k: int) -> str:
        """Read number k."""
        return self.code.get(self._state, k)

    def set(self, value: str, k: int) -> None:
        """A new number k."""
        self.code.set(value, self._state, k)

    def count(self, k: int) -> None:
        """Count one more."""
        self.set(self.code.float("fadd", self.get(k), self.code.real(1.0)), k)

    def setting(self, k: int) -> str:
        """Read setting k."""
        return self.code.get(self._settings, k)

    def wanted(self) -> str:
        """The next time at which a sample is wanted; behind the last there is a NaN."""
        return self.code.get(self._wanted, self.code.integer(self.get(CURSOR)))

    def compare(self, how: str, a: str, b: str) -> str:
        """A condition on two numbers."""
        return self.code.op(f"fcmp {how} {self.code.number} {a}, {b}")

    def running(self, how: str = "oeq") -> str:
        """True if nothing ends the run."""
        return self.compare(how, self.get(STATUS), self.code.real(MORE))

    def refused(self) -> None:
        """End the run if the function that gives the inputs failed."""
        if self.step.flow.source == "call":
            with self.code.when(self.step.failed):
                self.set(self.code.real(REFUSED), STATUS)

    @contextmanager
    def unless_refused(self) -> Generator[None]:
        """Write code that runs unless a call for inputs has failed; then the run ends."""
        if self.step.flow.source != "call":
            yield
            return
        self.refused()
        with self.code.when(self.running()):
            yield


WHY = {  # what ended a run
    0.0: "more",
    NOT_FINITE: "not finite",
    STUCK: "not converged",
    REFUSED: "refused",
    CROSSED: "crossed",
    NO_ROOM: "full",
    COLLAPSED: "collapsed",
    SHORT: "short",
    ROOT: "root",
    FULL: "more",
    DONE: "done",
}


@dataclass(slots=True, eq=False)
class Standing:
    """State of an adaptive run: its whole memory between two calls, and the samples so far."""

    memory: np.ndarray
    Y: np.ndarray
    W: np.ndarray

    def number(self, k: int) -> float:
        """A number of the head."""
        return float(self.memory[k])

    @property
    def time(self) -> float:
        """Time reached [s]."""
        return self.number(TIME)

    @property
    def samples(self) -> int:
        """Number of samples written."""
        return int(self.number(CURSOR))

    @property
    def why(self) -> str:
        """Reason that ended the last call."""
        return WHY[self.number(STATUS)]

    @property
    def steps(self) -> int:
        """Number of accepted steps."""
        return int(self.number(ACCEPTED))

    @property
    def rejected(self) -> int:
        """Tried in vain."""
        return int(self.number(REJECTED))

    @property
    def roots(self) -> int:
        """Rows of the log that the last call has written."""
        return int(self.number(LOGGED))

    @property
    def dt(self) -> float:
        """Length the next step would have."""
        return self.number(LENGTH)

    @property
    def largest(self) -> float:
        """Length of the longest step so far."""
        return self.number(LARGEST)

    def state(self, ny: int) -> np.ndarray:
        """State y reached."""
        return self.memory[HEAD : HEAD + ny].copy()
