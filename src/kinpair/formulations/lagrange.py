"""Lagrange's equations for links of general inertia, in world axes (Vukobratović, chapters 1.3 and 2.2).

Numbers with two dots are the source's, those with a prefix ours; docs/equations/lagrange.md has the
derivation. i is a link, k and l are rates between the ground and i, j the pair of k; r = O_j → C_i.

    α_ik = e_k,   β_ik = u_k + e_k × r              ω_i = Σ α_ik q̇_k,  v_i = Σ β_ik q̇_k              (LG1)
    H    = Σ_i m βᵀβ + αᵀ J α                                                                        (LG2)
    T    = ½ Σ_i m v·v + ω·J ω,   V = −Σ_i m g·C_i                                                   (LG3)
    d/dt ∂T/∂q̇_k = Σ_i m (β̇_ik·v + β_ik·v̇) + α̇_ik·J ω + α_ik·(J ω̇ + ω × J ω)                       (LG4)
    ∂T/∂q_k      = Σ_i m v·∂_k v + J ω·∂_k ω + ω·(e_k × J ω)                                         (LG5)
                   ∂_k ω = e_k × (ω − ω_λ) + ∂_k p,   λ the parent of j
                   ∂_k v = ω_λ × β_ik + e_k × (v less the velocity of λ there) + ∂_k p
    τ_k  = d/dt ∂T/∂q̇_k − ∂T/∂q_k − Σ_m γ_mk ∂T/∂q̇_m + ∂V/∂q_k − applied                            (LG6)

γ is zero where the rates are dq/dt. Where they are the twist of a body (spherical, free) it is the term of
Boltzmann and Hamel:  Σ_m γ_mk p_m = (p q̇) × p_k + p̊_k − ∂_k p q̇.                                  (LG7)

The two halves of (LG6) meet the same momenta P = m v, L = J ω; collected, a link adds to τ_k

    (ṗ_k − ∂_k p − Σ_m γ_mk p_m)·[L; P] + p_k·[J ω̇ + (ω + ω_λ) × L + (ω_λ × r − u q̇) × P; m v̇ + ω_λ × P]   (LG9)
    p·[n; f] = e·n + (u + e × r)·f,   u q̇ the velocity of O_j in λ

Christoffel's symbols need coordinates; with S = ½ tr(J) 1 − J and ω_<l the part of ω that comes before l:

    C_kl = Σ_i m β_ik·β̇_il + e_k·((S ω_<l) × e_l + (S e_l) × (ω − ω_<l))                             (LG8)

Derivation, no line of code: (LG4), (LG5).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra import tree_ldl
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, assemble, symmetric
from kinpair.formulations.kinematics import State, states
from kinpair.formulations.solution import Solution
from kinpair.model.model import Body, Model
from kinpair.model.recursion import ByBody, coordinates, each, joined, outward, rate_tree, rates
from kinpair.pairs import Pair
from kinpair.spatial.rotation import IDENTITY, cross, skew, turned

ZERO = np.zeros(3)


class Wrench(NamedTuple):
    """Force and moment about a point, or momenta likewise, world axes."""

    f: Vector
    n: Vector

    def __sub__(self, other: Wrench) -> Wrench:
        return Wrench(self.f - other.f, self.n - other.n)


class Columns(NamedTuple):
    """Motions of a body, one a rate of a pair: angular and linear at O_j, world axes (3, k) each."""

    e: Matrix
    u: Matrix

    def __sub__(self, other: Columns) -> Columns:
        return Columns(self.e - other.e, self.u - other.u)

    def at(self, r: Vector) -> Matrix:
        """Velocities of the point r away from O_j."""
        return self.u - skew(r) @ self.e

    def work(self, w: Wrench, r: Vector) -> Vector:
        """f·(u + e × r) + n·e: what a wrench about the point r away from O_j does along each."""
        return self.u.T @ w.f + self.e.T @ (w.n + cross(r, w.f))


class Turning(NamedTuple):
    """A pair and the body it moves, in world axes."""

    R: Matrix
    O: Vector
    omega: Vector  # of the body
    v: Vector  # of O
    p: Columns  # unit motions of the pair
    pd: Columns  # their derivatives in time
    slope: Columns  # ∂_k p q̇, as the body sees it
    hamel: Columns  # Σ_m γ_mk p_m
    slide: Vector  # velocity of O in the parent, u q̇


class Link(NamedTuple):
    """A link with its mass, in world axes."""

    m: Scalar
    C: Vector
    J: Matrix  # about C
    omega: Vector
    v: Vector  # of C


def _columns(R: Matrix, p: Matrix) -> Columns:
    return Columns(R @ p[:3], R @ p[3:])


def _crossed(omega: Vector, v: Vector, p: Matrix) -> Matrix:
    """The twist [ω; v] × each column of p."""
    W = skew(omega)
    return np.concatenate([W @ p[:3], W @ p[3:] + skew(v) @ p[:3]])


def _slope(pair: Pair, q: Vector, qd: Vector) -> Matrix:
    """Columns ∂_k p q̇ (6, nv)."""
    return array([list(pair.pd(q, unit) @ qd) for unit in np.eye(pair.nv)]).T if pair.nv else np.zeros((6, 0))


def _turning(body: Body, state: State, q: Vector, qd: Vector) -> Turning:
    pair, R = body.pair, state.pose.R
    p, p_ring, slope = pair.p(q), pair.pd(q, qd), _slope(pair, q, qd)
    W = skew(state.omega)
    t = p @ qd
    of_coordinates = pair.nq == pair.nv
    hamel = np.zeros(p.shape) if of_coordinates else _crossed(t[:3], t[3:], p) + p_ring - slope  # (LG7)
    return Turning(
        R,
        state.pose.a,
        R @ state.omega,
        R @ state.v,
        _columns(R, p),
        _columns(R, np.concatenate([W @ p[:3], W @ p[3:]]) + p_ring),
        _columns(R, slope),
        _columns(R, hamel),
        R @ t[3:],
    )


def turnings(model: Model, q: Vector, qd: Vector) -> ByBody:
    """Motions of the pairs, by body; the ground is at rest."""
    nothing = Columns(np.zeros((3, 0)), np.zeros((3, 0)))
    still = Turning(IDENTITY, ZERO, ZERO, ZERO, nothing, nothing, nothing, nothing, ZERO)
    turning = each(model, _turning, states(model, q, qd), coordinates(model, q), rates(model, qd))
    return [still, *turning[1:]]


def _link(body: Body, x: Turning) -> Link:
    d = x.R @ body.d
    return Link(body.m, x.O + d, turned(x.R, body.I), x.omega, x.v + cross(x.omega, d))


def links(model: Model, pairs: ByBody) -> ByBody:
    """Mass, mass centre, inertia and velocity of each link."""
    return each(model, _link, pairs)


def partial_velocities(model: Model, pairs: ByBody, i: int, C: Vector) -> tuple[Matrix, Matrix, Vector]:
    """α_i and β_i (3, k) of the point C of link i, and which rates their columns belong to.    (LG1)"""
    path = model.path_to_ground(i)
    alpha = np.concatenate([pairs[j].p.e for j in path], axis=1)
    beta = np.concatenate([pairs[j].p.at(C - pairs[j].O) for j in path], axis=1)
    return alpha, beta, _rates_of(model, path)


def _rates_of(model: Model, path: Sequence[int]) -> np.ndarray:
    return np.concatenate([np.arange(model.v_span[j].start, model.v_span[j].stop) for j in path])


def _spread(model: Model, of: np.ndarray, X: Matrix) -> Matrix:
    """X at the rows and columns `of` of a matrix of all rates."""
    return assemble((model.nv, model.nv), [(of[:, None], of, X)])  # type: ignore[list-item]


def rotors(model: Model) -> Vector:
    """Rotor inertias by rate."""
    return joined(model, each(model, lambda body: body.rotor))


def mass_matrix(model: Model, q: Vector) -> Matrix:
    """H = Σ_i m βᵀβ + αᵀ J α + rotors, link by link: the work of a chain grows as n³.    (LG2)"""
    pairs = turnings(model, q, np.zeros(model.nv))
    link = links(model, pairs)
    H = np.diag(rotors(model))
    for i in model.carried:
        m, J = link[i].m, link[i].J
        alpha, beta, of = partial_velocities(model, pairs, i, link[i].C)
        H = H + _spread(model, of, symmetric(beta.T @ (m * beta) + alpha.T @ (J @ alpha)))  # (LG2)
    return H


def energies(model: Model, q: Vector, qd: Vector) -> tuple[Scalar, Scalar]:
    """T and V from the same vectors.    (LG3)"""
    pairs = turnings(model, q, qd)
    link = links(model, pairs)
    T, V = 0.5 * (qd @ (rotors(model) * qd)), 0.0
    for i in model.carried:
        m, C, J, _, _ = link[i]
        alpha, beta, of = partial_velocities(model, pairs, i, C)
        omega, v = alpha @ qd[of], beta @ qd[of]  # (LG1)
        T = T + 0.5 * (m * (v @ v) + omega @ (J @ omega))  # (LG3)
        V = V - m * (model.gravity @ C)
    return T, V


# Efforts.


class Acceleration(NamedTuple):
    """ω̇ of a body and the acceleration of a point of it, world axes."""

    omega_d: Vector
    v_d: Vector


def _accelerate(
    body: Body, x: Acceleration, own: Turning, parent: Turning, qd: Vector, qdd: Vector
) -> Acceleration:
    """Σ_k α_ik q̈_k + α̇_ik q̇_k, and the same of O."""
    r, rd = own.O - parent.O, own.v - parent.v
    omega_d = x.omega_d + own.p.e @ qdd + own.pd.e @ qd
    v_d = x.v_d + cross(x.omega_d, r) + cross(parent.omega, rd) + own.p.u @ qdd + own.pd.u @ qd
    return Acceleration(omega_d, v_d)


def _at_centre(body: Body, x: Acceleration, own: Turning) -> Acceleration:
    d = own.R @ body.d
    return Acceleration(x.omega_d, x.v_d + cross(x.omega_d, d) + cross(own.omega, cross(own.omega, d)))


def _accelerations(model: Model, pairs: ByBody, qd: Vector, qdd: Vector) -> ByBody:
    """ω̇ and v̇ of the links, of C_i."""
    parents = [None, *(pairs[model.parent[i]] for i in model.moving)]
    still = Acceleration(ZERO, ZERO)
    of_origins = outward(model, _accelerate, still, pairs, parents, rates(model, qd), rates(model, qdd))
    return each(model, _at_centre, of_origins, pairs)


def _momentum(body: Body, link: Link) -> Wrench:
    """P = m v and L = J ω."""
    return Wrench(link.m * link.v, link.J @ link.omega)


def _inertial(link: Link, x: Acceleration, h: Wrench, own: Turning, parent: Turning) -> Wrench:
    """Inertia that α_ik and β_ik meet in d/dt ∂T/∂q̇_k − ∂T/∂q_k."""
    swept = cross(parent.omega, link.C - own.O) - own.slide
    couple = link.J @ x.omega_d + cross(link.omega + parent.omega, h.n) + cross(swept, h.f)
    return Wrench(link.m * x.v_d + cross(parent.omega, h.f), couple)


def _effort(link: Link, x: Acceleration, h: Wrench, own: Turning, parent: Turning, g: Vector) -> Vector:
    """Share of link i in τ_k, without what is applied; m g·β_ik is −∂V/∂q_k."""
    r = link.C - own.O
    inertial, weight = _inertial(link, x, h, own, parent), Wrench(link.m * g, ZERO)
    return (own.pd - own.slope - own.hamel).work(h, r) + own.p.work(inertial - weight, r)  # (LG9)


def _applied(outer: Turning, w: Vector, own: Turning) -> Vector:
    """The applied wrench (at O_i, in axes of body i) as forces along q_k."""
    return own.p.work(Wrench(outer.R @ w[3:], outer.R @ w[:3]), outer.O - own.O)


def inverse_dynamics(model: Model, q: Vector, qd: Vector, qdd: Vector, w_ext: Sequence[Any]) -> Vector:
    """τ that produces the motion, link by link: the work of a chain grows as n².    (LG6), (LG9)"""
    pairs = turnings(model, q, qd)
    link = links(model, pairs)
    momentum = each(model, _momentum, link)
    acceleration = _accelerations(model, pairs, qd, qdd)
    tau: ByBody = [None, *(np.zeros(model.body[i].pair.nv) for i in model.moving)]
    for i in model.carried:
        for j in model.path_to_ground(i):
            own, parent = pairs[j], pairs[model.parent[j]]
            moved = _effort(link[i], acceleration[i], momentum[i], own, parent, model.gravity)
            tau[j] = tau[j] + moved - _applied(pairs[i], w_ext[i], own)
    return joined(model, tau) + rotors(model) * qdd


def forward_dynamics(model: Model, q: Vector, qd: Vector, tau: Vector, w_ext: Sequence[Any]) -> Solution:
    """q̈ of H q̈ = τ − h with H and h of this file, solved along the tree."""
    h = inverse_dynamics(model, q, qd, np.zeros(model.nv), w_ext)
    H = mass_matrix(model, q)
    factors = tree_ldl.factor(H, *rate_tree(model))
    return Solution(tree_ldl.solve(factors, tau - h), tree_ldl.pivots(factors), np.diag(H))


# Christoffel's symbols.


def _before(own: Turning, parent: Turning, qd: Vector) -> Matrix:
    """ω_<l, a column a rate of the pair: the parent's ω and what earlier rates of the pair add."""
    n = own.p.e.shape[1]
    earlier = np.triu(np.ones((n, n)), 1) * qd.reshape(n, 1)
    return parent.omega.reshape(3, 1) + own.p.e @ earlier


