"""Sliding along one axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector, array
from kinpair.pairs.pair import NOT_TURNED, Moments, Pair
from kinpair.spatial.rotation import IDENTITY

P = np.array([[0.0], [0.0], [0.0], [0.0], [0.0], [1.0]])


@final
@dataclass(frozen=True, slots=True, eq=False)
class Prismatic(Pair):
    """Slides along z; q is the displacement [m]."""

    kind = "prismatic"
    q_parts = ("slide",)
    v_parts = ("slide",)
    closure = (("point", 0), ("point", 1), *NOT_TURNED)

    def rotation(self, q: Vector) -> Matrix:
        return IDENTITY

    def turned(self, q: Vector, S: Matrix) -> Matrix:
        return S

    def translation(self, q: Vector) -> Vector:
        return array([0.0, 0.0, q[0]])

    def p(self, q: Vector) -> Matrix:
        return P

    def regrouped(self, x: Moments) -> tuple[Moments, Moments]:
        m, s, J = x
        return (m, s, 0.0 * J), (0.0, 0.0 * s, J)
