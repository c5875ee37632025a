"""Rolling without slipping of a convex surface on a plane; the point of contact is found each time.

The surface is given by its support function h: h(u) is how far it reaches in the direction u (body axes), and it
touches the plane of normal n there where it reaches farthest against n:

    ρ = M ∇h(u),   u = −Mᵀ n                           contact point seen from the centre of M   (CO13)
    φ = n · d − h(u),   d = x_M − x_S                  height of the surface above the plane     (CO14)
    ψ_e = e · (v_M + ω_M × ρ − v_S − ω_S × (d + ρ))    e: tangents of the plane, and n           (CO15)

∇h is homogeneous of degree 0, so the contact point is the same for any length of u. The row of n is φ̇. A wheel with
free rollers has, in place of both tangents, the one direction along the axis of the roller that touches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.algebra.jet import gradient
from kinpair.constraints.rows.joined import Joined, Mark, Wrenches
from kinpair.constraints.rows.loop import stacked
from kinpair.spatial.pose import Pose
from kinpair.spatial.rotation import cross

Support = Callable[[Vector], Scalar]


def disk(radius: Scalar, axis: Vector) -> Support:
    """A thin disk about the axis."""
    return lambda u: radius * np.sqrt(u @ u - (axis @ u) * (axis @ u))


def ball(radius: Scalar) -> Support:
    """Surface of a sphere."""
    return lambda u: radius * np.sqrt(u @ u)


def ellipsoid(a: Scalar, b: Scalar, c: Scalar) -> Support:
    """Semi-axes along x, y, z."""
    return lambda u: np.sqrt((a * u[0]) ** 2 + (b * u[1]) ** 2 + (c * u[2]) ** 2)


def rounded_wheel(radius: Scalar, rounding: Scalar, axis: Vector) -> Support:
    """A disk whose rim is rounded: a torus and what is within."""
    flat, round_it = disk(radius, axis), ball(rounding)
    return lambda u: flat(u) + round_it(u)


@dataclass(frozen=True, eq=False)
class Rolls(Joined):
    """A surface of M rolls on the plane z = 0 of S."""

    name: str
    S: Mark
    M: Mark
    support: Support
    axis: Vector  # of a wheel with rollers, in axes of M
    rollers: Scalar | None = None
    normal: bool = True
    where: str = ""

    @property
    def kind(self) -> str:
        return "rolling" if self.rollers is None else "rolling on rollers"

    @property
    def labels(self) -> tuple[str, ...]:
        along = ("slip x", "slip y") if self.rollers is None else ("slip",)
        return ("height", *along) if self.normal else along

    @property
    def holonomic(self) -> int:
        return int(self.normal)

    @property
    def of_length(self) -> tuple[bool, ...]:
        return (True,) * self.holonomic

    def phi(self, S: Pose, M: Pose, time: Scalar) -> Vector:
        if not self.normal:
            return np.zeros(0)
        n = S.R[:, 2]
        return array([n @ (M.a - S.a) - self.support(-(M.R.T @ n))])  # (CO14)

    def rho(self, S: Pose, M: Pose) -> Vector:
        """Vector from the origin of M to the point of contact."""
        return M.R @ gradient(self.support, -(M.R.T @ S.R[:, 2]))  # (CO13)

    def wrenches(self, S: Pose, M: Pose, time: Scalar) -> Wrenches:
        n, rho = S.R[:, 2], self.rho(S, M)
        arm = M.a - S.a + rho
        along = [S.R[:, 0], S.R[:, 1]] if self.rollers is None else [self._roller(n, M, self.rollers)]
        directions = [n, *along] if self.normal else along
        on_M = [np.concatenate([cross(rho, e), e]) for e in directions]  # (CO15)
        return Wrenches(stacked([-np.concatenate([cross(arm, e), e]) for e in directions]), stacked(on_M))

    def _roller(self, n: Vector, M: Pose, angle: Scalar) -> Vector:
        """Axis of the roller that touches, in the plane: the wheel's tangent turned by the angle of the rollers."""
        across = cross(M.R @ self.axis, n)
        tangent = np.divide(across, np.sqrt(across @ across))
        return np.cos(angle) * tangent + np.sin(angle) * cross(n, tangent)
