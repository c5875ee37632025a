"""Wrenches in the joints, and that of the ground on all that moves."""

from __future__ import annotations

import numpy as np

from kinpair.algebra.arrays import Vector
from kinpair.forces.elements import loads_on
from kinpair.formulations import kinematics, newton_euler
from kinpair.model.model import Model
from kinpair.model.recursion import ByBody, coordinates
from kinpair.model.state import State
from kinpair.quantities.request import External, Request
from kinpair.spatial.twist import rotate

AXES = ("joint", "child", "world")  # in which reactions are given


def reactions(
    model: Model, request: Request, q: Vector, qd: Vector, qdd: Vector, loads: External
) -> dict[str, Vector]:
    """Wrench on the child in every joint, by name of the joint in the order of the description."""
    acting = loads_on(model, State(q, qd, time=model.time), loads, passive=request.passive)
    w = _in_axes(model, request.axes, q, request.formulation(model, q, qd, qdd, acting.wrenches))
    number = {model.joint_names[i]: i for i in model.moving}
    return {joint.name: w[number[joint.name]] for joint in model.description.joints if joint.name in number}


def _in_axes(model: Model, axes: str, q: Vector, w: ByBody) -> ByBody:
    """Wrenches by body in axes of the joint frame on the parent: in those of the joint frame on the child, or of the
    world."""
    if axes not in AXES[1:]:
        return w
    poses, qs = kinematics.poses(model, q), coordinates(model, q)
    found: ByBody = [None]
    for i in model.moving:
        body, described = model.body[i], model.R_joint[i]
        if axes == "world":
            turn = poses[model.parent[i]].R @ body.R_seat @ described
        else:
            turn = described.T @ body.pair.rotation(qs[i]).T @ described
        found.append(rotate(turn, w[i]))
    return found


def resultant(model: Model, request: Request, q: Vector, qd: Vector, qdd: Vector, loads: External) -> Vector:
    """[moment about the world's origin; force] that the ground hands to all that moves, in world axes.    (GZ1)"""
    acting = loads_on(model, State(q, qd, time=model.time), loads, passive=request.passive)
    n, f = newton_euler.wrenches(model, q, qd, qdd, acting.wrenches)[0]
    return np.concatenate([n, f])  # (GZ1)
