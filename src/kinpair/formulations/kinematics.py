"""Kinematics of the bodies: poses, Jacobians, mass centre, energy.

World components carry the suffix 0. i is a body, j its parent.

    R_0i = R_0j R_ji,   x_i = x_j + R_0j a_ji                                     (K1)
    J    = columns [R_0k p_ω; R_0k p_v + R_0k p_ω × (x − x_k)]                    (K2)
    J̇    = columns [E; L + E × (x − x_k) + R_0k p_ω × (ẋ − ẋ_k)]                  (K3)
           E, L = R_0k (ω_k × p + p̊), angular and linear half;  k: pairs between ground and frame
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, assemble
from kinpair.model.recursion import (
    ByBody,
    coordinates,
    each,
    joined_coordinates,
    outward,
    rates,
    total,
)
from kinpair.spatial.pose import HOME, Pose
from kinpair.spatial.rotation import cross, skew

if TYPE_CHECKING:
    from kinpair.model.model import Body, Model, Place
    from kinpair.pairs import Pair

ZERO = np.zeros(3)


class Placement(NamedTuple):
    """Placement of one body in its parent."""

    R: Matrix  # axes of i in j
    a: Vector  # O_j → O_i in axes of j


def placement(body: Body, q: Vector) -> Placement:
    """Compute where the pair puts the body in its parent."""
    R = body.R_seat @ body.pair.rotation(q)
    return Placement(R, body.a_seat + body.R_seat @ body.pair.translation(q))


def placements(model: Model, q: Vector) -> ByBody:
    """R_ji and a_ji by body."""
    return each(model, placement, coordinates(model, q))


def no_wrenches(model: Model) -> list[Vector]:
    """`w_ext` where nothing is applied."""
    return [np.zeros(6)] * len(model.parent)


class State(NamedTuple):
    """Position and velocity of one body: pose in the world, twist at O_i in axes of the body."""

    pose: Pose
    omega: Vector
    v: Vector


def _pose(body: Body, parent: Pose, place: Placement) -> Pose:
    return parent @ Pose(place.R, place.a)  # (K1)


def poses(model: Model, q: Vector) -> ByBody:
    """Pose of each body in the world."""
    return outward(model, _pose, HOME, placements(model, q))


def _state(body: Body, parent: State, place: Placement, q: Vector, qd: Vector) -> State:
    t = body.pair.p(q) @ qd
    omega = place.R.T @ parent.omega + t[:3]
    v = place.R.T @ (parent.v + cross(parent.omega, place.a)) + t[3:]
    return State(_pose(body, parent.pose, place), omega, v)


def states(model: Model, q: Vector, qd: Vector) -> ByBody:
    """Pose and twist of each body."""
    still = State(HOME, ZERO, ZERO)
    return outward(model, _state, still, placements(model, q), coordinates(model, q), rates(model, qd))


class Bias(NamedTuple):
    """Acceleration of one body while q̈ is zero: angular, and of O_i, both in axes of the body."""

    alpha: Vector
    a: Vector


def _bias(
    body: Body, parent: tuple[Bias, Vector], place: Placement, state: State, q: Vector, qd: Vector
) -> tuple[Bias, Vector]:
    """Bias by (NE3), (NE4) with q̈ = 0; next to it the angular velocity, which the next body needs."""
    (alpha_j, a_j), omega_j = parent
    carried = place.R.T @ omega_j
    t, change = body.pair.p(q) @ qd, body.pair.pd(q, qd) @ qd
    alpha = place.R.T @ alpha_j + change[:3] + cross(carried, t[:3])
    swung = a_j + cross(alpha_j, place.a) + cross(omega_j, cross(omega_j, place.a))
    a = place.R.T @ swung + change[3:] + cross(2.0 * carried + t[:3], t[3:])
    return Bias(alpha, a), state.omega


def biases(model: Model, q: Vector, qd: Vector, state: ByBody) -> ByBody:
    """Accelerations by body while q̈ is zero, from their `states`."""
    return [x for x, _ in turning_biases(model, q, qd, state)]


def turning_biases(model: Model, q: Vector, qd: Vector, state: ByBody) -> ByBody:
    """Accelerations while q̈ is zero, and the angular velocity, by body, from their `states`."""
    qs, qds = coordinates(model, q), rates(model, qd)
    ground = (Bias(ZERO, ZERO), ZERO)
    return outward(model, _bias, ground, placements(model, q), state, qs, qds)


def pose(model: Model, q: Vector, place: Place) -> tuple[Matrix, Vector]:
    """Rotation and origin of a place in the world."""
    world = poses(model, q)[place.body] @ place.pose
    return world.R, world.a


def jacobian(model: Model, q: Vector, place: Place) -> Matrix:
    """J (6, nv): twist of the place at its origin, in world axes, is J q̇.    (K2)"""
    where = poses(model, q)
    path = model.path_to_ground(place.body)
    blocks = [(slice(0, 6), model.v_span[k], J_k) for k, J_k in along_path(model, q, where, place, path)]
    return assemble((6, model.nv), blocks)


def along_path(
    model: Model, q: Vector, where: ByBody, place: Place, path: Sequence[int]
) -> Iterator[tuple[int, Matrix]]:
    """Columns of J by pair: the body k it moves, and its block (6, nv_k).    (K2)"""
    x = (where[place.body] @ place.pose).a
    qs = coordinates(model, q)
    for k in path:
        p = model.body[k].pair.p(qs[k])
        e, u = where[k].R @ p[:3], where[k].R @ p[3:]
        yield k, np.concatenate([e, u - skew(x - where[k].a) @ e])


def jacobian_rate(model: Model, q: Vector, qd: Vector, place: Place) -> Matrix:
    """J̇ (6, nv) at the rates q̇.    (K3)"""
    state = states(model, q, qd)
    here = state[place.body]
    x = (here.pose @ place.pose).a
    xd = here.pose.R @ (here.v + cross(here.omega, place.pose.a))
    qs, qds = coordinates(model, q), rates(model, qd)
    blocks: list[tuple[slice, slice, Matrix]] = []
    for k in model.path_to_ground(place.body):
        pair, (at, omega, v) = model.body[k].pair, state[k]
        p, pd = pair.p(qs[k]), pair.pd(qs[k], qds[k])
        W = skew(omega)
        e = at.R @ p[:3]
        E, L = at.R @ (W @ p[:3] + pd[:3]), at.R @ (W @ p[3:] + pd[3:])
        blocks.append((slice(0, 3), model.v_span[k], E))
        linear = L - skew(x - at.a) @ E - skew(xd - at.R @ v) @ e
        blocks.append((slice(3, 6), model.v_span[k], linear))
    return assemble((6, model.nv), blocks)


def twist(state: State, place: Place) -> Vector:
    """t (6,) of a place at its origin, in world axes: what J q̇ is.    (K4)"""
    R, r = state.pose.R, place.pose.a
    return np.concatenate([R @ state.omega, R @ (state.v + cross(state.omega, r))])


def twist_rate(state: State, bias: Bias, along: State, place: Place) -> Vector:
    """ṫ (6,) of a place: what J q̈ + J̇ q̇ is; `along` is the state at the rates q̈.    (K5)"""
    R, r, omega = state.pose.R, place.pose.a, state.omega
    alpha = bias.alpha + along.omega
    a = bias.a + along.v + cross(alpha, r) + cross(omega, cross(omega, r))
    return np.concatenate([R @ alpha, R @ a])


def _first_moment(body: Body, where: Pose) -> Vector:
    return body.m * (where.R @ body.d + where.a)


def centre_of_mass(model: Model, q: Vector) -> Vector:
    """Mass centre of all that moves, in the world."""
    mass = sum(model.body[i].m for i in model.carried)
    return np.divide(total(model, _first_moment, ZERO, poses(model, q)), mass)


def _twice_kinetic(body: Body, state: State, qd: Vector) -> Scalar:
    v = state.v + cross(state.omega, body.d)
    return body.m * (v @ v) + state.omega @ (body.I @ state.omega) + (body.rotor * qd) @ qd


def kinetic_energy(model: Model, q: Vector, qd: Vector) -> Scalar:
    """T = Σ ½ m v_C·v_C + ½ ω·I ω + ½ rotor q̇²."""
    return 0.5 * total(model, _twice_kinetic, 0.0, states(model, q, qd), rates(model, qd))


def potential_energy(model: Model, q: Vector) -> Scalar:
    """V = −Σ m g·r_C, zero at the origin of the world."""

    def weight(body: Body, where: Pose) -> Scalar:
        return -body.m * (model.gravity @ (where.R @ body.d + where.a))

    return total(model, weight, 0.0, poses(model, q))


def _momentum(body: Body, state: State) -> tuple[Vector, Vector]:
    R, x = state.pose.R, state.pose.a
    linear = R @ (body.m * (state.v + cross(state.omega, body.d)))
    return R @ (body.I @ state.omega) + cross(R @ body.d + x, linear), linear


def momentum(model: Model, q: Vector, qd: Vector) -> Vector:
    """[angular about the world's origin; linear] momentum of all that moves, in world axes."""
    return np.concatenate(total(model, _momentum, (ZERO, ZERO), states(model, q, qd)))


def rigid_inertia(model: Model, q: Vector) -> Matrix:
    """(6, 6) inertia of all that moves as one rigid body, about the world's origin and in world axes: it makes the
    [angular; linear] momentum of a twist [ω; v]."""
    where = poses(model, q)
    J, s, m = np.zeros((3, 3)), ZERO, 0.0
    for i in model.carried:
        body, R = model.body[i], where[i].R
        c = R @ body.d + where[i].a
        J = J + R @ body.I @ R.T + body.m * (c @ c * np.eye(3) - np.outer(c, c))
        s, m = s + body.m * c, m + body.m
    return np.block([[J, skew(s)], [-skew(s), m * np.eye(3)]])


def dq_dt(model: Model, q: Vector, qd: Vector) -> Vector:
    """Rate of change of the coordinates at the rates q̇ (nq)."""
    return _by_pair(model, lambda pair, q, qd: pair.dq_dt(q, qd), q, qd)


def moved(model: Model, q: Vector, step: Vector) -> Vector:
    """Coordinates after the small displacement `step` in the directions of the rates."""
    return _by_pair(model, lambda pair, q, step: pair.moved(q, step), q, step)


def difference(model: Model, start: Vector, end: Vector) -> Vector:
    """The displacement (nv) from one position to another along the rates, to first order; without a branch on a
    value."""
    found: list[Any] = [0.0] * model.nv
    one, other = coordinates(model, start), coordinates(model, end)
    for i in model.moving:
        found[model.v_span[i]] = list(model.body[i].pair.difference(one[i], other[i]))
    return array(found) if found else np.zeros(0)


def nudged(model: Model, q: Vector, step: Vector) -> Vector:
    """Move coordinates to first order in the step, quaternions of length one; without a branch on a value."""
    return normalised(model, q + dq_dt(model, q, step))


def unit(body: Body, q: Vector) -> Vector:
    """Return the coordinates of a body with its quaternion scaled to length one."""
    if body.pair.nq == body.pair.nv:
        return q
    k = q[-4:]
    length = np.sqrt(k @ k)
    return array([*q[:-4], *(np.divide(x, length) for x in k)])


def normalised(model: Model, q: Vector) -> Vector:
    """The coordinates with every quaternion scaled to length one."""
    return joined_coordinates(model, each(model, unit, coordinates(model, q)))


def _by_pair(model: Model, f: Callable[[Pair, Vector, Vector], Vector], q: Vector, x: Vector) -> Vector:
    """f of each pair, its coordinates and its rates, as one vector in the order of the coordinates."""
    values = each(model, lambda body, q, x: f(body.pair, q, x), coordinates(model, q), rates(model, x))
    return joined_coordinates(model, values)
