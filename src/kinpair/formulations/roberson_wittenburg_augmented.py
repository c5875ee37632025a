"""Augmented bodies (Hooker & Margulies 1965, Roberson & Wittenburg 1966) of a tree that floats, in world axes.

At every joint of body k the mass of all bodies beyond it is thought of as a point. The body so augmented has the mass
M of the whole system; its mass centre is the barycentre B_k. c_ki leads from C_k to the joint on the path to body i.

    M β_k = Σ_i m_i c_ki,   c_kk = 0                            β_k from C_k to B_k              (RA1)
    b_ki = c_ki − β_k,   Σ_i m_i b_ki = 0                       from B_k towards body i          (RA2)
    r_i − r_C = Σ_k b_ki                                        r_C mass centre of the system    (RA3)
    K_k = J_k + Σ_i m_i (b_ki·b_ki 1 − b_ki b_kiᵀ)              inertia of the augmented body    (RA4)
    2 T = M ṙ_C² + Σ_k ω_k·K_k ω_k − M Σ_{k≠l} (ω_k × b_kl)·(ω_l × b_lk)                         (RA5)

The last holds where no joint slides: only then are the b_ki fixed on body k. So do the equations of motion, after
Hooker & Margulies for each body, l ≠ k, with the couples Y of its joints, and after Hooker 1970 without them:

    K_k ω̇_k + ω_k × K_k ω_k − M Σ_l b_kl × (ω̇_l × b_lk + ω_l × (ω_l × b_lk)) = L_k + Σ_a S_ka Y_a          (RA6)
    M (r̈_C − g) = F,   L_k = b_k1 × F, for the root k = 1 also the couple of its wrench about C_1           (RA7)
    e_a·Σ_k (RA6)_k = τ_a           k: bodies beyond joint a; of the constraint couples nothing is left     (RA8)

F is the force on the root. Uniform gravity does not turn the bodies, since Σ_i m_i b_ki = 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinpair.algebra import ldl
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, assemble, zeros
from kinpair.errors import InputError, listed
from kinpair.formulations.roberson_wittenburg import Link, links, motions
from kinpair.model.model import Model
from kinpair.model.recursion import ByBody, each, joined
from kinpair.spatial.rotation import cross, skew, turned


class Augmented(NamedTuple):
    """The augmented bodies of a mechanism in one state."""

    M: Scalar  # mass of the system [kg]
    b: dict[tuple[int, int], Vector]  # b_ki (3,) by (k, i)
    K: ByBody  # K_k (3, 3) by body


def augmented_bodies(model: Model, q: Vector) -> Augmented:
    """Barycentric vectors and augmented inertias.    (RA1), (RA2), (RA4)

    For a mechanism that hangs on the ground by one body, whatever the joint there; that joint does not count.
    """
    roots = [model.names[i] for i in model.moving if model.parent[i] == 0]
    if len(roots) != 1:
        raise InputError(
            f"{model.name}: augmented bodies need one connected system, and {len(roots)} bodies sit on the ground: "
            f"{listed(roots)}",
            bodies=roots,
        )
    placed = links(model, q)
    M = sum(model.body[i].m for i in model.moving)
    b: dict[tuple[int, int], Vector] = {}
    K: ByBody = [None]
    for k in model.moving:
        c = {i: _towards(model, placed, k, i) for i in model.moving}
        first = sum((model.body[i].m * c[i] for i in model.moving), zeros(3))
        beta = np.divide(first, M)  # (RA1)
        J = turned(placed[k].R, model.body[k].I)
        for i in model.moving:
            b[k, i] = c[i] - beta  # (RA2)
            b_ = skew(b[k, i])
            J = J - model.body[i].m * (b_ @ b_)  # (RA4)
        K.append(J)
    return Augmented(M, b, K)


def _towards(model: Model, placed: list[Link], k: int, i: int) -> Vector:
    """Vector from C_k to the joint on the path to body i, zero to itself."""
    if i == k:
        return zeros(3)
    path = model.path_to_ground(i)
    return placed[path[path.index(k) - 1]].arm if k in path else -placed[k].d


def from_mass_centre(x: Augmented, i: int, bodies: range) -> Vector:
    """r_i − r_C (3,): mass centre of body i from that of the system.    (RA3)"""
    return sum((x.b[k, i] for k in bodies), zeros(3))  # (RA3)


def inner_energy(x: Augmented, omega: ByBody, bodies: range) -> Scalar:
    """Kinetic energy of the motion about the mass centre, from the angular velocities alone.    (RA5)"""
    twice = sum(omega[k] @ (x.K[k] @ omega[k]) for k in bodies)
    for k in bodies:
        for i in bodies:
            if i != k:
                twice = twice - x.M * (cross(omega[k], x.b[k, i]) @ cross(omega[i], x.b[i, k]))  # (RA5)
    return 0.5 * twice


# Equations of motion.


class Turning(NamedTuple):
    """The bodies of one state: Φ (3n, 3n) and h (3n,) of Φ ω̇ + h = L + …, a2 (3n, nv) and b2 (3n,) of ω̇ = a2 q̈ + b2."""

    bodies: Augmented
    links: ByBody
    moving: ByBody  # at q̈ = 0
    Phi: Matrix
    h: Vector
    a2: Matrix
    b2: Vector


def turning(model: Model, q: Vector, qd: Vector) -> Turning:
    """The left sides of the equations of all bodies.    (RA6)"""
    _check_joints(model)
    x, placed = augmented_bodies(model, q), links(model, q)
    moving = motions(model, q, qd, np.zeros(model.nv), placed)
    n = len(model.moving)
    blocks: list[tuple[slice, slice, Matrix]] = []
    h: list[Vector] = []
    for k in model.moving:
        omega = moving[k].omega
        blocks.append((_rows(k), _rows(k), x.K[k]))
        own = cross(omega, x.K[k] @ omega)
        for l in model.moving:
            if l != k:
                blocks.append((_rows(k), _rows(l), x.M * (skew(x.b[k, l]) @ skew(x.b[l, k]))))  # (RA6)
                swung = cross(moving[l].omega, cross(moving[l].omega, x.b[l, k]))
                own = own - x.M * cross(x.b[k, l], swung)  # (RA6)
        h.append(own)
    columns = [
        (_rows(i), model.v_span[a], placed[a].e) for i in model.moving for a in model.path_to_ground(i)
    ]
    b2 = np.concatenate([moving[i].alpha for i in model.moving])
    Phi = assemble((3 * n, 3 * n), blocks)
    return Turning(x, placed, moving, Phi, np.concatenate(h), assemble((3 * n, model.nv), columns), b2)


def _rows(k: int) -> slice:
    return slice(3 * k - 3, 3 * k)


def _obstacle(model: Model) -> int:
    """Number of the first body whose joint the equations do not take, 0 for none: the root is free, no other slides."""
    for i in model.moving:
        pair = model.body[i].pair
        slides = np.any(np.asarray(pair.p(pair.neutral()), dtype=float)[3:] != 0.0)
        if (pair.kind != "free") if model.parent[i] == 0 else slides:
            return i
    return 0


def floats(model: Model) -> bool:
    """True if the equations of motion of augmented bodies hold: a free root, and joints that turn."""
    return _obstacle(model) == 0


def _check_joints(model: Model) -> None:
    if i := _obstacle(model):
        raise InputError(
            f"{model.name}: joint {model.joint_names[i]!r} is {model.body[i].pair.kind}; the equations of augmented "
            "bodies need a free root and joints that turn, 'roberson-wittenburg' takes every pair",
            joint=model.joint_names[i],
        )


def _loads(model: Model, x: Turning, F: Vector, n: Vector) -> Vector:
    """L (3n,) of the force F on the root at its origin and the couple n, in world axes.    (RA7)"""
    L = [cross(x.bodies.b[k, 1], F) for k in model.moving]
    return np.concatenate([L[0] + n - cross(x.links[1].d, F), *L[1:]])


def _root_acceleration(model: Model, x: Turning, omega_d: Vector) -> Vector:
    """Acceleration of the origin of the root from that of the mass centre of the system."""
    swings = [(k, x.bodies.b[k, 1]) for k in model.moving]
    a = zeros(3)
    for k, b in [*swings, (1, -x.links[1].d)]:
        omega = x.moving[k].omega
        a = a + cross(omega_d[_rows(k)], b) + cross(omega, cross(omega, b))
    return a


def inverse_dynamics(model: Model, q: Vector, qd: Vector, qdd: Vector) -> Vector:
    """τ (nv,) that produces the motion; of the root its wrench, along its rates.    (RA7), (RA8)"""
    x, R, span = turning(model, q, qd), links(model, q)[1].R, model.v_span[1]
    omega_d = x.a2 @ qdd + x.b2
    rates = qd[span]
    a = R @ (qdd[span][3:] + cross(rates[:3], rates[3:])) - _root_acceleration(model, x, omega_d)  # of C
    F = x.bodies.M * (a - model.gravity)  # (RA7)
    left = x.Phi @ omega_d + x.h - _loads(model, x, F, zeros(3))
    rotor = joined(model, each(model, lambda body: body.rotor))
    tau = x.a2.T @ left + rotor * qdd  # (RA8)
    force = assemble(
        (model.nv, 1), [(slice(span.start + 3, span.stop), slice(0, 1), (R.T @ F).reshape(3, 1))]
    )
    return tau + force[:, 0]


def forward_dynamics(model: Model, q: Vector, qd: Vector, tau: Vector) -> Vector:
    """q̈ (nv,) that the efforts produce: rotations by (RA8), the root by the motion of the mass centre."""
    x, R, span = turning(model, q, qd), links(model, q)[1].R, model.v_span[1]
    turns = [k for k in range(model.nv) if not span.start + 3 <= k < span.stop]
    F, n = R @ tau[span][3:], R @ tau[span][:3]
    A = x.a2[:, turns]
    left = x.Phi @ x.b2 + x.h - _loads(model, x, F, n)
    own = array([0.0 if span.start <= k < span.stop else tau[k] for k in turns])
    rotor = joined(model, each(model, lambda body: body.rotor))[turns]
    solution, _ = ldl.solve(A.T @ x.Phi @ A + np.diag(rotor), own - A.T @ left)  # (RA8)
    omega_d = A @ solution + x.b2
    a_C = np.divide(F, x.bodies.M) + model.gravity  # (RA7)
    a = R.T @ (a_C + _root_acceleration(model, x, omega_d)) - cross(qd[span][:3], qd[span][3:])
    by_rate = dict(zip(turns, solution, strict=True)) | dict(
        zip(range(span.start + 3, span.stop), a, strict=True)
    )
    return array([by_rate[k] for k in range(model.nv)])
