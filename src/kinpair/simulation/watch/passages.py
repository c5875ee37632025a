"""Singular positions on the way of a method that controls its error.

A motion that crosses one is smooth, but its neighbours are not: off by δ, their accelerations go like δ/(t − t*), and
so does what a method of finite precision sees. Its estimate of the error then never falls, however short the step,
though what a step over t* gathers of it is of the order of δ. Where steps become short and a singular position is some
steps ahead, one step is taken as far beyond it as it is ahead, whatever its error; no stage of the methods here lies
half-way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinpair.compiler.time_loop import AdaptiveLoop
from kinpair.compiler.time_loop_memory import LARGEST, LENGTH
from kinpair.compiler.time_loop_standing import Standing
from kinpair.simulation.watch.residual import Singular
from kinpair.simulation.watch.singular_ends import singular_near

if TYPE_CHECKING:
    from kinpair.simulation.ready import Run

LEAST = 1e-3  # of the longest step: shorter ones are asked why
AHEAD = 100.0  # steps: one that is further away is not what makes them short
ANYTHING = 1e300  # allowed error


class Suspended(NamedTuple):
    """A singular position that was crossed without control of the error, and for how long [s]."""

    at: Singular
    length: float


class Passage:
    """Takes an adaptive run over singular positions, and notes them."""

    def __init__(self, run: Run, loop: AdaptiveLoop, wanted: np.ndarray, options: Mapping[str, Any]) -> None:
        self.run, self.loop = run, loop
        self.options: dict[str, Any] = {
            **options,
            "wanted": wanted,
            "atol": np.full(loop.flow.ny, ANYTHING),
            "steps": 1,
        }
        held = run.d.held
        self.least = LEAST if held is not None and held.ask.kept else 0.0

    def over(self, at: Standing) -> str:
        """Beyond a singular position, if that makes the steps short; how the run stands then."""
        y = at.state(self.loop.flow.ny)
        near = singular_near(self.run, y, at.time, at.largest)
        at.memory[LARGEST] = at.dt  # what is short from now on
        if near is None or not 0.0 < near.time - at.time < AHEAD * at.dt:
            return "more"
        end = min(near.time + (near.time - at.time), self.run.stop)
        self.run.passages.append(Suspended(near, end - at.time))
        while at.time < end:
            at.memory[LENGTH] = end - at.time
            options: dict[str, Any] = {**self.options, "stop": end}
            self.loop.run(at, **options)
            if at.why not in ("more", "done"):
                return at.why
        return "more"
