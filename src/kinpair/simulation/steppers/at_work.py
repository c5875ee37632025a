"""An external solver at work in one mode, and the kernels that look at its states."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.stage import Stage
from kinpair.simulation.steppers.solver import Counted, ExhaustedError, Task
from kinpair.simulation.torques import RefusedError


class AtWork:
    """A solver at work in one mode, and the kernels that look at its states."""

    def __init__(self, stage: Stage, task: Task) -> None:
        d, self.task = stage.d, task
        self._settle = task.kernel(Dynamics.settled, time=(), y=(d.ny,)) if d.settles else None
        self._watch = task.kernel(Dynamics.watched, time=(), y=(d.ny,), u=(d.nu,))
        self._guard = task.kernel(stage.guard, time=(), y=(d.ny,), u=(d.nu,)) if stage.guard else None
        self._guard_takes_inputs = stage.guard is not None and stage.guard.uses_inputs
        try:
            self.solver = stage.loop(replace(task, d=stabilised(d)))
        except RefusedError:
            self.refuse(task.time)

    @property
    def time(self) -> float:
        """The end of its last step."""
        return self.solver.time

    @property
    def dt(self) -> float:
        """The length of its last step."""
        return self.solver.dt

    @property
    def steps(self) -> int:
        """Taken."""
        return self.solver.steps

    @property
    def rejected(self) -> int:
        """Not taken."""
        return self.solver.rejected

    def begin(self, time: float, y: np.ndarray) -> None:
        """Afresh from a state."""
        try:
            self.solver.restart(time, y)
        except RefusedError:
            self.task = replace(self.task, y=y)
            self.refuse(time)

    def refuse(self, time: float) -> None:
        """There are no inputs at this time: no step leads on."""
        self.solver = NoSteps(time, self.task.y)

    def further(self, time: float) -> str:
        """A step beyond a time, unless the last one reaches so far; `more`, or what ended it."""
        try:
            return self.solver.step() if self.solver.time <= time else "more"
        except RefusedError:
            return "refused"
        except ExhaustedError:
            return "exhausted"

    def state(self, time: float) -> np.ndarray:
        """The state at a time within the last step, where it belongs."""
        y = self.solver.at(time)
        return self._settle(time, y) if self._settle is not None else y

    def watched(self, time: float, y: np.ndarray, inputs: Counted) -> np.ndarray:
        """Evaluate what is watched (nw,) at a state."""
        return self._watch(time, y, inputs(time, y))

    def crosses(
        self, before: tuple[float, np.ndarray], after: tuple[float, np.ndarray], inputs: Counted
    ) -> bool:
        """Does a guard leave its side, or become NaN? Zero is the other side."""
        if self._guard is None:
            return False
        old, new = (
            self._guard(time, y, inputs(time, y) if self._guard_takes_inputs else inputs.last)
            for time, y in (before, after)
        )
        lost = np.isnan(new) & ~np.isnan(old)
        return bool((((old > 0.0) & ~(new > 0.0)) | ((old < 0.0) & ~(new < 0.0)) | lost).any())


@dataclass
class NoSteps:
    """In the place of a solver whose first look at the inputs failed: a state, and no step from it."""

    time: float
    y: np.ndarray
    steps: int = 0
    rejected: int = 0
    dt: float = 0.0

    def step(self) -> str:
        """It failed."""
        return "refused"

    def at(self, time: float) -> np.ndarray:
        """The state."""
        return self.y

    def restart(self, time: float, y: np.ndarray) -> None:
        """From another state, no further."""
        self.time, self.y = time, y


def stabilised(d: Dynamics) -> Dynamics:
    """The same with rows that pull back."""
    return (
        replace(d, enforcement=replace(d.enforcement, alpha=d.enforcement.within))
        if d.enforcement is not None
        else d
    )
