"""A frame moved by given functions of time.

position k    φ = S_k · d − f_k(t)                 W as (CO7)
turn k        the turn row (CO9) between S R(t) and M, R(t) from roll, pitch and yaw         (CO17)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.constraints.rows.joined import Joined, Mark, Wrenches
from kinpair.constraints.rows.loop import LETTERS, LINES, Line, stacked
from kinpair.pairs import Pair
from kinpair.pairs.fixed import Fixed
from kinpair.spatial.pose import Pose
from kinpair.spatial.rotation import from_rpy

OfTime = Callable[[Any], Any]
WELD: Pair = Fixed()


@dataclass(frozen=True, eq=False)
class Guided(Joined):
    """M follows a motion given in S; None leaves a coordinate of its position free."""

    name: str
    S: Mark
    M: Mark
    xyz: tuple[OfTime | None, OfTime | None, OfTime | None]
    rpy: tuple[OfTime, OfTime, OfTime] | None = None
    where: str = ""

    @property
    def moving(self) -> bool:
        return True

    @property
    def kind(self) -> str:
        return "guided frame"

    @property
    def labels(self) -> tuple[str, ...]:
        along = [LETTERS[k] for k, f in enumerate(self.xyz) if f]
        return (*along, *(f"turn {x}" for x in LETTERS if self.rpy))

    @property
    def of_length(self) -> tuple[bool, ...]:
        return tuple(not label.startswith("turn") for label in self.labels)

    def _lines(self, S: Pose, M: Pose, time: Scalar) -> list[Line]:
        along = [(LINES["point"](S, M, WELD, k), f(time)) for k, f in enumerate(self.xyz) if f]
        lines = [Line(line.phi - wanted, line.S, line.M) for line, wanted in along]
        if self.rpy:
            turned = Pose(S.R @ from_rpy(*(f(time) for f in self.rpy)), S.a)
            lines += [LINES["turn"](turned, M, WELD, k) for k in range(3)]  # (CO17)
        return lines

    def phi(self, S: Pose, M: Pose, time: Scalar) -> Vector:
        return array([line.phi for line in self._lines(S, M, time)])

    def wrenches(self, S: Pose, M: Pose, time: Scalar) -> Wrenches:
        lines = self._lines(S, M, time)
        return Wrenches(stacked([line.S for line in lines]), stacked([line.M for line in lines]))
