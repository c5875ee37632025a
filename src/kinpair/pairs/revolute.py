"""Turning about one axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector
from kinpair.pairs.pair import Pair
from kinpair.spatial.rotation import about_z, turned_about_z

P = np.array([[0.0], [0.0], [1.0], [0.0], [0.0], [0.0]])


@final
@dataclass(frozen=True, slots=True, eq=False)
class Revolute(Pair):
    """Turns about z; q is the angle [rad]."""

    kind = "revolute"
    q_parts = ("angle",)
    v_parts = ("angle",)

    def rotation(self, q: Vector) -> Matrix:
        return about_z(q[0])

    def turned(self, q: Vector, S: Matrix) -> Matrix:
        return turned_about_z(q[0], S)

    def p(self, q: Vector) -> Matrix:
        return P
