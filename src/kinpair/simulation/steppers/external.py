"""Steps as long as an external solver takes them: within its last step the motion is its own interpolation.

Its steps cannot be interfered with. Where constraints are to be projected, the rows are stabilised during the steps and
each state is brought back to the constraints before it is looked at. Where something jumps (efforts that stay
constant between samples, a state, constraints), the solver begins afresh.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

from kinpair.errors import InputError
from kinpair.simulation.monitors.runaways import STEPS_OUTSIDE, Runaway
from kinpair.simulation.run import Piece, Run, Stage
from kinpair.simulation.status import Status
from kinpair.simulation.steppers import stepper
from kinpair.simulation.steppers.solver import AtWork, Counted, Solver, Task
from kinpair.simulation.steppers.stepper import Root, Search
from kinpair.simulation.steppers.sundials import Cvode, Ida
from kinpair.simulation.steppers.taylor import Taylor
from kinpair.simulation.torques import Caller, RefusedError

SOLVERS: dict[str, Callable[[Task], Solver]] = {"cvode": Cvode, "ida": Ida, "taylor": Taylor}
NO_WEIGHT = 1e100  # allowed error of what does not decide the steps
DECADES = 1e-6, 1e-5, 1e-4, 1e-3, 1e-2  # [m/s]
CLOCK = 3  # numbers before the state: time, samples so far, sample times of the controller so far


class ExternalStepper:
    """A stepper with steps as long as the solver takes them."""

    passed: tuple[Root, ...] = ()  # it searches for none by itself

    def __init__(self, run: Run, stage: Stage, whole: bool) -> None:
        self.run, self.stage = run, stage
        if (
            run.torque.sampled and run.torque.kind == "recorded" and run.caller is None
        ):  # one that could be recorded, called from here
            wrenches = {"": run.d.parted(run.start)[1][run.d.input_layout.wrenches]}
            run.caller = Caller(run.d.controls, run.d.layout, run.torque, wrenches)
        self.time, self.cursor, self.holds = run.time, 0, 0
        y, u = run.d.parted(run.start)
        self._y, self.inputs = y.copy(), Counted(run, u)
        self.finished, self._steps = False, 0
        self._at_work = dict[Stage, AtWork]()
        self._rows, self._seen = list[np.ndarray](), list[np.ndarray]()
        self._enter(stage)
        self.ahead, self._before = self.time, (self.time, self.cursor, self._y)
        self._runaway = Runaway(run, 0, self.time, self._y, STEPS_OUTSIDE)

    @staticmethod
    def loop(stage: Stage) -> Callable[[Task], Solver]:
        """Return the external solver."""
        return SOLVERS[stage.run.integrator.name]

    @property
    def y(self) -> np.ndarray:
        """State that was reached."""
        return self._y.copy()

    @property
    def u(self) -> np.ndarray:
        """Inputs at the state reached."""
        return self.inputs.last.copy()

    # going

    def advance(self, single: bool = False, search: Search | None = None) -> Piece:
        """Some steps, or one; before a step in which a guard changes its sign it stops."""
        self._before = self.time, self.cursor, self._y
        began, first, why = perf_counter(), self.cursor, "more"
        while why == "more":
            try:
                why = self._turn()
            except RefusedError:
                why = "refused"
            if why == "more":
                why = self._runaway(self._count("steps"), self.time, self._y)
            if single or perf_counter() - began > stepper.PAUSE:
                break
        return self._piece(first, why)

    def _turn(self) -> str:
        """Do what is due at this time, then a step."""
        if self._next_hold <= self.time:
            self._renew()
        self._sample(self.time)
        if self.time >= self.run.stop:
            self.finished = True
            return "done"
        why = self.solver.further(self.time)
        if why != "more":
            return why
        self.ahead = min(self.solver.time, self.run.stop, self._next_hold, self._next_look)
        y = self.peek(self.ahead)[0]
        if not np.isfinite(y).all():
            return "not finite"
        if self.solver.crosses((self.time, self._y), (self.ahead, y), self.inputs):
            return "crossed"
        speeds_up = self._speeds_up(y)
        self._arrive(self.ahead, y)
        if speeds_up:
            self.solver.begin(self.time, self._y)
        return "more"

    def _speeds_up(self, y: np.ndarray) -> bool:
        """True if several rates that slide as one have become faster by a decade: ẏ is stiff in their direction in
        proportion to 1/|s|, and a solver would keep the Jacobian of the slow motion for long."""
        d = self.stage.d
        sizes = ([np.linalg.norm(s) for s in d.sliding(d.motion(x)[1]) if len(s) > 1] for x in (self._y, y))
        return any(was <= k < now for was, now in zip(*sizes, strict=True) for k in DECADES)

    @property
    def _next_hold(self) -> float:
        """The next time at which the controller is asked."""
        period = self.run.torque.sample_time
        return self.run.time + self.holds * period if period is not None else np.inf

    @property
    def _next_look(self) -> float:
        """The next sample, where something is watched: a long step may cross a guard there and back."""
        if self.stage.guard is None or self.cursor == len(self.run.wanted):
            return np.inf
        return float(self.run.wanted[self.cursor])

    def _renew(self) -> None:
        self.inputs.renew(self.time, self._y)
        self.holds += 1
        self.solver.begin(self.time, self._y)

    def _arrive(self, time: float, y: np.ndarray) -> None:
        """Samples during the run; the one at the end is taken when it is known what happens there."""
        self._sample(time, end=False)
        self.time, self._y = time, y

    def _sample(self, time: float, *, end: bool = True) -> None:
        wanted = self.run.wanted
        while self.cursor < len(wanted) and (
            wanted[self.cursor] < time or (end and wanted[self.cursor] == time)
        ):
            self.inputs.calls = 0
            when = float(wanted[self.cursor])
            y = self.peek(when)[0]
            self._seen.append(self.solver.watched(when, y, self.inputs))
            self._rows.append(y)
            self.cursor += 1

    # events

    def back(self) -> None:
        """To before the last step, which is then ahead."""
        self.ahead = self.time
        self.time, self.cursor, self._y = self._before

    def peek(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """State and inputs at a time within the step ahead."""
        if time <= self.time:
            return self.y, self.u
        return self.solver.state(time), self.u

    def move(self, time: float) -> Piece:
        """Go to a time within the step ahead."""
        first = self.cursor
        self._arrive(max(float(time), self.time), self.peek(time)[0])
        return self._piece(first, "more")

    def put(self, y: np.ndarray, stage: Stage) -> None:
        """Go on from a state (ny,) of another stage."""
        before, self._y = self._y, y
        try:
            self._enter(stage)
        except InputError as problem:  # a mode that the solver does not take
            self._y = before
            self.solver.refuse(self.time)
            message = f"Stopped at t = {self.time:.9g} s: {problem}"
            self.run.ended = Status("refused", self.time, message)

    def _enter(self, stage: Stage) -> None:
        """Begin afresh in a mode."""
        if stage in self._at_work:
            self._at_work[stage].begin(self.time, self._y)
        else:
            self._at_work[stage] = AtWork(stage, self._task(stage))
        self.stage, self.solver = stage, self._at_work[stage]

    def _task(self, stage: Stage) -> Task:
        run, d = self.run, stage.d
        weights = run.d.layout.converted(run.atol, d.layout)
        every = [event.every for event in run.events if event.every is not None]
        return Task(
            d,
            self.inputs,
            self.inputs.steady,
            run.inputs.parameters,
            run.rtol,
            np.where(np.isfinite(weights) & (weights > 0.0), weights, NO_WEIGHT),
            self.time,
            self._y,
            run.stop,
            min([run.longest, run.longest_at_rest, *every]),
            run.inputs.times,
        )

    def sample(self, why: str) -> Piece:
        """The state reached as a sample."""
        self._rows, self._seen = [self._y], [self.solver.watched(self.time, self._y, self.inputs)]
        return self._piece_of(np.array([self.time]), why)

    # what is kept

    def memory(self) -> np.ndarray:
        """Memory that is needed to continue in the mode, one vector."""
        return np.concatenate([[self.time, self.cursor, self.holds], self._y, self.u])

    def restore(self, memory: np.ndarray, stage: Stage, steps: int) -> None:
        """Stand where a stepper of this kind stood after so many steps."""
        self.time, self.cursor, self.holds = float(memory[0]), int(memory[1]), int(memory[2])
        y, u = stage.d.parted(memory[CLOCK:])
        self._y, self.inputs = y.copy(), Counted(self.run, u)
        self._steps, self._at_work = steps, {}
        self._enter(stage)

    # what was found

    def _piece(self, first: int, why: str) -> Piece:
        return self._piece_of(self.run.wanted[first : self.cursor], why)

    def _piece_of(self, times: np.ndarray, why: str) -> Piece:
        d = self.stage.d
        Y, W = np.reshape(self._rows, (-1, d.ny)), np.reshape(self._seen, (-1, d.nw))
        self._rows, self._seen = [], []
        steps, rejected = self._count("steps"), self._count("rejected")
        trouble = max(self.time, self.solver.time)
        own = self.stage.as_sampled(Y, W)
        return Piece(times, *own, why, trouble, self.time, self._steps + steps, rejected, self.solver.dt)

    def _count(self, what: str) -> int:
        """Count of all solvers that were at work, `steps` or `rejected`."""
        return sum(getattr(one, what) for one in self._at_work.values())
