"""Wrenches applied to links and frames, as the formulations take them, and as efforts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinpair.algebra.arrays import Vector
from kinpair.formulations.kinematics import Placement, no_wrenches, placements, poses
from kinpair.model.model import Body, Model
from kinpair.model.recursion import coordinates, inward, joined
from kinpair.spatial.twist import rotate, shift_wrench


def applied_wrenches(model: Model, q: Vector, external: Mapping[str, Vector]) -> list[Vector]:
    """Wrench on each body at O_i in its axes, from wrenches [n; f] in world axes at the origin of the
    link or frame named."""
    w_ext = no_wrenches(model)
    if not external:
        return w_ext
    where = poses(model, q)
    for name, w in external.items():
        place = model.place(name)
        if place.body:
            in_body = rotate(where[place.body].R.T, np.asarray(w))
            w_ext[place.body] = w_ext[place.body] + shift_wrench(in_body, place.pose.a)
    return w_ext


def as_efforts(model: Model, q: Vector, wrenches: list[Vector]) -> Vector:
    """Efforts (nv,) that do the same work as wrenches by body: τ_i = p_iᵀ (w_i + what the children of i carry)."""
    place = placements(model, q)
    return joined(model, inward(model, _effort, (np.zeros(6),), place, coordinates(model, q), wrenches))


def _effort(
    body: Body, outer: tuple[Vector], place: Placement, q: Vector, w: Vector
) -> tuple[Vector, tuple[Any]]:
    whole = w + outer[0]
    return body.pair.p(q).T @ whole, (shift_wrench(rotate(place.R, whole), place.a),)
