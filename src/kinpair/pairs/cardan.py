"""Cardan angles R = R_x(s₁) R_y(s₂) R_z(s₃): a ball joint as three hinges, and back.

    ω = J(s) ṡ,   J = [[c₂c₃, s₃, 0], [−c₂s₃, c₃, 0], [s₂, 0, 1]]   in axes of the turned body

J is singular where cos s₂ = 0 (gimbal lock).
"""

from __future__ import annotations

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector, array
from kinpair.spatial.rotation import about_x, about_y, about_z, quaternion_exp, quaternion_product


def rotation(s: Vector) -> Matrix:
    """R of the three angles."""
    return about_x(s[0]) @ about_y(s[1]) @ about_z(s[2])


def quaternion(s: Vector) -> Vector:
    """Rotation as a quaternion (x, y, z, w)."""
    turns = (array([s[0], 0.0, 0.0]), array([0.0, s[1], 0.0]), array([0.0, 0.0, s[2]]))
    x, y, z = (quaternion_exp(turn) for turn in turns)
    return quaternion_product(quaternion_product(x, y), z)


def rates(s: Vector) -> Matrix:
    """J with ω = J ṡ."""
    c2, s2, c3, s3 = np.cos(s[1]), np.sin(s[1]), np.cos(s[2]), np.sin(s[2])
    return array([[c2 * c3, s3, 0.0], [-c2 * s3, c3, 0.0], [s2, 0.0, 1.0]])


def rates_derivative(s: Vector, sd: Vector) -> Matrix:
    """J̇ at the rates ṡ."""
    c2, s2, c3, s3 = np.cos(s[1]), np.sin(s[1]), np.cos(s[2]), np.sin(s[2])
    d2, d3 = sd[1], sd[2]
    return array(
        [
            [-s2 * c3 * d2 - c2 * s3 * d3, c3 * d3, 0.0],
            [s2 * s3 * d2 - c2 * c3 * d3, -s3 * d3, 0.0],
            [c2 * d2, 0.0, 0.0],
        ]
    )


def accelerations(s: Vector, sd: Vector, sdd: Vector) -> Vector:
    """ω̇ = J s̈ + J̇ ṡ."""
    return rates(s) @ sdd + rates_derivative(s, sd) @ sd


def from_body(R: Matrix, omega: Vector, alpha: Vector) -> tuple[Vector, Vector, Vector]:
    """Angles, their rates and accelerations from R, ω and ω̇ in axes of the turned body."""
    s = array(
        [
            np.arctan2(-R[1, 2], R[2, 2]),
            np.arctan2(R[0, 2], np.sqrt(R[0, 0] * R[0, 0] + R[0, 1] * R[0, 1])),
            np.arctan2(-R[0, 1], R[0, 0]),
        ]
    )
    sd = _rates_solved(s, omega)
    return s, sd, _rates_solved(s, alpha - rates_derivative(s, sd) @ sd)


def _rates_solved(s: Vector, omega: Vector) -> Vector:
    """ṡ of J ṡ = ω."""
    c3, s3 = np.cos(s[2]), np.sin(s[2])
    first = np.divide(c3 * omega[0] - s3 * omega[1], np.cos(s[1]))
    return array([first, s3 * omega[0] + c3 * omega[1], omega[2] - np.sin(s[1]) * first])
