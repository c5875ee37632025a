"""Turning about and sliding along one axis, independently."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector, array
from kinpair.pairs.pair import PARALLEL_Z, Z_AXIS, Pair
from kinpair.spatial.rotation import about_z, turned_about_z

P = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 1.0]])


@final
@dataclass(frozen=True, slots=True, eq=False)
class Cylindrical(Pair):
    """Turns about z by q₁ [rad] and slides along z by q₂ [m]."""

    kind = "cylindrical"
    q_parts = ("angle", "slide")
    v_parts = ("angle", "slide")
    closure = (("point", 0), ("point", 1), *PARALLEL_Z)
    steps = (("revolute", Z_AXIS), ("prismatic", Z_AXIS))

    def rotation(self, q: Vector) -> Matrix:
        return about_z(q[0])

    def turned(self, q: Vector, S: Matrix) -> Matrix:
        return turned_about_z(q[0], S)

    def translation(self, q: Vector) -> Vector:
        return array([0.0, 0.0, q[1]])

    def p(self, q: Vector) -> Matrix:
        return P
