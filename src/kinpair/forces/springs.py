"""Springs between points of two bodies, with the laws of their tension, and springs at the limits of joints.

Between a point of each of two bodies; a rope if it pulls only:

    d = x_B − x_A,   ℓ² = d·d + ε²,   n = d/ℓ,   ℓ̇ = n · (v_B − v_A)                         (PS1)
    f_A = F n,   f_B = −F n                              F: tension, by the law               (PS6)

ε is far below any length. It changes no digit of one above 1e-4 m; where the points meet, and d has no direction, n is
zero, and nothing is divided by zero. The tension is a function of the length and of its rate:

    F = k s + c ℓ̇ + F₀                                   s = ℓ − ℓ₀; positive in tension    (PS2)
    F = max(0, k s + c ℓ̇ + F₀) where taut, else 0        a rope; taut: s > 0 or k s + F₀ > 0 (PS3)
    V = ½ k s² + F₀ s,   loss (F − k s − F₀) ℓ̇           of a slack rope: V where it was slack first, no loss (PS4)
    F = law(ℓ, ℓ̇),       loss F ℓ̇ − V̇                    V = energy(ℓ), zero if not given    (PS5)

At a limit the spring pushes while the coordinate is beyond it, and never pulls:

    F = max(0, k d − c ġ)  where d = −g > 0, else 0       g: the distance left to the limit       (BU1)

Stored ½ k d²; dissipated at the rate (k d − F) ġ ≥ 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeAlias, final

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array, is_nothing
from kinpair.algebra.choice import less, maximum, where
from kinpair.algebra.jet import rate as rate_of
from kinpair.forces.element import Element, Instant
from kinpair.model.model import Model, Place, SpringData
from kinpair.spatial.pose import spatial
from kinpair.spatial.rotation import cross

LEAST = 1e-300  # a stiffness below it is zero
EPSILON = 1e-12  # [m]


@final
@dataclass(frozen=True, slots=True)
class Linear:
    """A spring and damper that pulls and pushes."""

    k: Scalar
    c: Scalar
    rest: Scalar
    preload: Scalar
    jumps: ClassVar[bool] = False

    def tension(self, length: Scalar, rate: Scalar) -> Scalar:
        """Tension F [N].    (PS2)"""
        return self.k * (length - self.rest) + self.c * rate + self.preload

    def energy(self, length: Scalar) -> Scalar:
        """Energy V [J].    (PS4)"""
        return _stored(self.k, self.preload, length - self.rest)

    def loss(self, length: Scalar, rate: Scalar) -> Scalar:
        """c ℓ̇².    (PS4)"""
        return self.c * rate * rate

    def switches(self, length: Scalar, rate: Scalar) -> dict[str, Scalar]:
        """Switching functions: none."""
        return {}


@final
@dataclass(frozen=True, slots=True)
class Rope:
    """A linear law that pulls only."""

    k: Scalar
    c: Scalar
    rest: Scalar
    preload: Scalar
    jumps: ClassVar[bool] = True

    def tension(self, length: Scalar, rate: Scalar) -> Scalar:
        """Tension F [N].    (PS3)"""
        pulling = maximum(0.0, self._elastic(length) + self.c * rate)
        return where(less(0.0, self._taut(length)), pulling, 0.0)

    def energy(self, length: Scalar) -> Scalar:
        """Energy V [J].    (PS4)"""
        slack = 0.0 if is_nothing(self.preload) else -np.divide(self.preload, maximum(self.k, LEAST))
        return _stored(self.k, self.preload, where(less(0.0, self._taut(length)), length - self.rest, slack))

    def loss(self, length: Scalar, rate: Scalar) -> Scalar:
        """(F − k s − F₀) ℓ̇ while taut.    (PS4)"""
        elastic = where(less(0.0, self._taut(length)), self._elastic(length), 0.0)
        return (self.tension(length, rate) - maximum(0.0, elastic)) * rate

    def switches(self, length: Scalar, rate: Scalar) -> dict[str, Scalar]:
        """Taut where it is positive; and the tension if it could push."""
        return {"taut": self._taut(length), "pulls": self._elastic(length) + self.c * rate}

    def _elastic(self, length: Scalar) -> Scalar:
        return self.k * (length - self.rest) + self.preload

    def _taut(self, length: Scalar) -> Scalar:
        return maximum(length - self.rest, self._elastic(length))


@final
@dataclass(frozen=True, slots=True)
class Traced:
    """A law of the user."""

    law: Callable[[Any, Any], Any]
    stored: Callable[[Any], Any] | None
    jumps: ClassVar[bool] = True  # nobody knows

    def tension(self, length: Scalar, rate: Scalar) -> Scalar:
        """Tension F [N].    (PS5)"""
        return self.law(length, rate)

    def energy(self, length: Scalar) -> Scalar:
        """Energy V [J].    (PS5)"""
        return 0.0 if self.stored is None else self.stored(length)

    def loss(self, length: Scalar, rate: Scalar) -> Scalar:
        """F ℓ̇ − V̇.    (PS5)"""
        taken = self.law(length, rate) * rate
        return taken if self.stored is None else taken - rate_of(self.stored, (length,), (rate,))

    def switches(self, length: Scalar, rate: Scalar) -> dict[str, Scalar]:
        """Switching functions: unknown."""
        return {}


def _stored(k: Scalar, preload: Scalar, stretch: Scalar) -> Scalar:
    return 0.5 * k * stretch * stretch + preload * stretch  # (PS4)


Law: TypeAlias = Linear | Rope | Traced


def law_of(data: SpringData) -> Law:
    """The law that the data are of."""
    if data.law is not None:
        return Traced(data.law, data.energy)
    kind = Rope if data.tension_only else Linear
    return kind(data.stiffness, data.damping, data.rest_length, data.preload)


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


@final
@dataclass(frozen=True, slots=True)
class LimitSpring(Element):
    """One end of coordinate `q` with rate `v`: `side` is +1 at the lower limit, −1 at the upper one."""

    name: str
    bodies: tuple[int, ...]
    v: int
    q: int
    side: float
    limit: float
    stiffness: float
    damping: float
    dissipates = True

    @property
    def jumps(self) -> bool:
        """True where the limit is passed."""
        return True

    def _depth(self, at: Instant) -> Scalar:
        """d, zero within the limit."""
        return maximum(0.0, self.side * (self.limit - at.state.q[self.q]))

    def _push(self, at: Instant) -> tuple[Scalar, Scalar, Scalar]:
        """Force F, elastic force k d, and ġ."""
        depth, rate = self._depth(at), self.side * at.state.qd[self.v]
        elastic = self.stiffness * depth
        pushing = maximum(0.0, elastic - self.damping * rate)
        return where(less(0.0, depth), pushing, 0.0), elastic, rate  # (BU1)

    def efforts(self, at: Instant) -> Mapping[int, Scalar]:
        """Effort ±F on the rate."""
        return {self.v: self.side * self._push(at)[0]}

    def energy(self, at: Instant) -> Scalar:
        """½ k d²."""
        depth = self._depth(at)
        return 0.5 * self.stiffness * depth * depth

    def losses(self, at: Instant) -> Mapping[str, Scalar]:
        """(k d − F) ġ."""
        force, elastic, rate = self._push(at)
        return {self.name: (elastic - force) * rate}

    def switches(self, at: Instant) -> Mapping[str, Scalar]:
        """The distance left to the limit, and what the push would be if it could pull."""
        gap, rate = self.side * (at.state.q[self.q] - self.limit), self.side * at.state.qd[self.v]
        return {self.name: gap, f"{self.name}: lets go": -self.stiffness * gap - self.damping * rate}
