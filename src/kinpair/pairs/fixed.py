"""No motion at all: a weld."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector
from kinpair.pairs.pair import NO_MOMENTS, NOT_TURNED, POINT, Moments, Pair, Three
from kinpair.spatial.rotation import IDENTITY

P = np.zeros((6, 0))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Fixed(Pair):
    """Holds the child in the seat."""

    kind = "fixed"
    q_parts = ()
    v_parts = ()
    closure = (*POINT, *NOT_TURNED)
    axes = 0

    @classmethod
    def seated(cls, axis: Three, axis2: Three | None, pitch: float) -> tuple[Matrix, Pair]:
        return IDENTITY, cls()

    def rotation(self, q: Vector) -> Matrix:
        return IDENTITY

    def turned(self, q: Vector, S: Matrix) -> Matrix:
        return S

    def p(self, q: Vector) -> Matrix:
        return P

    def regrouped(self, x: Moments) -> tuple[Moments, Moments]:
        return NO_MOMENTS, x
