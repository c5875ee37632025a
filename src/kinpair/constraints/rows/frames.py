"""Constraints between two marked frames that are no pair: rods, surfaces, blades, guides.

A massless rod between two points, its length a number or a function of time:

φ = (d·d − l²) / 2l,   ψ = d·ḋ / l − l̇ where φ = 0,   d = x_M − x_S                      (CO11)

A point on a surface or on a curve, where two surfaces cut each other:

φ_k = f_k(r),   r = S^T d                          f_k: a function of x, y, z in axes of the seat
ψ_k = n_k · (ḋ − ω_S × d),   n_k = S ∇f_k(r)                                                 (CO12)

A blade, skate or thin wheel that does not move sideways:

ψ = e · (v_M − v_S − ω_S × d),   e = M axis                                                  (CO16)

A frame moved by given functions of time:

position k    φ = S_k · d − f_k(t)                 W as (CO7)
turn k        the turn row (CO9) between S R(t) and M, R(t) from roll, pitch and yaw         (CO17)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.algebra.jet import gradient
from kinpair.constraints.rows.joined import Joined, Mark, Wrenches
from kinpair.constraints.rows.loop import LETTERS, LINES, NOTHING, Line, stacked
from kinpair.pairs import Pair
from kinpair.pairs.fixed import Fixed
from kinpair.spatial.pose import Pose
from kinpair.spatial.rotation import cross, from_rpy


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


@dataclass(frozen=True, eq=False)
class OnZeros(Joined):
    """A point stays on the zeros of functions of x, y, z."""

    name: str
    S: Mark
    M: Mark
    functions: tuple[Callable[..., Scalar], ...]
    where: str = ""

    @property
    def kind(self) -> str:
        return "point on surface" if len(self.functions) == 1 else "point on curve"

    @property
    def labels(self) -> tuple[str, ...]:
        count = len(self.functions)
        return ("",) if count == 1 else tuple(str(k + 1) for k in range(count))

    @property
    def of_length(self) -> tuple[bool, ...]:
        return (True,) * self.holonomic

    def phi(self, S: Pose, M: Pose, time: Scalar) -> Vector:
        r = S.R.T @ (M.a - S.a)
        return array([f(r[0], r[1], r[2]) for f in self.functions])

    def wrenches(self, S: Pose, M: Pose, time: Scalar) -> Wrenches:
        d = M.a - S.a
        r = S.R.T @ d
        normals = [S.R @ gradient(lambda x, f=f: f(x[0], x[1], x[2]), r) for f in self.functions]
        on_S = [np.concatenate([cross(n, d), -n]) for n in normals]  # (CO12)
        return Wrenches(stacked(on_S), stacked([np.concatenate([NOTHING, n]) for n in normals]))


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
