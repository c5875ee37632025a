"""Phases of dry friction in a run: each group of rates that has it slides, is locked at rest, or is carried along.

A group is one rate, or all rates of a sleeve or a ball, which slide together. Of each group the state has a `phase`,
and of
each of its rates a `share`; both stay as they are between events. While it slides, the share d has the direction of
sliding, fixed whatever the rates do within a step, so that forces are smooth: of one rate its sign, and of several

    f = −μ N u,   u = s/|s| where (FP2) holds and |s| > c, d elsewhere                                  (FP1)
    d·s − κ|s| > 0          the phase lasts; κ = 0 of one rate, ½ of several                              (FP2)

so that s passes through zero, and (FP2) changes its sign there; what is slower than c has no direction but the error of
a step. Behind each step d follows s; where s has turned away by 60° within a step, d ← s/|s| there, and the group
slides on. While it is locked, its accelerations are zero, and the
force that this takes is watched:

    μ_s N − |f| > 0         the phase lasts                                                               (FP3)

A limit that is closed holds its rate. With the levels −lo and hi of friction of the rate, if it has any, it pushes as
long as the effort f that holds the rate is

    f − lo > 0  at a lower limit,    hi − f > 0  at an upper one                                          (FP4)

While it is carried, others hold it through constraints, and the share says what part of its level acts. See
`friction/phases/resting.py` for what follows. Limits of a mechanism without
constraints and without dry friction land and open in compiled code, where it is clear which of them push afterwards:
see `modes/ends.py`. Derivation, no line of code: (FP1), which is in `friction/loads/system.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.algebra.choice import less, maximum, minimum, where
from kinpair.constraints.quantities.groups import bounds_of
from kinpair.friction.loads.dynamics import is_loaded
from kinpair.friction.loads.system import NARROW, steady
from kinpair.friction.rounding import CREEP
from kinpair.friction.rounding import NO_DIRECTION as SMALL
from kinpair.model.state import State
from kinpair.simulation.rounding import BALANCE, BALANCED, BEYOND, DOUBTFUL, PULL, SLOW, STILL, STOPPED, TINY

BAND = 0.5 * CREEP  # [m/s]: several rates turn round by so much; what is less is the error of a step
SLIDING, CARRIED = 0.5, 1.5  # phases below the first slide, beyond the second are carried


def sticks(name: str) -> str:
    """Name of the event that a group has come to rest."""
    return f"{name} sticks"


def slides(name: str) -> str:
    """Name of the event that a group slides, from rest or in the other direction."""
    return f"{name} slides"


def is_held(phase: Scalar) -> Scalar:
    """Return one where a group is locked, else zero; without a choice, for methods that take none."""
    return 0.5 * phase * (phase - 2.0) * (phase - 3.0)


def is_carried(phase: Scalar) -> Scalar:
    """Return one where it stands still because others are locked, else zero."""
    return -0.5 * phase * (phase - 1.0) * (phase - 3.0)


def speed(s: Vector) -> Scalar:
    """Sliding speed |s|."""
    return np.abs(s[0]) if len(s) == 1 else np.sqrt(sum((x * x for x in s[1:]), s[0] * s[0]))


def along(share: Vector, s: Vector) -> Scalar:
    """Component d·s of sliding."""
    return sum((a * x for a, x in zip(share[1:], s[1:], strict=True)), share[0] * s[0])


def onward(share: Vector, s: Vector) -> Scalar:
    """Function that is positive while a group slides on.    (FP2)"""
    return along(share, s) if len(s) == 1 else along(share, s) - NARROW * speed(s) + BAND  # (FP2)


def _onward_rate(share: Vector, s: Vector, a: Vector) -> Scalar:
    """Derivative in time of `onward`, at the accelerations of sliding a."""
    if len(s) == 1:
        return share[0] * a[0]
    return along(share, a) - NARROW * along(s, a) / maximum(speed(s), SMALL)


def slid_rate(share: Vector, s: Vector) -> Scalar:
    """u·s with the direction u of (FP1): how fast a group slides, and what goes on smoothly through a stop."""
    if len(s) == 1:
        return share[0] * s[0]
    return along(steady(s, share), s)


def amount(f: Vector) -> Scalar:
    """Amount that is compared with levels: the effort on one rate, |f| of several."""
    return f[0] if len(f) == 1 else speed(f)


def against(f: Vector) -> list[Scalar]:
    """The direction in which a group leaves rest that a force f has locked."""
    if len(f) == 1:
        return [where(less(f[0], 0.0), 1.0, -1.0)]
    size = maximum(speed(f), TINY)
    return [-x / size for x in f]


def levels(d: Any, state: State, loads: Any) -> tuple[Vector, Vector, Vector, Vector]:
    """Least and greatest effort of friction on each group: at rest, and as it begins to slide. Of several rates they
    are forces, the same in every direction."""
    first = [x.rates[0] for x in d.groups]
    loaded = is_loaded(d.model, passive=d.passive)
    from_load = d.levels_from_load(state, loads) if loaded else None
    sums = bounds_of(d.model, state, first, from_load, passive=d.passive)
    rest_lo, rest_hi, slide_lo, slide_hi = (array(list(x.values())) if first else np.zeros(0) for x in sums)
    return rest_lo, rest_hi, slide_lo, slide_hi


class PhaseValues(NamedTuple):
    """Guards of phases. Of each group: positive while its phase lasts; and negative while it slides ever slower, else
    zero. Of each limit: positive while it stays closed."""

    lasting: Sequence[Scalar] = ()
    slowing: Sequence[Scalar] = ()
    pushes: Sequence[Scalar] = ()


def guard_values(d: Any, time: Scalar, y: Vector, u: Vector) -> PhaseValues:
    """Evaluate the guards of all groups and limits at a state."""
    here = d.in_phase(y)
    state = here.state(time, y, u)
    loads = here.loads(time, state.q, state.qd, u)
    qdd, efforts = here.held_motion(state, loads)
    lo, hi, *_ = levels(here, state, loads)
    closed = dict[int, Any]()
    for stop, flag in zip(d.stops, y[d.layout.closed], strict=True):
        closed[stop.v] = closed.get(stop.v, 0.0) + flag
    rounding = BALANCE * (d.weight + sum((np.abs(x) for x in state.tau), 0.0))
    lasting: list[Scalar] = []
    slowing: list[Scalar] = []
    of_groups = d.by_group(y[d.layout.share]), d.sliding(state.qd), d.sliding(qdd), d.forces(efforts)
    parts = zip(d.groups, *of_groups, y[d.layout.phase], lo, hi, strict=True)
    for group, share, s, a, f, phase, low, high in parts:
        flags = [closed.get(k, 0.0) for k in group.rates]
        way, effort = onward(share, s), amount(array([(1.0 - c) * x for c, x in zip(flags, f, strict=True)]))
        slides = where(less(way, 0.0), way, maximum(way, TINY))
        holds = minimum(high - effort, effort - low) + BEYOND * (high - low) + rounding  # (FP3)
        if len(group.rates) == 1 and group.rates[0] in closed:
            holds = where(less(0.5, flags[0]), 1.0, holds)  # its limit has the guard of both
        holds = where(less(holds, 0.0), holds, maximum(holds, TINY))  # neither force nor level: not yet over
        rests = where(less(phase, CARRIED), holds, STOPPED - speed(s))
        lasting.append(where(less(phase, SLIDING), slides, rests))
        slowing.append(where(less(phase, SLIDING), minimum(_onward_rate(share, s, a), 0.0), 0.0))
    alone = {x.rates[0]: j for j, x in enumerate(d.groups) if len(x.rates) == 1}
    pushes = list[Scalar]()
    for stop, flag in zip(d.stops, y[d.layout.closed], strict=True):
        j, effort = alone.get(stop.v), efforts[stop.v]
        low, high = (0.0, 0.0) if j is None else (lo[j], hi[j])
        push = effort - low if stop.side > 0.0 else high - effort  # (FP4)
        pushes.append(where(less(0.5, flag), push + PULL, 1.0))
    return PhaseValues(lasting, slowing, pushes)


def ended_step(d: Any, time: Scalar, y: Vector, u: Vector) -> tuple[Vector, Scalar]:
    """The state after a step that no event has cut: groups that were to turn round stand still, and the one that is
    farthest beyond its level lets go; and a number above one while there may be more."""
    d = replace(d, model=replace(d.model, slip=None))
    layout = d.layout
    qd, share, phase = list(y[layout.qd]), d.by_group(y[layout.share]), list(y[layout.phase])
    for j, (group, s) in enumerate(zip(d.groups, d.sliding(qd), strict=True)):
        slid = less(phase[j], SLIDING)
        turned = less(0.5, where(slid, less_than_zero(along(share[j], s)), 0.0))
        for k in group.rates:
            qd[k] = where(turned, 0.0, qd[k])
        phase[j] = where(turned, 1.0, phase[j])
        share[j] = array([where(turned, 0.0, x) for x in _renewed(share[j], s, slid)])
    stopped = d.with_phases(y, qd, share, phase)
    forces = d.forces(d.holding(time, stopped, u))
    here = d.in_phase(stopped)
    at = here.state(time, stopped, u)
    lo, hi, *_ = levels(here, at, here.loads(time, at.q, at.qd, u))
    efforts = [amount(f) for f in forces]
    excess = [
        is_held(phase[j]) * (maximum(effort - hi[j], lo[j] - effort) / (hi[j] - lo[j]) - BEYOND)
        for j, effort in enumerate(efforts)
    ]
    most: Any = 0.0
    for x in excess:
        most = maximum(most, x)
    for j, f in enumerate(forces):
        leaves = less(0.5, where(less(0.0, excess[j]), where(less(excess[j], most), 0.0, 1.0), 0.0))
        phase[j] = where(leaves, 0.0, phase[j])
        pairs = zip(against(f), share[j], strict=True)
        share[j] = array([where(leaves, direction, x) for direction, x in pairs])
    settled = d.with_phases(y, qd, share, phase)
    if d.memory:  # what a method carries along is of no use in another phase
        changes = [np.abs(a - b) for a, b in zip(phase, y[layout.phase], strict=True)]
        fresh = where(less(0.5, sum(changes, 0.0)), 0.0, settled[-1])
        settled = array([*settled[:-1], fresh])
    return settled, where(less(0.0, most), 2.0, 0.0)


def _renewed(share: Vector, s: Vector, slides: Any) -> list[Scalar]:
    """The direction in which several rates slide now; the sign of one stays."""
    if len(s) == 1:
        return list(share)
    size = speed(s)
    moves, over = where(slides, less_than_zero(SLOW - size), 0.0), 1.0 / maximum(size, SLOW)
    return [where(less(0.5, moves), x * over, old) for x, old in zip(s, share, strict=True)]


def followed(d: Any, y: Vector) -> Vector:
    """The state with directions that have followed the groups that slide on, where (FP2) holds."""
    layout, share = d.layout, d.by_group(y[d.layout.share])
    for j, s in enumerate(d.sliding(y[layout.qd])):
        on = where(less(y[layout.phase][j], SLIDING), less_than_zero(-onward(share[j], s)), 0.0)
        share[j] = array(_renewed(share[j], s, less(0.5, on)))
    return d.with_phases(y, list(y[layout.qd]), share, list(y[layout.phase]))


def is_told(d: Any) -> bool:
    """True if compiled code can decide what follows an end of a phase: of dry friction (`switched`) or of limits
    (`modes/ends.py`), not of both. Under constraints and with friction from load it is a matter of all efforts
    together, see `friction/phases/resting.py`."""
    free = not d.enforcement.joins and not is_loaded(d.model, passive=d.passive) and not d.at_ends
    if d.stops:
        return free and not d.groups and d.touching is None and d.model.terms is None
    return bool(d.sticking) and free


def switched(
    d: Any, time: Scalar, y: Vector, u: Vector, ended: Sequence[Scalar], first: Scalar
) -> tuple[Vector, Scalar]:
    """The state where the phases of some rates have `ended`, and a number above one while there may be more.

    The first call holds every rate that is at rest; one that was locked and has reached its level lets go. Later calls
    let go the one that is farthest beyond its level, until none is. The number is negative where this may not be what
    `friction/phases/resting.py` finds: a rate would slide against its acceleration, is as good as at its level, or
    lets go next to others at a level that is another one when it slides.
    """
    d, layout = replace(d, model=replace(d.model, slip=None)), d.layout  # every group is one rate
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
    stopped = d.with_phases(y, qd, d.by_group(share), phase)
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
    known, most = largest_of(leaving), largest_of(excess)
    resting = sum((where(less(0.0, np.abs(qd[k])), 0.0, 1.0) for _, k in rates), 0.0)
    doubts, changes = list[Any](), list[Any]()
    pushed = largest_of([np.abs(x) for x in qdd])
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
    more = where(less(0.5, largest_of(changes)), 2.0, 0.0)
    return d.with_phases(y, qd, d.by_group(share), phase), where(less(0.5, largest_of(doubts)), -1.0, more)


def largest_of(values: Sequence[Scalar]) -> Scalar:
    result, *others = values
    for x in others:
        result = maximum(result, x)
    return result


def less_than_zero(x: Scalar) -> Scalar:
    """Return one where it is, else zero."""
    return where(less(x, 0.0), 1.0, 0.0)
