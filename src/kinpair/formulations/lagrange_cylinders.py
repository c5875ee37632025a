"""Lagrange's equations of cylinders on hinges, written out (Vukobratović, chapter 1.3, corrected).

Numbers with a dot are the source's, those with a prefix ours; docs/equations/lagrange.md has the list
of corrections.
Link i is a cylinder, or any body with the inertia of one: J_S about its axis q_i, J_N across, J_SN = J_S − J_N. e_l is
the axis of hinge l, r_li = O_l → C_i, and l, m, k are hinges between the ground and link i; other entries are zero.

    M¹ⁱ_lm = (J_N + m r_li·r_mi)(e_l·e_m) + J_SN (e_l·q_i)(e_m·q_i) − m (e_l·r_mi)(e_m·r_li)          (1.16)
    M²ⁱ    = Σ_k φ̇_k ∂M¹ⁱ/∂φ_k − ½ [φ̇ᵀ ∂M¹ⁱ/∂φ_l], row l                                              (1.23)
    fⁱ_l   = −m g·(e_l × r_li)                                                                        (LC1)
    τ      = Σ_i M¹ⁱ φ̈ + M²ⁱ φ̇ + fⁱ                                                                  (LC2)

An entry with l before m is computed in axes of link l, where e_l stands still: it depends on the angles
beyond l alone, and a turn of hinge k beyond l changes what hangs on it,

    ∂e_m = e_k × e_m,   ∂r_mi = e_k × (C_i less the outer of O_m, O_k),   ∂q_i = e_k × q_i             (LC3)

M² φ̇ is C q̇, but Ṁ¹ − 2 M² is not skew.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra import ldl
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.errors import InputError
from kinpair.formulations.arguments import check_model, checked
from kinpair.formulations.kinematics import placements
from kinpair.model.model import Model
from kinpair.spatial.pose import HOME, Pose
from kinpair.spatial.rotation import cross

ALONG_Z = np.array([0.0, 0.0, 1.0])
ROUND = 1e-9  # of an inertia, as a part of its largest entry


class Cylinder(NamedTuple):
    """Mass, axial and transverse inertia, mass centre and axis of one link, in axes of its body."""

    m: float
    J_S: float
    J_N: float
    d: Vector
    q: Vector


def cylinders(model: Model) -> list[Cylinder]:
    """The links as cylinders, by body; refused where a pair is no hinge or an inertia not that of a cylinder."""
    check_model(model)
    for i in model.moving:
        body, joint = model.body[i], model.joint_names[i]
        if body.pair.kind != "revolute" or np.any(body.rotor != 0.0):
            raise InputError(
                f"{model.name}: joint {joint!r} is {body.pair.kind}; the equations of cylinders need hinges without "
                "rotors, `lagrange` takes every pair",
                joint=joint,
            )
    return [Cylinder(0.0, 0.0, 0.0, np.zeros(3), ALONG_Z), *(_cylinder(model, i) for i in model.moving)]


def _cylinder(model: Model, i: int) -> Cylinder:
    body = model.body[i]
    for J_S, J_N in _inertias(body.I):
        K = body.I - J_N * np.eye(3)  # J_SN q qᵀ
        k = int(np.argmax(np.abs(np.diag(K))))
        small = ROUND * np.abs(body.I).max()
        q = K[:, k] / np.sqrt(K[:, k] @ K[:, k]) if abs(J_S - J_N) > small else ALONG_Z
        if np.abs(K - (J_S - J_N) * np.outer(q, q)).max() <= small:
            return Cylinder(body.m, J_S, J_N, body.d, q)
    raise InputError(
        f"{model.name}: link {model.names[i]!r} has not the inertia of a cylinder; `lagrange` takes every inertia",
        link=model.names[i],
    )


def _inertias(I: Matrix) -> list[tuple[float, float]]:
    """J_S and J_N from tr I = J_S + 2 J_N and tr I² = J_S² + 2 J_N²: two answers, one of which is the body's."""
    t, s = np.trace(I), np.trace(I @ I)
    root = np.sqrt(max(6.0 * s - 2.0 * t * t, 0.0))
    return [(t - 2.0 * J_N, J_N) for J_N in ((2.0 * t + root) / 6.0, (2.0 * t - root) / 6.0)]


