"""Limits that are reached: impacts, and which of them then hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinpair.constrained import solve_any_rank
from kinpair.constraints.bounded import stacked
from kinpair.errors import SingularError, listed
from kinpair.formulations import kinematics
from kinpair.simulation.driver.impacts import impact, mobility_matrix, pushes
from kinpair.simulation.driver.ongoing import EndError, Ongoing
from kinpair.simulation.events.limits import CLOSED, Limit
from kinpair.simulation.modes.modes import Active
from kinpair.simulation.status import Status

STILL = 1e-9  # a rate this small counts as zero


def touch(ongoing: Ongoing, released: frozenset[Limit]) -> None:
    """Impacts at the limits that are reached, then which of them are held.

    The run ends where the constraints take a joint beyond its limit.
    """
    try:
        _touch(ongoing, released)
    except SingularError as problem:
        time = ongoing.stepper.time
        raise EndError(Status("singular", time, f"Stopped at t = {time:.9g} s: {problem}")) from None


def _touch(ongoing: Ongoing, released: frozenset[Limit]) -> None:
    stepper, model = ongoing.stepper, ongoing.run.d.model
    y, layout = stepper.y, ongoing.active.d.layout
    q, before = ongoing.motion
    closed = [x for x in ongoing.modes.limits if x.gap(q) <= CLOSED * max(1.0, abs(x.at))]
    if not closed:
        return
    mode = replace(ongoing.active.mode, resting=())
    active = ongoing.modes.active(mode, q, stepper.time)
    terms = active.terms(
        ongoing.run.inputs.parameters, stepper.time, y, ongoing.inputs(stepper.time, y, stepper.u)
    )
    qd = before
    rows = stacked([x.bounded(q, qd) for x in closed], model.nv)
    N, v = rows.N, rows.rates
    pairs = zip(closed, v, strict=True)
    e = np.array([x.restitution if -x.restitution * r >= ongoing.run.limits.rest else 0.0 for x, r in pairs])
    struck = bool((v < -STILL).any())
    if struck:
        qd = impact(terms.M, terms.A, rows, qd, e)
    G = mobility_matrix(terms.M, terms.A)
    back = G @ N.T @ np.linalg.lstsq(N @ G @ N.T, -rows.gaps, rcond=None)[0]
    y[layout.q] = kinematics.nudged(model, q, back)
    resting = [x for x, r in zip(closed, N @ qd, strict=True) if abs(r) <= STILL and x not in released]
    lost = 0.5 * float(before @ terms.M @ before - qd @ terms.M @ qd)
    y[layout.qd] = qd
    resting = _resting(ongoing, active, stepper.time, y, resting)
    ongoing.enter(replace(mode, resting=resting), y, max(lost, 0.0))
    if struck:
        ongoing.note_impact(
            listed([x.label for x, r in zip(closed, v, strict=True) if r < -STILL], 4), qd - before
        )
        for limit, rate in zip(closed, v, strict=True):
            if rate < -STILL:
                ongoing.note(limit.label, before, lost)
                lost = 0.0
    for limit in sorted(released, key=lambda x: x.label):
        ongoing.note(limit.leaving, before, 0.0)


def _resting(
    ongoing: Ongoing, active: Active, time: float, y: np.ndarray, resting: list[Limit]
) -> tuple[Limit, ...]:
    """Of limits at rest, those that would be passed if they were let go."""
    if not resting:
        return ()
    q, qd = ongoing.run.d.motion(y)
    terms = active.terms(ongoing.run.inputs.parameters, time, y, ongoing.inputs(time, y, ongoing.stepper.u))
    qdd = solve_any_rank(active.d.model, (terms.M, terms.F, terms.A, terms.b)).qdd
    rows = stacked([x.bounded(q, qd) for x in resting], len(qd))
    N, G = rows.N, mobility_matrix(terms.M, terms.A)
    forces, leaving = pushes(G, rows, qdd)
    small = STILL * (1.0 + np.abs(N @ qdd).max())
    chosen: list[int] = []
    for k in np.argsort(-forces, kind="stable").tolist():
        own = N[[*chosen, k]]
        independent = np.linalg.matrix_rank(own @ G @ own.T, hermitian=True) == len(own)
        if leaving[k] <= small and independent:
            chosen.append(k)
    return tuple(resting[k] for k in sorted(chosen))
