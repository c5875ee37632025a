"""Dry friction that takes hold and lets go: which groups stick from now on, and which way the others slide."""

from __future__ import annotations

import numpy as np

from kinpair.errors import SingularError
from kinpair.loaded.dynamics import is_loaded
from kinpair.nonsmooth.stick import HELD, SLIDES
from kinpair.simulation.driver.ongoing import EndError, Ongoing
from kinpair.simulation.driver.resting import Standing, by_levels, under_load
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.events.events import EventRecord
from kinpair.simulation.modes.guards import Watched
from kinpair.simulation.phases import STILL, slides, sticks
from kinpair.simulation.status import Status

STOPPED = 1e-9  # [m/s]: several rates that rub as one and come so near to rest are there


def settle(ongoing: Ongoing, causes: list[Watched]) -> None:
    """Phases from where the run stands. `causes`: groups whose phase has ended."""
    active, stepper = ongoing.active, ongoing.stepper
    d = active.d
    if not d.sticking or d.at_ends:
        return
    y, time = stepper.y, stepper.time
    ended = [x.group for x in causes if x.kind == "phase"]
    u = ongoing.inputs(time, y, stepper.u)
    try:
        later = decided(d, ongoing.run.inputs.parameters, time, y, u, ended)
    except SingularError as problem:
        reason = str(problem).removeprefix(f"{d.model.name}: ")
        raise EndError(Status("jammed", time, f"Stopped at t = {time:.9g} s: {reason}")) from problem
    if (later == y).all() and not ended:
        return
    stepper.put(later, active.stage)
    if stepper.time == ongoing.run.time and not ended:
        return  # it begins like this
    note_phases(ongoing, time, y, later)


def note_phases(ongoing: Ongoing, time: float, y: np.ndarray, later: np.ndarray) -> None:
    """Groups that stick or slide from now on, in the log of events."""
    d = ongoing.active.d
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
    d: Dynamics, p: np.ndarray, time: float, y: np.ndarray, u: np.ndarray, ended: list[int]
) -> np.ndarray:
    """The state (ny,) with the phases that follow from it; `ended`: groups, by place, whose phase is over."""
    layout, own = d.layout, d.concrete(p)
    before, y = y, y.copy()
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
    y[layout.phase], y[layout.share] = np.where(slid, SLIDES, HELD), np.concatenate(share)
    if not resting:
        return y
    standing = Standing(d, own, p, time, before, u, resting, leaving)
    y[layout.qd] = standing.stopped(y)
    result = (under_load if is_loaded(d.model, passive=d.passive) else by_levels)(standing, y)
    for j, state, direction in zip(resting, result.phase, result.share, strict=True):
        y[layout.phase][j], share[j] = state, direction
    y[layout.share] = np.concatenate(share)
    return y


def _direction(s: np.ndarray, size: float) -> np.ndarray:
    return np.sign(s) if len(s) == 1 else s / size
