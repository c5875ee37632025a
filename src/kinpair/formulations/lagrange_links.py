"""Lagrange's equations in Euler angles and strokes of the links, for every pair (Vukobratović, chapter 2.2.3).

Every link i has absolute angles η_i as in `lagrange_euler.py`, and the displacement z_i of O_i in its seat on the
parent. k runs over i and its ancestors, c is the next link on the path from k to i:

    b_ik = R_k (a_c + R_seat z_c), or R_i d_i for k = i;   C_i = Σ_k b_ik                             (LK1)
    v_i  = Σ_k ω_k × b_ik + S_c ż_c,   S_c = R_k R_seat                                              (LK2)
    ∂v_i/∂η̇_a = e_a × b_ik,   ∂v_i/∂ż_c = S_c                                                        (LK3)
    ∂v_i/∂η_a = ∂ω_k/∂η_a × b_ik + ω_k × (e_a × b_ik) + e_a × S_c ż_c,   ∂v_i/∂z_c = ω_k × S_c         (LK4)

with e_a and ∂ω_k/∂η_a of (LE1) and (LE5). Lagrange's equations (LE6) then give a force Q_η, Q_z for each angle and
stroke.

A pair of fewer degrees is a set of constraints between the angles and strokes of neighbours. In a motion that obeys
them Q holds the forces of the constraints as well, and is the work of the whole wrench [n_i; f_i] of each joint:

    Q_η,i = Π_iᵀ (n_i − Σ_c n_c),   Q_z,i = S_iᵀ f_i               c: children of i                  (LK5)

so the wrenches follow from the tips inward, and the effort is the part along the motion that the pair allows:

    τ_i = e_iᵀ n_i + u_iᵀ f_i + rotor q̈_i                                                            (LK6)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector
from kinpair.formulations import popov_euler
from kinpair.formulations.arguments import checked
from kinpair.formulations.euler_angles import couple_of, rates_matrix
from kinpair.formulations.lagrange_euler import Oriented, of_inertia, oriented
from kinpair.formulations.popov_euler import Choices, Link
from kinpair.formulations.solution import Solution
from kinpair.model.model import Body, Model
from kinpair.model.recursion import ByBody, coordinates, each, inward, joined, rates
from kinpair.spatial.pose import rotate, shift_wrench, spatial
from kinpair.spatial.rotation import IDENTITY, cross, skew

ZERO, ZERO3 = np.zeros(3), np.zeros((3, 3))
GROUND = Oriented(IDENTITY, ZERO3, ZERO3, ZERO, ZERO3, ZERO, ZERO3)


class Arm(NamedTuple):
    """Share that link k adds to the motion of a mass centre, and link c that slides at its end, 0 for none."""

    k: int
    c: int
    b: Vector
    S: Matrix
    slide: Vector  # S_c ż_c
    change: Vector  # S_c z̈_c


class Moved(NamedTuple):
    """Velocity and acceleration of a mass centre."""

    v: Vector
    v_d: Vector


def _arms(model: Model, turned: ByBody, placed: ByBody, i: int) -> Iterator[Arm]:
    """Arms from link i to the ground.    (LK1)"""
    yield Arm(i, 0, turned[i].R @ model.body[i].d, ZERO3, ZERO, ZERO)
    for c in model.path_to_ground(i):
        body, link, k = model.body[c], placed[c], model.parent[c]
        S = turned[k].R @ body.R_seat
        b = turned[k].R @ body.a_seat + S @ link.z
        yield Arm(k, c, b, S, S @ link.zd, S @ link.zdd)


def _centre(turned: ByBody, arms: Sequence[Arm]) -> Moved:
    v, v_d = ZERO, ZERO
    for arm in arms:
        x = turned[arm.k]
        swing = cross(x.omega, arm.b)
        v = v + swing + arm.slide  # (LK2)
        v_d = v_d + cross(x.omega_d, arm.b) + cross(x.omega, swing + 2.0 * arm.slide) + arm.change
    return Moved(v, v_d)


def _along_angles(x: Oriented, arm: Arm, P: Vector, f: Vector) -> Vector:
    """Share in Q_η of link k of a mass with momentum P and its rate less all forces on it, f.    (LE6)"""
    beta = -skew(arm.b) @ x.e  # (LK3)
    bd = cross(x.omega, arm.b) + arm.slide
    beta_d = -skew(arm.b) @ x.ed - skew(bd) @ x.e
    d_v = -skew(arm.b) @ x.slope + skew(x.omega) @ beta - skew(arm.slide) @ x.e  # (LK4)
    return beta_d.T @ P + beta.T @ f - d_v.T @ P  # (LE6)


def _along_strokes(x: Oriented, arm: Arm, P: Vector, f: Vector) -> Vector:
    """Add the arms in Q_z of link c."""
    S_d = skew(x.omega) @ arm.S
    return S_d.T @ P + arm.S.T @ f - (skew(x.omega) @ arm.S).T @ P  # (LK3), (LK4), (LE6)


class Forces(NamedTuple):
    """Q of one link."""

    eta: Vector
    z: Vector


def forces(model: Model, turned: ByBody, placed: ByBody, w_ext: Sequence[Any]) -> ByBody:
    """Q_η (3,) and Q_z (3,) by link, of links turned and moved as given; gravity and wrenches on them counted."""
    loads = [ZERO, *(_load(model.body[i], turned[i], w_ext[i]) for i in model.moving)]
    eta: ByBody = [None, *(of_inertia(turned[i]) - turned[i].e.T @ loads[i][:3] for i in model.moving)]
    z: ByBody = [ZERO] * len(model.parent)
    for i in model.moving:
        arms, m = list(_arms(model, turned, placed, i)), model.body[i].m
        centre = _centre(turned, arms)
        P, f = m * centre.v, m * (centre.v_d - model.gravity) - loads[i][3:]
        for arm in arms:
            if arm.k:
                eta[arm.k] = eta[arm.k] + _along_angles(turned[arm.k], arm, P, f)
            if arm.c:
                z[arm.c] = z[arm.c] + _along_strokes(turned[arm.k], arm, P, f)
    return [None, *(Forces(eta[i], z[i]) for i in model.moving)]


def _load(body: Body, x: Oriented, w_ext: Vector) -> Vector:
    """A wrench at O_i in axes of the link, at C_i in world axes."""
    return shift_wrench(rotate(x.R, w_ext), -(x.R @ body.d))


def _react(
    body: Body, outer: tuple[Vector], link: Link, S: Matrix, Q: Forces
) -> tuple[Vector, tuple[Vector]]:
    n = couple_of(rates_matrix(link.angles.eta, link.angles.choice), Q.eta) + outer[0]  # (LK5)
    return spatial(n, S @ Q.z), (n,)


class Reacting(NamedTuple):
    """Every link by its angles, axes of its seat, and the wrench of its joint on it, at O_i in world axes."""

    turned: ByBody
    seats: ByBody
    wrenches: ByBody


def reacting(
    model: Model, q: Vector, qd: Vector, qdd: Vector, w_ext: Sequence[Any], choices: Choices | None = None
) -> Reacting:
    """The wrenches of all joints in a motion; angles as in `popov_euler.links`."""
    q, qd, qdd = checked(model, q=q, qd=qd, qdd=qdd)
    placed = popov_euler.links(model, q, qd, qdd, choices)
    turned = [GROUND, *each(model, lambda body, link: oriented(body, *link.angles), placed)[1:]]
    seats: ByBody = [None, *(turned[model.parent[i]].R @ model.body[i].R_seat for i in model.moving)]
    Q = forces(model, turned, placed, w_ext)
    return Reacting(turned, seats, inward(model, _react, (ZERO,), placed, seats, Q))


def inverse_dynamics(
    model: Model, q: Vector, qd: Vector, qdd: Vector, w_ext: Sequence[Any], choices: Choices | None = None
) -> Vector:
    """τ (nv,) that produces the motion, through the angles and strokes of the links."""
    x = reacting(model, q, qd, qdd, w_ext, choices)
    state = coordinates(model, q), rates(model, qdd)
    return joined(model, each(model, _effort, x.turned, x.wrenches, *state))


def forward_dynamics(
    model: Model, q: Vector, qd: Vector, tau: Vector, w_ext: Sequence[Any], choices: Choices | None = None
) -> Solution:
    """q̈ of H q̈ + h = τ, H and h by the angles and strokes of the links."""
    return popov_euler.solved_by(inverse_dynamics, model, q, qd, tau, w_ext, choices)


def _effort(body: Body, x: Oriented, w: Vector, q: Vector, qdd: Vector) -> Vector:
    return body.pair.p(q).T @ rotate(x.R.T, w) + body.rotor * qdd  # (LK6)


def reactions(
    model: Model, q: Vector, qd: Vector, qdd: Vector, w_ext: Sequence[Any], choices: Choices | None = None
) -> ByBody:
    """Wrench on each body from its pair, at O_i, in axes of the joint frame as described; by body."""
    x = reacting(model, q, qd, qdd, w_ext, choices)
    return [None, *(rotate((x.seats[i] @ model.R_joint[i]).T, x.wrenches[i]) for i in model.moving)]
