"""Hooke's joint: turning about an axis of the parent, then about a perpendicular one carried along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector, array
from kinpair.pairs.pair import POINT, X_AXIS, Y_AXIS, Moments, Pair, Three
from kinpair.spatial.rotation import about_x, about_y, clean, turn_z_to, unit


@final
@dataclass(frozen=True, slots=True, eq=False)
class Universal(Pair):
    """Turns about x of the seat by q₁, then about the carried y by q₂ [rad]: R = R_x(q₁) R_y(q₂)."""

    kind = "universal"
    q_parts = ("angle1", "angle2")
    v_parts = ("angle1", "angle2")
    closure = (*POINT, ("square", 0, 1))
    axes = 2
    axes_move = True
    steps = (("revolute", X_AXIS), ("revolute", Y_AXIS))

    @classmethod
    def seated(cls, axis: Three, axis2: Three | None, pitch: float) -> tuple[Matrix, Pair]:
        first = unit(np.array(axis))
        second = turn_z_to(axis)[:, 0] if axis2 is None else unit(np.array(axis2))
        second = unit(second - (first @ second) * first)
        return clean(np.column_stack([first, second, np.cross(first, second)])), cls()

    def rotation(self, q: Vector) -> Matrix:
        return about_x(q[0]) @ about_y(q[1])

    def regrouped(self, x: Moments) -> tuple[Moments, Moments]:
        m, s, J = x
        return (0.0, s, J), (m, 0.0 * s, 0.0 * J)

    def p(self, q: Vector) -> Matrix:
        c, s = np.cos(q[1]), np.sin(q[1])
        return array([[c, 0.0], [0.0, 1.0], [s, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])

    def pd(self, q: Vector, qd: Vector) -> Matrix:
        c, s = np.cos(q[1]), np.sin(q[1])
        return array([[-s * qd[1], 0.0], [0.0, 0.0], [c * qd[1], 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
