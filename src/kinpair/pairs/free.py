"""No constraint at all: a floating base."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector
from kinpair.pairs import cardan
from kinpair.pairs.pair import X_AXIS, Y_AXIS, Z_AXIS, Pair, Three
from kinpair.spatial.rotation import (
    IDENTITY,
    cross,
    from_quaternion,
    quaternion_difference,
    quaternion_exp,
    quaternion_product,
    quaternion_rate,
    skew,
)

P = np.eye(6)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Free(Pair):
    """Moves freely; q is position [m] and quaternion (x, y, z, w), the rates are the twist [ω; v] in axes
    of the child."""

    kind = "free"
    q_parts = ("x", "y", "z", "qx", "qy", "qz", "qw")
    v_parts = ("wx", "wy", "wz", "vx", "vy", "vz")
    axes = 0
    steps = (
        ("prismatic", X_AXIS),
        ("prismatic", Y_AXIS),
        ("prismatic", Z_AXIS),
        ("revolute", X_AXIS),
        ("revolute", Y_AXIS),
        ("revolute", Z_AXIS),
    )

    @classmethod
    def seated(cls, axis: Three, axis2: Three | None, pitch: float) -> tuple[Matrix, Pair]:
        return IDENTITY, cls()

    def rotation(self, q: Vector) -> Matrix:
        return from_quaternion(q[3:])

    def translation(self, q: Vector) -> Vector:
        return q[:3]

    def p(self, q: Vector) -> Matrix:
        return P

    def convection(self, qd: Vector) -> Matrix:
        """v̇ + ω × v is the acceleration along axes of the child."""
        nothing = np.zeros((3, 3))
        lower = np.concatenate([nothing, skew(qd[:3])], axis=1)
        return np.concatenate([np.zeros((3, 6)), lower])

    def bracket(self, qd: Vector) -> Matrix:
        """Bracket of the displacement [turn; shift] in axes of the child: δω − ω × turn, δv − v × turn − ω × shift."""
        W, V = skew(qd[:3]), skew(qd[3:])
        return np.concatenate([np.concatenate([W, np.zeros((3, 3))], axis=1), np.concatenate([V, W], axis=1)])

    def neutral(self) -> np.ndarray:
        return np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])

    def dq_dt(self, q: Vector, qd: Vector) -> Vector:
        return np.concatenate([from_quaternion(q[3:]) @ qd[3:], quaternion_rate(q[3:], qd[:3])])

    def moved(self, q: Vector, step: Vector) -> Vector:
        turned = quaternion_product(q[3:], quaternion_exp(step[:3]))
        return np.concatenate([q[:3] + from_quaternion(q[3:]) @ step[3:], turned])

    def difference(self, start: Vector, end: Vector) -> Vector:
        shift = from_quaternion(start[3:]).T @ (end[:3] - start[:3])
        return np.concatenate([quaternion_difference(start[3:], end[3:]), shift])

    def from_split(self, s: Vector, sd: Vector, sdd: Vector) -> tuple[Vector, Vector, Vector]:
        R = cardan.rotation(s[3:])
        omega, v = cardan.rates(s[3:]) @ sd[3:], R.T @ sd[:3]
        alpha = cardan.accelerations(s[3:], sd[3:], sdd[3:])
        q = np.concatenate([s[:3], cardan.quaternion(s[3:])])
        return q, np.concatenate([omega, v]), np.concatenate([alpha, R.T @ sdd[:3] - cross(omega, v)])

    def to_split(self, q: Vector, qd: Vector, qdd: Vector) -> tuple[Vector, Vector, Vector]:
        R = from_quaternion(q[3:])
        angles, rates, accelerations = cardan.from_body(R, qd[:3], qdd[:3])
        v = R @ qd[3:]
        a = R @ (qdd[3:] + cross(qd[:3], qd[3:]))
        return (
            np.concatenate([q[:3], angles]),
            np.concatenate([v, rates]),
            np.concatenate([a, accelerations]),
        )

    def split_rates(self, s: Vector) -> Matrix:
        nothing = np.zeros((3, 3))
        upper = np.concatenate([nothing, cardan.rates(s[3:])], axis=1)
        lower = np.concatenate([cardan.rotation(s[3:]).T, nothing], axis=1)
        return np.concatenate([upper, lower])
