"""Decoupled natural orthogonal complement (Saha 1999, corrected), for trees.

Twists are those of the mass centres, t = [ω; v_C], in axes of each body. Numbers in brackets without the prefix D
are the source's; docs/equations/denoc.md has the derivation and the list of corrections. i is a body, j
its parent, k its children; d = O_i → C_i, c_ij = C_i → C_j.

    t_i  = B_ij t_j + p_i q̇_i,   p_i = [p_ω; p_v + p_ω × d]                              (D1)
    N_l  = blocks B_ij,   N_d = diag(p_i),   t = N_l N_d q̇                               (D2)
    Mc_i = M_i + Σ_k B_kiᵀ Mc_k B_ki                                                     (D3)
    H_ij = p_iᵀ Mc_i B_ij p_j                               j: i and its ancestors       (24)
    mu_i = Ṁ_i + Σ_k B_kiᵀ mu_k B_ki,   Ṁ_i = diag([ω_i] I_i, 0)                         (28a)
    H̃_ij = Mc_i Ḃ_ij + G_i B_ij,   G_i = Σ_k B_kiᵀ (Mc_k Ḃ_ki + G_k B_ki)                (28b)
    C_ji = p_jᵀ B_ijᵀ (Mc_i ṗ_i + (G_i + mu_i) p_i)         j: i and its ancestors       (29a)
    C_ij = p_iᵀ (Mc_i B_ij ṗ_j + H̃_ij p_j + mu_i B_ij p_j)       j: proper ancestors      (29b)
    ṫ_i  = B_ij ṫ_j + Ḃ_ij t_j + p_i q̈_i + ṗ_i q̇_i                                       (D4)
    τ_i  = p_iᵀ w̃_i,   w̃_i = M_i ṫ_i + Ṁ_i t_i − w_ext + Σ_k B_kiᵀ w̃_k                   (30)

with ṗ_i = Ω_i p_i + p̊_i. With mass-centre twists and this Ṁ the matrix Ḣ − 2C is skew-symmetric.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra import ldl
from kinpair.algebra.arrays import Matrix, Vector, assemble, congruence, symmetric
from kinpair.formulations.kinematics import placement
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
from kinpair.spatial.pose import propagation, propagation_rate, rotate, shift_twist, shift_wrench, spin
from kinpair.spatial.rotation import cross, skew

NO_TWIST = np.zeros(6)
NO_MASS = np.zeros((6, 6))


class Link(NamedTuple):
    """Geometry of one body at the coordinates q."""

    R_ij: Matrix
    B: Matrix  # B_ij, j the parent
    p: Matrix  # (6, nv)


class Moving(NamedTuple):
    """Velocities of one body."""

    t: Vector  # [ω; v_C] in axes of the body
    Bd: Matrix  # Ḃ_ij
    pd: Matrix  # ṗ_i, absolute


def _link(body: Body, q: Vector) -> Link:
    R_ij = placement(body, q).R.T
    c_ij = -(R_ij @ (body.r_seat + body.R_seat @ body.pair.translation(q))) - body.d
    return Link(R_ij, propagation(R_ij, c_ij), shift_twist(body.pair.p(q), body.d))


def geometry(model: Model, q: Vector) -> ByBody:
    """R_ij, B_ij and p_i by body."""
    return each(model, _link, coordinates(model, q))


def _twist(body: Body, t_j: Vector, link: Link, qd: Vector) -> Vector:
    return link.B @ t_j + link.p @ qd  # (D1)


def twists(model: Model, q: Vector, qd: Vector) -> ByBody:
    """t_i = [ω_i; v_Ci] by body, in axes of the body."""
    return outward(model, _twist, NO_TWIST, geometry(model, q), rates(model, qd))


def _moving(body: Body, parent: Moving, link: Link, q: Vector, qd: Vector) -> Moving:
    t = link.B @ parent.t + link.p @ qd  # (D1)
    Bd = propagation_rate(link.R_ij, link.R_ij @ parent.t[3:] - t[3:])
    pd = spin(t[:3]) @ link.p + shift_twist(body.pair.pd(q, qd), body.d)
    return Moving(t, Bd, pd)


STILL = Moving(NO_TWIST, NO_MASS, np.zeros((6, 0)))


def motion(model: Model, q: Vector, qd: Vector, links: ByBody) -> ByBody:
    """t_i, Ḃ_ij and ṗ_i by body."""
    return outward(model, _moving, STILL, links, coordinates(model, q), rates(model, qd))


def body_mass(body: Body) -> Matrix:
    """M_i = diag(I_i, m_i 1)."""
    m = body.m * np.eye(3)
    return assemble((6, 6), [(slice(0, 3), slice(0, 3), body.I), (slice(3, 6), slice(3, 6), m)])


def body_mass_rate(body: Body, omega: Vector) -> Matrix:
    """Ṁ_i = diag([ω_i] I_i, 0), so that Ṁ_i t_i is the gyroscopic moment."""
    return assemble((6, 6), [(slice(0, 3), slice(0, 3), skew(omega) @ body.I)])


# The complement in full: for study, teaching and tests; the recursions below never build it.


def complement(model: Model, q: Vector) -> tuple[Matrix, Matrix]:
    """N_l (6n, 6n) and N_d (6n, nv) with t = N_l N_d q̇.    (D2)"""
    links = geometry(model, q)
    blocks = {(i, j): B for i, j, B, _ in _path_blocks(model, links, [STILL] * len(links))}
    return _lower(model, blocks), _diagonal(model, [None, *(link.p for link in links[1:])])


def complement_rate(model: Model, q: Vector, qd: Vector) -> tuple[Matrix, Matrix]:
    """Ṅ_l (6n, 6n) and Ṅ_d (6n, nv), derivatives as seen from the ground, in axes of the bodies.    (D2)"""
    links = geometry(model, q)
    moving = motion(model, q, qd, links)
    blocks = {(i, j): Bd for i, j, _, Bd in _path_blocks(model, links, moving)}
    return _lower(model, blocks), _diagonal(model, [None, *(x.pd for x in moving[1:])])


def _path_blocks(model: Model, links: ByBody, moving: ByBody) -> Iterator[tuple[int, int, Matrix, Matrix]]:
    """i, j, B_ij and Ḃ_ij of each body i and its ancestors j, by B_ij = B_ik B_kj."""
    for i in model.moving:
        B: Matrix = np.eye(6)
        Bd = NO_MASS
        for j in model.path_to_ground(i):
            yield i, j, B, Bd
            B, Bd = B @ links[j].B, Bd @ links[j].B + B @ moving[j].Bd


def _rows(i: int) -> slice:
    return slice(6 * i - 6, 6 * i)


def _lower(model: Model, blocks: Mapping[tuple[int, int], Matrix]) -> Matrix:
    n = 6 * len(model.moving)
    return assemble((n, n), [(_rows(i), _rows(j), block) for (i, j), block in blocks.items()])


def _diagonal(model: Model, blocks: ByBody) -> Matrix:
    placed = [(_rows(i), model.v_span[i], blocks[i]) for i in model.moving]
    return assemble((6 * len(model.moving), model.nv), placed)


# Joint-space inertia by composite bodies.


def _compose(body: Body, outer: tuple[Matrix], link: Link) -> tuple[Matrix, tuple[Matrix]]:
    Mc = body_mass(body) + outer[0]  # (D3)
    return Mc, (congruence(link.B, Mc),)


def composite_masses(model: Model, links: ByBody) -> ByBody:
    """Mc_i: body i and all that it carries, as one rigid body."""
    return inward(model, _compose, (NO_MASS,), links)


def _inertia_begin(body: Body, link: Link, Mc: Matrix) -> Matrix:
    return Mc @ link.p


def _inertia_step(body: Body, w: Matrix, link: Link, Mc: Matrix) -> tuple[tuple[Matrix, Matrix], Matrix]:
    H_ij = w.T @ link.p  # (24)
    return (H_ij, H_ij.T), link.B.T @ w


def mass_matrix(model: Model, q: Vector) -> Matrix:
    """H = Nᵀ M N + rotors, block by block.    (24)"""
    links = geometry(model, q)
    Mc = composite_masses(model, links)
    H = joint_space(model, ancestors(model, _inertia_begin, _inertia_step, links, Mc))
    return H + np.diag(joined(model, each(model, lambda body: body.rotor)))


# Convective inertia.


def _gather(
    body: Body, outer: tuple[Matrix, Matrix], link: Link, moving: Moving, Mc: Matrix
) -> tuple[Matrix, tuple[Matrix, Matrix]]:
    mu = body_mass_rate(body, moving.t[:3]) + outer[0]  # (28a)
    G = outer[1]
    BT = link.B.T
    return G + mu, (BT @ mu @ link.B, BT @ (Mc @ moving.Bd + G @ link.B))  # (28b)


def _convective_begin(
    body: Body, link: Link, moving: Moving, Mc: Matrix, K: Matrix
) -> tuple[Matrix, Matrix, Matrix]:
    w = Mc @ link.p  # will be B_ijᵀ Mc_i p_i
    z = K.T @ link.p  # will be (Mc_i Ḃ_ij + (G_i + mu_i) B_ij)ᵀ p_i
    y = Mc @ moving.pd + K @ link.p  # will be B_ijᵀ (Mc_i ṗ_i + (G_i + mu_i) p_i)
    return w, z, y


def _convective_step(
    body: Body, x: tuple[Matrix, Matrix, Matrix], link: Link, moving: Moving, Mc: Matrix, K: Matrix
) -> tuple[tuple[Matrix, Matrix], tuple[Matrix, Matrix, Matrix]]:
    w, z, y = x
    below = w.T @ moving.pd + z.T @ link.p  # (29b)
    above = link.p.T @ y  # (29a)
    BT = link.B.T
    return (below, above), (BT @ w, BT @ z + moving.Bd.T @ w, BT @ y)


def coriolis_matrix(model: Model, q: Vector, qd: Vector) -> Matrix:
    """C = Nᵀ (M Ṅ + Ṁ N), block by block; Ḣ − 2C is skew-symmetric.    (eqs 28, 29)"""
    links = geometry(model, q)
    moving = motion(model, q, qd, links)
    Mc = composite_masses(model, links)
    K = inward(model, _gather, (NO_MASS, NO_MASS), links, moving, Mc)
    return joint_space(model, ancestors(model, _convective_begin, _convective_step, links, moving, Mc, K))


# Order-n inverse dynamics.


class Accelerating(NamedTuple):
    """Twist of one body and its derivative, which includes −g."""

    t: Vector
    td: Vector


def _accelerate(
    body: Body, parent: Accelerating, link: Link, q: Vector, qd: Vector, qdd: Vector
) -> Accelerating:
    moving = _moving(body, Moving(parent.t, NO_MASS, NO_MASS), link, q, qd)
    td = link.B @ parent.td + moving.Bd @ parent.t + link.p @ qdd + moving.pd @ qd  # (D4)
    return Accelerating(moving.t, td)


def _gather_wrench(
    body: Body, outer: tuple[Vector], link: Link, x: Accelerating, w_ext: Vector
) -> tuple[Vector, tuple[Vector]]:
    omega, alpha, a = x.t[:3], x.td[:3], x.td[3:]
    n = body.I @ alpha + cross(omega, body.I @ omega)  # M ṫ + Ṁ t
    w = np.concatenate([n, body.m * a]) - shift_wrench(w_ext, -body.d) + outer[0]  # (30)
    return w, (link.B.T @ w,)


def wrenches(model: Model, q: Vector, qd: Vector, qdd: Vector, w_ext: Sequence[Any]) -> tuple[ByBody, ByBody]:
    """w̃_i, the wrench each pair hands to its body, at C_i in its axes; and the geometry used."""
    links = geometry(model, q)
    ground = Accelerating(NO_TWIST, np.concatenate([np.zeros(3), -model.gravity]))
    x = outward(model, _accelerate, ground, links, coordinates(model, q), rates(model, qd), rates(model, qdd))
    return inward(model, _gather_wrench, (NO_TWIST,), links, x, w_ext), links


def _effort(body: Body, w: Vector, link: Link, qdd: Vector) -> Vector:
    return link.p.T @ w + body.rotor * qdd  # (30)


def inverse_dynamics(model: Model, q: Vector, qd: Vector, qdd: Vector, w_ext: Sequence[Any]) -> Vector:
    """τ that produces the motion; the work grows as n."""
    w, links = wrenches(model, q, qd, qdd, w_ext)
    return joined(model, each(model, _effort, w, links, rates(model, qdd)))


def _in_seat(body: Body, w: Vector, q: Vector) -> Vector:
    return rotate(body.pair.rotation(q), shift_wrench(w, body.d))


def reactions(model: Model, q: Vector, qd: Vector, qdd: Vector, w_ext: Sequence[Any]) -> ByBody:
    """Wrench on each body from its pair, at O_i, in axes of the joint frame as described; by body."""
    w, _ = wrenches(model, q, qd, qdd, w_ext)
    seen = each(model, _in_seat, w, coordinates(model, q))
    return [None, *(rotate(model.R_joint[i].T, seen[i]) for i in model.moving)]


# Order-n forward dynamics by reverse Gaussian elimination, H = U D Uᵀ.


class Eliminated(NamedTuple):
    """Results of the inward sweep for the outward one."""

    psi: Matrix  # ψ_i (6, nv)
    phi: Vector  # φ̃_i (nv,)
    pivots: Vector  # of D_i (nv,)
    scales: Vector  # diagonal of D_i (nv,)


def _eliminate(
    body: Body, outer: tuple[Matrix, Vector], link: Link, phi: Vector
) -> tuple[Eliminated, tuple[Matrix, Vector]]:
    """One step of U φ̂ = φ with the articulated mass of the body.

    M̂ = M + Σ_k B_kᵀ M̄_k B_k,  ψ̂ = M̂ p,  D = pᵀψ̂ + rotor,  ψ = ψ̂ D⁻¹,  M̄ = M̂ − ψ ψ̂ᵀ       (D5)
    η̃ = Σ_k B_kᵀ η_k,  φ̂ = φ − pᵀη̃,  η = ψ φ̂ + η̃,  φ̃ = D⁻¹ φ̂                                (D6)
    """
    Ma = body_mass(body) + outer[0]  # (D5)
    psi_hat = Ma @ link.p
    D = link.p.T @ psi_hat + np.diag(body.rotor)
    factors = ldl.factor(D)
    psi_T = ldl.solve_columns(factors, psi_hat.T)
    phi_hat = phi - link.p.T @ outer[1]  # (D6)
    eta = psi_T.T @ phi_hat + outer[1]
    handed = congruence(link.B, Ma - symmetric(psi_hat @ psi_T)), link.B.T @ eta
    left = Eliminated(psi_T.T, ldl.solve_factored(factors, phi_hat), ldl.pivots(factors), np.diag(D))
    return left, handed


def _substitute(
    body: Body, parent: tuple[Vector, Vector], x: Eliminated, link: Link
) -> tuple[Vector, Vector]:
    """One step of Uᵀ q̈ = φ̃:  μ̃ = B μ_j,  q̈ = φ̃ − ψᵀ μ̃,  μ = p q̈ + μ̃.    (D7)"""
    mu_tilde = link.B @ parent[1]
    qdd = x.phi - x.psi.T @ mu_tilde  # (D7)
    return qdd, link.p @ qdd + mu_tilde


def forward_dynamics(model: Model, q: Vector, qd: Vector, tau: Vector, w_ext: Sequence[Any]) -> Solution:
    """q̈ that the efforts produce; the work grows as n."""
    phi = tau - inverse_dynamics(model, q, qd, np.zeros(model.nv), w_ext)
    return solve(model, q, phi)


def solve(model: Model, q: Vector, phi: Vector) -> Solution:
    """x of H x = φ by H = U D Uᵀ without H."""
    links = geometry(model, q)
    x = inward(model, _eliminate, (NO_MASS, NO_TWIST), links, rates(model, phi))
    solution = outward(model, _substitute, (np.zeros(0), NO_TWIST), x, links)
    pivots, scales = each(model, lambda _, x: x.pivots, x), each(model, lambda _, x: x.scales, x)
    qdd = each(model, lambda _, f: f[0], solution)
    return Solution(joined(model, qdd), joined(model, pivots), joined(model, scales))
