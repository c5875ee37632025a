"""Screw algebra, and the wrenches of each pair: constraint and drive (Pan, lectures 2 to 4).

Convention of this file and its sisters, and of no other: V = (v; ω) with v the velocity of the body point that
passes the origin, W = (f; n) with n the moment about the origin, all in the axes of one frame. `swapped` is the
boundary to twists [ω; v] and wrenches [n; f], angular half first, of the rest of the library. A frame sits at (R, p).

    T  = [[R, [p]R], [0, R]]      V_O = T V_A                                                    (SA1)
    T* = [[R, 0], [[p]R, R]]      W_O = T* W_A,   T* = T⁻ᵀ                                       (SA2)
    V×  = [[[ω], [v]], [0, [ω]]],   Ṫ = V× T,   V× V = 0                                         (SA3)
    V×* = [[[ω], 0], [[v], [ω]]],   Ṫ* = V×* T*,   V×* = −(V×)ᵀ                                  (SA4)
    r̈ = a + α × r + ω × v + ω × (ω × r)       A = V̇ = (a; α), a body point at r                  (SA5)
    ᴼV_B = ᴼV_A + T ᴬV_B                                                                         (SA6)
    ᴼA_B = ᴼA_A + ᴼV_A × (T ᴬV_B) + T ᴬA_B                                                       (SA7)
    𝓘 = [[m 1, −m[c]], [m[c], I_C − m[c][c]]]                                                    (SA8)
    𝓘_O = T* 𝓘_A T*ᵀ,   𝓘̇ = V×* 𝓘 − 𝓘 V×,   𝓘̇ V = V×* 𝓘 V                                        (SA9)

In the seat of the pair, marker z the axis of a pair that has one; wrenches (f; n), see `screw_algebra`. Columns are
counted from 1, as in the source. f degrees; p is the motion of the pair, linear half first.

    C_0 (6, 6−f)   unit wrenches the pair holds, fixed on the inner body:   C_0ᵀ p = 0            (SP1)
                   revolute: columns 1 2 3 4 5 of 1₆;   prismatic: 1 2 4 5 6
    D_0 (6, f)     wrenches of the drives, fixed on the outer body:   D_0ᵀ p = 1                  (SP2)
                   revolute: column 6;   prismatic: column 3
    M_0 (6, 6−f)   motions that C_0 denies one by one:   C_0ᵀ M_0 = 1                             (SP3)

A Hooke joint holds a moment across both its axes, which turns with its first angle; all others are constant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, symmetric
from kinpair.errors import InputError, listed
from kinpair.pairs import Closing
from kinpair.spatial.rotation import cross, skew

NOTHING = np.zeros((3, 3))


def swapped(x: Matrix) -> Matrix:
    """The two halves (6,) or (6, k) in the other order: [angular; linear] ↔ (linear; angular)."""
    return np.concatenate([x[3:], x[:3]], axis=0)


def _blocks(A: Matrix, B: Matrix, C: Matrix, D: Matrix) -> Matrix:
    upper, lower = np.concatenate([A, B], axis=1), np.concatenate([C, D], axis=1)
    return np.concatenate([upper, lower], axis=0)


def motion_transform(R: Matrix, p: Vector) -> Matrix:
    """T (6, 6) of a frame at (R, p).    (SA1)"""
    return _blocks(R, skew(p) @ R, NOTHING, R)  # (SA1)


def force_transform(R: Matrix, p: Vector) -> Matrix:
    """T* (6, 6) of a frame at (R, p).    (SA2)"""
    return _blocks(R, NOTHING, skew(p) @ R, R)  # (SA2)


def motion_moved(R: Matrix, p: Vector, V: Matrix) -> Matrix:
    """T V of a screw (6,) or columns (6, k), by its halves.    (SA1)"""
    v, omega = R @ V[:3], R @ V[3:]
    return np.concatenate([v + skew(p) @ omega, omega], axis=0)


def force_moved(R: Matrix, p: Vector, W: Matrix) -> Matrix:
    """T* W of a wrench (6,) or columns (6, k), by its halves.    (SA2)"""
    f, n = R @ W[:3], R @ W[3:]
    return np.concatenate([f, n + skew(p) @ f], axis=0)


def motion_cross(V: Vector) -> Matrix:
    """V× (6, 6), the rate at which motions fixed on a body with velocity V change.    (SA3)"""
    v_, omega_ = skew(V[:3]), skew(V[3:])
    return _blocks(omega_, v_, NOTHING, omega_)  # (SA3)


def force_cross(V: Vector) -> Matrix:
    """V×* (6, 6), the same for wrenches fixed on the body.    (SA4)"""
    v_, omega_ = skew(V[:3]), skew(V[3:])
    return _blocks(omega_, NOTHING, v_, omega_)  # (SA4)


def point_acceleration(A: Vector, V: Vector, r: Vector) -> Vector:
    """r̈ (3,) of the body point at r, from the screw A = V̇, which belongs to no point of the body.    (SA5)"""
    a, alpha, v, omega = A[:3], A[3:], V[:3], V[3:]
    return a + cross(alpha, r) + cross(omega, v) + cross(omega, cross(omega, r))  # (SA5)


def composed_velocity(V_A: Vector, V_B: Vector, R: Matrix, p: Vector) -> Vector:
    """Velocity of B, which moves in A with V_B (axes of A), A at (R, p) moving with V_A.    (SA6)"""
    return V_A + motion_moved(R, p, V_B)  # (SA6)


def composed_acceleration(A_A: Vector, V_A: Vector, V_B: Vector, A_B: Vector, R: Matrix, p: Vector) -> Vector:
    """Acceleration of B, which moves in A with V_B and A_B (axes of A).    (SA7)"""
    return A_A + motion_cross(V_A) @ motion_moved(R, p, V_B) + motion_moved(R, p, A_B)  # (SA7)


def inertia(m: Scalar, c: Vector, I_C: Matrix) -> Matrix:
    """𝓘 (6, 6) of a body with mass centre c and tensor I_C about it.    (SA8)"""
    S, c_ = skew(m * c), skew(c)
    return _blocks(m * np.eye(3), -S, S, I_C - symmetric(S @ c_))  # (SA8)


def inertia_moved(R: Matrix, p: Vector, I_A: Matrix) -> Matrix:
    """𝓘 of the same body seen from outside its frame at (R, p).    (SA9)"""
    X = force_transform(R, p)
    return X @ I_A @ X.T  # (SA9)


def inertia_rate(I_O: Matrix, V: Vector) -> Matrix:
    """𝓘̇ of a body with velocity V.    (SA9)"""
    return force_cross(V) @ I_O - I_O @ motion_cross(V)  # (SA9)


OfPair: TypeAlias = Callable[[Any, Vector], Matrix]


def columns(*numbers: int) -> Matrix:
    """Columns of the unit matrix 1₆, counted from 1."""
    return np.eye(6)[:, [k - 1 for k in numbers]]


@dataclass(frozen=True, slots=True)
class Wrenches:
    """Wrenches of one kind of pair: C_0, its rate on the inner body, M_0, D_0; functions of the pair and its q (and
    q̇)."""

    wrenches: OfPair  # (SP1)
    denied: OfPair  # (SP3)
    drive: OfPair = lambda pair, q: swapped(pair.p(q))  # (SP2)
    wrench_rates: Callable[[Any, Vector, Vector], Matrix] | None = None  # None: zero

    def rates(self, pair: Any, q: Vector, qd: Vector) -> Matrix:
        """The rates of C_0 on the inner body."""
        if self.wrench_rates is None:
            return np.zeros(self.wrenches(pair, q).shape)
        return self.wrench_rates(pair, q, qd)


def _holding(*numbers: int) -> Wrenches:
    return Wrenches(lambda pair, q: columns(*numbers), lambda pair, q: columns(*numbers))


def _screw_wrenches(pair: Any, q: Vector) -> Matrix:
    """Wrenches as of a hinge, but a force along the axis comes with the moment −pitch · force: no work on the screw."""
    nut = array([[0.0], [0.0], [1.0], [0.0], [0.0], [-pair.pitch]])
    return np.concatenate([columns(1, 2), nut, columns(4, 5)], axis=1)


def _hooke_wrenches(pair: Any, q: Vector) -> Matrix:
    c, s = np.cos(q[0]), np.sin(q[0])
    return np.concatenate([columns(1, 2, 3), array([[0.0], [0.0], [0.0], [0.0], [-s], [c]])], axis=1)


def _hooke_wrench_rates(pair: Any, q: Vector, qd: Vector) -> Matrix:
    c, s = np.cos(q[0]) * qd[0], np.sin(q[0]) * qd[0]
    return np.concatenate([np.zeros((6, 3)), array([[0.0], [0.0], [0.0], [0.0], [-c], [-s]])], axis=1)


WRENCHES: Mapping[str, Wrenches] = {
    "revolute": _holding(1, 2, 3, 4, 5),
    "prismatic": _holding(1, 2, 4, 5, 6),
    "helical": Wrenches(_screw_wrenches, lambda pair, q: columns(1, 2, 3, 4, 5), lambda pair, q: columns(6)),
    "cylindrical": _holding(1, 2, 4, 5),
    "universal": Wrenches(_hooke_wrenches, _hooke_wrenches, wrench_rates=_hooke_wrench_rates),
    "spherical": _holding(1, 2, 3),
    "planar": _holding(3, 4, 5),
    "free": _holding(),
    "fixed": _holding(1, 2, 3, 4, 5, 6),
    "pin": _holding(1, 2),
    "plane-weld": _holding(1, 2, 6),
    "turn": _holding(6),
    "face": _holding(3),
}


def wrenches_of(pair: Closing) -> Wrenches:
    """The row of the table for a pair."""
    if pair.kind in WRENCHES:
        return WRENCHES[pair.kind]
    raise InputError(
        f"pair {pair.kind!r} has no constraint wrenches in formulations/screw_algebra.py; add its row to WRENCHES. "
        f"Pairs: {listed(WRENCHES)}",
        pair=pair.kind,
    )
