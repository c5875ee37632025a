"""Masses of bodies that carry others, in blocks of three by three, at O_i in axes of the body.

Rigid (composite) body, by its mass m, first moment s = Σ m d and inertia I about O:

    s' = R s + m a                                                                               (M1)
    I' = R I Rᵀ − [a][Rs] − [Rs][a] − m [a][a]                                                   (M2)

Articulated body, n = A α + Q v̇, f = Qᵀ α + D v̇, A and D symmetric:

    D' = R D Rᵀ                                                                                  (M3)
    Q' = R Q Rᵀ + [a] D'                                                                         (M4)
    A' = R A Rᵀ − R Q Rᵀ [a] + [a] Q'ᵀ                                                           (M5)

Primes: the same body as its parent has it, R the axes of the body in the parent, a from O_parent to O.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, symmetric
from kinpair.model.model import Body
from kinpair.spatial.rotation import skew, turned


class Rigid(NamedTuple):
    """A rigid body, or several frozen into one."""

    m: Scalar
    s: Vector
    I: Matrix


class Articulated(NamedTuple):
    """A body with others on it that yield as their joints let them."""

    A: Matrix
    Q: Matrix
    D: Matrix


def rigid(body: Body) -> Rigid:
    """The body alone."""
    return Rigid(body.m, body.s, body.J)


def articulated(body: Body) -> Articulated:
    """The body alone, as an articulated one."""
    m, s, I = rigid(body)
    return Articulated(I, skew(s), m * np.eye(3))


def carried_rigid(body: Body, q: Vector, x: Rigid, a: Vector) -> Rigid:
    """`x` on the body as its parent has it.    (M1), (M2)"""
    s = body.R_seat @ (body.pair.rotation(q) @ x.s)
    a_, s_ = skew(a), skew(s)
    P = s_ @ a_
    I = _turned(body, q, x.I) - symmetric(P + P.T + x.m * (a_ @ a_))
    return Rigid(x.m, s + x.m * a, I)


def carried_articulated(body: Body, q: Vector, x: Articulated, a: Vector) -> Articulated:
    """`x` on the body as its parent has it.    (M3)–(M5)"""
    a_ = skew(a)
    R = body.pair.rotation(q)
    D = _turned(body, q, x.D)  # (M3)
    RQ = body.R_seat @ (R @ x.Q @ R.T) @ body.R_seat.T
    Q = RQ + a_ @ D  # (M4)
    A = _turned(body, q, x.A) + symmetric(a_ @ Q.T - RQ @ a_)  # (M5)
    return Articulated(A, Q, D)


def _turned(body: Body, q: Vector, S: Matrix) -> Matrix:
    """R S Rᵀ of a symmetric S: by the pair's rotation, then by the constant one of the seat."""
    return turned(body.R_seat, body.pair.turned(q, S))
