"""Accelerations of the bodies as linear forms of q̈, in inertial axes (Vukobratović et al., ch. 1.5, 2.1.1).

The mechanism is assembled pair by pair. The placed parent j shows where the seat of pair i is; the body is put
there in its zero position and turned by the pair, for a hinge by Rodrigues' formula about the placed axis:

    S_i = R_j R_seat,   R_i = S_i R(q)                                                          (LF1)
    a_i = R_j a_seat + S_i z(q),   d_i = R_i d,   I_i = R_i I R_iᵀ         O_j → O_i, O_i → C_i  (LF2)
    e_i = R_i p_ω,   u_i = R_i p_v                      axes and directions of pair i            (LF3)

Angular velocity, angular acceleration, and acceleration of the joint point and of the mass centre:

    ω_i = ω_j + e_i q̇                                                                           (LF4)
    ε_i = ε_j + e_i q̈ + ω_j × e_i q̇ + R_i p̊_ω q̇                                                 (LF5)
    o_i = o_j + A_j a_i + u_i q̈ + (ω_j + ω_i) × u_i q̇ + R_i p̊_v q̇,   A = [ε] + [ω]²             (LF6)
    w_i = o_i + A_i d_i                                                                         (LF7)

They are linear in q̈, k: the pairs between body i and the ground,

    ε_i = Σ_k α_ik q̈_k + α_i⁰,   α_ik = e_k                                                     (LF8)
    w_i = Σ_k β_ik q̈_k + β_i⁰,   β_ik = u_k + e_k × (C_i − O_k)                                 (LF9)

and the remainders α⁰, β⁰ are the accelerations at q̈ = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector
from kinpair.model.model import Body, Model
from kinpair.model.recursion import ByBody, coordinates, each, inward, joined, outward, rates
from kinpair.spatial.pose import rotate, shift_wrench
from kinpair.spatial.rotation import IDENTITY, cross, skew, turned

ZERO, ZERO3 = np.zeros(3), np.zeros((3, 3))


class Placed(NamedTuple):
    """Place of one body in inertial axes."""

    S: Matrix  # axes of the seat
    R: Matrix  # axes of the body
    a: Vector  # O_j → O_i, j the parent
    d: Vector  # O_i → C_i
    I: Matrix  # about C_i
    e: Matrix  # (3, nv) axes about which the pair turns
    u: Matrix  # (3, nv) directions in which it slides


class Accelerated(NamedTuple):
    """Motion of one body, in inertial axes."""

    omega: Vector
    epsilon: Vector  # ω̇
    A: Matrix  # [ε] + [ω]²: a point x from another one is A x ahead in acceleration
    o: Vector  # acceleration of O_i
    w: Vector  # acceleration of C_i


NO_PAIR = np.zeros((3, 0))
GROUND = Placed(IDENTITY, IDENTITY, ZERO, ZERO, ZERO3, NO_PAIR, NO_PAIR)
STILL = Accelerated(ZERO, ZERO, ZERO3, ZERO, ZERO)


class Form(NamedTuple):
    """Amount that a unit of q̈_k adds to the accelerations of body i."""

    alpha: Matrix  # (3, nv)
    beta: Matrix  # (3, nv)
    r: Vector  # C_i − O_k


def _place(body: Body, parent: Placed, q: Vector) -> Placed:
    S = parent.R @ body.R_seat
    R = S @ body.pair.rotation(q)  # (LF1)
    a = parent.R @ body.a_seat + S @ body.pair.translation(q)  # (LF2)
    p = body.pair.p(q)
    return Placed(S, R, a, R @ body.d, turned(R, body.I), R @ p[:3], R @ p[3:])  # (LF3)


def assembled(model: Model, q: Vector) -> ByBody:
    """Every body in its place, pair by pair from the ground."""
    return outward(model, _place, GROUND, coordinates(model, q))


def moved_with(at: Placed, omega: Vector, epsilon: Vector, o: Vector) -> Accelerated:
    """The motion of a body from its rotation and the acceleration of its joint point."""
    W = skew(omega)
    A = skew(epsilon) + W @ W
    return Accelerated(omega, epsilon, A, o, o + A @ at.d)  # (LF7)


def _accelerate(
    body: Body, parent: Accelerated, at: Placed, q: Vector, qd: Vector, qdd: Vector
) -> Accelerated:
    turn, slide = at.e @ qd, at.u @ qd
    change = body.pair.pd(q, qd) @ qd
    omega = parent.omega + turn  # (LF4)
    epsilon = parent.epsilon + at.e @ qdd + cross(parent.omega, turn) + at.R @ change[:3]  # (LF5)
    o = parent.o + parent.A @ at.a + at.u @ qdd  # (LF6)
    o = o + cross(parent.omega + omega, slide) + at.R @ change[3:]
    return moved_with(at, omega, epsilon, o)


def accelerations(model: Model, placed: ByBody, q: Vector, qd: Vector, qdd: Vector) -> ByBody:
    """ω_i, ε_i and w_i by body; at q̈ = 0 the remainders α_i⁰ and β_i⁰."""
    state = coordinates(model, q), rates(model, qd), rates(model, qdd)
    return outward(model, _accelerate, STILL, placed, *state)


def forms(model: Model, placed: ByBody) -> ByBody:
    """α_ik and β_ik by body i: a dict over k, body i first, then its ancestors."""
    return [{}, *(_along_path(model, placed, i) for i in model.moving)]


def _along_path(model: Model, placed: ByBody, i: int) -> dict[int, Form]:
    by_rate: dict[int, Form] = {}
    r = placed[i].d
    for k in model.path_to_ground(i):
        at = placed[k]
        by_rate[k] = Form(at.e, at.u - skew(r) @ at.e, r)  # (LF8), (LF9)
        r = r + at.a
    return by_rate


def turning_couple(body: Body, at: Placed, x: Accelerated) -> Vector:
    """I ε + ω × I ω of one body, in inertial axes; the products in its own, where I is constant."""
    omega, epsilon = at.R.T @ x.omega, at.R.T @ x.epsilon
    return at.R @ (body.I @ epsilon + cross(omega, body.I @ omega))


def applied(at: Placed, w_ext: Vector) -> Vector:
    """A wrench at O_i in axes of the body: the same at C_i in inertial axes."""
    return shift_wrench(rotate(at.R, w_ext), -at.d)


def totals(model: Model, values: Sequence[Any]) -> ByBody:
    """Sum of a value over each body and all that it carries."""
    return inward(model, _total, (0.0,), values)


def _total(body: Body, outer: tuple[Any], value: Any) -> tuple[Any, tuple[Any]]:
    total = value + outer[0]
    return total, (total,)


def rotors(model: Model) -> Vector:
    """Rotor inertia as felt at the rates (nv,)."""
    return joined(model, each(model, lambda body: body.rotor))
