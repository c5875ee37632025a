"""Motion, inertia and forces of the bodies of a tree as screws at the fixed origin, in world axes (Pan, lecture 4).

i is the inner body of a joint (the parent), j the outer one. See `screw_algebra` for T, V×, 𝓘.

    S_j = T_j p                                 motion of the pair, V_j − V_i = S_j q̇            (SB1)
    V_j = V_i + S_j q̇                                                                            (SB2)
    ζ_j = V_i × (V_j − V_i) + T_j p̊ q̇           so that  A_j = A_i + S_j q̈ + ζ_j                  (SB3)
    f_p = −W_ext − 𝓘 ĝ + V ×* 𝓘 V,   ĝ = (g; 0)                                                  (SB4)
    J = [S_1 … S_n],   J̇ column k = V_k × S_k + T_k p̊_k                                          (SB5)

p̊ is the rate of p as seen from the outer body: zero but for pairs whose axes move in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector, assemble
from kinpair.formulations.kinematics import Placement, placements, poses
from kinpair.formulations.screw_algebra import (
    force_cross,
    force_moved,
    inertia,
    motion_cross,
    motion_moved,
    swapped,
)
from kinpair.model.model import Body, Model
from kinpair.model.recursion import ByBody, coordinates, each, outward, rates
from kinpair.spatial.pose import HOME, Pose
from kinpair.spatial.rotation import turned

NO_SCREW = np.zeros(6)


class Moving(NamedTuple):
    """Motion of one body: velocity, motion of its pair, and the acceleration it has over its parent while q̈ is zero."""

    V: Vector
    S: Matrix  # (6, nv)
    zeta: Vector


class Loaded(NamedTuple):
    """Load of one body: its inertia at the origin and the force it asks for while A is zero, 𝓘 A + f_p."""

    I: Matrix
    f_p: Vector


def local_poses(model: Model, q: Vector) -> ByBody:
    """Poses seen from the point of the world where the first body of each tree has its origin at the moment.

    Any fixed point may be the origin; from this one the numbers stay small wherever the mechanism is.
    """
    places = placements(model, q)
    near = [places[i].a if model.parent[i] else np.zeros(3) for i in model.moving]
    return outward(model, _seen_from_root, HOME, places, [None, *near])


def _seen_from_root(body: Body, parent: Pose, place: Placement, a: Vector) -> Pose:
    return parent @ Pose(place.R, a)


def _screws(body: Body, pose: Pose, q: Vector) -> Matrix:
    return motion_moved(pose.R, pose.a, swapped(body.pair.p(q)))  # (SB1)


def screws(model: Model, q: Vector, where: ByBody) -> ByBody:
    """S by body, bodies at the poses given."""
    return each(model, _screws, where, coordinates(model, q))


def _move(body: Body, parent: Moving, S: Matrix, pose: Pose, q: Vector, qd: Vector) -> Moving:
    over = S @ qd
    drift = motion_moved(pose.R, pose.a, swapped(body.pair.pd(q, qd)) @ qd)
    return Moving(parent.V + over, S, motion_cross(parent.V) @ over + drift)  # (SB2), (SB3)


def motions(model: Model, q: Vector, qd: Vector, where: ByBody) -> ByBody:
    """V, S and ζ by body, bodies at the poses given."""
    S = screws(model, q, where)
    still = Moving(NO_SCREW, np.zeros((6, 0)), NO_SCREW)
    return outward(model, _move, still, S, where, coordinates(model, q), rates(model, qd))


def _inertia(body: Body, pose: Pose) -> Matrix:
    return inertia(body.m, pose.R @ body.d + pose.a, turned(pose.R, body.I))


def inertias(model: Model, where: ByBody) -> ByBody:
    """𝓘 by body, at the origin in world axes."""
    return each(model, _inertia, where)


def _load(g: Vector, body: Body, moving: Moving, pose: Pose, w_ext: Vector) -> Loaded:
    I = _inertia(body, pose)
    W_ext = force_moved(pose.R, pose.a, swapped(w_ext))
    return Loaded(I, force_cross(moving.V) @ (I @ moving.V) - I @ g - W_ext)  # (SB4)


def loads(model: Model, moving: ByBody, where: ByBody, w_ext: Sequence[Any]) -> ByBody:
    """𝓘 and f_p by body; w_ext at O_i in axes of the body, angular half first."""
    g = np.concatenate([model.gravity, np.zeros(3)])
    return each(model, partial(_load, g), moving, where, w_ext)


def jacobian(model: Model, q: Vector, body: int) -> Matrix:
    """J (6, nv): V of that body is J q̇.    (SB5)"""
    S = screws(model, q, poses(model, q))
    path = model.path_to_ground(body)
    return assemble((6, model.nv), [(slice(0, 6), model.v_span[k], S[k]) for k in path])  # (SB5)


def jacobian_rate(model: Model, q: Vector, qd: Vector, body: int) -> Matrix:
    """J̇ (6, nv): A of that body is J q̈ + J̇ q̇.    (SB5)"""
    where = poses(model, q)
    moving = motions(model, q, qd, where)
    qs, qds = coordinates(model, q), rates(model, qd)
    blocks: list[tuple[slice, slice, Matrix]] = []
    for k in model.path_to_ground(body):
        pd = swapped(model.body[k].pair.pd(qs[k], qds[k]))
        Sd = motion_cross(moving[k].V) @ moving[k].S + motion_moved(where[k].R, where[k].a, pd)  # (SB5)
        blocks.append((slice(0, 6), model.v_span[k], Sd))
    return assemble((6, model.nv), blocks)
