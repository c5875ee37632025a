"""Place of one frame in another; twists and wrenches carried from one point and frame to another.

t at Q:  ω_Q = ω_P,            v_Q = v_P + ω × r        r = P → Q
w at P:  n_P = n_Q + r × f,    f_P = f_Q
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector
from kinpair.spatial.rotation import cross, skew


class Pose(NamedTuple):
    """Axes R and origin a of a frame, in components of the frame it sits in: x ↦ R x + a."""

    R: Matrix
    a: Vector

    def __matmul__(self, inner: Pose) -> Pose:
        """Pose of a frame that sits at `inner` in this one."""
        return Pose(self.R @ inner.R, self.R @ inner.a + self.a)

    def inverse(self) -> Pose:
        """The outer frame as seen from this one."""
        return Pose(self.R.T, -(self.R.T @ self.a))


HOME = Pose(np.eye(3), np.zeros(3))


def spatial(angular: Vector, linear: Vector) -> Vector:
    """[angular; linear] as one vector of six (or six rows)."""
    return np.concatenate([angular, linear])


def propagation(R_ij: Matrix, c_ij: Vector) -> Matrix:
    """B_ij = [[R_ij, 0], [[c_ij] R_ij, R_ij]]: the twist of body j as body i would have it.

    c_ij runs from the reference point of i to that of j, in axes of i (Saha 1999, in body axes).
    """
    return _lower_blocks(R_ij, skew(c_ij) @ R_ij, R_ij)


def propagation_rate(R_ij: Matrix, cd_ij: Vector) -> Matrix:
    """Ḃ_ij = [[0, 0], [[ċ_ij] R_ij, 0]], ċ_ij = v_j − v_i in axes of i (Saha 1999, corrected)."""
    nothing = np.zeros((3, 3))
    return _lower_blocks(nothing, skew(cd_ij) @ R_ij, nothing)


def spin(omega: Vector) -> Matrix:
    """Ω = diag([ω], [ω])."""
    W = skew(omega)
    return _lower_blocks(W, np.zeros((3, 3)), W)


def _lower_blocks(A: Matrix, B: Matrix, D: Matrix) -> Matrix:
    upper = np.concatenate([A, np.zeros((3, 3))], axis=1)
    lower = np.concatenate([B, D], axis=1)
    return np.concatenate([upper, lower], axis=0)


def shift_twist(t: Matrix, r: Vector) -> Matrix:
    """Twist (6,) or columns of twists (6, k) at the point r away: v + ω × r."""
    if t.ndim == 1:
        return spatial(t[:3], t[3:] + cross(t[:3], r))
    return np.concatenate([t[:3], t[3:] - skew(r) @ t[:3]], axis=0)


def shift_wrench(w: Vector, r: Vector) -> Vector:
    """Wrench at the point from which r leads to the point where w is given: n + r × f."""
    return spatial(w[:3] + cross(r, w[3:]), w[3:])


def rotate(R: Matrix, x: Vector) -> Vector:
    """Both halves of a twist, a wrench, or of columns of them, turned by R."""
    return np.concatenate([R @ x[:3], R @ x[3:]], axis=0)
