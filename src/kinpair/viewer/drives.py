"""Actuators and springs at joints: motors beside the hinge, cylinders along the slide, coils.

The stator or barrel is fixed to the parent, the rod reaches from it to the child.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

import numpy as np

from kinpair.description.actuator_parts import Actuator
from kinpair.description.parts import Joint, Numbers
from kinpair.spatial.pose import Pose
from kinpair.viewer.bodies import Sizes
from kinpair.viewer.pieces import Connector, Piece
from kinpair.viewer.surfaces import Surface, axes_along, coil, cylinder, joined

ACTUATORS, SPRINGS = "actuators", "springs"  # layers
MOTOR: Numbers = (0.16, 0.31, 0.48, 1.0)
BARREL: Numbers = (0.93, 0.72, 0.2, 1.0)
ROD: Numbers = (0.72, 0.74, 0.78, 1.0)
COIL: Numbers = (0.83, 0.42, 0.13, 1.0)
HYDRAULIC = "hydraulic-cylinder"
LONGEST = 0.35  # barrel, as a part of the size of the scene
FAR = 0.75  # the same of a body that an actuator stands clear of; one that reaches farther is let through


def _motor(r: float) -> Surface:
    """Along z: a flange on the hinge, the housing, a cap."""
    rings = ((1.7, 0.5, 1.75), (1.35, 3.2, 3.6), (0.8, 0.5, 5.4))  # radius, length, middle
    return joined(*(_lifted(cylinder(a * r, h * r), z * r) for a, h, z in rings))


def _lifted(surface: Surface, height: float) -> Surface:
    return surface.moved(Pose(np.eye(3), np.array([0.0, 0.0, height])))


def _along(joint: Joint) -> Pose:
    """The joint frame on the parent, turned so that z is its axis."""
    return joint.origin.pose() @ Pose(axes_along(np.array(joint.axis, dtype=float)), np.zeros(3))


def outside(joint: Joint, home: Mapping[str, Pose], pieces: Sequence[Piece], sign: float = 1.0) -> float:
    """How far along the axis of a joint, or against it, the surfaces of the pieces reach at the start [m]."""
    axis = home[joint.parent] @ _along(joint)
    start, along = axis.a, sign * axis.R[:, 2]
    return max((last_hit(x.surface.moved(home[x.link]), start, along) for x in pieces), default=0.0)


def last_hit(surface: Surface, start: np.ndarray, along: np.ndarray) -> float:
    """The farthest point of a surface on a ray (Möller and Trumbore); zero where it is missed."""
    a, b, c = (surface.points[surface.faces[:, k]] for k in range(3))
    first, second, to = b - a, c - a, start - a
    across = np.cross(along, second)
    volume = (first * across).sum(1)
    safe = np.where(np.abs(volume) > 0.0, volume, inf)
    u, other = (to * across).sum(1) / safe, np.cross(to, first)
    v, distance = other @ along / safe, (second * other).sum(1) / safe
    hit = (volume != 0.0) & (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (distance > 0.0)
    return float(distance[hit].max(initial=0.0))


def actuator_pieces(actuator: Actuator, joint: Joint, sizes: Sizes, beyond: float) -> list[Piece]:
    """What stays with the parent: a motor beside its joint, or the barrel of a cylinder behind it; `beyond`: how far
    bodies reach there."""
    r = sizes.marker
    beyond = _clear(beyond, sizes)
    if actuator.kind != HYDRAULIC or joint.kind != "prismatic":
        turn = Pose(np.diag([1.0, -1.0, -1.0]) if joint.kind == "prismatic" else np.eye(3), np.zeros(3))
        motor = _lifted(_motor(r), max(0.0, beyond - 1.5 * r)).moved(_along(joint) @ turn)
        return [Piece(joint.parent, motor, MOTOR, ACTUATORS)]
    length = min(dict(actuator.numbers).get("stroke", inf), LONGEST * sizes.size)
    barrel = joined(
        _lifted(cylinder(1.25 * r, length), -length / 2),
        _lifted(cylinder(1.5 * r, 0.6 * r), -0.3 * r),
        _lifted(cylinder(1.5 * r, 0.6 * r), 0.3 * r - length),
    )
    return [Piece(joint.parent, _lifted(barrel, -beyond).moved(_along(joint)), BARREL, ACTUATORS)]


def actuator_connectors(actuator: Actuator, joint: Joint, sizes: Sizes, beyond: float) -> list[Connector]:
    """The rod of a cylinder: it comes out of the barrel as the joint moves."""
    if joint.kind != "prismatic" or actuator.kind != HYDRAULIC:
        return []
    back = -_clear(beyond, sizes) * _unit(joint)
    return [_between(f"rod of {actuator.name}", "rod", joint, 0.65 * sizes.marker, ROD, ACTUATORS, back)]


def joint_spring_pieces(joint: Joint, sizes: Sizes) -> list[Piece]:
    """A coil around the axis of a joint that a spring turns back."""
    if joint.kind == "prismatic" or not any(joint.stiffness):
        return []
    wound = _lifted(coil(3.4 * sizes.marker, 1.6 * sizes.marker, turns=5), -1.7 * sizes.marker)
    return [Piece(joint.parent, wound.moved(_along(joint)), COIL, SPRINGS)]


def joint_spring_connectors(joint: Joint, sizes: Sizes) -> list[Connector]:
    """A coil along a slide that a spring pushes back: from where the spring is slack by its own length."""
    if joint.kind != "prismatic" or not any(joint.stiffness):
        return []
    rest = joint.rest[0] if joint.rest else 0.0
    back = (rest - LONGEST * sizes.size) * _unit(joint)
    return [_between(f"spring of {joint.name}", "spring", joint, 0.3 * sizes.bone, COIL, SPRINGS, back)]


def _clear(beyond: float, sizes: Sizes) -> float:
    return beyond if beyond < FAR * sizes.size else 0.0


def _unit(joint: Joint) -> np.ndarray:
    axis = np.array(joint.axis, dtype=float)
    return axis / np.sqrt(axis @ axis)


def _between(
    name: str, kind: str, joint: Joint, radius: float, colour: Numbers, layer: str, back: np.ndarray
) -> Connector:
    """From a point in the joint frame on the parent to the moved frame on the child."""
    held, moved = joint.origin.pose(), joint.child_origin.pose().inverse()
    start = held.R @ back + held.a
    return Connector(name, kind, joint.parent, start, joint.child, moved.a, radius, colour, layer)