def _crosses(A: Matrix, B: Matrix) -> Matrix:
    """Column by column A × B."""
    return array([list(cross(A[:, k], B[:, k])) for k in range(A.shape[1])]).T


def _convective(model: Model, i: int, link: Link, pairs: ByBody, before: ByBody) -> Iterator[Matrix]:
    """Columns of m β̇_il and (S ω_<l) × e_l + (S e_l) × (ω − ω_<l), pair by pair."""
    m, C, J, omega, v = link
    S = np.diag(array([0.5 * np.trace(J)] * 3)) - J
    for j in model.path_to_ground(i):
        own, e = pairs[j], pairs[j].p.e
        if not e.size:
            continue
        beta_d = own.pd.at(C - own.O) - skew(v - own.v) @ e
        turning = _crosses(S @ before[j], e) + _crosses(S @ e, omega.reshape(3, 1) - before[j])
        yield np.concatenate([m * beta_d, turning])


def coriolis_matrix(model: Model, q: Vector, qd: Vector) -> Matrix:
    """C of Christoffel's symbols; Ḣ − 2C is skew-symmetric. Rates must be dq/dt; the work grows as n³.    (LG8)"""
    pairs = turnings(model, q, qd)
    link = links(model, pairs)
    qds = rates(model, qd)
    before = [None, *(_before(pairs[j], pairs[model.parent[j]], qds[j]) for j in model.moving)]
    C = np.zeros((model.nv, model.nv))
    for i in model.carried:
        alpha, beta, of = partial_velocities(model, pairs, i, link[i].C)
        x = np.concatenate([*_convective(model, i, link[i], pairs, before)], axis=1)
        C = C + _spread(model, of, beta.T @ x[:3] + alpha.T @ x[3:])  # (LG8)
    return C
