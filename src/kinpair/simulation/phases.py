"""Phases of dry friction in a run: each rate that has it slides one way, is held at rest, or is carried along.

Of each such rate the state has a `share` and a `phase`, which stay as they are between events. While it slides, the
share is the sign of sliding, fixed whatever the rate does within a step, so that forces are smooth. While it is held,
its acceleration is zero, and what that takes is watched against the static level. While it is carried, others hold it
through constraints, and the share says what part of its level acts. See `constraints/stick.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.algebra.choice import less, maximum, minimum, where
from kinpair.forces.elements import acting
from kinpair.loaded.dynamics import is_loaded
from kinpair.model.state import State

TINY = 1e-300  # a rate of zero counts as sliding on
BEYOND = 1e-11  # of the levels: a rate lets go where more than this beyond them would have to hold it
STILL = 1e-13  # [rad/s], [m/s]: a rate this small counts as zero
DOUBTFUL = 1e-9  # of the levels: so near to one of them, compiled code does not tell whether a rate sticks
BALANCED = 1e-11  # of the largest acceleration: less than this against the way of sliding is rounding
LEAVES = 1e-9  # [rad/s], [m/s]: a rate that is carried and moves faster slides
SLIDING, CARRIED = 0.5, 1.5  # phases below the first slide, beyond the second are carried


def sticks(name: str) -> str:
    """Name of the event that a rate has come to rest."""
    return f"{name} sticks"


def slides(name: str) -> str:
    """Name of the event that a rate slides, from rest or in the other direction."""
    return f"{name} slides"


def is_held(phase: Scalar) -> Scalar:
    """One where a rate is held, else zero; without a choice, for methods that take none."""
    return 0.5 * phase * (phase - 2.0) * (phase - 3.0)


def is_carried(phase: Scalar) -> Scalar:
    """One where it stands still because others are held, else zero."""
    return -0.5 * phase * (phase - 1.0) * (phase - 3.0)


def levels(d: Any, state: State, loads: Any) -> tuple[Vector, Vector, Vector, Vector]:
    """Least and greatest effort of friction on each rate that may stick: at rest, and as it begins to slide."""
    sums: list[dict[int, Any]] = [dict.fromkeys(d.sticking, 0.0) for _ in range(4)]
    for x, at in acting(d.model, state, passive=d.passive):
        for n, bounds in enumerate((x.element.holds(at), x.element.slides(at))):
            for k, (lo, hi) in bounds.items():
                sums[2 * n][k] = sums[2 * n][k] + lo
                sums[2 * n + 1][k] = sums[2 * n + 1][k] + hi
    if is_loaded(d.model, passive=d.passive):
        for n, bound in enumerate(d.levels_from_load(state, loads)):
            for k in d.sticking:
                sums[2 * n][k] = sums[2 * n][k] - bound[k]
                sums[2 * n + 1][k] = sums[2 * n + 1][k] + bound[k]
    rest_lo, rest_hi, slide_lo, slide_hi = (array(list(x.values())) for x in sums)
    return rest_lo, rest_hi, slide_lo, slide_hi


def guard_values(d: Any, time: Scalar, y: Vector, u: Vector) -> tuple[list[Scalar], list[Scalar]]:
    """Of each rate that may stick: what is positive while its phase lasts; and what is negative while it slides ever
    slower, else zero."""
    here = d.in_phase(y)
    state = here.state(time, y, u)
    loads = here.loads(time, state.q, state.qd, u)
    qdd, efforts = here.held_motion(state, loads)
    lo, hi, *_ = levels(here, state, loads)
    lasting: list[Scalar] = []
    slowing: list[Scalar] = []
    parts = zip(d.sticking, y[d.layout.share], y[d.layout.phase], lo, hi, strict=True)
    for k, share, phase, low, high in parts:
        way = share * state.qd[k]
        slides = where(less(way, 0.0), way, maximum(way, TINY))
        holds = minimum(high - efforts[k], efforts[k] - low) + BEYOND * (high - low)
        rests = where(less(phase, CARRIED), holds, LEAVES - np.abs(state.qd[k]))
        lasting.append(where(less(phase, SLIDING), slides, rests))
        slowing.append(where(less(phase, SLIDING), minimum(share * qdd[k], 0.0), 0.0))
    return lasting, slowing


def ended_step(d: Any, time: Scalar, y: Vector, u: Vector) -> tuple[Vector, Scalar]:
    """The state after a step that no event has cut: rates that were to turn round stand still, and the one that is
    farthest beyond its level lets go; and a number above one while there may be more."""
    d = replace(d, model=replace(d.model, slip=None))
    layout = d.layout
    qd, share, phase = list(y[layout.qd]), list(y[layout.share]), list(y[layout.phase])
    for j, k in enumerate(d.sticking):
        turned = where(less(phase[j], SLIDING), less_than_zero(share[j] * qd[k]), 0.0)
        qd[k] = where(less(0.5, turned), 0.0, qd[k])
        phase[j] = where(less(0.5, turned), 1.0, phase[j])
        share[j] = where(less(0.5, turned), 0.0, share[j])
    stopped = d.with_phases(y, qd, share, phase)
    efforts = d.holding(time, stopped, u)
    here = d.in_phase(stopped)
    at = here.state(time, stopped, u)
    lo, hi, *_ = levels(here, at, here.loads(time, at.q, at.qd, u))
    excess = [
        is_held(phase[j]) * (maximum(efforts[k] - hi[j], lo[j] - efforts[k]) / (hi[j] - lo[j]) - BEYOND)
        for j, k in enumerate(d.sticking)
    ]
    most: Any = 0.0
    for x in excess:
        most = maximum(most, x)
    for j, k in enumerate(d.sticking):
        leaves = where(less(0.0, excess[j]), where(less(excess[j], most), 0.0, 1.0), 0.0)
        direction = where(less(efforts[k], 0.0), 1.0, -1.0)
        phase[j] = where(less(0.5, leaves), 0.0, phase[j])
        share[j] = where(less(0.5, leaves), direction, share[j])
    settled = d.with_phases(y, qd, share, phase)
    if d.memory:  # what a method carries along is of no use in another phase
        changes = [np.abs(a - b) for a, b in zip(phase, y[layout.phase], strict=True)]
        fresh = where(less(0.5, sum(changes, 0.0)), 0.0, settled[-1])
        settled = array([*settled[:-1], fresh])
    return settled, where(less(0.0, most), 2.0, 0.0)


def is_told(d: Any) -> bool:
    """Can `switched` tell what follows an end of a phase? Under constraints and with friction from load it is a matter
    of all efforts together, see `constraints/stick.py`."""
    free = d.enforcement is None and not is_loaded(d.model, passive=d.passive)
    return bool(d.sticking) and not d.at_ends and free


def switched(
    d: Any, time: Scalar, y: Vector, u: Vector, ended: Sequence[Scalar], first: Scalar
) -> tuple[Vector, Scalar]:
    """The state where the phases of some rates have `ended`, and a number above one while there may be more.

    The first call holds every rate that is at rest; one that was held and has reached its level lets go. Later calls
    let go the one that is farthest beyond its level, until none is. The number is negative where this may not be what
    `constraints/stick.py` finds: a rate would slide against its acceleration, is as good as at its level, or lets go
    beside others at a level that is another one when it slides.
    """
    d, layout = replace(d, model=replace(d.model, slip=None)), d.layout
    qd, share, phase = list(y[layout.qd]), list(y[layout.share]), list(y[layout.phase])
    begins, leaving = less(0.5, first), list[Any]()
    for j, k in enumerate(d.sticking):
        stops = where(less(phase[j], SLIDING), where(less(0.5, ended[j]), 1.0, 0.0), 0.0)
        moves = where(less(STILL, np.abs(qd[k])), where(less(0.5, stops), 0.0, 1.0), 0.0)
        held = where(less(SLIDING, phase[j]), where(less(phase[j], CARRIED), 1.0, 0.0), 0.0)
        leaving.append(where(begins, where(less(0.5, ended[j]), held, 0.0), 0.0))
        way = where(less(qd[k], 0.0), -1.0, 1.0)
        share[j] = where(begins, where(less(0.5, moves), way, 0.0), share[j])
        phase[j] = where(begins, 1.0 - moves, phase[j])
        qd[k] = where(begins, where(less(0.5, moves), qd[k], 0.0), qd[k])
    stopped = d.with_phases(y, qd, share, phase)
    here = d.in_phase(stopped)
    at = here.state(time, stopped, u)
    loads = here.loads(time, at.q, at.qd, u)
    qdd, efforts = here.held_motion(at, loads)
    lo, hi, slide_lo, slide_hi = levels(here, at, loads)
    rates = list(enumerate(d.sticking))
    excess = [
        where(
            less(SLIDING, phase[j]),
            maximum(efforts[k] - hi[j], lo[j] - efforts[k]) / (hi[j] - lo[j] + TINY),
            -1.0,
        )
        for j, k in rates
    ]
    known, most = _largest(leaving), _largest(excess)
    resting = sum((where(less(0.0, np.abs(qd[k])), 0.0, 1.0) for _, k in rates), 0.0)
    doubts, changes = list[Any](), list[Any]()
    pushed = _largest([np.abs(x) for x in qdd])
    for j, k in rates:
        beyond = where(less(0.0, excess[j]), where(less(excess[j], most), 0.0, 1.0), 0.0)
        goes = where(less(0.5, known), leaving[j], beyond)
        near = where(less(np.abs(excess[j]), DOUBTFUL), 1.0, 0.0)
        other = where(less(0.0, np.abs(slide_lo[j] - lo[j]) + np.abs(slide_hi[j] - hi[j])), 1.0, 0.0)
        beside = where(less(1.5, resting), goes * other, 0.0)
        from_rest = where(less(0.0, np.abs(qd[k])), 0.0, where(less(phase[j], SLIDING), 1.0, 0.0))
        against = from_rest * where(less(share[j] * qdd[k], -BALANCED * pushed), 1.0, 0.0)
        doubts.append(maximum(against, where(less(0.5, known), 0.0, maximum(near, beside))))
        changes.append(goes)
        share[j] = where(less(0.5, goes), where(less(efforts[k], 0.0), 1.0, -1.0), share[j])
        phase[j] = where(less(0.5, goes), 0.0, phase[j])
    more = where(less(0.5, _largest(changes)), 2.0, 0.0)
    return d.with_phases(y, qd, share, phase), where(less(0.5, _largest(doubts)), -1.0, more)


def _largest(values: Sequence[Scalar]) -> Scalar:
    result, *others = values
    for x in others:
        result = maximum(result, x)
    return result


def less_than_zero(x: Scalar) -> Scalar:
    """One where it is, else zero."""
    return where(less(x, 0.0), 1.0, 0.0)
