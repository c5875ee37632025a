"""A massless rod between two points, its length a number or a function of time.

φ = (d·d − l²) / 2l,   ψ = d·ḋ / l − l̇ where φ = 0,   d = x_M − x_S                      (CO11)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.constraints.rows.joined import Joined, Mark, Wrenches
from kinpair.constraints.rows.loop import NOTHING, stacked
from kinpair.spatial.pose import Pose


@dataclass(frozen=True, eq=False)
class Rod(Joined):
    """Two points are `length` apart, or l(t) where that is prescribed by a `motion`."""

    name: str
    S: Mark
    M: Mark
    length: Scalar
    where: str = ""
    motion: Callable[[Any], Any] | None = None

    @property
    def kind(self) -> str:
        return "driven distance" if self.moving else "distance"

    @property
    def labels(self) -> tuple[str, ...]:
        return ("",)

    @property
    def of_length(self) -> tuple[bool, ...]:
        return (True,)

    @property
    def moving(self) -> bool:
        return self.motion is not None

    def phi(self, S: Pose, M: Pose, time: Scalar) -> Vector:
        d, l = M.a - S.a, self._length(time)
        return array([np.divide(d @ d - l * l, 2.0 * l)])  # (CO11)

    def wrenches(self, S: Pose, M: Pose, time: Scalar) -> Wrenches:
        pull = np.concatenate([NOTHING, np.divide(M.a - S.a, self._length(time))])
        return Wrenches(stacked([-pull]), stacked([pull]))

    def _length(self, time: Scalar) -> Scalar:
        return self.length if self.motion is None else self.motion(time)
