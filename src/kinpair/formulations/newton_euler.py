"""Recursive Newton–Euler in axes of the bodies, in vectors of three (Luh, Walker & Paul 1980).

Motion outward, j the parent of i, R = axes of i in j, a = O_j → O_i, e and u = angular and linear half
of p q̇, all of body i in axes of i:

    A_j = [α_j] + [ω_j]²                    a point x of body j accelerates by  a_j + A_j x       (NE1)
    ω_i = Rᵀω_j + e                                                                               (NE2)
    α_i = Rᵀα_j + p_ω q̈ + p̊_ω q̇ + Rᵀω_j × e                                                       (NE3)
    a_i = Rᵀ(a_j + A_j a) + p_v q̈ + p̊_v q̇ + (2 Rᵀω_j + e) × u                                     (NE4)

Wrench inward, s = m d the first moment and J the inertia about O_i, k the children of i:

    f_i = m a_i + A_i s − f_ext + Σ_k R_ik f_k                                                    (NE5)
    n_i = J α_i + ω_i × J ω_i + s × a_i − n_ext + Σ_k (R_ik n_k + a_ik × R_ik f_k)                (NE6)
    τ_i = pᵀ [n_i; f_i] + rotor q̈                                                                 (NE7)

Gravity is an acceleration of the ground, a_0 = −g.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector
from kinpair.formulations.kinematics import Placement, placements
from kinpair.model.model import Body, Model
from kinpair.model.recursion import ByBody, coordinates, each, inward, joined, outward, rates
from kinpair.spatial.pose import rotate
from kinpair.spatial.rotation import cross, skew

ZERO = np.zeros(3)


class Motion(NamedTuple):
    """Motion of one body, at O_i, in its axes."""

    omega: Vector
    alpha: Vector
    a: Vector
    A: Matrix  # [α] + [ω]²


def _accelerate(body: Body, parent: Motion, place: Placement, q: Vector, qd: Vector, qdd: Vector) -> Motion:
    R, a = place
    p = body.pair.p(q)
    rate, change = p @ qd, p @ qdd + body.pair.pd(q, qd) @ qd
    e, u = rate[:3], rate[3:]
    carried = R.T @ parent.omega
    omega = carried + e  # (NE2)
    alpha = R.T @ parent.alpha + change[:3] + cross(carried, e)  # (NE3)
    a_i = R.T @ (parent.a + parent.A @ a) + change[3:] + cross(2.0 * carried + e, u)  # (NE4)
    return Motion(omega, alpha, a_i, _acceleration_matrix(omega, alpha))


def _acceleration_matrix(omega: Vector, alpha: Vector) -> Matrix:
    W = skew(omega)
    return skew(alpha) + W @ W  # (NE1)


def _load(
    body: Body, outer: tuple[Vector, Vector], motion: Motion, place: Placement, w_ext: Vector
) -> tuple[Vector, tuple[Vector, Vector]]:
    omega, alpha, a, A = motion
    f = body.m * a + A @ body.s - w_ext[3:] + outer[1]  # (NE5)
    n = body.J @ alpha + cross(omega, body.J @ omega) + cross(body.s, a) - w_ext[:3] + outer[0]  # (NE6)
    f_parent = place.R @ f
    n_parent = place.R @ n + cross(place.a, f_parent)
    return np.concatenate([n, f]), (n_parent, f_parent)


def _effort(body: Body, w: Vector, q: Vector, qdd: Vector) -> Vector:
    return body.pair.p(q).T @ w + body.rotor * qdd  # (NE7)


def motions(model: Model, q: Vector, qd: Vector, qdd: Vector) -> tuple[ByBody, ByBody]:
    """Motion of each body, gravity as an acceleration of the ground; and the placements used."""
    qs, qds, qdds = coordinates(model, q), rates(model, qd), rates(model, qdd)
    places = placements(model, q)
    still = Motion(ZERO, ZERO, -model.gravity, np.zeros((3, 3)))
    return outward(model, _accelerate, still, places, qs, qds, qdds), places


def wrenches(
    model: Model,
    q: Vector,
    qd: Vector,
    qdd: Vector,
    w_ext: Sequence[Any],
) -> ByBody:
    """Wrench that each pair hands to its body, at O_i, in axes of the body; by body."""
    moving, places = motions(model, q, qd, qdd)
    return inward(model, _load, (ZERO, ZERO), moving, places, w_ext)


def inverse_dynamics(
    model: Model,
    q: Vector,
    qd: Vector,
    qdd: Vector,
    w_ext: Sequence[Any],
) -> Vector:
    """τ that produces the motion: one sweep outward, one inward; the work grows as n."""
    model = model.lean
    w = wrenches(model, q, qd, qdd, w_ext)
    return joined(model, each(model, _effort, w, coordinates(model, q), rates(model, qdd)))


def reactions(model: Model, q: Vector, qd: Vector, qdd: Vector, w_ext: Sequence[Any]) -> ByBody:
    """Wrench on each body from its pair, at O_i, in axes of the joint frame as described; by body."""
    w = wrenches(model, q, qd, qdd, w_ext)
    return each(model, _in_joint, w, coordinates(model, q), model.R_joint)


def _in_joint(body: Body, w: Vector, q: Vector, R_joint: Matrix) -> Vector:
    return rotate(R_joint.T, rotate(body.pair.rotation(q), w))
