"""Loads of multipliers on the bodies: the wrench in each constraint between two frames, and on the links it joins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array, is_nothing
from kinpair.constraints.rows.constraint import Constraint, Motion
from kinpair.constraints.rows.joined import Joined
from kinpair.constraints.rows.loop import LoopClosure
from kinpair.model.model import Model, Place
from kinpair.spatial.pose import rotate, shift_wrench

ON_LINK, IN_LOOP = "on ", "in "  # what the names of wrenches begin with


def by_constraint(constraints: Sequence[Constraint], lam: Vector) -> Iterator[tuple[str, Constraint, Vector]]:
    """Each constraint with its multipliers."""
    start = 0
    for x in constraints:
        yield x.name, x, lam[start : start + len(x.labels)]
        start += len(x.labels)


def wrench_rows(
    model: Model, constraints: Sequence[Constraint], q: Vector, time: Scalar
) -> list[dict[int, Vector] | None]:
    """Wrenches that a unit multiplier of each row puts on bodies: wrenches at their origins, in their axes; None for
    a row that is not between two frames."""
    at = Motion(model, q, time, np.zeros(model.nv))
    found: list[dict[int, Vector] | None] = []
    for x in constraints:
        if not isinstance(x, Joined):
            found += [None] * len(x.labels)
            continue
        S, M = x.places(model)
        rows = x.wrenches(at.pose(S), at.pose(M), time)
        for on_S, on_M in zip(rows.S, rows.M, strict=True):
            own: dict[int, Vector] = {}
            for place, w in ((S, on_S), (M, on_M)):
                if place.body:
                    part = _at_origin(at, place, w)
                    own[place.body] = own[place.body] + part if place.body in own else part
            found.append(own)
    return found


def with_rows(w_ext: Sequence[Any], rows: Sequence[dict[int, Vector] | None], lam: Vector) -> list[Any]:
    """Wrenches on bodies together with those of the rows, see `wrench_rows`, at multipliers λ."""
    found = list(w_ext)
    for row, force in zip(rows, lam, strict=True):
        if not is_nothing(force):
            for i, w in (row or {}).items():
                found[i] = found[i] + array([x * force for x in w])
    return found


def _at_origin(at: Motion, place: Place, w: Vector) -> Vector:
    """A wrench at a place in world axes: at the origin of the body, in its axes."""
    R = at.poses[place.body].R
    return shift_wrench(rotate(R.T, w), place.pose.a)


def carried(
    model: Model,
    constraints: Sequence[Constraint],
    q: Vector,
    time: Scalar,
    lam: Vector,
    external: Mapping[str, Vector],
    axes: str = "",
) -> dict[str, Vector]:
    """`on LINK`: the wrench on the link, external ones with it, world axes, at its origin; `in LOOP`: on the child, at
    its mark, in axes of the seat, or in those of the "child" or the "world"."""
    at = Motion(model, q, time, np.zeros(model.nv))
    loads = {ON_LINK + name: w for name, w in external.items()}
    for name, x, own in by_constraint(constraints, lam):
        if isinstance(x, Joined):
            seat, mark = (at.pose(place) for place in x.places(model))
            rows = x.wrenches(seat, mark, time)
            for end, origin, W in ((x.S, seat.a, rows.S), (x.M, mark.a, rows.M)):
                w = shift_wrench(W.T @ own, origin - at.pose(model.place(end.name)).a)
                key = ON_LINK + end.name
                loads[key] = loads[key] + w if key in loads else w
            loads[IN_LOOP + name] = in_loop(at, x, own, axes)
    return loads


def in_loop(at: Motion, x: Joined, own: Vector, axes: str = "") -> Vector:
    """The wrench of its multipliers on the child, at its mark, in axes of the seat, the "child" or the "world"."""
    seat, mark = (at.pose(place) for place in x.places(at.model))
    w = x.wrenches(seat, mark, at.time).M.T @ own
    if axes == "world":
        return w
    R = mark.R if axes == "child" else seat.R
    return rotate((R @ x.turn.T if isinstance(x, LoopClosure) else R).T, w)
