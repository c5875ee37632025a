"""Interface of a library that chooses its own steps receives a task; such a library at work in one
mode, and the kernels that look at its states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from kinpair.compiler.kernel import Kernel
from kinpair.compiler.program import Program, Shape
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.loops import kernel_of, recorded_of
from kinpair.simulation.run import Run, Stage
from kinpair.simulation.torques import RefusedError

CALLS = 2_000_000  # evaluations between two samples: beyond that nothing is moving


class ExhaustedError(Exception):
    """Too much work for a sample."""


class Solver(Protocol):
    """An external solver at work; `dt` is the length of its last step, the rest counts."""

    dt: float
    steps: int
    rejected: int

    @property
    def time(self) -> float:
        """The end of its last step."""
        ...

    def step(self) -> str:
        """Take one step; `more`, or what ended it."""
        ...

    def at(self, time: float) -> np.ndarray:
        """The state (ny,) at a time within the last step."""
        ...

    def restart(self, time: float, y: np.ndarray) -> None:
        """A fresh start from a state, with the inputs that are now to be had."""
        ...


@dataclass(frozen=True, eq=False)
class Task:
    """Task of a library: what moves, its inputs over time and state, tolerances, and where to start.

    `steady`: the inputs stay as they are from one start to the next. No step is longer than `longest`, and none goes
    over one of the `rows` [s], where a table of inputs has its kinks.
    """

    d: Dynamics
    u: Callable[[float, np.ndarray], np.ndarray]
    steady: bool
    p: np.ndarray
    rtol: float
    atol: np.ndarray
    time: float
    y: np.ndarray
    stop: float
    longest: float = np.inf
    rows: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def next_row(self, time: float) -> float | None:
        """The next of the times that no step goes over."""
        k = int(np.searchsorted(self.rows, time, side="right"))
        return float(self.rows[k]) if k < len(self.rows) else None

    def recorded(self, f: Callable[..., Any], **sizes: Shape) -> Program:
        """f(dynamics, inputs of the sizes given...), with the parameters put in."""
        return recorded_of(self.d, f, **sizes)

    def compiled(self, f: Callable[..., Any], **sizes: Shape) -> Kernel:
        """Kernel of the task, with the parameters as its last argument; kept for the next run."""
        return kernel_of(self.d, f, **sizes)

    def kernel(self, f: Callable[..., Any], **sizes: Shape) -> Callable[..., Any]:
        """Kernel of the task as machine code."""
        kernel = self.compiled(f, **sizes)
        if not self.d.parameters:
            return kernel
        return lambda *task: kernel(*task, self.p)


class Counted:
    """Inputs as the run has them, the last that were to be had, and how often they were asked for."""

    def __init__(self, run: Run, u: np.ndarray) -> None:
        self.run, self.last, self.calls = run, u, 0
        self._regulated = run.torque.kind == "regulated"
        free = not run.torque.sampled
        sources = {"regulated": self._controlled, "called": self._called, "table": self._read}
        self._source = sources.get(run.torque.kind) if free else None

    @property
    def steady(self) -> bool:
        """True if inputs change at given times only, and not continuously."""
        return self._source is None

    def __call__(self, time: float, y: np.ndarray) -> np.ndarray:
        """u at a time and a state."""
        self.calls += 1
        if self.calls > CALLS:
            raise ExhaustedError
        if self._source is not None:
            self.last = self._source(time, y)
        return self.last

    def renew(self, time: float, y: np.ndarray) -> None:
        """Call the controller, and hold its inputs."""
        self.last = self._controlled(time, y) if self._regulated else self._called(time, y)

    def _called(self, time: float, y: np.ndarray) -> np.ndarray:
        assert self.run.caller is not None
        return self.run.caller(time, np.array(y[: self.run.d.ny]))

    def _controlled(self, time: float, y: np.ndarray) -> np.ndarray:
        return self.run.controlled(time, np.asarray(y), self.last)

    def _read(self, time: float, y: np.ndarray) -> np.ndarray:
        return self.run.inputs.at(time)


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
        """Number of steps taken."""
        return self.solver.steps

    @property
    def rejected(self) -> int:
        """Number of steps rejected."""
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
        """True if a guard leaves its side, or becomes NaN. Zero is the other side."""
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
    """Replacement in the place of a solver whose first look at the inputs failed: a state, and no step from it."""

    time: float
    y: np.ndarray
    steps: int = 0
    rejected: int = 0
    dt: float = 0.0

    def step(self) -> str:
        """Report that it failed."""
        return "refused"

    def at(self, time: float) -> np.ndarray:
        """Return the given state."""
        return self.y

    def restart(self, time: float, y: np.ndarray) -> None:
        """Restart from another state, no further."""
        self.time, self.y = time, y


def stabilised(d: Dynamics) -> Dynamics:
    """Return the dynamics with rows that pull back."""
    return replace(d, enforcement=replace(d.enforcement, alpha=d.enforcement.within))
