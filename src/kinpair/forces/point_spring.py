"""A spring and damper between two points, one on each of two bodies; a rope if it pulls only.

    d = x_B − x_A,   ℓ² = d·d + ε²,   n = d/ℓ,   ℓ̇ = n · (v_B − v_A)                         (PS1)
    f_A = F n,   f_B = −F n                              F: tension, see `spring_law.py`     (PS6)

ε is far below any length. It changes no digit of one above 1e-4 m; where the points meet, and d has no direction, n is
zero, and nothing is divided by zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.forces.element import Element, Instant
from kinpair.forces.spring_law import Law, law_of
from kinpair.model.model import Model, Place, SpringData
from kinpair.spatial.rotation import cross
from kinpair.spatial.twist import spatial

EPSILON = 1e-12  # [m]


class Line(NamedTuple):
    """Line from the point on the parent to the point on the child, in the world."""

    n: Vector
    length: Scalar
    rate: Scalar


@final
@dataclass(frozen=True, slots=True, eq=False)
class PointSpring(Element):
    """Acts between the `places` on parent and child, by a law of their distance."""

    name: str
    bodies: tuple[int, ...]
    places: tuple[Place, Place]
    law: Law
    dissipates = True

    @property
    def jumps(self) -> bool:
        """True where its law jumps."""
        return self.law.jumps

    def line(self, at: Instant) -> Line:
        """Direction, length and its rate.    (PS1)"""
        (x_a, v_a), (x_b, v_b) = (_point(at, place) for place in self.places)
        d = x_b - x_a
        length = np.sqrt(d @ d + EPSILON * EPSILON)
        n = array([np.divide(x, length) for x in d])
        return Line(n, length, n @ (v_b - v_a))

    def tension(self, at: Instant) -> Scalar:
        """F, positive where it pulls the points together [N]."""
        _, length, rate = self.line(at)
        return self.law.tension(length, rate)

    def wrenches(self, at: Instant) -> Mapping[int, Vector]:
        """F n on the parent, −F n on the child.    (PS6)"""
        if len(self.bodies) < 2:
            return {}
        n, length, rate = self.line(at)
        tension = self.law.tension(length, rate)
        f = array([tension * x for x in n])
        pulls = zip(self.places, (f, -f), strict=True)
        return {place.body: _at_origin(at, place, pull) for place, pull in pulls if place.body}

    def energy(self, at: Instant) -> Scalar:
        """Stored energy V [J]."""
        return self.law.energy(self.line(at).length)

    def losses(self, at: Instant) -> Mapping[str, Scalar]:
        """Power that the damper takes [W]."""
        _, length, rate = self.line(at)
        return {self.name: self.law.loss(length, rate)}

    def switches(self, at: Instant) -> Mapping[str, Scalar]:
        """Slack and taut."""
        _, length, rate = self.line(at)
        return {f"{self.name}: {what}": x for what, x in self.law.switches(length, rate).items()}


def _point(at: Instant, place: Place) -> tuple[Vector, Vector]:
    """Position and velocity in the world."""
    pose, omega, v = at.bodies[place.body]
    r = place.pose.a
    return pose.R @ r + pose.a, pose.R @ (v + cross(omega, r))


def _at_origin(at: Instant, place: Place, f: Vector) -> Vector:
    """The wrench of a force at the place, in world axes: at the origin of the body, in its axes."""
    own = at.bodies[place.body].pose.R.T @ f
    return spatial(cross(place.pose.a, own), own)


def point_springs(model: Model) -> list[Element]:
    """Springs between points of the description."""
    return [_element(data) for data in model.springs]


def _element(data: SpringData) -> PointSpring:
    places = (data.parent, data.child)
    return PointSpring(data.name, tuple(dict.fromkeys(x.body for x in places)), places, law_of(data))
