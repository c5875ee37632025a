"""Ball and socket."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector
from kinpair.pairs import cardan
from kinpair.pairs.pair import POINT, X_AXIS, Y_AXIS, Z_AXIS, Moments, Pair, Three
from kinpair.spatial.rotation import (
    IDENTITY,
    from_quaternion,
    quaternion_difference,
    quaternion_exp,
    quaternion_product,
    quaternion_rate,
    skew,
)

P = np.concatenate([np.eye(3), np.zeros((3, 3))])


@final
@dataclass(frozen=True, slots=True, eq=False)
class Spherical(Pair):
    """Turns freely; q is a quaternion (x, y, z, w), the rates are ω in axes of the child [rad/s]."""

    kind = "spherical"
    q_parts = ("qx", "qy", "qz", "qw")
    v_parts = ("wx", "wy", "wz")
    closure = POINT
    axes = 0
    steps = (("revolute", X_AXIS), ("revolute", Y_AXIS), ("revolute", Z_AXIS))

    @classmethod
    def seated(cls, axis: Three, axis2: Three | None, pitch: float) -> tuple[Matrix, Pair]:
        return IDENTITY, cls()

    def rotation(self, q: Vector) -> Matrix:
        return from_quaternion(q)

    def regrouped(self, x: Moments) -> tuple[Moments, Moments]:
        m, s, J = x
        return (0.0, s, J), (m, 0.0 * s, 0.0 * J)

    def p(self, q: Vector) -> Matrix:
        return P

    def bracket(self, qd: Vector) -> Matrix:
        """Axes of the child turn: δω − ω × δq."""
        return skew(qd)

    def neutral(self) -> np.ndarray:
        return np.array([0.0, 0.0, 0.0, 1.0])

    def dq_dt(self, q: Vector, qd: Vector) -> Vector:
        return quaternion_rate(q, qd)

    def moved(self, q: Vector, step: Vector) -> Vector:
        return quaternion_product(q, quaternion_exp(step))

    def difference(self, start: Vector, end: Vector) -> Vector:
        return quaternion_difference(start, end)

    def from_split(self, s: Vector, sd: Vector, sdd: Vector) -> tuple[Vector, Vector, Vector]:
        return cardan.quaternion(s), cardan.rates(s) @ sd, cardan.accelerations(s, sd, sdd)

    def to_split(self, q: Vector, qd: Vector, qdd: Vector) -> tuple[Vector, Vector, Vector]:
        return cardan.from_body(from_quaternion(q), qd, qdd)

    def split_rates(self, s: Vector) -> Matrix:
        return cardan.rates(s)
