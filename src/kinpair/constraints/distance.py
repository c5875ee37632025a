"""A massless rod between two points.

φ = (d·d − l²) / 2l,   ψ = d · ḋ / l,   d = x_M − x_S                                        (CO11)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.constraints.joined import Joined, Mark, Wrenches
from kinpair.constraints.loop import NOTHING, stacked
from kinpair.spatial.pose import Pose


@dataclass(frozen=True, eq=False)
class Rod(Joined):
    """Two points stay `length` apart."""

    name: str
    S: Mark
    M: Mark
    length: Scalar
    where: str = ""

    @property
    def kind(self) -> str:
        return "distance"

    @property
    def labels(self) -> tuple[str, ...]:
        return ("",)

    @property
    def of_length(self) -> tuple[bool, ...]:
        return (True,)

    def phi(self, S: Pose, M: Pose, time: Scalar) -> Vector:
        d = M.a - S.a
        return array([np.divide(d @ d - self.length * self.length, 2.0 * self.length)])  # (CO11)

    def wrenches(self, S: Pose, M: Pose, time: Scalar) -> Wrenches:
        pull = np.concatenate([NOTHING, np.divide(M.a - S.a, self.length)])
        return Wrenches(stacked([-pull]), stacked([pull]))
