"""Limits that are reached: impacts, and which of them then hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinpair.constraints.rank_revealing import solve
from kinpair.formulations import kinematics
from kinpair.simulation.events.course import Course
from kinpair.simulation.events.impacts import impact, mobility_matrix, pushes
from kinpair.simulation.events.limits import CLOSED, Limit
from kinpair.simulation.events.modes import Stage

STILL = 1e-9  # a rate this small is none


def touch(course: Course, released: frozenset[Limit]) -> None:
    """Impacts at the limits that are reached, then which of them are held."""
    walk, nq, nv = course.walk, course.run.d.model.nq, course.run.d.model.nv
    y = walk.y
    closed = [x for x in course.modes.limits if x.gap(y[:nq]) <= CLOSED * max(1.0, abs(x.at))]
    if not closed:
        return
    mode = replace(course.stage.mode, held=())
    stage = course.modes.stage(mode, y[:nq], walk.time)
    terms = stage.terms(course.run.inputs.parameters, walk.time, y, course.inputs(walk.time, y, walk.u))
    N = np.array([x.row(nv) for x in closed])
    before, qd = y[nq : nq + nv].copy(), y[nq : nq + nv].copy()
    v = N @ qd
    pairs = zip(closed, v, strict=True)
    e = np.array([x.restitution if -x.restitution * r >= course.limits.rest else 0.0 for x, r in pairs])
    struck = bool((v < -STILL).any())
    if struck:
        qd = impact(terms.M, terms.A, N, qd, e)
    G = mobility_matrix(terms.M, terms.A)
    gaps = np.array([x.gap(y[:nq]) for x in closed])
    back = G @ N.T @ np.linalg.lstsq(N @ G @ N.T, -gaps, rcond=None)[0]
    y[:nq] = kinematics.nudged(course.run.d.model, y[:nq], back)
    resting = [x for x, r in zip(closed, N @ qd, strict=True) if abs(r) <= STILL and x not in released]
    lost = 0.5 * float(before @ terms.M @ before - qd @ terms.M @ qd)
    y[nq : nq + nv] = qd
    held = _held(course, stage, walk.time, y, resting)
    course.enter(replace(mode, held=held), y, max(lost, 0.0))
    if struck:
        for limit, rate in zip(closed, v, strict=True):
            if rate < -STILL:
                course.note(limit.label, before, lost)
                lost = 0.0
    for limit in sorted(released, key=lambda x: x.label):
        course.note(limit.leaving, before, 0.0)


def _held(
    course: Course, stage: Stage, time: float, y: np.ndarray, resting: list[Limit]
) -> tuple[Limit, ...]:
    """Of limits at rest, those that would be passed if they were let go."""
    if not resting:
        return ()
    nv = course.run.d.model.nv
    terms = stage.terms(course.run.inputs.parameters, time, y, course.inputs(time, y, course.walk.u))
    qdd = solve(terms.M, terms.F, terms.A, terms.b).qdd
    N = np.array([x.row(nv) for x in resting])
    G = mobility_matrix(terms.M, terms.A)
    forces, leaving = pushes(G, N, qdd)
    small = STILL * (1.0 + np.abs(N @ qdd).max())
    chosen: list[int] = []
    for k in np.argsort(-forces, kind="stable").tolist():
        own = N[[*chosen, k]]
        independent = np.linalg.matrix_rank(own @ G @ own.T, hermitian=True) == len(own)
        if leaving[k] <= small and independent:
            chosen.append(k)
    return tuple(resting[k] for k in sorted(chosen))
