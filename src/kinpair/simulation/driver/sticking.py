"""Phases where the run stands: which groups stick and which slide, which limits are closed and which are open."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kinpair.errors import SingularError
from kinpair.friction.rounding import CREEP
from kinpair.simulation.driver.ongoing import EndError, Ongoing
from kinpair.simulation.driver.touching import reached, slam
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.events.events import EventRecord
from kinpair.simulation.events.limits import Limit
from kinpair.simulation.modes.guards import Watched
from kinpair.simulation.phases import slides, sticks
from kinpair.simulation.rounding import STILL
from kinpair.simulation.rounding import STOPPED as TOUCHING
from kinpair.simulation.status import Status

if TYPE_CHECKING:
    from kinpair.simulation.driver.standing import AtRest

STOPPED = 20.0 * CREEP  # [m/s]: several rates that rub as one and come so near to rest are there


def settle(ongoing: Ongoing, causes: Sequence[Watched], released: Set[Limit] = frozenset()) -> None:
    """Decide the phases of all groups and limits where the run stands.

    causes: groups whose phase has ended. released: limits that would have to pull.
    """
    stepper, mode, time = ongoing.stepper, ongoing.active.mode, ongoing.stepper.time
    q, qd = ongoing.motion
    open_ = ongoing.modes.active(replace(mode, resting=()), q, time)
    if open_.d.at_ends or not (open_.d.sticking or ongoing.modes.limits):
        return
    y = ongoing.open_state(open_)
    ended = [x.group for x in causes if x.kind == "phase"]
    ended += [j for x in released for j, group in enumerate(open_.d.groups) if group.rates == (x.v,)]
    closed = [
        x for x in reached(ongoing.modes.limits, q) if abs(x.rate(qd)) <= TOUCHING and x not in released
    ]
    if not (open_.d.sticking or closed or mode.resting):
        return
    u, jumped = ongoing.inputs(time, y, stepper.u), any(x.kind == "gap" for x in causes)
    try:
        later, result = decided(ongoing, open_.d, y, u, ended, closed, released, jumped=jumped)
    except SingularError as problem:
        if slam(ongoing):
            settle(ongoing, causes, released)
            return
        reason = str(problem).removeprefix(f"{open_.d.model.name}: ")
        raise EndError(Status("jammed", time, f"Stopped at t = {time:.9g} s: {reason}")) from problem
    if (later == y).all() and not ended and result.closed == mode.resting:
        return
    ongoing.enter_open(replace(mode, resting=result.closed), later)
    if time == ongoing.run.time and not (ended or released):
        return  # it begins like this
    for limit in result.opened:
        ongoing.note(limit.leaving, qd, 0.0)
    note_phases(ongoing, time, y, later)


def note_phases(ongoing: Ongoing, time: float, y: np.ndarray, later: np.ndarray) -> None:
    """Groups that stick or slide from now on, in the log of events."""
    from kinpair.constraints.solve.stick import SLIDES

    d = ongoing.run.d
    old, new = (x[d.layout.phase].tolist() for x in (y, later))
    ways = zip(*(d.by_group(x[d.layout.share]) for x in (y, later)), strict=True)
    for j, (group, (before, after)) in enumerate(zip(d.groups, ways, strict=True)):
        was, moves = old[j] == SLIDES, new[j] == SLIDES
        turns = moves and (not was or before @ after < 0.0)
        if turns or (was and not moves):
            q, qd = d.motion(later)
            rates = d.motion(y)[1].copy()
            record = EventRecord(time, (slides if turns else sticks)(group.name), q.copy(), qd.copy(), rates)
            ongoing.run.event_log.append(record)


def decided(
    ongoing: Ongoing,
    d: Dynamics,
    y: np.ndarray,
    u: np.ndarray,
    ended: Sequence[int],
    closed: Sequence[Limit],
    released: Set[Limit],
    *,
    jumped: bool,
) -> tuple[np.ndarray, AtRest]:
    """Return the state (ny,) with the phases that follow from it, and what is at rest.

    ended: groups, by place, whose phase is over. closed: limits without gap and rate. released: those that would have
    to pull. jumped: have rates jumped here?
    """
    from kinpair.constraints.solve.stick import HELD, SLIDES
    from kinpair.simulation.driver.resting import at_rest
    from kinpair.simulation.driver.standing import AtRest, Standing

    p, time, layout = ongoing.run.inputs.parameters, ongoing.stepper.time, d.layout
    own, before, y = d.concrete(p), y, y.copy()
    qd, phase = y[layout.qd], y[layout.phase].copy()
    share = list[np.ndarray]()
    resting, leaving = list[int](), list[int]()
    for j, s in enumerate(own.sliding(qd)):
        size, over = float(np.linalg.norm(s)), j in ended
        several = len(s) > 1
        stops = over and phase[j] == SLIDES and (not several or size <= STOPPED)
        moves = size > STILL and not stops
        share.append(_direction(s, size) if moves else 0.0 * s)
        if not moves:
            resting.append(j)
        if over and phase[j] == HELD:
            leaving.append(j)
    slid = np.ones(len(d.groups), dtype=bool)
    slid[resting] = False
    y[layout.phase], y[layout.share] = np.where(slid, SLIDES, HELD), np.concatenate([np.zeros(0), *share])
    if not (resting or closed or released):
        return y, AtRest([], [])
    active = ongoing.active
    working = Standing(active.d, p, time, ongoing.stepper.y, u, closed=active.mode.resting)
    own_limits = tuple(closed), tuple(released)
    standing = Standing(d, p, time, before, u, resting, leaving, *own_limits, None if jumped else working)
    y[layout.qd] = standing.stopped(y)
    result = at_rest(standing, y)
    for j, state, direction in zip(resting, result.phase, result.share, strict=True):
        y[layout.phase][j], share[j] = state, direction
    y[layout.share] = np.concatenate([np.zeros(0), *share])
    return y, result


def _direction(s: np.ndarray, size: float) -> np.ndarray:
    return np.sign(s) if len(s) == 1 else s / size
