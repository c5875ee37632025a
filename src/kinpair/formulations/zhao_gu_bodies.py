"""Motion of the bodies, translation in inertial axes and rotation in body axes (Zhao & Gu 1991).

Y are the coordinates, Ẏ the rates. j is the parent of i, S the axes of j seen from i, ρ = C_j → O_i in axes of j,
d = O_i → C_i and p, p̊ of the pair in axes of i, e and u the angular and linear half of p Ẏ:

    ω_i = S ω_j + e                          axes of i; ω_j in axes of j                         (ZG1)
    v_i = J_Ti Ẏ,   ω_i = J_Ri Ẏ             v of the mass centre, inertial axes                 (ZG2)
    J_Ri = S J_Rj + p_ω                                                                          (ZG3)
    J_Ti = J_Tj − R_j [ρ] J_Rj + R_i (p_v − [d] J_Ri)                                            (ZG4)
    a_i = J_Ti Ÿ + k_Ti,   α_i = J_Ri Ÿ + k_Ri                                                   (ZG5)
    k_Ri = S k_Rj + p̊_ω Ẏ + S ω_j × e                                                            (ZG6)
    k_Ti = k_Tj + R_j A_j ρ + R_i (p̊_v Ẏ + (2 S ω_j + e) × u + A_i d),   A = [k_R] + [ω]²        (ZG7)

The k are quadratic in Ẏ: with the products Ẏ_a Ẏ_b, a ≤ b, in one column Π they are matrices of Y alone,

    k_Ti = K_Ti(Y) Π,   k_Ri = K_Ri(Y) Π                                                         (ZG8)

Derivation, no line of code: (ZG2).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector, array, assemble
from kinpair.model.model import Body, Model
from kinpair.model.recursion import ByBody, coordinates, each, outward, rates
from kinpair.spatial.rotation import IDENTITY, cross, skew

ZERO, ZERO3 = np.zeros(3), np.zeros((3, 3))


class Placed(NamedTuple):
    """Place of one body."""

    R: Matrix  # axes of the body, inertial
    seat: Matrix  # axes of the seat of its pair, inertial
    S: Matrix  # axes of the parent, seen from the body
    rho: Vector  # C_j → O_i, in axes of the parent


class Moved(NamedTuple):
    """Velocity of a body, and its acceleration while Ÿ is zero."""

    omega: Vector
    k_T: Vector  # inertial axes
    k_R: Vector  # axes of the body
    A: Matrix  # [k_R] + [ω]²


class Block(NamedTuple):
    """Block that a pair adds to the velocities of a body: columns of J_T and J_R (3, nv)."""

    T: Matrix
    R: Matrix


GROUND = Placed(IDENTITY, IDENTITY, IDENTITY, ZERO)
STILL = Moved(ZERO, ZERO, ZERO, ZERO3)


def _place(body: Body, parent: Placed, q: Vector) -> Placed:
    seat, turn = parent.R @ body.R_seat, body.pair.rotation(q)
    rho = body.r_seat + body.R_seat @ body.pair.translation(q)
    return Placed(seat @ turn, seat, (body.R_seat @ turn).T, rho)


def placed(model: Model, q: Vector) -> ByBody:
    """Every body in its place."""
    return outward(model, _place, GROUND, coordinates(model, q))


def jacobians(model: Model, q: Vector, at: ByBody) -> ByBody:
    """J_Ti and J_Ri by body: a dict over the pairs k between body and ground.    (ZG3), (ZG4)"""
    found: ByBody = [{}]
    for i, q_i in zip(model.moving, coordinates(model, q)[1:], strict=True):
        body, (R, _, S, rho), inner = model.body[i], at[i], at[model.parent[i]].R
        p, d_ = body.pair.p(q_i), skew(body.d)
        arm = inner @ skew(rho)
        blocks = {}
        for k, J_j in found[model.parent[i]].items():
            J_R = S @ J_j.R
            blocks[k] = Block(J_j.T - arm @ J_j.R - R @ (d_ @ J_R), J_R)
        if body.pair.nv:
            blocks[i] = Block(R @ (p[3:] - d_ @ p[:3]), p[:3])
        found.append(blocks)
    return found


def _move(
    body: Body, parent: tuple[Moved, Matrix], at: Placed, q: Vector, qd: Vector
) -> tuple[Moved, Matrix]:
    """Next to the motion the axes of the body, which the next one needs."""
    before, R_j = parent
    rate, change = body.pair.p(q) @ qd, body.pair.pd(q, qd) @ qd
    e, u = rate[:3], rate[3:]
    carried = at.S @ before.omega
    omega = carried + e  # (ZG1)
    k_R = at.S @ before.k_R + change[:3] + cross(carried, e)  # (ZG6)
    W = skew(omega)
    A = skew(k_R) + W @ W
    own = change[3:] + cross(2.0 * carried + e, u) + A @ body.d
    return Moved(omega, before.k_T + R_j @ (before.A @ at.rho) + at.R @ own, k_R, A), at.R  # (ZG7)


def motions(model: Model, q: Vector, qd: Vector, at: ByBody) -> ByBody:
    """ω, k_T and k_R by body."""
    found = outward(model, _move, (STILL, IDENTITY), at, coordinates(model, q), rates(model, qd))
    return [moved for moved, _ in found]


class Accelerated(NamedTuple):
    """Acceleration of one body: of its mass centre in inertial axes, and angular in its own."""

    a: Vector
    alpha: Vector


def accelerations(model: Model, J: ByBody, moved: ByBody, qdd: Vector) -> ByBody:
    """a_i and α_i by body.    (ZG5)"""
    parts = rates(model, qdd)

    def sums(blocks: dict[int, Block], x: Moved) -> Accelerated:
        a = sum((block.T @ parts[k] for k, block in blocks.items()), x.k_T)
        return Accelerated(a, sum((block.R @ parts[k] for k, block in blocks.items()), x.k_R))

    return [None, *(sums(J[i], moved[i]) for i in model.moving)]


def stacked(model: Model, J: ByBody) -> Matrix:
    """J̄ = [J_T1; …; J_TP; J_R1; …; J_RP] (6P, nv)."""
    P = len(model.moving)
    blocks: list[tuple[slice, slice, Matrix]] = []
    for i in model.moving:
        for k, block in J[i].items():
            blocks.append((slice(3 * i - 3, 3 * i), model.v_span[k], block.T))
            blocks.append((slice(3 * (P + i) - 3, 3 * (P + i)), model.v_span[k], block.R))
    return assemble((6 * P, model.nv), blocks)


def velocity_matrices(model: Model, q: Vector) -> tuple[ByBody, ByBody]:
    """K_Ti(Y) and K_Ri(Y) (3, nv (nv + 1)/2) by body, a column a product Ẏ_a Ẏ_b, a ≤ b.    (ZG8)

    Column (a, a) is k at the unit rate a; column (a, b) what k at both unit rates has beyond those of each.
    """
    at, units = placed(model, q), np.eye(model.nv)

    def k_at(rate: Vector) -> tuple[list[Vector], list[Vector]]:
        found = motions(model, q, rate, at)[1:]
        return [x.k_T for x in found], [x.k_R for x in found]

    alone = [k_at(unit) for unit in units]
    columns = [
        alone[a] if a == b else _beyond(k_at(units[a] + units[b]), alone[a], alone[b])
        for a, b in products(model.nv)
    ]
    return _by_body(model, columns, lambda x: x[0]), _by_body(model, columns, lambda x: x[1])


def products(nv: int) -> list[tuple[int, int]]:
    """Pairs (a, b) of rates, a ≤ b, in the order of the columns of K_T and K_R."""
    return list(combinations_with_replacement(range(nv), 2))


Vectors = tuple[list[Vector], list[Vector]]


def _beyond(both: Vectors, a: Vectors, b: Vectors) -> Vectors:
    T, R = ([z - x - y for z, x, y in zip(*parts, strict=True)] for parts in zip(both, a, b, strict=True))
    return T, R


def _by_body(model: Model, columns: list[Vectors], half: Callable[[Vectors], list[Vector]]) -> ByBody:
    if not columns:
        return [None, *(np.zeros((3, 0)) for _ in model.moving)]
    return [None, *(array([list(half(c)[n]) for c in columns]).T for n in range(len(model.moving)))]


def inertia_forces(model: Model, moved: ByBody, accelerated: ByBody) -> ByBody:
    """m a in inertial axes, and Ī α + ω × Ī ω in those of the body, by body."""

    def force(body: Body, x: Moved, y: Accelerated) -> tuple[Vector, Vector]:
        return body.m * y.a, body.I @ y.alpha + cross(x.omega, body.I @ x.omega)

    return each(model, force, moved, accelerated)
