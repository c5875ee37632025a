"""Derivatives of the inverse dynamics by coordinates and rates in closed form, in axes of the bodies.

After Carpentier & Mansard 2018 and Singh, Russell & Wensing 2022, for pairs whose p is fixed in axes of the child. A
column p = [e; u] of pair j moves all that it carries like one rigid body. Of the parent of j, seen at O_j: ω, α, a, v;
ω_j and v_j are of body j, e_j and u_j the halves of p q̇. A point x of what j carries, from O_j, then accelerates by

    ψ = ω × e,   β = α × e + ω × ψ,   b = α × u + ω × (ω × u) − e × a − 2 ψ × v                       (ED1)
    by q, in axes that turn along:   b + β × x + 2 ψ × ẋ                                              (ED2)
    φ = ψ + ω_j × e,   c = 2 ω × u + e × u_j + e_j × u − 2 e × v_j                                    (ED3)
    by q̇:   c + φ × x + 2 e × ẋ                                                                       (ED4)

All that pair i carries has the mass m, first moment s and inertia I about O_i, momentum P and K = tr(G) 1 − G with
G = Σ m x ẋᵀ. A body alone has

    P = m v + ω × s,   K = −[v][s] − J [ω] + ½ tr(J) [ω]                                              (ED5)
    P' = R P,   K' = R K Rᵀ − [P'][a]                           as the parent has it                  (ED6)

The wrenches about O_i that (ED2), (ED4) and p itself require of it, and the moment that ψ and e are projected on:

    U = [I β + s × b + 2 Kᵀψ;  m b − s × β + 2 ψ × P]                                                  (ED7)
    W = [I φ + s × c + 2 Kᵀe;  m c − s × φ + 2 e × P]                                                  (ED8)
    Z = [I e + s × u;  m u − s × e],   y = 2 (K e + P × u)                                             (ED9)

Towards the ground U turns with the wrench w = [n; f] of the pair, which moves along:

    V = U + [e × n + u × f;  e × f]                                                                   (ED10)

and with j: i and its ancestors, V instead of U where j ≠ i,

    ∂τ_j/∂q_i = p_jᵀ U_i,   ∂τ_i/∂q_j = Z_iᵀ [β; b]_j + y_iᵀ ψ_j                                       (ED11)
    ∂τ_j/∂q̇_i = p_jᵀ W_i,   ∂τ_i/∂q̇_j = Z_iᵀ [φ; c]_j + y_iᵀ e_j                                       (ED12)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector
from kinpair.formulations import newton_euler
from kinpair.formulations.composite import NOTHING, compose
from kinpair.formulations.kinematics import Placement, no_wrenches, placements
from kinpair.formulations.masses import Rigid
from kinpair.model.model import Body, Model
from kinpair.model.recursion import ancestors, coordinates, inward, joint_space, outward, rates
from kinpair.spatial.rotation import cross, skew

ZERO, NO_COLUMNS = np.zeros(3), np.zeros((3, 0))


class Moving(NamedTuple):
    """Motion of a body at O_i in its axes, and fields of its pair by column (3, k)."""

    omega: Vector
    alpha: Vector
    v: Vector
    a: Vector
    fields: Fields


class Fields(NamedTuple):
    """Accelerations of what a pair carries: by q (ED1), and by q̇ (ED3)."""

    psi: Matrix
    beta: Matrix
    b: Matrix
    phi: Matrix
    c: Matrix


class Momentum(NamedTuple):
    """P and K of all that a pair carries."""

    P: Vector
    K: Matrix


class Carried(NamedTuple):
    """Wrenches (ED7)–(ED9) by column towards the ground; `turns` is what V adds to U."""

    U: Wrench
    turns: Wrench
    W: Wrench
    Z: Wrench
    y: Matrix


class Wrench(NamedTuple):
    """Moments and forces by column (3, k)."""

    n: Matrix
    f: Matrix


def _move(body: Body, parent: Moving, place: Placement, q: Vector, qd: Vector, qdd: Vector) -> Moving:
    R, arm = place
    p = body.pair.p(q)
    e, u = p[:3], p[3:]
    e_j, u_j = e @ qd, u @ qd
    omega, alpha = R.T @ parent.omega, R.T @ parent.alpha
    W = skew(parent.omega)
    v = R.T @ (parent.v + W @ arm)
    a = R.T @ (parent.a + (skew(parent.alpha) + W @ W) @ arm)
    w_, al_ = skew(omega), skew(alpha)
    psi = w_ @ e
    beta = al_ @ e + w_ @ psi
    b = al_ @ u + w_ @ (w_ @ u) + skew(a) @ e + 2.0 * (skew(v) @ psi)  # (ED1)
    omega_j, v_j = omega + e_j, v + u_j
    phi = psi + skew(omega_j) @ e
    c = 2.0 * (w_ @ u) - skew(u_j) @ e + skew(e_j) @ u + 2.0 * (skew(v_j) @ e)  # (ED3)
    alpha_j = alpha + e @ qdd + cross(omega, e_j)
    a_j = a + u @ qdd + cross(2.0 * omega + e_j, u_j)
    return Moving(omega_j, alpha_j, v_j, a_j, Fields(psi, beta, b, phi, c))


def _gather(
    body: Body, outer: tuple[Vector, Matrix], moving: Moving, place: Placement
) -> tuple[Momentum, tuple[Vector, Matrix]]:
    w_, s_ = skew(moving.omega), skew(body.s)
    P = body.m * moving.v + w_ @ body.s + outer[0]
    K = 0.5 * np.trace(body.J) * w_ - skew(moving.v) @ s_ - body.J @ w_ + outer[1]  # (ED5)
    P_parent = place.R @ P
    K_parent = place.R @ K @ place.R.T - skew(P_parent) @ skew(place.a)  # (ED6)
    return Momentum(P, K), (P_parent, K_parent)


def _wrench(x: Rigid, turn: Matrix, shift: Matrix) -> Wrench:
    """Return what an acceleration `shift` + `turn` × x requires of a rigid body."""
    s_ = skew(x.s)
    return Wrench(x.I @ turn + s_ @ shift, x.m * shift - s_ @ turn)


def _coriolis(x: Momentum, turn: Matrix) -> Wrench:
    """Return what an acceleration 2 `turn` × ẋ requires."""
    return Wrench(2.0 * (x.K.T @ turn), -2.0 * (skew(x.P) @ turn))


def _sum(a: Wrench, b: Wrench) -> Wrench:
    return Wrench(a.n + b.n, a.f + b.f)


def _begin(
    body: Body, x: Rigid, h: Momentum, w: Vector, moving: Moving, place: Placement, q: Vector
) -> Carried:
    p = body.pair.p(q)
    e, u = p[:3], p[3:]
    psi, beta, b, phi, c = moving.fields
    U = _sum(_wrench(x, beta, b), _coriolis(h, psi))  # (ED7)
    W = _sum(_wrench(x, phi, c), _coriolis(h, e))  # (ED8)
    y = 2.0 * (h.K @ e + skew(h.P) @ u)  # (ED9)
    n_, f_ = skew(w[:3]), skew(w[3:])
    return Carried(U, Wrench(-(n_ @ e) - f_ @ u, -(f_ @ e)), W, _wrench(x, e, u), y)  # (ED10)


def _visit(
    body: Body, x: Carried, _: Rigid, h: Momentum, w: Vector, moving: Moving, place: Placement, q: Vector
) -> tuple[tuple[tuple[Matrix, Matrix], tuple[Matrix, Matrix]], Carried]:
    p = body.pair.p(q)
    e, u = p[:3], p[3:]
    psi, beta, b, phi, c = moving.fields
    by_q = x.Z.n.T @ beta + x.Z.f.T @ b + x.y.T @ psi, e.T @ x.U.n + u.T @ x.U.f  # (ED11)
    by_qd = x.Z.n.T @ phi + x.Z.f.T @ c + x.y.T @ e, e.T @ x.W.n + u.T @ x.W.f  # (ED12)
    still = np.zeros(x.y.shape)
    on = Carried(
        _handed(place, _sum(x.U, x.turns)),
        Wrench(still, still),
        _handed(place, x.W),
        _handed(place, x.Z),
        place.R @ x.y,
    )
    return (by_q, by_qd), on


def _handed(place: Placement, w: Wrench) -> Wrench:
    """Return a wrench as the parent has it."""
    f = place.R @ w.f
    return Wrench(place.R @ w.n + skew(place.a) @ f, f)


def serves(model: Model) -> bool:
    """True if p of every pair is fixed in axes of the child."""
    return not any(model.body[i].pair.axes_move for i in model.moving)


def effort_derivatives(model: Model, q: Vector, qd: Vector, qdd: Vector) -> tuple[Matrix, Matrix]:
    """∂τ/∂q along the rates and ∂τ/∂q̇ (nv, nv) of the inverse dynamics where nothing is applied."""
    model = model.lean
    places, qs = placements(model, q), coordinates(model, q)
    still = Moving(ZERO, ZERO, ZERO, -model.gravity, Fields(*[NO_COLUMNS] * 5))
    moving = outward(model, _move, still, places, qs, rates(model, qd), rates(model, qdd))
    masses = inward(model, compose, NOTHING, places, qs)
    momenta = inward(model, _gather, (ZERO, np.zeros((3, 3))), moving, places)
    w = newton_euler.wrenches(model, q, qd, qdd, no_wrenches(model))
    entries = ancestors(model, _begin, _visit, masses, momenta, w, moving, places, qs)
    by_q, by_qd = ({place: x[k] for place, x in entries.items()} for k in range(2))
    return joint_space(model, by_q), joint_space(model, by_qd)
