"""What multipliers are to the bodies: the wrench in each constraint between two frames, and on the links it joins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector
from kinpair.constraints.constraint import Constraint, Motion
from kinpair.constraints.joined import Joined
from kinpair.constraints.loop import LoopClosure
from kinpair.model.model import Model
from kinpair.spatial.twist import rotate, shift_wrench

ON_LINK, IN_LOOP = "on ", "in "  # what the names of wrenches begin with


def by_constraint(constraints: Sequence[Constraint], lam: Vector) -> Iterator[tuple[str, Constraint, Vector]]:
    """Each constraint with its multipliers."""
    start = 0
    for x in constraints:
        yield x.name, x, lam[start : start + len(x.labels)]
        start += len(x.labels)


def carried(
    model: Model,
    constraints: Sequence[Constraint],
    q: Vector,
    time: Scalar,
    lam: Vector,
    external: Mapping[str, Vector],
) -> dict[str, Vector]:
    """`on LINK`: the wrench on the link, external ones with it, world axes, at its origin; `in LOOP`: on the child, at
    its mark, in axes of the seat."""
    at = Motion(model, q, time, np.zeros(model.nv))
    found = {ON_LINK + name: w for name, w in external.items()}
    for name, x, own in by_constraint(constraints, lam):
        if isinstance(x, Joined):
            seat, mark = (at.pose(place) for place in x.places(model))
            rows = x.wrenches(seat, mark, time)
            for end, origin, W in ((x.S, seat.a, rows.S), (x.M, mark.a, rows.M)):
                w = shift_wrench(W.T @ own, origin - at.pose(model.place(end.name)).a)
                key = ON_LINK + end.name
                found[key] = found[key] + w if key in found else w
            axes = seat.R @ x.turn.T if isinstance(x, LoopClosure) else seat.R
            found[IN_LOOP + name] = rotate(axes.T, rows.M.T @ own)
    return found
