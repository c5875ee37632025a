"""Lagrange's equations by homogeneous 4×4 matrices (Uicker 1965, 1968; Kahn & Roth 1971).

T_p places the mass centre of body p in the world. Pairs are products of screws of one parameter; Q_j is the derivative
operator of the j-th, and carried to the world it differentiates every T_p that the rate j moves:

    Q_j  = [[p_ω], p_v; 0, 0],   Δ_j = T_j Q_j T_j⁻¹ = [[e_j], u_j; 0, 0]                            (U1)
    U_pj = ∂T_p/∂q_j = Δ_j T_p,   U_pjk = ∂²T_p/∂q_j∂q_k = Δ_j Δ_k T_p        j before k             (U2)

With the second moments of a body about its mass centre, S = ½ tr(I) 1 − I,

    Ψ_p  = [S, 0; 0, m],   W_p = T_p Ψ_p T_pᵀ                                                        (U3)
    D_ij  = Σ_p tr(U_pj Ψ_p U_piᵀ)  = tr(Δ_j W Δ_iᵀ)                                                 (U4)
    D_ijk = Σ_p tr(U_pjk Ψ_p U_piᵀ) = tr(Δ_j Δ_k W Δ_iᵀ)                                             (U5)
    D_i   = −Σ_p m g·U_pi c         = −[g; 0]·Δ_i W [0; 1]                                           (U6)
    τ_i   = Σ_j D_ij q̈_j + Σ_jk D_ijk q̇_j q̇_k + D_i − applied                                        (U7)

where p is over the bodies that every rate of the term moves, and W = Σ_p W_p is the same sum, taken once for the
outermost of these rates. Traces share Y_ki = Δ_k W Δ_iᵀ = Y_ikᵀ, since the last row of Δ_k is zero:

    D_ik = tr(Y_ki),   D_ijk = tr([e_j] Y_ki) = e_j·y_ki = −D_kji,   y_ki the axial vector of Y_ki    (U8)

D_ijk is Christoffel's symbol of the first kind, so C_ij = Σ_k D_ijk q̇_k has Ḣ − 2C skew. Every coefficient is written
out: the work of a chain grows as n³. With a sum over the bodies for each, as in the source, it grows as n⁴.

Derivation, no line of code: (U2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra import tree_ldl
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.formulations.kinematics import Placement, placements, poses
from kinpair.formulations.solution import Solution
from kinpair.model.model import Body, Model
from kinpair.model.recursion import ByBody, coordinates, each, inward, joined, rate_tree
from kinpair.spatial.pose import Pose
from kinpair.spatial.rotation import cross, skew, turned

Coefficients = dict[tuple[int, int], Scalar]  # by rates in rising order


def operators(pose: Pose, p: Matrix) -> list[Matrix]:
    """Δ of each column of the unit motions p (6, k) of a body: its upper three rows, the last is zero.    (U1)"""
    e, v = pose.R @ p[:3], pose.R @ p[3:]
    u = v + skew(pose.a) @ e
    return [np.concatenate([skew(e[:, k]), u[:, k : k + 1]], axis=1) for k in range(p.shape[1])]


def second_moments(body: Body, pose: Pose) -> Matrix:
    """W (4, 4): Σ m x xᵀ over the points x = (r; 1) of a body in the world.    (U3)"""
    C = (pose.R @ body.d + pose.a).reshape(3, 1)
    S = np.diag(array([0.5 * np.trace(body.I)] * 3)) - body.I
    upper = np.concatenate([turned(pose.R, S) + body.m * (C @ C.T), body.m * C], axis=1)
    return np.concatenate([upper, array([[*upper[:, 3], body.m]])])


def _gather(body: Body, outer: tuple[Matrix], pose: Pose) -> tuple[Matrix, tuple[Matrix]]:
    W = second_moments(body, pose) + outer[0]
    return W, (W,)


class Terms(NamedTuple):
    """Terms by rate k: the rates i from the ground to k itself, Δ_k, and Δ_k W; (3, 4) each."""

    inner: list[list[int]]
    Delta: list[Matrix]
    X: list[Matrix]

    def axis(self, k: int) -> Vector:
        """Axis e_k of the rate."""
        D = self.Delta[k]
        return array([D[2, 1], D[0, 2], D[1, 0]])

    def pairs(self) -> Iterator[tuple[int, int, Matrix]]:
        """k, i and Y_ki (3, 3) of rates that move a body together, k the outer one.    (U8)"""
        for k, inner in enumerate(self.inner):
            for i in inner:
                yield k, i, self.X[k] @ self.Delta[i].T


def terms(model: Model, q: Vector) -> Terms:
    """Operators, and their products with the moments of all that they move."""
    where = poses(model, q)
    W = inward(model, _gather, (np.zeros((4, 4)),), where)
    ops = each(model, lambda body, pose, q: operators(pose, body.pair.p(q)), where, coordinates(model, q))
    inner: list[Any] = [None] * model.nv
    Delta: list[Any] = [None] * model.nv
    X: list[Any] = [None] * model.nv
    for i in model.moving:
        before = _before(model, i)
        for n, k in enumerate(_rates(model, i)):
            inner[k], Delta[k], X[k] = [*before, *_rates(model, i)[: n + 1]], ops[i][n], ops[i][n] @ W[i]
    return Terms(inner, Delta, X)


def _rates(model: Model, i: int) -> range:
    return range(model.v_span[i].start, model.v_span[i].stop)


def _before(model: Model, i: int) -> list[int]:
    """Rates between the ground and the parent of body i."""
    return [k for j in reversed(model.path_to_ground(i)[1:]) for k in _rates(model, j)]


def _axial(Y: Matrix) -> Vector:
    """y with tr([e] Y) = e·y."""
    return array([Y[1, 2] - Y[2, 1], Y[2, 0] - Y[0, 2], Y[0, 1] - Y[1, 0]])


def _sorted(j: int, k: int) -> tuple[int, int]:
    return (j, k) if j < k else (k, j)


def _table(n: int, entries: Coefficients) -> Matrix:
    """The symmetric matrix of the entries, zero elsewhere."""
    if not n:
        return np.zeros((0, 0))
    return array([[entries.get(_sorted(i, j), 0.0) for j in range(n)] for i in range(n)])


def inertias(model: Model, x: Terms) -> Matrix:
    """D_ij (nv, nv), without rotors.    (U4)"""
    return _table(model.nv, {_sorted(i, k): np.trace(Y) for k, i, Y in x.pairs()})  # (U8)


def convective(model: Model, x: Terms) -> list[Coefficients]:
    """D_ijk over the pairs j, k for each i; what is not there is zero.    (U5)"""
    D: list[Coefficients] = [{} for _ in range(model.nv)]
    for k, i, Y in x.pairs():
        if i == k:
            continue  # Y_kk is symmetric
        y = _axial(Y)
        for j in x.inner[k]:
            D[i][_sorted(j, k)] = x.axis(j) @ y  # (U8)
        for j in x.inner[i]:
            D[k][_sorted(j, i)] = -D[i][_sorted(j, k)]
    return D


def weights(model: Model, x: Terms) -> Vector:
    """D_i (nv).    (U6)"""
    return array([-(model.gravity @ X[:, 3]) for X in x.X]) if x.X else np.zeros(0)


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
    return array([list(_table(model.nv, D_i) @ qd) for D_i in D]) if D else np.zeros((0, 0))


def inverse_dynamics(model: Model, q: Vector, qd: Vector, qdd: Vector, w_ext: Sequence[Any]) -> Vector:
    """τ that produces the motion, every coefficient written out.    (U7)"""
    x = terms(model, q)
    of_rates = [_quadratic(D_i, qd) for D_i in convective(model, x)]
    H = inertias(model, x) + np.diag(_rotors(model))
    h = array(of_rates) if of_rates else np.zeros(0)
    return H @ qdd + h + weights(model, x) - applied(model, q, w_ext)  # (U7)


def _quadratic(D: Coefficients, qd: Vector) -> Scalar:
    """Σ_jk D_jk q̇_j q̇_k, each pair once."""
    return sum((x * (qd[j] * qd[k] * (1.0 if j == k else 2.0)) for (j, k), x in D.items()), 0.0)


def forward_dynamics(model: Model, q: Vector, qd: Vector, tau: Vector, w_ext: Sequence[Any]) -> Solution:
    """q̈ of D_ij q̈_j = τ − h, solved along the tree."""
    h = inverse_dynamics(model, q, qd, np.zeros(model.nv), w_ext)
    H = mass_matrix(model, q)
    factors = tree_ldl.factor(H, *rate_tree(model))
    return Solution(tree_ldl.solve(factors, tau - h), tree_ldl.pivots(factors), np.diag(H))
