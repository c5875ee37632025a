"""Roberson & Wittenburg 1966, Wittenburg 1977: tree systems by the path matrix of their graph.

Vectors in world axes. Bodies i, k; arcs a, b; S and T as in `graph`; c_ka leads from the mass centre C_k to joint a,
r_i to C_i. A joint that slides has the displacement z_a, fixed on the body that carries its seat: c_ka of that body
ends where z_a does, at the origin of the moved frame. e_a and u_a are the angular and linear half of the motion p of
the pair, in the direction of the arc; p̊ its rate as seen from the moved body.

    ω_i = ω_0 − Σ_a T_ai Ω_a,   Ω_a = e_a q̇                                                      (RW1)
    C_ka = S_ka c_ka,   r_i = r_0 − Σ_k (CT)_ki = r_0 − Σ_a T_ai Σ_k C_ka                         (RW2)
    a2_ia = −T_ai e_a,   a1_ia = −Σ_k a2_ka × (CT)_ki − T_ai u_a                                  (RW3)
    ω̇_i = Σ_a a2_ia q̈_a + b2_i,   b2_i = −Σ_a T_ai (ω × Ω_a + p̊_ω q̇)                             (RW4)
    r̈_i = Σ_a a1_ia q̈_a + b1_i                                                                   (RW5)
    b1_i = −Σ_k (b2_k × (CT)_ki + ω_k × (ω_k × (CT)_ki)) − Σ_a T_ai (p̊_v q̇ + (ω_i⁺ + ω_i⁻) × u_a q̇)
    A_ab = Σ_i (m_i a1_ia·a1_ib + a2_ia·J_i a2_ib) + rotor                                       (RW6)
    B_a = Σ_i (a1_ia·(F_i − m_i b1_i) + a2_ia·(M_i − ω_i × J_i ω_i − J_i b2_i)) + τ_a             (RW7)
    A q̈ = B                                                                                      (RW8)
    X = T (m r̈ − F)                                       forces of the joints, on body i⁺        (RW9)
    Y = T (J ω̇ + ω × J ω − M − Σ_a C_ia × X_a)            their couples                           (RW10)
    τ_a = −(e_a·Y_a + u_a·X_a) + rotor q̈_a                                                       (RW11)

T has one value along a path or beyond an arc, so sums with it are running sums, from the ground outward (Σ_a T_ai …)
or from the tips inward (Σ_i T_ai …). The direction of an arc cancels in all but X and Y.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra import tree_ldl
from kinpair.algebra.arrays import Matrix, Vector, zeros
from kinpair.formulations.graph import Arc, incidence, path
from kinpair.formulations.solution import Solution
from kinpair.model.model import Body, Model
from kinpair.model.recursion import (
    ByBody,
    coordinates,
    each,
    inward,
    joined,
    joint_space,
    outward,
    rate_tree,
    rates,
)
from kinpair.spatial.pose import rotate
from kinpair.spatial.rotation import IDENTITY, cross, skew, turned

ZERO, ZERO3 = np.zeros(3), np.zeros((3, 3))


class Link(NamedTuple):
    """A body and the arc that leads outward to it, in world axes."""

    R: Matrix
    d: Vector  # O_i → C_i, that is −c of the moved body
    arm: Vector  # c of the body that carries the seat, z_a included
    e: Matrix  # (3, nv)
    u: Matrix  # (3, nv)


def _link(body: Body, parent: Link, q: Vector) -> Link:
    R = parent.R @ body.R_seat @ body.pair.rotation(q)
    arm = parent.R @ (body.r_seat + body.R_seat @ body.pair.translation(q))
    p = body.pair.p(q)
    return Link(R, R @ body.d, arm, R @ p[:3], R @ p[3:])


def links(model: Model, q: Vector) -> ByBody:
    """Axes, vectors and motions by body."""
    ground = Link(IDENTITY, ZERO, ZERO, np.zeros((3, 0)), np.zeros((3, 0)))
    return outward(model, _link, ground, coordinates(model, q))


# The matrices in full: for study, teaching and tests.


def arcs_of(model: Model, inward_arcs: Collection[int] = ()) -> list[Arc]:
    """The arcs of a model: arc i leads to body i, outward unless i is among `inward_arcs`."""
    outward_arcs = [(model.parent[i], i) for i in model.moving]
    return [(j, i) if j in inward_arcs else (i, j) for i, j in outward_arcs]


def joint_vectors(model: Model, q: Vector, arcs: Sequence[Arc]) -> dict[tuple[int, int], Vector]:
    """C_ka = S_ka c_ka (3,) by (body k, arc a); k = 0 is the ground, arc a joins body a to its parent.    (RW2)"""
    placed, (S_0, S) = links(model, q), incidence(arcs)
    signs = [S_0, *S]
    C: dict[tuple[int, int], Vector] = {}
    for a in model.moving:
        k = model.parent[a]
        C[a, a] = -float(signs[a][a - 1]) * placed[a].d  # (RW2)
        C[k, a] = float(signs[k][a - 1]) * placed[a].arm
    return C


def carried_vectors(model: Model, q: Vector, arcs: Sequence[Arc]) -> dict[tuple[int, int], Vector]:
    """(CT)_ki (3,) by (body k, body i), where not zero: what k adds to the path to C_i, with the sign of (RW2)."""
    T = path(arcs)
    CT: dict[tuple[int, int], Vector] = {}
    for (k, a), c in joint_vectors(model, q, arcs).items():
        for i in model.moving:
            if T[a - 1, i - 1]:
                CT[k, i] = CT.get((k, i), zeros(3)) + float(T[a - 1, i - 1]) * c  # (RW2)
    return CT


# Motion.


class Motion(NamedTuple):
    """Motion of one body: ω, ω̇ and the acceleration of its mass centre, in world axes."""

    omega: Vector
    alpha: Vector
    a: Vector


def _swung(omega: Vector, alpha: Vector, x: Vector) -> Vector:
    return cross(alpha, x) + cross(omega, cross(omega, x))


def _move(body: Body, parent: Motion, link: Link, q: Vector, qd: Vector, qdd: Vector) -> Motion:
    pd = rotate(link.R, body.pair.pd(q, qd) @ qd)
    turning, sliding = link.e @ qd, link.u @ qd
    omega = parent.omega + turning  # (RW1)
    alpha = parent.alpha + link.e @ qdd + cross(parent.omega, turning) + pd[:3]  # (RW4)
    slid = link.u @ qdd + pd[3:] + cross(parent.omega + omega, sliding)
    at_joint = parent.a + _swung(parent.omega, parent.alpha, link.arm) + slid
    return Motion(omega, alpha, at_joint + _swung(omega, alpha, link.d))  # (RW5)


def motions(model: Model, q: Vector, qd: Vector, qdd: Vector, placed: ByBody) -> ByBody:
    """ω, ω̇ and r̈ by body; with q̈ = 0 the last two are b2 and b1."""
    qs, qds, qdds = coordinates(model, q), rates(model, qd), rates(model, qdd)
    return outward(model, _move, Motion(ZERO, ZERO, ZERO), placed, qs, qds, qdds)


def partial_velocities(model: Model, placed: ByBody) -> dict[tuple[int, int], Matrix]:
    """a1 (3, nv_a) by (body i, body a whose arc lies on the path to i); a2 is e_a for all of these.    (RW3)"""
    a1: dict[tuple[int, int], Matrix] = {}
    for i in model.moving:
        lever = zeros(3)  # Σ_k T_ak (CT)_ki: from joint a to C_i
        for a in model.path_to_ground(i):
            lever = lever + placed[a].d
            a1[i, a] = placed[a].u - skew(lever) @ placed[a].e  # (RW3)
            lever = lever + placed[a].arm
    return a1


# Forces and couples in the joints.


class Lack(NamedTuple):
    """Lack of one body: m r̈ − F and J ω̇ + ω × J ω − M, which its joints have to give."""

    force: Vector
    couple: Vector


def _lack(g: Vector, body: Body, link: Link, motion: Motion, w_ext: Vector) -> Lack:
    force = body.m * (motion.a - g) - link.R @ w_ext[3:]
    omega, alpha = link.R.T @ motion.omega, link.R.T @ motion.alpha
    applied = w_ext[:3] - cross(body.d, w_ext[3:])
    return Lack(force, link.R @ (body.I @ alpha + cross(omega, body.I @ omega) - applied))


def lacks(model: Model, placed: ByBody, moving: ByBody, w_ext: Sequence[Any]) -> ByBody:
    """Forces and moments that Newton and Euler ask of the joints, by body; w_ext at O_i in axes of the body."""
    return each(model, partial(_lack, model.gravity), placed, moving, w_ext)


def _joint(
    body: Body, outer: tuple[Vector, Vector], link: Link, lack: Lack
) -> tuple[Lack, tuple[Vector, Vector]]:
    """−X and −Y of an outward arc, on the moved body."""
    force = lack.force + outer[0]  # (RW9)
    couple = lack.couple + cross(link.d, force) + outer[1]  # (RW10)
    return Lack(force, couple), (force, couple + cross(link.arm, force))


def joint_loads(
    model: Model, q: Vector, qd: Vector, qdd: Vector, w_ext: Sequence[Any]
) -> tuple[ByBody, ByBody]:
    """Force and couple of each joint on the body it moves, at its origin, in world axes; and the links."""
    placed = links(model, q)
    lack = lacks(model, placed, motions(model, q, qd, qdd, placed), w_ext)
    return inward(model, _joint, (ZERO, ZERO), placed, lack), placed


def constraint_forces(
    model: Model, q: Vector, qd: Vector, qdd: Vector, w_ext: Sequence[Any], arcs: Sequence[Arc]
) -> tuple[list[Vector], list[Vector]]:
    """X and Y by arc: on body i⁺ of the arc, and the opposite on i⁻.    (RW9), (RW10)"""
    loads, _ = joint_loads(model, q, qd, qdd, w_ext)
    signs = [1.0 if tail == i else -1.0 for i, (tail, _) in zip(model.moving, arcs, strict=True)]
    X = [sign * x.force for sign, x in zip(signs, loads[1:], strict=True)]
    return X, [sign * x.couple for sign, x in zip(signs, loads[1:], strict=True)]


def _effort(body: Body, load: Lack, link: Link, qdd: Vector) -> Vector:
    return link.e.T @ load.couple + link.u.T @ load.force + body.rotor * qdd  # (RW11)


def inverse_dynamics(model: Model, q: Vector, qd: Vector, qdd: Vector, w_ext: Sequence[Any]) -> Vector:
    """τ that produces the motion, from the forces and couples of the joints; the work grows as n."""
    loads, placed = joint_loads(model, q, qd, qdd, w_ext)
    return joined(model, each(model, _effort, loads, placed, rates(model, qdd)))


def _in_seat(body: Body, load: Lack, link: Link, q: Vector) -> Vector:
    w = np.concatenate([load.couple, load.force])
    return rotate(body.pair.rotation(q), rotate(link.R.T, w))


def reactions(model: Model, q: Vector, qd: Vector, qdd: Vector, w_ext: Sequence[Any]) -> ByBody:
    """Wrench on each body from its pair, at O_i, in axes of the joint frame as described; by body."""
    loads, placed = joint_loads(model, q, qd, qdd, w_ext)
    seen = each(model, _in_seat, loads, placed, coordinates(model, q))
    return [None, *(rotate(model.R_joint[i].T, seen[i]) for i in model.moving)]


# A q̈ = B.


def _tensors(model: Model, placed: ByBody) -> ByBody:
    """Σ_i J_i over body a and all it carries: (T J Tᵀ)_ab for every b on the path to a."""

    def gather(body: Body, outer: tuple[Matrix], link: Link) -> tuple[Matrix, tuple[Matrix]]:
        J = turned(link.R, body.I) + outer[0]
        return J, (J,)

    return inward(model, gather, (ZERO3,), placed)


def _matrix(model: Model, placed: ByBody, a1: dict[tuple[int, int], Matrix]) -> Matrix:
    J = _tensors(model, placed)
    A: dict[tuple[int, int], Matrix] = {}
    for a in model.moving:
        w = J[a] @ placed[a].e
        for b in model.path_to_ground(a):
            A[a, b] = w.T @ placed[b].e  # (RW6)
    for i in model.moving:
        for a in model.path_to_ground(i):
            f = model.body[i].m * a1[i, a]
            for b in model.path_to_ground(a):
                A[a, b] = A[a, b] + f.T @ a1[i, b]  # (RW6)
    H = joint_space(model, {ab: (block, block.T) for ab, block in A.items()})
    return H + np.diag(joined(model, each(model, lambda body: body.rotor)))


def mass_matrix(model: Model, q: Vector) -> Matrix:
    """A of A q̈ = B, which is H."""
    placed = links(model, q)
    return _matrix(model, placed, partial_velocities(model, placed))


def _loads_on_rates(model: Model, placed: ByBody, a1: dict[tuple[int, int], Matrix], lack: ByBody) -> Vector:
    """B without the drives, from what the joints lack while q̈ is zero.    (RW7)"""
    B: ByBody = [None, *(zeros(model.body[a].pair.nv) for a in model.moving)]
    for i in model.moving:
        for a in model.path_to_ground(i):
            B[a] = B[a] - (a1[i, a].T @ lack[i].force + placed[a].e.T @ lack[i].couple)  # (RW7)
    return joined(model, B)


def forward_dynamics(model: Model, q: Vector, qd: Vector, tau: Vector, w_ext: Sequence[Any]) -> Solution:
    """q̈ of A q̈ = B, A and B by the partial velocities, solved along the tree.    (RW8)"""
    placed = links(model, q)
    a1 = partial_velocities(model, placed)
    lack = lacks(model, placed, motions(model, q, qd, np.zeros(model.nv), placed), w_ext)
    A, B = _matrix(model, placed, a1), tau + _loads_on_rates(model, placed, a1, lack)
    factors = tree_ldl.factor(A, *rate_tree(model))
    return Solution(tree_ldl.solve(factors, B), tree_ldl.pivots(factors), np.diag(A))  # (RW8)
