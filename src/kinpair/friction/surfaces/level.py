"""Dry friction of a constant level, as a surface whose load does not change.

N = F_c, s = q̇, and a coefficient μ of one; F_s − F_c is a surplus at rest. F_c may be another one backward. So joints
with a constant level and joints with friction from load are at rest by one solve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector
from kinpair.algebra.choice import less, where
from kinpair.friction.surfaces.surface import Carried, Grip, LoadPart, Surface


@final
@dataclass(frozen=True, slots=True, eq=False)
class Level(Surface):
    """Level on rate `number` of the `count` rates of a joint."""

    kind = "level"
    name: str
    body: int
    grip: Grip
    level: Scalar
    negative: Scalar
    static: float  # F_s − F_c
    number: int
    count: int

    @property
    def surplus(self) -> float:
        return self.static

    @property
    def rate(self) -> int:
        return self.number

    def sliding(self) -> Matrix:
        return np.eye(self.count)[self.number : self.number + 1]

    def forms(self, w: Vector, q: Vector) -> list[Scalar]:
        return []

    def load(self, c: Sequence[Scalar], force: Vector, at: Carried) -> Scalar:
        return where(less(at.toward, 0.0), self.negative, self.level)

    def parts(self, at: Carried) -> list[LoadPart]:
        return []

    def constant(self, at: Carried) -> tuple[float, float]:
        return float(self.level), float(self.negative)

    def slopes(self, c: Sequence[Scalar], force: Vector, at: Carried) -> list[Scalar]:
        return []
