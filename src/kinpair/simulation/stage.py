"""A mode of a motion ready to run: what moves in it, and what is watched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kinpair.compiler.patience import patience
from kinpair.mechanism import Mechanism
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.loops import Guard
from kinpair.simulation.run import Run


@dataclass(frozen=True, eq=False)
class Stage:
    """What moves in a mode; `guard` (dynamics, time, y, u) → values whose signs are watched, None: nothing is."""

    run: Run
    mechanism: Mechanism
    d: Dynamics
    guard: Guard | None
    make: Callable[[Stage], Any]

    @cached_property
    def loop(self) -> Any:
        """What a stepper steps by."""
        with patience(f"preparing the steps of {self.mechanism.name!r}"):
            return self.make(self)

    def as_sampled(self, Y: np.ndarray, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """States and what is watched in the layouts of the run."""
        run = self.run.d
        if self.d is run:
            return Y, W
        return self.d.layout.converted(Y, run.layout), self.d.watched_layout.converted(W, run.watched_layout)
