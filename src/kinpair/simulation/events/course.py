"""A run with events on its way, and what all who work on it need."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinpair.simulation.events.events import Event, Happening
from kinpair.simulation.events.limits import Limits
from kinpair.simulation.events.modes import Mode, Modes, Stage
from kinpair.simulation.methods.walks import fitted
from kinpair.simulation.ready import Run
from kinpair.simulation.result import Status


class EndError(Exception):
    """The run ends here, with a status."""

    def __init__(self, status: Status) -> None:
        self.status = status
        super().__init__(status.message)


class Course:
    """A run on its way: where it walks, and in which stage."""

    def __init__(self, run: Run, modes: Modes, limits: Limits, stage: Stage, walk: Any) -> None:
        self.run, self.modes, self.limits = run, modes, limits
        self.stage, self.walk = stage, walk
        self.bands: dict[str, float] = {}  # of events whose function is held: how near to zero is zero

    def inputs(self, time: float, y: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Inputs at a state; those that are not held change within a step."""
        run = self.run
        if run.wish.source == "table":
            return np.array([np.interp(time, run.inputs.times, column) for column in run.inputs.rows.T])
        if run.wish.source == "call" and not run.wish.torque.held and run.caller is not None:
            found = run.caller(time, y)
            return u if found is None else found
        return u

    def note(self, name: str, before: np.ndarray, lost: float) -> None:
        """It happened: rates before it, and the energy it took."""
        q, qd, _ = self.run.d.parts(self.walk.y)
        self.run.happened.append(
            Happening(float(self.walk.time), name, q.copy(), qd.copy(), before.copy(), lost)
        )

    def energy(self, y: np.ndarray) -> float:
        """Kinetic and potential."""
        d = self.run.d.concrete(self.run.inputs.parameters)
        return float(np.sum(d.watched(self.walk.time, fitted(y, d.ny), self.walk.u)[:2]))

    def enter(self, mode: Mode, y: np.ndarray, lost: float) -> None:
        """Go on in a mode from a state; energy lost counts as loss, energy gained as work."""
        self.stage = self.modes.stage(mode, y[: self.run.d.model.nq], self.walk.time)
        model = self.run.d.model
        y[model.nq + model.nv + (lost > 0.0)] += abs(lost)
        self.walk.put(y, self.stage.loop)

    def refused(self, event: Event, problem: Exception) -> EndError:
        """The end, since a function of an event has failed."""
        time = self.walk.time
        message = (
            f"Stopped at t = {time:.9g} s: event {event.name!r} raised {type(problem).__name__}: {problem}"
        )
        return EndError(Status("refused", time, message))
