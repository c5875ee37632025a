"""Wrenches applied to links and frames, as the formulations take them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kinpair.algebra.arrays import Vector
from kinpair.formulations.kinematics import no_wrenches, poses
from kinpair.model.model import Model
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