class Hinge(NamedTuple):
    """Axis and point of a hinge, in axes of link l."""

    e: Vector
    O: Vector


class Seen(NamedTuple):
    """Link i and the hinges from l to i, from link l outward, in axes of link l."""

    hinges: list[Hinge]
    C: Vector
    q: Vector


def seen(model: Model, q: Vector, cylinder: list[Cylinder], l: int, i: int) -> Seen:
    """Contribution of link i to link l, on the path from the ground to i."""
    places = placements(model, q)
    path = model.path_to_ground(i)
    pose, hinges = HOME, [Hinge(ALONG_Z, np.zeros(3))]
    for k in reversed(path[: path.index(l)]):
        pose = pose @ Pose(*places[k])
        hinges.append(Hinge(pose.R @ ALONG_Z, pose.a))
    return Seen(hinges, pose.R @ cylinder[i].d + pose.a, pose.R @ cylinder[i].q)


class Changing(NamedTuple):
    """The vectors of one entry, or their change with one angle."""

    e_l: Vector
    e_m: Vector
    r_l: Vector
    r_m: Vector
    q: Vector


def _vectors(x: Seen, m: int) -> Changing:
    first, other = x.hinges[0], x.hinges[m]
    return Changing(first.e, other.e, x.C - first.O, x.C - other.O, x.q)


def _slopes(x: Seen, m: int, k: int) -> Changing:
    """∂/∂φ_k, hinges counted from l = 0, k beyond it.    (LC3)"""
    turn = x.hinges[k]
    r_k = x.C - turn.O
    e_m = cross(turn.e, x.hinges[m].e) if k < m else np.zeros(3)
    r_m = cross(turn.e, x.C - x.hinges[max(k, m)].O)
    return Changing(np.zeros(3), e_m, cross(turn.e, r_k), r_m, cross(turn.e, x.q))


def _entry(c: Cylinder, x: Changing) -> Scalar:
    """Entry M¹ⁱ_lm of the mass matrix.    (1.16)"""
    J_SN = c.J_S - c.J_N
    return (
        (c.J_N + c.m * (x.r_l @ x.r_m)) * (x.e_l @ x.e_m)
        + J_SN * (x.e_l @ x.q) * (x.e_m @ x.q)
        - c.m * (x.e_l @ x.r_m) * (x.e_m @ x.r_l)
    )


def _entry_slope(c: Cylinder, x: Changing, d: Changing) -> Scalar:
    """∂M¹ⁱ_lm by the rule of products."""
    J_SN = c.J_S - c.J_N
    return (
        c.m * (d.r_l @ x.r_m + x.r_l @ d.r_m) * (x.e_l @ x.e_m)
        + (c.J_N + c.m * (x.r_l @ x.r_m)) * (d.e_l @ x.e_m + x.e_l @ d.e_m)
        + J_SN * (d.e_l @ x.q + x.e_l @ d.q) * (x.e_m @ x.q)
        + J_SN * (x.e_l @ x.q) * (d.e_m @ x.q + x.e_m @ d.q)
        - c.m * (d.e_l @ x.r_m + x.e_l @ d.r_m) * (x.e_m @ x.r_l)
        - c.m * (x.e_l @ x.r_m) * (d.e_m @ x.r_l + x.e_m @ d.r_l)
    )


def _square(n: int, entries: dict[tuple[int, int], Any]) -> Matrix:
    return array([[entries.get((r, c), 0.0) for c in range(n)] for r in range(n)])


def _hinges(model: Model, i: int) -> list[int]:
    """Bodies from the ground to i: each stands for its hinge."""
    return model.path_to_ground(i)[::-1]


def _rate(model: Model, l: int) -> int:
    return model.v_span[l].start


def inertia_shares(model: Model, q: Vector) -> list[Matrix]:
    """M¹ⁱ (nv, nv) by link; H is their sum.    (1.16)"""
    every = cylinders(model)
    (q,) = checked(model, q=q)
    return [_inertia_share(model, q, every, i) for i in model.moving]


