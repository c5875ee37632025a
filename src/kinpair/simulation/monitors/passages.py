"""Singular positions on the way of a method that controls its error.

A motion that crosses one is smooth, but its neighbours are not: off by δ, their accelerations go like δ/(t − t*), and
so does what a method of finite precision sees. Its estimate of the error then does not fall with the step: it grows the
nearer a stage is to t*, and shorter steps only carry more of the rounding along. So the best step over t* is about as
long as the usual ones, and begins where steps first become short. It goes as far beyond t* as that is ahead; no stage
of the methods here lies half-way.

The estimate of such a step says nothing: most of what it sees, the projection behind the step takes away. Its error is
found by a second step, a fifth longer. Both must lead to the same state there,

    |y(h, then h/5) − y(6h/5)| ≤ 10 (atol + rtol |y|) + 1e-8 (1 + |y|)                                    (PX1)

the last term for rounding; a jump of a torque would show. Where they do not, longer steps are tried, none longer than
the usual ones: a jump may have brought the run so near that a step as far beyond carries rounding. Where these do not
agree either, the steps become shorter, and the next look is from nearer by. Inputs that are held are constant between
their samples, where every step stops: there the step is taken without the second one, so that a controller is asked
once a sample.

Rows that are only pulled back (Baumgarte) have drifted a little when a run comes to t*, and a little is much there. So
the state is projected before such a step and behind it, as it is behind every step with `project`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinpair.compiler.time_loop.memory import HEAD, LARGEST, LENGTH, STALE
from kinpair.compiler.time_loop.standing import Standing
from kinpair.simulation.monitors.singular_ends import singular_between, singular_near
from kinpair.simulation.residual import Suspended
from kinpair.simulation.stage import Stage

LEAST = 0.1  # of the longest step: shorter ones are asked why
LENGTHS = (2.0, 30.0, 300.0)  # of a step over t*, as parts of the way to it: no stage of a method lies there
FURTHER = 1.2  # the length of the second step, as a part of the first
AGREE, ROUNDED = 10.0, 1e-8  # how far two steps may differ: in units of the tolerances, and of the state
ANYTHING = 1e300  # allowed error of a single step, as its own estimate has it


class Passage:
    """Takes an adaptive run over singular positions, and notes them."""

    def __init__(self, stage: Stage, options: Mapping[str, Any]) -> None:
        self.stage, self.rtol, self.atol = stage, options["rtol"], options["atol"]
        self.options: dict[str, Any] = {**options, "atol": np.full(stage.d.ny, ANYTHING)}
        self._usual = 0.0  # length of the longest step so far
        enforcement = stage.d.enforcement
        self.least = LEAST if enforcement is not None and enforcement.request.kept else 0.0

    def over(self, at: Standing) -> str:
        """Beyond a singular position, if that makes the steps short; how the run stands then."""
        stage, run = self.stage, self.stage.run
        began, dt, state = at.time, at.dt, at.state(stage.d.ny)
        reach, self._usual = 0.5 * at.largest, max(self._usual, at.largest)
        near = singular_near(stage, state, began, (max(run.time, began - reach), began + reach))
        at.memory[LARGEST] = dt  # what is short from now on
        if near is None or near.time <= began:
            return "more"
        self._project(at)
        end = self._end(at, near.time)
        if end is None:
            return "more"
        reached = self._step(at, end)
        if at.why == "crossed" or at.time < end:
            return at.why
        there = singular_between(stage, (began, state), (end, reached))
        run.passages.append(Suspended(there or near, end - began))
        return at.why if at.why != "done" else "more"

    def _end(self, at: Standing, singular: float) -> float | None:
        """Where a step over a singular position ends; None where no length is sound."""
        run, began = self.stage.run, at.time
        ends = [min(began + part * (singular - began), run.stop) for part in LENGTHS]
        if run.torque.sample_time is not None:
            return ends[0]
        usual = (end for end in ends if end - began <= self._usual)
        return next((end for end in usual if self._agree(at, end)), None)

    def _agree(self, at: Standing, end: float) -> bool:
        """Do a step to the end and a longer one lead to the same state?    (PX1)"""
        kept, further = at.memory.copy(), min(at.time + FURTHER * (end - at.time), self.stage.run.stop)
        one = self._step(at, end, further, minding=False)
        at.memory[:] = kept
        two = self._step(at, further, minding=False)
        at.memory[:] = kept
        size = np.abs(two)
        allowed = AGREE * (self.atol + self.rtol * size) + ROUNDED * (1.0 + size)
        return bool((np.abs(one - two) <= allowed).all())

    def _step(self, at: Standing, *ends: float, minding: bool = True) -> np.ndarray:
        """The state behind steps that end there; NaN where there is none, as of a step with a stage at t* itself."""
        for end in ends:
            while at.time < end:
                began, at.memory[LENGTH] = at.time, end - at.time
                self.stage.loop.run(at, stop=end, steps=1, minding=minding, **self.options)
                if at.why not in ("more", "done") or at.time == began:
                    return np.full(self.stage.d.ny, np.nan)
            self._project(at)
        return at.state(self.stage.d.ny)

    def _project(self, at: Standing) -> None:
        """The state on to constraints that the steps themselves do not project on to."""
        d = self.stage.d.concrete(self.stage.run.inputs.parameters)
        if d.enforcement is None or d.enforcement.way != "baumgarte":
            return
        y = at.state(d.ny)
        q, qd, _ = d.enforcement.settle(d.model, at.time, *d.motion(y))
        at.memory[HEAD : HEAD + d.layout.motion.stop] = np.concatenate([q, qd])
        at.memory[STALE] = 1.0
