"""Limits that are reached: impacts, and positions without penetration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kinpair.constraints.bounded import stacked
from kinpair.errors import SingularError, listed
from kinpair.formulations import kinematics
from kinpair.simulation.driver.impacts import impact, mobility_matrix
from kinpair.simulation.driver.ongoing import EndError, Ongoing
from kinpair.simulation.events.limits import CLOSED, Limit
from kinpair.simulation.status import Status

STILL = 1e-9  # [rad/s], [m/s]: a rate this small counts as zero


def reached(limits: Sequence[Limit], q: np.ndarray) -> list[Limit]:
    """Return the limits without a gap at q (nq,)."""
    return [x for x in limits if x.gap(q) <= CLOSED * max(1.0, abs(x.at))]


def touch(ongoing: Ongoing) -> None:
    """Compute the impact at limits that are reached; the run ends where constraints take a joint beyond its limit."""
    try:
        _touch(ongoing)
    except SingularError as problem:
        time = ongoing.stepper.time
        raise EndError(Status("singular", time, f"Stopped at t = {time:.9g} s: {problem}")) from None


def _touch(ongoing: Ongoing) -> None:
    stepper, model = ongoing.stepper, ongoing.run.d.model
    q, before = ongoing.motion
    closed = reached(ongoing.modes.limits, q)
    if not closed:
        return
    mode = replace(ongoing.active.mode, resting=())
    active = ongoing.modes.active(mode, q, stepper.time)
    y, layout = ongoing.open_state(active), ongoing.active.d.layout
    u = ongoing.inputs(stepper.time, y, stepper.u)
    terms = active.terms(ongoing.run.inputs.parameters, stepper.time, y, u)
    rows = stacked([x.bounded(q, before) for x in closed], model.nv)
    struck = [(x, rate) for x, rate in zip(closed, rows.rates, strict=True) if rate < -STILL]
    rest = ongoing.run.limits.rest
    e = np.array(
        [
            x.restitution if -x.restitution * r >= rest else 0.0
            for x, r in zip(closed, rows.rates, strict=True)
        ]
    )
    qd = impact(terms.M, terms.A, rows, before, e) if struck else before
    N, G = rows.N, mobility_matrix(terms.M, terms.A)
    back = G @ N.T @ np.linalg.lstsq(N @ G @ N.T, -rows.gaps, rcond=None)[0]
    lost = 0.5 * float(before @ terms.M @ before - qd @ terms.M @ qd)
    y = stepper.y
    y[layout.q], y[layout.qd] = kinematics.nudged(model, q, back), qd
    ongoing.enter(mode, y, max(lost, 0.0))
    if struck:
        ongoing.note_impact(listed([x.label for x, _ in struck], 4), qd - before)
    for limit, _ in struck:
        ongoing.note(limit.label, before, lost)
        lost = 0.0
