"""Limits that land and open in compiled code, in the midst of a step.

A run goes on without a stop where it is clear which limits are closed afterwards. Where it is not, the state stays and
the driver solves the problem of all limits and surfaces together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra import tree_ldl
from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.algebra.choice import less, maximum, minimum, where
from kinpair.constraints.rounding import ASKED
from kinpair.constraints.solvers.problem import masked
from kinpair.formulations import composite, kinematics
from kinpair.model.recursion import rate_tree
from kinpair.simulation.phases import largest_of
from kinpair.simulation.rounding import BALANCED, PULL, STOPPED


class Passing(NamedTuple):
    """Events of a limit at a root: one where it is `closed` before, where it is `hit`, and where it `opens`;
    the rate of its gap behind, and one where it is at rest there."""

    closed: Scalar
    hit: Scalar
    opens: Scalar
    rebound: Scalar
    rests: Scalar


def ends_passed(
    d: Any, time: Scalar, y: Vector, u: Vector, landed: Sequence[Scalar], left: Sequence[Scalar], least: float
) -> tuple[Vector, Scalar]:
    """Return the state (ny,) behind the impact of limits that have `landed`, with those open that have `left`, and −1
    where this may not be the solution of all limits together, else 0. Rebounds slower than `least` [m/s] are none.

    The rates at closed and landed limits are known behind the impact, the others follow from H q̇⁺ = H q̇⁻ + NᵀΛ. That is
    the impact of `driver/impacts.py` where Λ > 0, and the closed limits remain those where all of them push.
    """
    d = replace(d, model=replace(d.model, slip=None))
    layout, (q, qd) = d.layout, d.motion(y)
    phases = zip(d.stops, y[layout.closed], landed, left, strict=True)
    passings = [_passing(stop, qd, closed, hit, opens, least) for stop, closed, hit, opens in phases]
    pairs = list(zip(d.stops, passings, strict=True))
    hits = sum((x.hit for x in passings), 0.0)
    held, jump, back, behind = (np.zeros(len(qd), dtype=object) for _ in range(4))
    for stop, x in pairs:
        part = maximum(x.hit, x.closed * (1.0 - x.opens))
        held[stop.v] = held[stop.v] + part
        jump[stop.v] = jump[stop.v] + part * (stop.side * x.rebound - qd[stop.v])
        back[stop.v] = back[stop.v] - part * stop.side * stop.gap(q)
        behind[stop.v] = behind[stop.v] + part * stop.side * x.rebound
    H = composite.mass_matrix(d.model, q)
    factors = tree_ldl.factor(masked(H, held), *rate_tree(d.model))

    def shared(known: Vector) -> Vector:
        """Changes of all rates (nv,) by impulses on the locked rates, whose changes are known."""
        others = H @ known
        rows = enumerate(zip(held, known, others, strict=True))
        right = [H[k, k] * x * h - (1.0 - h) * other for k, (h, x, other) in rows]
        return tree_ldl.solve(factors, array(right))

    change = shared(jump)
    impulse = H @ change
    after = array(
        [where(less(0.5, h), b, v + x) for h, b, v, x in zip(held, behind, qd, change, strict=True)]
    )
    nudged = kinematics.nudged(d.model, q, shared(back))
    place = array([where(less(0.5, hits), new, old) for new, old in zip(nudged, q, strict=True)])
    lost = where(less(0.5, hits), maximum(0.5 * (qd @ (H @ qd) - after @ (H @ after)), 0.0), 0.0)
    rest = list(y[layout.qd.stop :])
    rest[layout.loss.start - layout.qd.stop] += lost
    first = layout.closed.start - layout.qd.stop
    rest[first : first + len(pairs)] = [x.rests for x in passings]
    later = array([*place, *after, *rest])
    here = d.in_phase(later)
    at = here.state(time, later, u)
    qdd, efforts = here.held_motion(at, here.loads(time, at.q, at.qd, u))
    pushes = [x.rests * stop.side * efforts[stop.v] for stop, x in pairs]
    strong = ASKED * largest_of([np.abs(x) for x in pushes]) + 10.0 * PULL
    faint = BALANCED * largest_of([np.abs(x) for x in impulse])
    doubts = [where(less(sum((x.rests for x in passings), 0.0), 0.5), 1.0, 0.0)]
    for (stop, x), push in zip(pairs, pushes, strict=True):
        gap, slowest = stop.gap(q), minimum(stop.rate(qd), stop.rate(after))
        meets = where(less(gap, stop.near), where(less(slowest, STOPPED), 1.0, 0.0), 0.0)
        pulled = where(less(stop.side * impulse[stop.v], -faint), maximum(x.hit, x.rests), 0.0)
        doubts += [
            where(less(0.5, x.rests), where(less(strong, push), 0.0, 1.0), 0.0),
            x.opens * where(less(stop.side * qdd[stop.v], 0.0), 1.0, 0.0),
            meets * (1.0 - maximum(maximum(x.hit, x.closed), x.opens)),
            hits * pulled,
            x.hit * where(less(stop.rate(qd), -STOPPED), 0.0, 1.0),
            x.hit * (1.0 - x.rests) * where(less(1.5, sum(held, 0.0)), 1.0, 0.0),
        ]
    happens = where(less(0.5, hits + sum((x.opens for x in passings), 0.0)), 1.0, 0.0)
    same = array([where(less(0.5, happens), new, old) for new, old in zip(later, y, strict=True)])
    return same, -happens * where(less(0.5, largest_of(doubts)), 1.0, 0.0)


def _passing(stop: Any, qd: Vector, closed: Scalar, hit: Scalar, opens: Scalar, least: float) -> Passing:
    """Return what happens to a limit that is hit, or opens, at rates qd (nv,)."""
    back = -stop.restitution * stop.rate(qd)
    rebound = hit * where(less(back, maximum(least, STOPPED)), 0.0, back) if stop.restitution else 0.0
    stays = where(less(0.0, rebound), 0.0, 1.0)
    return Passing(closed, hit, opens, rebound, maximum(closed * (1.0 - opens), hit) * stays)
