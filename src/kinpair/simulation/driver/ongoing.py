"""A run in progress, and what all who work on it need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kinpair.errors import described
from kinpair.simulation.events.events import Event, EventRecord
from kinpair.simulation.modes.guards import Guards, Watched
from kinpair.simulation.status import Status

if TYPE_CHECKING:
    from kinpair.simulation.modes.modes import Active, Mode, Modes
    from kinpair.simulation.run import Run, Stage
    from kinpair.simulation.steppers.stepper import Root, Stepper


class EndError(Exception):
    """The run ends here, with a status."""

    def __init__(self, status: Status) -> None:
        self.status = status
        super().__init__(status.message)


class Ongoing:
    """A run in progress: who takes its steps, and in which mode."""

    def __init__(self, run: Run, modes: Modes, active: Active, stepper: Stepper) -> None:
        self.run, self.modes, self.active, self.stepper = run, modes, active, stepper
        self.bands: dict[str, float] = {}  # of events whose function is held: how near to zero is zero
        self.fired: dict[str, float] = {}  # values of the functions where their event happened last
        self.acts: dict[Stage, np.ndarray] = {}  # what guards call for, see `root_finding.search`
        self.rest = run.limits.rest  # [rad/s], [m/s]: what comes back slower from a limit stays

    def inputs(self, time: float, y: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Inputs at a state; those that vary between samples change within a step."""
        run = self.run
        if run.torque.source == "table":
            return run.inputs.at(time)
        if run.torque.kind == "regulated" and not run.torque.sampled:
            return run.controlled(time, y, u)
        if run.torque.source == "call" and not run.torque.sampled and run.caller is not None:
            return run.caller(time, y)
        return u

    def open_state(self, active: Active) -> np.ndarray:
        """Return the state reached (ny,) in the layout of a mode with all limits open."""
        return self.active.d.layout.converted(self.stepper.y, active.d.layout)

    @property
    def motion(self) -> tuple[np.ndarray, np.ndarray]:
        """q and q̇ reached."""
        q, qd = self.run.d.motion(self.stepper.y)
        return q.copy(), qd.copy()

    def value(self, event: Event) -> float:
        """Evaluate the function of an event where the run stands."""
        stepper = self.stepper
        if not event.watches_forces:
            try:
                return float(event.function(stepper.time, *self.motion))
            except Exception as problem:
                raise self.refused(event, problem) from problem
        watched = tuple(x for x in self.active.watched if x.event is event)
        d = self.active.d.concrete(self.run.inputs.parameters)
        u = self.inputs(stepper.time, stepper.y, stepper.u)
        return float(Guards(watched)(d, stepper.time, stepper.y, u)[0])

    def note(self, name: str, before: np.ndarray, lost: float, beta: float = 1.0) -> None:
        """Log an event: rates before it, the energy lost [J], and the part β of the restitution that was possible."""
        self.run.event_log.append(
            EventRecord(float(self.stepper.time), name, *self.motion, before.copy(), lost, beta)
        )

    def energy(self, y: np.ndarray) -> float:
        """Kinetic and potential, at a state of the mode in force."""
        d = self.run.d.concrete(self.run.inputs.parameters)
        return float(np.sum(d.energies(d.without_inputs(self.stepper.time, y))))

    def enter(self, mode: Mode, y: np.ndarray, lost: float) -> None:
        """Go on in a mode from a state of the one before; energy lost counts as loss, energy gained as work."""
        layout = self.active.d.layout
        y[layout.loss if lost > 0.0 else layout.work] += abs(lost)
        self.active = self.modes.active(mode, y[layout.q], self.stepper.time)
        self.stepper.put(self.active.entered(layout.converted(y, self.active.d.layout)), self.active.stage)

    def enter_open(self, mode: Mode, y: np.ndarray) -> None:
        """Go on in a mode from a state (ny,) in the layout of its constraints with all limits open."""
        q, time = y[self.run.d.layout.q], self.stepper.time
        open_ = self.modes.active(replace(mode, resting=()), q, time)
        self.active = self.modes.active(mode, q, time)
        layout = self.active.d.layout
        self.stepper.put(self.active.entered(open_.d.layout.converted(y, layout)), self.active.stage)

    def pass_ends(self, root: Root, causes: Sequence[Watched]) -> None:
        """Log limits that landed or opened at a root that the stepper has passed, and be in the mode behind it."""
        d, ends = self.active.d, [x for x in causes if x.kind in ("gap", "push")]
        if not ends:
            return
        (q, qd), before, loss = d.motion(root.later), d.motion(root.y)[1], d.layout.loss.start
        lost = float(root.later[loss] - root.y[loss])
        for x in ends:
            assert x.limit is not None
            name = x.limit.label if x.kind == "gap" else x.limit.leaving
            part, lost = (lost, 0.0) if x.kind == "gap" else (0.0, lost)
            self.run.event_log.append(EventRecord(root.time, name, q.copy(), qd.copy(), before.copy(), part))
        flags = root.later[d.layout.closed].tolist()
        resting = tuple(limit for limit, flag in zip(d.stops, flags, strict=True) if flag)
        self.active = self.modes.active(replace(self.active.mode, resting=resting), q, root.time)

    def refused(self, event: Event, problem: Exception) -> EndError:
        """Return the end of a run in which a function of an event has failed."""
        time = self.stepper.time
        message = f"Stopped at t = {time:.9g} s: event {event.name!r} raised {described(problem)}"
        end = EndError(Status("refused", time, message))
        end.__cause__ = problem
        return end
