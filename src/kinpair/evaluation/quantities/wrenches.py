"""Wrenches in the joints, and that of the ground on all that moves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector
from kinpair.evaluation.quantities.request import External, Request
from kinpair.forces.elements import loads_on
from kinpair.formulations import kinematics, newton_euler
from kinpair.model.model import Body, Model
from kinpair.model.recursion import ByBody, coordinates, each, rows_of
from kinpair.model.state import State
from kinpair.spatial.pose import Pose, rotate

AXES = ("joint", "child", "world")  # in which reactions are given


def reactions(
    model: Model, request: Request, q: Vector, qd: Vector, qdd: Vector, loads: External
) -> dict[str, Vector]:
    """Wrench on the child in every joint, by name of the joint in the order of the description."""
    w = _by_body(model, request, q, qd, qdd, loads)
    number = {model.joint_names[i]: i for i in model.moving}
    return {joint.name: w[number[joint.name]] for joint in model.description.joints if joint.name in number}


def wrenches(model: Model, request: Request, q: Vector, qd: Vector, qdd: Vector, loads: External) -> Matrix:
    """Wrenches on the children (joints, 6) of a tree, in the order of the description."""
    number = {name: k for k, name in enumerate(joint_order(model))}
    w = _by_body(model, replace(request, quantity="reactions"), q, qd, qdd, loads)
    return rows_of(model, w, [-1, *(number[name] for name in model.joint_names[1:])], 6)


def joint_order(model: Model) -> list[str]:
    """Names of the joints that move a body, in the order of the description."""
    bodies = set(model.joint_names[1:])
    return [joint.name for joint in model.description.joints if joint.name in bodies]


def _by_body(model: Model, request: Request, q: Vector, qd: Vector, qdd: Vector, loads: External) -> ByBody:
    acting = loads_on(model, State(q, qd, time=model.time), loads, passive=request.passive)
    w = request.formulation(model, q, qd, qdd, acting.wrenches)
    if request.axes not in AXES[1:]:
        return w
    if request.axes == "child":
        return each(model, _in_child, w, coordinates(model, q), model.R_joint)
    poses = kinematics.poses(model, q)
    return each(model, _in_world, w, coordinates(model, q), model.R_joint, poses)


def _in_child(body: Body, w: Vector, q: Vector, R_joint: Matrix) -> Vector:
    """Turn a wrench from axes of the joint frame on the parent to those of the joint frame on the child."""
    return rotate(R_joint.T @ body.pair.rotation(q).T @ R_joint, w)


def _in_world(body: Body, w: Vector, q: Vector, R_joint: Matrix, where: Pose) -> Vector:
    """Turn a wrench from axes of the joint frame on the parent to those of the world."""
    return rotate(where.R @ body.pair.rotation(q).T @ R_joint, w)


def resultant(model: Model, request: Request, q: Vector, qd: Vector, qdd: Vector, loads: External) -> Vector:
    """[moment about the world's origin; force] that the ground hands to all that moves, in world axes.    (GZ1)"""
    acting = loads_on(model, State(q, qd, time=model.time), loads, passive=request.passive)
    n, f = newton_euler.wrenches(model, q, qd, qdd, acting.wrenches)[0]
    return np.concatenate([n, f])  # (GZ1)
