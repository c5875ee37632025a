"""Sliding on a plane and turning in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector, array
from kinpair.pairs.pair import PARALLEL_Z, X_AXIS, Y_AXIS, Z_AXIS, Pair
from kinpair.spatial.rotation import about_z, turned_about_z


@final
@dataclass(frozen=True, slots=True, eq=False)
class Planar(Pair):
    """Slides to (q₁, q₂) [m] in the plane with normal z and turns by q₃ [rad]; the rates are dq/dt."""

    kind = "planar"
    q_parts = ("x", "y", "angle")
    v_parts = ("x", "y", "angle")
    closure = (("point", 2), *PARALLEL_Z)
    axes_move = True
    steps = (("prismatic", X_AXIS), ("prismatic", Y_AXIS), ("revolute", Z_AXIS))

    def rotation(self, q: Vector) -> Matrix:
        return about_z(q[2])

    def turned(self, q: Vector, S: Matrix) -> Matrix:
        return turned_about_z(q[2], S)

    def translation(self, q: Vector) -> Vector:
        return array([q[0], q[1], 0.0])

    def p(self, q: Vector) -> Matrix:
        c, s = np.cos(q[2]), np.sin(q[2])
        return array(
            [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 0.0]]
        )

    def pd(self, q: Vector, qd: Vector) -> Matrix:
        c, s = np.cos(q[2]) * qd[2], np.sin(q[2]) * qd[2]
        nothing = [0.0, 0.0, 0.0]
        return array([nothing, nothing, nothing, [-s, c, 0.0], [-c, -s, 0.0], nothing])
