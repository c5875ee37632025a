"""Screws and constraint wrenches (Pan, lecture 4): the quantities of a tree.

All bodies have their velocity, inertia and wrenches at one fixed point, so nothing is carried from body to body: sums
over the tree are plain sums. The point is where the first body has its origin at the moment. `screw_block` has the
block system of all bodies with its multipliers, and the elimination from the tips that forward dynamics uses here.
i is the parent of j, k the children of j.

    A_j = A_i + S_j q̈ + ζ_j                                                                      (SD1)
    W_j = 𝓘_j A_j + f_pj + Σ_k W_k              wrench of the joint on body j: C η + D τ          (SD2)
    τ_j = S_jᵀ W_j + rotor q̈                    since S_jᵀ C_j = 0 and S_jᵀ D_j = 1              (SD3)
    𝓘c_j = 𝓘_j + Σ_k 𝓘c_k,   H_ji = S_iᵀ 𝓘c_j S_j          i: j and its ancestors                (SD4)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector
from kinpair.formulations.screw_algebra import force_moved, swapped
from kinpair.formulations.screw_block import eliminated
from kinpair.formulations.screw_bodies import (
    NO_SCREW,
    Loaded,
    Moving,
    inertias,
    loads,
    local_poses,
    motions,
    screws,
)
from kinpair.formulations.solution import Solution
from kinpair.model.model import Body, Model
from kinpair.model.recursion import (
    ByBody,
    ancestors,
    coordinates,
    each,
    inward,
    joined,
    joint_space,
    outward,
    rates,
)
from kinpair.spatial.pose import Pose, rotate


def _accelerate(body: Body, A_i: Vector, moving: Moving, qdd: Vector) -> Vector:
    return A_i + moving.S @ qdd + moving.zeta  # (SD1)


def _gather(body: Body, outer: tuple[Vector], A: Vector, loaded: Loaded) -> tuple[Vector, tuple[Vector]]:
    W = loaded.I @ A + loaded.f_p + outer[0]  # (SD2)
    return W, (W,)


def wrenches(
    model: Model, q: Vector, qd: Vector, qdd: Vector, w_ext: Sequence[Any]
) -> tuple[ByBody, ByBody, ByBody]:
    """W by body: (f; n) of its joint on it, in world axes; the motions and poses used."""
    where = local_poses(model, q)
    moving = motions(model, q, qd, where)
    A = outward(model, _accelerate, NO_SCREW, moving, rates(model, qdd))
    W = inward(model, _gather, (NO_SCREW,), A, loads(model, moving, where, w_ext))
    return W, moving, where


def _effort(body: Body, W: Vector, moving: Moving, qdd: Vector) -> Vector:
    return moving.S.T @ W + body.rotor * qdd  # (SD3)


def inverse_dynamics(model: Model, q: Vector, qd: Vector, qdd: Vector, w_ext: Sequence[Any]) -> Vector:
    """τ that produces the motion: the multipliers of the drives; the work grows as n."""
    W, moving, _ = wrenches(model, q, qd, qdd, w_ext)
    return joined(model, each(model, _effort, W, moving, rates(model, qdd)))


def _in_seat(body: Body, W: Vector, pose: Pose, q: Vector) -> Vector:
    in_body = force_moved(pose.R.T, -(pose.R.T @ pose.a), W)
    return rotate(body.pair.rotation(q), swapped(in_body))


def reactions(model: Model, q: Vector, qd: Vector, qdd: Vector, w_ext: Sequence[Any]) -> ByBody:
    """Wrench on each body from its pair, at O_i, in axes of the joint frame as described; by body."""
    W, _, where = wrenches(model, q, qd, qdd, w_ext)
    seen = each(model, _in_seat, W, where, coordinates(model, q))
    return [None, *(rotate(model.R_joint[i].T, seen[i]) for i in model.moving)]


def forward_dynamics(model: Model, q: Vector, qd: Vector, tau: Vector, w_ext: Sequence[Any]) -> Solution:
    """q̈ that the efforts produce, by elimination of the block system; the work grows as n."""
    return eliminated(model, q, qd, tau, w_ext, local_poses(model, q)).solution


def _compose(body: Body, outer: tuple[Matrix], I: Matrix) -> tuple[Matrix, tuple[Matrix]]:
    Ic = I + outer[0]  # (SD4)
    return Ic, (Ic,)


def _begin(body: Body, S: Matrix, Ic: Matrix) -> Matrix:
    return Ic @ S


def _visit(body: Body, W: Matrix, S: Matrix, Ic: Matrix) -> tuple[tuple[Matrix, Matrix], Matrix]:
    H_ji = W.T @ S  # (SD4)
    return (H_ji, H_ji.T), W


def mass_matrix(model: Model, q: Vector) -> Matrix:
    """H, block by block; a wrench at the fixed origin is the same for every ancestor."""
    where = local_poses(model, q)
    S = screws(model, q, where)
    Ic = inward(model, _compose, (np.zeros((6, 6)),), inertias(model, where))
    H = joint_space(model, ancestors(model, _begin, _visit, S, Ic))
    return H + np.diag(joined(model, each(model, lambda body: body.rotor)))
