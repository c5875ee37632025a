"""Limits that are reached: impacts, and positions without penetration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kinpair.constraints.rows.bounded import stacked
from kinpair.constraints.solve.stick import response
from kinpair.errors import SingularError
from kinpair.formulations import kinematics
from kinpair.friction.loads.dynamics import is_loaded
from kinpair.simulation.driver.ongoing import EndError, Ongoing
from kinpair.simulation.dynamics import with_quaternion
from kinpair.simulation.events.limits import Limit
from kinpair.simulation.modes.modes import WITHOUT_COLLISION, Active, equations_of
from kinpair.simulation.rounding import STOPPED
from kinpair.simulation.status import Status

if TYPE_CHECKING:
    from kinpair.simulation.driver.standing import Standing


def reached(limits: Sequence[Limit], q: np.ndarray) -> list[Limit]:
    """Return the limits without a gap at q (nq,)."""
    return [x for x in limits if x.is_reached(q)]


def touch(ongoing: Ongoing) -> None:
    """Compute the impact at limits that are reached; the run ends where constraints take a joint beyond its limit."""
    try:
        _touch(ongoing)
    except SingularError as problem:
        time = ongoing.stepper.time
        raise EndError(Status("singular", time, f"Stopped at t = {time:.9g} s: {problem}")) from None


def slam(ongoing: Ongoing) -> bool:
    """Compute an impact without collision where no force satisfies friction from load; True if rates have changed."""
    from kinpair.simulation.driver.impacts import Struck

    time, (q, before) = ongoing.stepper.time, ongoing.motion
    mode = replace(ongoing.active.mode, resting=())
    active = ongoing.modes.active(mode, q, time)
    y = ongoing.open_state(active)
    if not (is_loaded(active.d.model, passive=active.d.passive) and np.isfinite(y).all()):
        return False
    at = _standing(ongoing, active, y)
    M, _, A, *_ = at.numbers(equations_of, y)
    rows = stacked([x.bounded(q, before) for x in reached(ongoing.modes.limits, q)], len(before))
    struck = Struck(M, response(M, A), rows, at.rough_surfaces(y))
    qd = struck.slammed(before) if struck.rough is not None else None
    if qd is None:
        return False
    lost = struck.energy(before) - struck.energy(qd)
    y, layout = ongoing.stepper.y, ongoing.active.d.layout
    y[layout.qd] = qd
    ongoing.enter(mode, y, max(lost, 0.0))
    ongoing.note(WITHOUT_COLLISION, before, lost)
    return True


def _standing(ongoing: Ongoing, active: Active, y: np.ndarray) -> Standing:
    """Return where the run stands, in a mode with all limits open."""
    from kinpair.simulation.driver.standing import Standing

    time = ongoing.stepper.time
    return Standing(
        active.d, ongoing.run.inputs.parameters, time, y, ongoing.inputs(time, y, ongoing.stepper.u)
    )


def _touch(ongoing: Ongoing) -> None:
    from kinpair.simulation.driver.impacts import Struck, impact

    stepper, model, time = ongoing.stepper, ongoing.run.d.model, ongoing.stepper.time
    q, before = ongoing.motion
    closed = reached(ongoing.modes.limits, q)
    if not closed:
        return
    mode = replace(ongoing.active.mode, resting=())
    active = ongoing.modes.active(mode, q, time)
    y, limits = ongoing.open_state(active), ongoing.run.limits
    at = _standing(ongoing, active, y)
    M, _, A, *_ = at.numbers(equations_of, y)
    rows = stacked([x.bounded(q, before) for x in closed], model.nv)
    N, G = rows.N, response(M, A)
    hits = [(x, rate) for x, rate in zip(closed, rows.rates, strict=True) if rate < -STOPPED]
    qd, beta = before, 1.0
    if hits:
        pairs = zip(closed, rows.rates, strict=True)
        e = np.array([x.restitution if -x.restitution * rate >= ongoing.rest else 0.0 for x, rate in pairs])
        qd, beta = impact(Struck(M, G, rows, at.rough_surfaces(y)), before, e, limits.impact)
    back = G @ N.T @ np.linalg.lstsq(N @ G @ N.T, -rows.gaps, rcond=None)[0]
    lost = 0.5 * float(before @ M @ before - qd @ M @ qd)
    y, layout = stepper.y, ongoing.active.d.layout
    y[layout.q] = kinematics.nudged(model, q, back) if with_quaternion(model) else q + back
    y[layout.qd] = qd
    ongoing.enter(mode, y, max(lost, 0.0))
    for limit, _ in hits:
        ongoing.note(limit.label, before, lost, beta)
        lost = 0.0
