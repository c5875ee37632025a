"""Matrix C of DeNOC by composite bodies, in vectors of three in axes of the bodies: (28) and (29) without 6 × 6 blocks.

A column p = [e; u] of pair k moves what it carries with the velocity u + e × (r − O_k). Of body k are ω and v, the
velocity of O_k. The rate of change of that field at a mass centre with the velocity ċ, seen from O_k, is

    ė = ω × e + (ṗ)_ω,   c = ω × u + (ṗ)_v − e × v,   c + ė × r + e × ċ                          (CV1)

All that a pair carries has the mass m, first moment s and inertia I about O, momentum P, and D of M ∂/∂t and Ṁ:

    P = m v + ω × s,   D = [ω] (J − m |d|² 1) − [s][v]                     a body alone, mass centre d  (CV2)
    P' = R P,   D' = R D Rᵀ − [a][P']                                      as the parent has it         (CV3)

What M Ṅ + Ṁ N of a column requires of it, and what its columns are projected on:

    N = I ė + s × c + D e,   F = m c − s × ė − P × e                                              (CV4)
    Z = [I e + s × u;  m u − s × e],   y = Dᵀ e + P × u                                           (CV5)

and with j: i and its ancestors, the wrenches carried there and y turned,

    C_ji = p_jᵀ [N; F]_i,   C_ij = Z_iᵀ [ė; c]_j + y_iᵀ e_j                                       (CV6)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector
from kinpair.formulations.composite import NOTHING, compose
from kinpair.formulations.kinematics import Placement, placements
from kinpair.formulations.masses import Rigid
from kinpair.model.model import Body, Model
from kinpair.model.recursion import ancestors, coordinates, inward, joint_space, outward, rates
from kinpair.spatial.rotation import skew

STILL = np.zeros(3), np.zeros(3)
NO_FLOW = np.zeros(3), np.zeros((3, 3))


class Moving(NamedTuple):
    """ω and v of a body at O_i in its axes, and ė and c of its columns (3, k)."""

    omega: Vector
    v: Vector
    turn: Matrix
    shift: Matrix


class Flow(NamedTuple):
    """P (3,) and D (3, 3) of all that a pair carries."""

    P: Vector
    D: Matrix


class Carried(NamedTuple):
    """Moments and forces by column towards the ground, of (CV4) and of Z, and y (3, k)."""

    N: Matrix
    F: Matrix
    n: Matrix
    f: Matrix
    y: Matrix


def _move(body: Body, parent: Moving, place: Placement, q: Vector, qd: Vector) -> Moving:
    R, a = place
    p, pd = body.pair.p(q), body.pair.pd(q, qd)
    e, u = p[:3], p[3:]
    omega = R.T @ parent.omega + e @ qd
    v = R.T @ (parent.v + skew(parent.omega) @ a) + u @ qd
    w_ = skew(omega)
    return Moving(omega, v, w_ @ e + pd[:3], w_ @ u + pd[3:] + skew(v) @ e)  # (CV1)


def _gather(
    body: Body, outer: tuple[Vector, Matrix], moving: Moving, place: Placement
) -> tuple[Flow, tuple[Vector, Matrix]]:
    w_, v_ = skew(moving.omega), skew(moving.v)
    P = body.m * moving.v + w_ @ body.s + outer[0]
    own = body.J - (body.s @ body.d) * np.eye(3)
    D = w_ @ own - skew(body.s) @ v_ + outer[1]  # (CV2)
    P_parent = place.R @ P
    return Flow(P, D), (P_parent, place.R @ D @ place.R.T - skew(place.a) @ skew(P_parent))  # (CV3)


def _begin(body: Body, x: Rigid, h: Flow, moving: Moving, place: Placement, q: Vector) -> Carried:
    p = body.pair.p(q)
    e, u = p[:3], p[3:]
    s_, P_ = skew(x.s), skew(h.P)
    N = x.I @ moving.turn + s_ @ moving.shift + h.D @ e
    F = x.m * moving.shift - s_ @ moving.turn - P_ @ e  # (CV4)
    return Carried(N, F, x.I @ e + s_ @ u, x.m * u - s_ @ e, h.D.T @ e + P_ @ u)  # (CV5)


def _visit(
    body: Body, w: Carried, x: Rigid, h: Flow, moving: Moving, place: Placement, q: Vector
) -> tuple[tuple[Matrix, Matrix], Carried]:
    p, R, a_ = body.pair.p(q), place.R, skew(place.a)
    below = w.n.T @ moving.turn + w.f.T @ moving.shift + w.y.T @ p[:3]
    above = p[:3].T @ w.N + p[3:].T @ w.F  # (CV6)
    F, f = R @ w.F, R @ w.f
    return (below, above), Carried(R @ w.N + a_ @ F, F, R @ w.n + a_ @ f, f, R @ w.y)


def coriolis_matrix(model: Model, q: Vector, qd: Vector) -> Matrix:
    """C = Nᵀ (M Ṅ + Ṁ N) (nv, nv); Ḣ − 2C is skew-symmetric.    (CV6)"""
    places, qs = placements(model, q), coordinates(model, q)
    still = Moving(*STILL, *[np.zeros((3, 0))] * 2)
    moving = outward(model, _move, still, places, qs, rates(model, qd))
    masses = inward(model, compose, NOTHING, places, qs)
    flows = inward(model, _gather, NO_FLOW, moving, places)
    return joint_space(model, ancestors(model, _begin, _visit, masses, flows, moving, places, qs))
