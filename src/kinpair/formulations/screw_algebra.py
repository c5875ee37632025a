"""Screws at a fixed origin, linear half first (Pan, lecture 4): transforms, products, accelerations, inertia.

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
"""

from __future__ import annotations

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, symmetric
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
