"""What a run asks of whoever takes its steps."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from kinpair.simulation.piece import Piece
from kinpair.simulation.stage import Stage


class Stepper(Protocol):
    """Takes a run forward; within a step ahead it can look at any time, and go there."""

    @property
    def time(self) -> float:
        """Reached."""
        ...

    @property
    def ahead(self) -> float:
        """The end of the step in which a guard changes its sign."""
        ...

    @staticmethod
    def loop(stage: Stage) -> Any:
        """What it steps by in a mode: compiled code, or an external solver."""
        ...

    @property
    def y(self) -> np.ndarray:
        """State reached."""
        ...

    @property
    def u(self) -> np.ndarray:
        """Inputs there."""
        ...

    @property
    def finished(self) -> bool:
        """Is the end reached?"""
        ...

    def advance(self, single: bool = False) -> Piece:
        """Some steps, or one; before a step in which a guard changes its sign it stops, `why` is "crossed"."""
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
        """Go on from another state, in another mode."""
        ...

    def sample(self, why: str) -> Piece:
        """The state reached as a sample."""
        ...

    def memory(self) -> np.ndarray:
        """All that is needed to go on in the same mode, one vector."""
        ...

    def restore(self, memory: np.ndarray, stage: Stage, steps: int) -> None:
        """Stand where a stepper of this kind stood after so many steps."""
        ...
