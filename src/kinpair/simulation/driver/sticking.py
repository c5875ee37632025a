"""Dry friction that takes hold and lets go: which rates stick from now on, and which way the others slide."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinpair import constrained
from kinpair.algebra.arrays import Scalar, Vector
from kinpair.constraints.stick import HELD, SLIDES, Levels, at_rest
from kinpair.errors import listed
from kinpair.loaded.dynamics import is_loaded
from kinpair.simulation.driver.impacts import begun
from kinpair.simulation.driver.ongoing import EndError, Ongoing
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.events.events import EventRecord
from kinpair.simulation.loops import kernel_of
from kinpair.simulation.modes.guards import Watched
from kinpair.simulation.phases import STILL, levels, slides, sticks
from kinpair.simulation.status import Status

TURNS = 20  # in which phases under load are settled


def settle(ongoing: Ongoing, causes: list[Watched]) -> None:
    """Phases from where the run stands. `causes`: rates whose phase has ended."""
    active, stepper = ongoing.active, ongoing.stepper
    d = active.d
    if not d.sticking or d.at_ends:
        return
    y, time = stepper.y, stepper.time
    ended = [x.rate for x in causes if x.kind == "phase"]
    u = ongoing.inputs(time, y, stepper.u)
    later = decided(d, ongoing.run.inputs.parameters, time, y, u, ended)
    if (later == y).all() and not ended:
        return
    stepper.put(later, active.stage)
    if stepper.time == ongoing.run.time and not ended:
        return  # it begins like this
    note_phases(ongoing, time, y, later)


def note_phases(ongoing: Ongoing, time: float, y: np.ndarray, later: np.ndarray) -> None:
    """Rates that stick or slide from now on, in the log of events."""
    d = ongoing.active.d
    old, new = (x[d.layout.phase].tolist() for x in (y, later))
    signs = tuple(x[d.layout.share].tolist() for x in (y, later))
    for j, k in enumerate(d.sticking):
        was, moves = old[j] == SLIDES, new[j] == SLIDES
        turns = moves and (not was or signs[0][j] != signs[1][j])
        if turns or (was and not moves):
            name = ongoing.run.mechanism.v_names[k]
            q, qd = d.motion(later)
            before = d.motion(y)[1].copy()
            record = EventRecord(time, (slides if turns else sticks)(name), q.copy(), qd.copy(), before)
            ongoing.run.event_log.append(record)


def decided(
    d: Dynamics, p: np.ndarray, time: float, y: np.ndarray, u: np.ndarray, ended: list[int]
) -> np.ndarray:
    """The state (ny,) with the phases that follow from it; `ended`: rates, by place, whose phase is over."""
    layout, rates = d.layout, np.array(d.sticking)
    y = y.copy()
    qd, phase = y[layout.qd], y[layout.phase].copy()
    moving = np.abs(qd[rates]) > STILL
    moving[[j for j in ended if phase[j] == SLIDES]] = False
    y[layout.phase], y[layout.share] = (
        np.where(moving, SLIDES, HELD),
        np.where(moving, np.sign(qd[rates]), 0.0),
    )
    resting = np.flatnonzero(~moving)
    if not len(resting):
        return y
    qd[rates[resting]] = 0.0
    terms = kernel_of(d, _terms, time=(), y=(d.ny,), u=(d.nu,))
    arguments = (time, y, u, *((p,) if d.parameters else ()))
    M, F, A, psi, b, *bounds, efforts, rubbing = terms(*arguments)
    if len(A):
        y[layout.qd] = _stopped(M, A, psi, qd, rates[resting])
        M, F, A, psi, b, *bounds, efforts, rubbing = terms(*arguments)
    leaving = np.zeros(len(rates))
    for j in ended:
        if phase[j] == HELD:
            leaving[j] = -np.sign(efforts[rates[j]])
    for _ in range(TURNS):
        rubbing[rates[resting]] = 0.0
        own = Levels(*(x[resting] for x in bounds))
        result = _shared_out(M, F + rubbing, A, b, rates[resting], own, leaving[resting])
        before = y[layout.phase][resting].copy(), y[layout.share][resting].copy()
        y[layout.phase][resting], y[layout.share][resting] = result.phase, result.share
        same = all((a == b).all() for a, b in zip(before, (result.phase, result.share), strict=True))
        if same or not is_loaded(d.model, passive=d.passive):
            break
        M, F, A, psi, b, *bounds, efforts, rubbing = terms(*arguments)  # levels change with what moves
    else:
        names = listed(repr(d.model.v_names[k]) for k in rates[resting])
        raise EndError(
            Status(
                "jammed",
                time,
                f"Stopped at t = {time:.9g} s: friction from load does not settle at rest: no choice of what sticks "
                f"and what slides among {names} was found that fits; lower mu, or give the joints longer guidance",
            )
        )
    return y


def _shared_out(M: Any, F: Any, A: Any, b: Any, rates: np.ndarray, own: Levels, leaving: np.ndarray) -> Any:
    """As `at_rest`; where constraints join rates, the others may take over from one that reaches its level."""
    if len(A) and leaving.any():
        full = leaving != 0.0
        at = np.where(leaving > 0.0, own.rest_lo, own.rest_hi)
        bound = own._replace(rest_lo=np.where(full, at, own.rest_lo), rest_hi=np.where(full, at, own.rest_hi))
        result = at_rest(M, F, A, b, rates, bound, np.zeros(len(rates)))
        if not (result.phase == SLIDES).any():
            return result
    return at_rest(M, F, A, b, rates, own, leaving)


def _stopped(M: np.ndarray, A: np.ndarray, psi: np.ndarray, qd: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Rates that obey the constraints with some at rest."""
    rows = np.zeros((len(rates), len(qd)))
    rows[np.arange(len(rates)), rates] = 1.0
    stopped = begun(M, np.concatenate([A, rows]), np.concatenate([psi, qd[rates]]), qd)
    stopped[rates] = 0.0
    return stopped


def _terms(d: Dynamics, time: Scalar, y: Vector, u: Vector) -> tuple[Any, ...]:
    """M, F without friction in rates that are at rest, all rows of the constraints, levels of friction, and the efforts
    that hold."""
    state = d.state(time, y, u)
    loads = d.loads(time, state.q, state.qd, u)
    x = constrained.equations(d.model, d.request, state, loads)
    bounds = levels(d, state, loads)
    loaded = is_loaded(d.model, passive=d.passive)
    rubbing = d.rubbing(state, loads) if loaded else np.zeros(d.model.nv)
    return x.M, x.F, *x.every, *bounds, d.held_motion(state, loads)[1], rubbing
