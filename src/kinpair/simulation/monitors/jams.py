"""Runs that end where friction from load has no solution: which joint, when, and from which coefficient on.

A run that became NaN is followed once more from its last state, in floats and small steps: the first state without
solution says why it ended.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinpair.errors import SingularError
from kinpair.formulations import kinematics
from kinpair.friction.loads.dynamics import is_loaded
from kinpair.friction.phases.states import LoadedStates
from kinpair.simulation.monitors.lost_numbers import inputs_at
from kinpair.simulation.run import Run

STEPS = 40  # from the last state to the end of the step that was not finite, and as long again
SHORTEST = 1e-9  # [s]: so far ahead at least
UNSOLVED = (
    "the loads of joints with friction from load are not found by the sweeps of the compiled code, though there are "
    "some; take shorter steps, or another integrator"
)


class Jam(NamedTuple):
    """When the state had no solution, and the joint, the coefficient and the reason in words."""

    time: float
    reason: str


def jam_of(run: Run, y: np.ndarray, since: float, until: float, dt: float) -> Jam | None:
    """Why a run with friction from load ended, if that is why; from its last state y at `since`."""
    if not is_loaded(run.d.model, passive=run.d.passive) or not np.isfinite(y).all():
        return None
    d, y = run.d.concrete(run.inputs.parameters), y.copy()
    if run.event_log and run.event_log[-1].time >= since:  # which may have changed the state of that sample
        last = run.event_log[-1]
        since, y[d.layout.q], y[d.layout.qd] = last.time, last.q, last.qd
    states = LoadedStates(d.model, None)
    u = inputs_at(run, since, y)
    time, h = since, max(until - since, dt, SHORTEST) / STEPS
    with np.errstate(all="ignore"):
        for _ in range(2 * STEPS):
            here = d.in_phase(y)
            state = here.state(time, y, u)
            loads = here.loads(time, state.q, state.qd, u)
            try:
                tau = np.asarray(here.efforts(state), dtype=float)
                qdd = states.of_numbers(here.load_terms(state, loads), state.q, state.qd, tau).qdd
            except SingularError as problem:
                return Jam(time, str(problem).removeprefix(f"{d.model.name}: "))
            if not np.isfinite(np.asarray(here.accelerations(state, loads)[0], dtype=float)).all():
                return Jam(time, UNSOLVED)
            y[d.layout.q] = kinematics.moved(d.model, state.q, h * state.qd)
            y[d.layout.qd], time = state.qd + h * qdd, time + h
            if run.torque.source != "call":
                u = inputs_at(run, time, y)
    return None
