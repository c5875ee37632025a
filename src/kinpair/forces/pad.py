"""A compliant contact: a ball next to a plane or to another ball, with friction that begins smoothly.

    δ = max(−φ, 0),   N = k δᵖ max(0, 1 − 3/2 c φ̇)                      Hunt and Crossley 1975             (HC1)
    f_t = −μ N u_t/√(u_t² + u_s²)                                        u_t: sliding velocity              (HC2)

Stored k δᵖ⁺¹/(p + 1); dissipated (k δᵖ − N) φ̇ in the normal direction and −f_t·u_t in friction. At speeds below u_s the
contact creeps: it never sticks. For contact that sticks use rigid contact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.algebra.choice import maximum
from kinpair.forces.element import Element, Instant
from kinpair.model.contact_pads import PadData
from kinpair.model.model import Model, Place
from kinpair.spatial.pose import spatial
from kinpair.spatial.rotation import cross

EPSILON = 1e-12  # [m] of a distance between centres
TINY = 1e-30  # [m] under a root


class Touch(NamedTuple):
    """Normal from b to a, point of contact, overlap, rate of the gap and sliding velocity, in the world."""

    n: Vector
    point: Vector
    depth: Scalar
    rate: Scalar
    slip: Vector


@final
@dataclass(frozen=True, slots=True, eq=False)
class Pad(Element):
    """Acts between a ball on one body and a plane or ball on another."""

    name: str
    bodies: tuple[int, ...]
    data: PadData
    dissipates = True

    @property
    def jumps(self) -> bool:
        """True: its force has a kink where the contact opens."""
        return True

    def touch(self, at: Instant) -> Touch:
        """Return geometry and velocities of the contact."""
        d = self.data
        x, y = _origin(at, d.a), _origin(at, d.b)
        if d.other_radius is None:
            n = at.bodies[d.b.body].pose.R @ d.b.pose.R[:, 2] if d.b.body else d.b.pose.R[:, 2] * 1.0
            gap = n @ (x - y) - d.radius
        else:
            between = x - y
            distance = np.sqrt(between @ between + EPSILON * EPSILON)
            n = array([np.divide(e, distance) for e in between])
            gap = distance - d.radius - d.other_radius
        point = x - array([(d.radius + 0.5 * gap) * e for e in n])
        u = _velocity(at, d.a.body, point) - _velocity(at, d.b.body, point)
        rate = n @ u
        return Touch(n, point, maximum(0.0, -gap), rate, u - array([rate * e for e in n]))

    def push(self, touch: Touch) -> tuple[Scalar, Scalar]:
        """Return the normal force N of (HC1) and its elastic part k δᵖ [N]."""
        d = self.data
        elastic = d.stiffness * (
            touch.depth if d.exponent == 1.0 else touch.depth * np.sqrt(touch.depth + TINY)
        )
        return elastic * maximum(0.0, 1.0 - 1.5 * d.dissipation * touch.rate), elastic

    def drag(self, touch: Touch, N: Scalar) -> Scalar:
        """Return μ N/√(u_t² + u_s²) of (HC2)."""
        d = self.data
        return np.divide(d.mu * N, np.sqrt(touch.slip @ touch.slip + d.slip_speed * d.slip_speed))

    def force(self, at: Instant) -> tuple[Vector, Vector]:
        """Return the force on a (3,) [N] and its point, in the world."""
        touch = self.touch(at)
        N, _ = self.push(touch)
        drag = self.drag(touch, N)
        return array([N * n - drag * u for n, u in zip(touch.n, touch.slip, strict=True)]), touch.point

    def wrenches(self, at: Instant) -> Mapping[int, Vector]:
        """Return the force on a, and its opposite on b."""
        f, point = self.force(at)
        ends = ((self.data.a.body, f), (self.data.b.body, -f))
        return {body: _at_origin(at, body, point, own) for body, own in ends if body}

    def energy(self, at: Instant) -> Scalar:
        """Return k δᵖ⁺¹/(p + 1)."""
        touch, d = self.touch(at), self.data
        return self.push(touch)[1] * touch.depth / (d.exponent + 1.0)

    def losses(self, at: Instant) -> Mapping[str, Scalar]:
        """Return what the material and friction take."""
        touch = self.touch(at)
        N, elastic = self.push(touch)
        return {
            self.name: (elastic - N) * touch.rate,
            f"{self.name} friction": self.drag(touch, N) * (touch.slip @ touch.slip),
        }


def _origin(at: Instant, place: Place) -> Vector:
    pose = at.bodies[place.body].pose
    return pose.R @ place.pose.a + pose.a


def _velocity(at: Instant, body: int, point: Vector) -> Vector:
    """Velocity of the point of a body that is at a point of the world."""
    pose, omega, v = at.bodies[body]
    return pose.R @ (v + cross(omega, pose.R.T @ (point - pose.a)))


def _at_origin(at: Instant, body: int, point: Vector, f: Vector) -> Vector:
    """The wrench of a force at a point of the world: at the origin of the body, in its axes."""
    pose = at.bodies[body].pose
    own = pose.R.T @ f
    return spatial(cross(pose.R.T @ (point - pose.a), own), own)


def pad_elements(model: Model) -> list[Element]:
    """Return the compliant contacts of a model."""
    return [Pad(x.name, tuple(dict.fromkeys((x.a.body, x.b.body))), x) for x in model.pads]
