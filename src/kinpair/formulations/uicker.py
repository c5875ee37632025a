"""Lagrange's equations by homogeneous 4×4 matrices (Uicker 1965, 1968; Kahn & Roth 1971).

T_p places body p in the world. Pairs are products of screws of one parameter; Q_j is the derivative operator of
the j-th, and carried to the world it differentiates every T_p that the rate j moves:

    Q_j  = [[p_ω], p_v; 0, 0],   Δ_j = T_j Q_j T_j⁻¹                                                 (U1)
    U_pj = ∂T_p/∂q_j = Δ_j T_p,   U_pjk = ∂²T_p/∂q_j∂q_k = Δ_j Δ_k T_p        j before k             (U2)

With the second moments of a body about its origin, S = ½ tr(J) 1 − J,

    Ψ_p  = [S, s; sᵀ, m],   W_p = T_p Ψ_p T_pᵀ                                                       (U3)
    D_ij  = Σ_p tr(U_pj Ψ_p U_piᵀ)  = Σ_p tr(Δ_j W_p Δ_iᵀ)                                           (U4)
    D_ijk = Σ_p tr(U_pjk Ψ_p U_piᵀ) = Σ_p tr(Δ_j Δ_k W_p Δ_iᵀ)                                       (U5)
    D_i   = −Σ_p m g·U_pi c = −Σ_p [g; 0]·Δ_i W_p [0; 1]                                             (U6)
    τ_i   = Σ_j D_ij q̈_j + Σ_jk D_ijk q̇_j q̇_k + D_i − applied                                        (U7)

D_ijk is Christoffel's symbol of the first kind, so C_ij = Σ_k D_ijk q̇_k has Ḣ − 2C skew. Each D_ijk is a sum over
the bodies: the work of a chain grows as n⁴. Δ_j Δ_k serves all bodies, Δ_i W_p all pairs j, k.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra import tree_ldl
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.formulations.kinematics import Placement, placements
from kinpair.formulations.solution import Solution
from kinpair.model.model import Body, Model
from kinpair.model.recursion import ByBody, coordinates, each, inward, joined, outward, rate_tree
from kinpair.spatial.pose import HOME, Pose
from kinpair.spatial.rotation import cross, skew

LAST = np.array([[0.0, 0.0, 0.0, 1.0]])


def homogeneous(R: Matrix, a: Vector) -> Matrix:
    """[R, a; 0, 1]."""
    return np.concatenate([np.concatenate([R, a.reshape(3, 1)], axis=1), LAST])


def operator(p: Vector) -> Matrix:
    """Q = [[p_ω], p_v; 0, 0] of a unit motion (6,).    (U1)"""
    return np.concatenate([np.concatenate([skew(p[:3]), p[3:].reshape(3, 1)], axis=1), 0.0 * LAST])


def second_moments(body: Body) -> Matrix:
    """Ψ (4, 4): Σ m x xᵀ over the points x = (r; 1) of a body, about its origin.    (U3)"""
    S = np.diag(array([0.5 * np.trace(body.J)] * 3)) - body.J
    upper = np.concatenate([S, body.s.reshape(3, 1)], axis=1)
    return np.concatenate([upper, array([[*body.s, body.m]])])


class Placed(NamedTuple):
    """A body in the world: its pose, the operators Δ of its pair, its second moments W."""

    pose: Pose
    Delta: list[Matrix]
    W: Matrix


def _place(body: Body, parent: Placed, place: Placement, q: Vector) -> Placed:
    pose = parent.pose @ Pose(place.R, place.a)
    back = pose.inverse()
    T, T_inverse = homogeneous(pose.R, pose.a), homogeneous(back.R, back.a)
    p = body.pair.p(q)
    Delta = [T @ operator(p[:, k]) @ T_inverse for k in range(body.pair.nv)]  # (U1)
    return Placed(pose, Delta, T @ second_moments(body) @ T.T)  # (U3)


class Terms(NamedTuple):
    """What each body adds: the rates that move it, Δ_i W_p of each; and all Δ in the order of the rates."""

    Delta: list[Matrix]
    moved_by: list[list[int]]
    X: list[list[Matrix]]


def terms(model: Model, q: Vector) -> Terms:
    """Operators by rate; rates from the ground outward and products Δ_i W_p by carried body."""
    placed = outward(
        model, _place, Placed(HOME, [], np.zeros((4, 4))), placements(model, q), coordinates(model, q)
    )
    Delta: list[Any] = [None] * model.nv
    for i in model.moving:
        Delta[model.v_span[i]] = placed[i].Delta
    moved_by = [_moved_by(model, p) for p in model.carried]
    X = [[Delta[i] @ placed[p].W for i in found] for p, found in zip(model.carried, moved_by, strict=True)]
    return Terms(Delta, moved_by, X)


def _moved_by(model: Model, p: int) -> list[int]:
    spans = [model.v_span[j] for j in reversed(model.path_to_ground(p))]
    return [k for span in spans for k in range(span.start, span.stop)]


def _trace(A: Matrix, B: Matrix) -> Scalar:
    """tr(A Bᵀ) of matrices whose last row is zero."""
    return np.sum(A[:3] * B[:3])


def _table(n: int, entries: dict[tuple[int, int], Scalar]) -> Matrix:
    """The symmetric matrix of the entries, zero elsewhere."""
    if not n:
        return np.zeros((0, 0))
    return array([[entries.get((min(i, j), max(i, j)), 0.0) for j in range(n)] for i in range(n)])


def inertias(model: Model, x: Terms) -> Matrix:
    """D_ij (nv, nv), without rotors.    (U4)"""
    D: dict[tuple[int, int], Scalar] = {}
    for moved_by, X in zip(x.moved_by, x.X, strict=True):
        for (i, X_i), (j, _) in combinations_with_replacement(zip(moved_by, X, strict=True), 2):
            key = min(i, j), max(i, j)
            D[key] = D.get(key, 0.0) + _trace(X_i, x.Delta[j])  # (U4)
    return _table(model.nv, D)


def convective(model: Model, x: Terms) -> list[Matrix]:
    """D_ijk as a symmetric matrix over j, k for each i.    (U5)"""
    products: dict[tuple[int, int], Matrix] = {}
    D: list[dict[tuple[int, int], Scalar]] = [{} for _ in range(model.nv)]
    for moved_by, X in zip(x.moved_by, x.X, strict=True):
        for j, k in combinations_with_replacement(moved_by, 2):
            if (j, k) not in products:
                products[j, k] = x.Delta[j] @ x.Delta[k]  # (U2)
            key = min(j, k), max(j, k)
            for i, X_i in zip(moved_by, X, strict=True):
                D[i][key] = D[i].get(key, 0.0) + _trace(products[j, k], X_i)  # (U5)
    return [_table(model.nv, entries) for entries in D]


def weights(model: Model, x: Terms) -> Vector:
    """D_i (nv).    (U6)"""
    D: list[Scalar] = [0.0] * model.nv
    for moved_by, X in zip(x.moved_by, x.X, strict=True):
        for i, X_i in zip(moved_by, X, strict=True):
            D[i] = D[i] - model.gravity @ X_i[:3, 3]  # (U6)
    return array(D) if D else np.zeros(0)


def _carry(
    body: Body, outer: tuple[Vector, Vector], place: Placement, w: Vector
) -> tuple[Vector, tuple[Vector, Vector]]:
    n, f = w[:3] + outer[0], w[3:] + outer[1]
    f_parent = place.R @ f
    return np.concatenate([n, f]), (place.R @ n + cross(place.a, f_parent), f_parent)


def applied(model: Model, q: Vector, w_ext: Sequence[Any]) -> Vector:
    """The wrenches on the bodies as forces along the rates (nv)."""
    w: ByBody = inward(model, _carry, (np.zeros(3), np.zeros(3)), placements(model, q), w_ext)
    return joined(model, each(model, lambda body, w, q: body.pair.p(q).T @ w, w, coordinates(model, q)))


def _rotors(model: Model) -> Vector:
    return joined(model, each(model, lambda body: body.rotor))


def mass_matrix(model: Model, q: Vector) -> Matrix:
    """H = D_ij + rotors."""
    return inertias(model, terms(model, q)) + np.diag(_rotors(model))


def coriolis_matrix(model: Model, q: Vector, qd: Vector) -> Matrix:
    """C_ij = Σ_k D_ijk q̇_k."""
    D = convective(model, terms(model, q))
    return array([list(D_i @ qd) for D_i in D]) if D else np.zeros((0, 0))


def inverse_dynamics(model: Model, q: Vector, qd: Vector, qdd: Vector, w_ext: Sequence[Any]) -> Vector:
    """τ that produces the motion, every coefficient written out.    (U7)"""
    x = terms(model, q)
    of_rates = [qd @ (D_i @ qd) for D_i in convective(model, x)]
    H = inertias(model, x) + np.diag(_rotors(model))
    h = array(of_rates) if of_rates else np.zeros(0)
    return H @ qdd + h + weights(model, x) - applied(model, q, w_ext)  # (U7)


def forward_dynamics(model: Model, q: Vector, qd: Vector, tau: Vector, w_ext: Sequence[Any]) -> Solution:
    """q̈ of D_ij q̈_j = τ − h, solved along the tree."""
    h = inverse_dynamics(model, q, qd, np.zeros(model.nv), w_ext)
    H = mass_matrix(model, q)
    factors = tree_ldl.factor(H, *rate_tree(model))
    return Solution(tree_ldl.solve(factors, tau - h), tree_ldl.pivots(factors), np.diag(H))
