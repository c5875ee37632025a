"""Phases of dry friction in a run: each rate that has it slides one way, is held at rest, or is carried along.

Of each such rate the state has a `share` and a `phase`, which stay as they are between events. While it slides, the
share is the sign of sliding, fixed whatever the rate does within a step, so that forces are smooth. While it is held,
its acceleration is zero, and what that takes is watched against the static level. While it is carried, others hold it
through constraints, and the share says what part of its level acts. See `constraints/stick.py`.
"""

from __future__ import annotations

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


def less_than_zero(x: Scalar) -> Scalar:
    """One where it is, else zero."""
    return where(less(x, 0.0), 1.0, 0.0)
