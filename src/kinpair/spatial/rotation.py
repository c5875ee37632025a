"""Rotations of three-dimensional space, over floats or symbols."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, symmetric
from kinpair.algebra.choice import sign

IDENTITY = np.eye(3)
ROUNDING = 1e-14  # entries of constant rotations this near to 0 or ±1 differ from them by rounding alone


def skew(a: Vector) -> Matrix:
    """[a], the matrix of the cross product: [a] b = a × b."""
    return array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def cross(a: Vector, b: Vector) -> Vector:
    """a × b."""
    return array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def about_x(angle: Scalar) -> Matrix:
    """Rotation by `angle` about x."""
    c, s = np.cos(angle), np.sin(angle)
    return array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def about_y(angle: Scalar) -> Matrix:
    """Rotation by `angle` about y."""
    c, s = np.cos(angle), np.sin(angle)
    return array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def about_z(angle: Scalar) -> Matrix:
    """Rotation by `angle` about z."""
    c, s = np.cos(angle), np.sin(angle)
    return array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def turned(R: Matrix, S: Matrix) -> Matrix:
    """R S Rᵀ of a symmetric S, symmetric."""
    return symmetric(R @ (S @ R.T))


def turned_about_z(angle: Scalar, S: Matrix) -> Matrix:
    """Turn a tensor for a rotation about z, with the fewest products: S₁₁ + S₂₂ does not change."""
    c, s = np.cos(angle), np.sin(angle)
    cs, ss = c * s, s * s
    across = S[0, 0] - S[1, 1]
    x = ss * across + 2.0 * cs * S[0, 1]
    y = cs * across + (1.0 - 2.0 * ss) * S[0, 1]
    u, v = c * S[0, 2] - s * S[1, 2], s * S[0, 2] + c * S[1, 2]
    return array([[S[0, 0] - x, y, u], [y, S[1, 1] + x, v], [u, v, S[2, 2]]])


def about(e: Vector, angle: Scalar) -> Matrix:
    """Rodrigues: R = 1 + sin φ [e] + (1 − cos φ) [e]² for a unit vector e."""
    E = skew(e)
    return IDENTITY + np.sin(angle) * E + (1.0 - np.cos(angle)) * (E @ E)


def from_rpy(roll: Scalar, pitch: Scalar, yaw: Scalar) -> Matrix:
    """Fixed-axis roll, pitch, yaw as URDF has them: R = R_z(yaw) R_y(pitch) R_x(roll)."""
    return about_z(yaw) @ about_y(pitch) @ about_x(roll)


def to_rpy(R: Matrix) -> tuple[float, float, float]:
    """Roll, pitch and yaw of a rotation of floats; at pitch ±π/2 yaw is zero."""
    c = float(np.hypot(R[0, 0], R[1, 0]))
    pitch = float(np.arctan2(-R[2, 0], c))
    if c < ROUNDING:
        return float(np.arctan2(-R[1, 2], R[1, 1])), pitch, 0.0
    return float(np.arctan2(R[2, 1], R[2, 2])), pitch, float(np.arctan2(R[1, 0], R[0, 0]))


def from_quaternion(k: Vector) -> Matrix:
    """R of the quaternion (x, y, z, w); any length but zero, since R = 1 + 2 (w [v] + [v]²) / |k|²."""
    x, y, z, w = k[0], k[1], k[2], k[3]
    s = np.divide(2.0, x * x + y * y + z * z + w * w)
    xs, ys, zs = x * s, y * s, z * s
    wx, wy, wz = w * xs, w * ys, w * zs
    xx, xy, xz = x * xs, x * ys, x * zs
    yy, yz, zz = y * ys, y * zs, z * zs
    return array(
        [
            [1.0 - (yy + zz), xy - wz, xz + wy],
            [xy + wz, 1.0 - (xx + zz), yz - wx],
            [xz - wy, yz + wx, 1.0 - (xx + yy)],
        ]
    )


def to_quaternion(R: np.ndarray) -> np.ndarray:
    """The quaternion (x, y, z, w), w ≥ 0, of a rotation of floats: a row of 4 k kᵀ, the longest."""
    (xx, yy, zz), S = np.diag(R), R + R.T
    x, y, z = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    rows = np.array(
        [
            [1.0 + xx - yy - zz, S[0, 1], S[0, 2], x],
            [S[0, 1], 1.0 - xx + yy - zz, S[1, 2], y],
            [S[0, 2], S[1, 2], 1.0 - xx - yy + zz, z],
            [x, y, z, 1.0 + xx + yy + zz],
        ]
    )
    k = unit(rows[np.diag(rows).argmax()])
    return -k if k[3] < 0.0 else k


def quaternion_rate(k: Vector, omega: Vector) -> Vector:
    """dk/dt = ½ k ∘ (ω, 0), ω in axes of the turned body."""
    x, y, z, w = k[0], k[1], k[2], k[3]
    p, q, r = omega[0], omega[1], omega[2]
    return array(
        [
            0.5 * (w * p + y * r - z * q),
            0.5 * (w * q + z * p - x * r),
            0.5 * (w * r + x * q - y * p),
            0.5 * (-x * p - y * q - z * r),
        ]
    )


def quaternion_product(a: Vector, b: Vector) -> Vector:
    """a ∘ b: R(a ∘ b) = R(a) R(b)."""
    ax, ay, az, aw = a[0], a[1], a[2], a[3]
    bx, by, bz, bw = b[0], b[1], b[2], b[3]
    return array(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ]
    )


def quaternion_difference(a: Vector, b: Vector) -> Vector:
    """The turn from a to b in axes of a, of the size 2 sin(θ/2), in the shorter direction; any lengths but zero."""
    k = quaternion_product(a * np.array([-1.0, -1.0, -1.0, 1.0]), b)
    part = np.divide(2.0 * sign(k[3]), np.sqrt((a @ a) * (b @ b)))
    return array([part * x for x in k[:3]])


def quaternion_exp(turn: Vector) -> Vector:
    """The quaternion of the rotation vector `turn`: (sin(|θ|/2) θ/|θ|, cos(|θ|/2)), smooth at θ = 0."""
    half = np.sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]) / 2
    s = np.sinc(half / np.pi) / 2
    return array([s * turn[0], s * turn[1], s * turn[2], np.cos(half)])


def unit(v: np.ndarray) -> np.ndarray:
    """v at length one, whatever its length was."""
    v = v / np.abs(v).max()
    return v / np.sqrt(v @ v)


def nearest_rotation(R: np.ndarray) -> np.ndarray:
    """The rotation nearest to a matrix that is almost one."""
    U, _, Vt = np.linalg.svd(R)
    return clean(U @ Vt)


def snapped(R: np.ndarray, within: float) -> np.ndarray:
    """R, or the turn by quarter turns that it is within that distance of."""
    target = np.round(R)
    near = np.abs(R - target).max() <= within
    return target + 0.0 if near and np.abs(target @ target.T - IDENTITY).max() == 0.0 else R


def turn_z_to(axis: Sequence[float] | Vector) -> Matrix:
    """A constant rotation that takes z to the direction `axis`.

    For a coordinate axis it is a permutation with signs, (x, y, z) → (y, z, x) or (z, x, y) for the axes
    x and y, so that nothing is multiplied by it; otherwise the shortest turn.
    """
    e = clean(unit(np.asarray(axis, dtype=float)))
    if (exact := _AXIS_TURNS.get(tuple(e.tolist()))) is not None:
        return exact.copy()
    v = np.array([-e[1], e[0], 0.0])  # z × e
    V = skew(v)
    if e[2] < 0.0:  # past a right angle: go by way of −z, where the formula below is well conditioned
        return turn_z_to(-e) @ np.diag([1.0, -1.0, -1.0])
    return IDENTITY + V + V @ V / (1.0 + e[2])


_X_TO_Z = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # columns y, z, x
_Y_TO_Z = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])  # columns z, x, y
_FLIP = np.diag([1.0, -1.0, -1.0])
_AXIS_TURNS = {
    (1.0, 0.0, 0.0): _X_TO_Z,
    (0.0, 1.0, 0.0): _Y_TO_Z,
    (0.0, 0.0, 1.0): IDENTITY,
    (-1.0, 0.0, 0.0): _X_TO_Z @ _FLIP,
    (0.0, -1.0, 0.0): _Y_TO_Z @ _FLIP,
    (0.0, 0.0, -1.0): _FLIP,
}


def clean(R: np.ndarray, within: float = ROUNDING) -> np.ndarray:
    """Constant entries within `within` of 0, 1 or −1 made exactly that: zeros and ones fold away."""
    target = np.round(R)
    return np.where(np.abs(R - target) <= within, target, R) + 0.0