def _inertia_share(model: Model, q: Vector, every: list[Cylinder], i: int) -> Matrix:
    entries: dict[tuple[int, int], Scalar] = {}
    path = _hinges(model, i)
    for l, m in combinations_with_replacement(range(len(path)), 2):
        x = seen(model, q, every, path[l], i)
        row, column = _rate(model, path[l]), _rate(model, path[m])
        entries[row, column] = entries[column, row] = _entry(every[i], _vectors(x, m - l))  # (1.16)
    return _square(model.nv, entries)


def inertia_slopes(model: Model, q: Vector, i: int) -> list[Matrix]:
    """∂M¹ⁱ/∂φ_k (nv, nv) for each angle k, of the link of body i.    (LC3)"""
    every = cylinders(model)
    (q,) = checked(model, q=q)
    if i not in model.moving:
        raise InputError(f"{model.name}: no body {i}; they are 1 to {len(model.moving)}", body=i)
    slopes: list[dict[tuple[int, int], Scalar]] = [{} for _ in range(model.nv)]
    path = _hinges(model, i)
    for l, m in combinations_with_replacement(range(len(path)), 2):
        x = seen(model, q, every, path[l], i)
        row, column = _rate(model, path[l]), _rate(model, path[m])
        for k in range(l + 1, len(path)):
            d = _entry_slope(every[i], _vectors(x, m - l), _slopes(x, m - l, k - l))
            entries = slopes[_rate(model, path[k])]
            entries[row, column] = entries[column, row] = d
    return [_square(model.nv, entries) for entries in slopes]


def convective_shares(model: Model, q: Vector, qd: Vector) -> list[Matrix]:
    """M²ⁱ (nv, nv) by link.    (1.23)"""
    q, qd = checked(model, q=q, qd=qd)
    shares: list[Matrix] = []
    for i in model.moving:
        slopes = inertia_slopes(model, q, i)
        rate = array(_along(slopes, qd))
        rows = array([list(qd @ slope) for slope in slopes])
        shares.append(rate - 0.5 * rows)  # (1.23)
    return shares


def _along(slopes: list[Matrix], qd: Vector) -> list[list[Scalar]]:
    """Σ_k φ̇_k ∂M¹ⁱ/∂φ_k, row by row."""
    n = len(slopes)
    return [[sum(qd[k] * slopes[k][l, m] for k in range(n)) for m in range(n)] for l in range(n)]


def weight_shares(model: Model, q: Vector) -> list[Vector]:
    """fⁱ (nv) by link, in world axes.    (LC1)"""
    every = cylinders(model)
    (q,) = checked(model, q=q)
    places = placements(model, q)
    poses = [HOME]
    for i in model.moving:
        poses.append(poses[model.parent[i]] @ Pose(*places[i]))
    shares: list[Vector] = []
    for i in model.moving:
        C = poses[i].R @ every[i].d + poses[i].a
        f: list[Scalar] = [0.0] * model.nv
        for l in _hinges(model, i):
            lever = cross(poses[l].R @ ALONG_Z, C - poses[l].a)
            f[_rate(model, l)] = -every[i].m * (model.gravity @ lever)  # (LC1)
        shares.append(array(f))
    return shares


def inverse_dynamics(model: Model, q: Vector, qd: Vector, qdd: Vector) -> Vector:
    """τ, link by link.    (LC2)"""
    q, qd, qdd = checked(model, q=q, qd=qd, qdd=qdd)
    shares = zip(
        inertia_shares(model, q), convective_shares(model, q, qd), weight_shares(model, q), strict=True
    )
    return sum((M1 @ qdd + M2 @ qd + f for M1, M2, f in shares), np.zeros(model.nv))  # (LC2)


def forward_dynamics(model: Model, q: Vector, qd: Vector, tau: Vector) -> Vector:
    """φ̈ (nv,) of (Σ_i M¹ⁱ) φ̈ = τ − Σ_i (M²ⁱ φ̇ + fⁱ).    (LC2)"""
    q, qd, tau = checked(model, q=q, qd=qd, tau=tau)
    H = sum(inertia_shares(model, q), np.zeros((model.nv, model.nv)))
    h = inverse_dynamics(model, q, qd, np.zeros(model.nv))
    return ldl.solve(H, tau - h)[0]
