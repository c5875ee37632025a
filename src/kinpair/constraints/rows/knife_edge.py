"""A blade, skate or thin wheel that does not move sideways.

ψ = e · (v_M − v_S − ω_S × d),   e = M axis                                                  (CO16)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector
from kinpair.constraints.rows.joined import Joined, Mark, Wrenches
from kinpair.constraints.rows.loop import NOTHING, stacked
from kinpair.spatial.pose import Pose
from kinpair.spatial.rotation import cross


@dataclass(frozen=True, eq=False)
class Blade(Joined):
    """The origin of M does not move along an axis of M."""

    name: str
    S: Mark
    M: Mark
    axis: Vector
    where: str = ""

    @property
    def kind(self) -> str:
        return "knife edge"

    @property
    def labels(self) -> tuple[str, ...]:
        return ("",)

    @property
    def holonomic(self) -> int:
        return 0

    def phi(self, S: Pose, M: Pose, time: Scalar) -> Vector:
        return np.zeros(0)

    def wrenches(self, S: Pose, M: Pose, time: Scalar) -> Wrenches:
        e = M.R @ self.axis
        on_S = -np.concatenate([cross(M.a - S.a, e), e])  # (CO16)
        return Wrenches(stacked([on_S]), stacked([np.concatenate([NOTHING, e])]))
