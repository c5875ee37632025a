"""Joints, loop closures, wheels, actuators, springs and contact shapes as small solids.

Actuators and springs at joints: motors next to the hinge, cylinders along the slide, coils.

The stator or barrel is fixed to the parent, the rod reaches from it to the child.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any

import numpy as np

from kinpair.description.actuator_parts import Actuator
from kinpair.description.parts import GROUND, Contact, Description, Joint, Numbers
from kinpair.spatial.pose import HOME, Pose
from kinpair.viewer.links import Sizes
from kinpair.viewer.surfaces import (
    Connector,
    Piece,
    Surface,
    axes_along,
    ball,
    box,
    capsule,
    coil,
    cylinder,
    ellipsoid,
    joined,
    ring,
)

JOINT: Numbers = (0.25, 0.27, 0.3, 1.0)
LOOP: Numbers = (0.75, 0.2, 0.17, 1.0)


def _hinge(r: float) -> Surface:
    return cylinder(r, 3.0 * r)


def _slide(r: float) -> Surface:
    return box(1.7 * r, 1.7 * r, 2.6 * r)


def _screw(r: float) -> Surface:
    thread = [
        ring(0.75 * r, 0.22 * r).moved(Pose(np.eye(3), np.array([0, 0, z * r])))
        for z in (-1.2, -0.4, 0.4, 1.2)
    ]
    return joined(cylinder(0.7 * r, 4.0 * r), *thread)


def _sleeve(r: float) -> Surface:
    return joined(cylinder(0.6 * r, 5.0 * r), cylinder(r, 2.4 * r))


def _plate(r: float) -> Surface:
    return box(5.0 * r, 5.0 * r, 0.6 * r)


def _cross(r: float) -> Surface:
    other = Pose(axes_along(np.array([1.0, 0.0, 0.0])), np.zeros(3))
    return joined(cylinder(0.6 * r, 4.0 * r), cylinder(0.6 * r, 4.0 * r).moved(other))


def _ball(r: float) -> Surface:
    return ball(1.3 * r)


def _pin(r: float) -> Surface:
    return joined(cylinder(0.6 * r, 3.4 * r), ring(0.9 * r, 0.3 * r))


FORMS: dict[str, Callable[[float], Surface]] = {  # z is the axis
    "revolute": _hinge,
    "prismatic": _slide,
    "helical": _screw,
    "cylindrical": _sleeve,
    "universal": _cross,
    "spherical": _ball,
    "planar": _plate,
    **dict.fromkeys(("pin", "plane-weld", "turn"), _pin),
    "face": _plate,
}


def joint_marker(joint: Joint, sizes: Sizes) -> list[Piece]:
    """Marker that shows the kind and the axis of a joint, on the link that it moves; a slide on what holds it."""
    if joint.kind == "prismatic":
        return _marker(joint, joint.parent, joint.origin.pose(), sizes, JOINT, "joints")
    return _marker(joint, joint.child, joint.child_origin.pose().inverse(), sizes, JOINT, "joints")


def loop_markers(constraint: Any, sizes: Sizes) -> list[Piece]:
    """Markers of a pair that closes a loop, on its child."""
    if type(constraint).__name__ != "Loop":
        return []
    return _marker(constraint, constraint.child, constraint.child_origin.pose(), sizes, LOOP, "loops")


def _marker(pair: Any, link: str, at: Pose, sizes: Sizes, colour: Numbers, layer: str) -> list[Piece]:
    form = FORMS.get(pair.kind)
    if form is None:
        return []
    turned = at @ Pose(axes_along(np.array(pair.axis, dtype=float)), np.zeros(3))
    return [Piece(link, form(sizes.marker).moved(turned), colour, layer)]


def _disk(radius: float) -> Surface:
    return cylinder(radius, 0.12 * radius)


WHEELS: dict[str, Callable[..., Surface]] = {
    "disk": _disk,
    "ball": ball,
    "ellipsoid": ellipsoid,
    "wheel": ring,
}


def wheel(constraint: Any, drawn: bool) -> list[Piece]:
    """Surface that rolls, where its link is not drawn by the description."""
    form = WHEELS.get(str(getattr(constraint, "shape", "")))
    if type(constraint).__name__ != "Rolling" or form is None or drawn:
        return []
    axis = Pose(axes_along(np.array(constraint.axis, dtype=float)), np.zeros(3))
    return [Piece(constraint.child, form(*constraint.size).moved(constraint.child_origin.pose() @ axis), ())]


ACTUATORS, SPRINGS = "actuators", "springs"  # layers
MOTOR: Numbers = (0.16, 0.31, 0.48, 1.0)
BARREL: Numbers = (0.93, 0.72, 0.2, 1.0)
ROD: Numbers = (0.72, 0.74, 0.78, 1.0)
COIL: Numbers = (0.83, 0.42, 0.13, 1.0)
HYDRAULIC = "hydraulic-cylinder"
LONGEST = 0.35  # barrel, as a part of the size of the scene
FAR = 0.75  # the same of a body that an actuator stands clear of; one that reaches farther is let through


def _motor(r: float) -> Surface:
    """Motor along z: a flange on the hinge, the housing, a cap."""
    rings = ((1.7, 0.5, 1.75), (1.35, 3.2, 3.6), (0.8, 0.5, 5.4))  # radius, length, middle
    return joined(*(_lifted(cylinder(a * r, h * r), z * r) for a, h, z in rings))


def _lifted(surface: Surface, height: float) -> Surface:
    return surface.moved(Pose(np.eye(3), np.array([0.0, 0.0, height])))


def _along(joint: Joint) -> Pose:
    """The joint frame on the parent, turned so that z is its axis."""
    return joint.origin.pose() @ Pose(axes_along(np.array(joint.axis, dtype=float)), np.zeros(3))


def outside(joint: Joint, home: Mapping[str, Pose], pieces: Sequence[Piece], sign: float = 1.0) -> float:
    """Distance along the axis of a joint, or against it, that the surfaces of the pieces reach at the start [m]."""
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
    """Pieces that stay with the parent: a motor next to its joint, or the barrel of a cylinder behind it; `beyond`:
    how far bodies reach there."""
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
    """Connector from a point in the joint frame on the parent to the moved frame on the child."""
    held, moved = joint.origin.pose(), joint.child_origin.pose().inverse()
    start = held.R @ back + held.a
    return Connector(name, kind, joint.parent, start, joint.child, moved.a, radius, colour, layer)


SOLID, PLANE = (0.55, 0.57, 0.6, 1.0), (0.6, 0.63, 0.68, 0.45)  # colours of geoms on the ground
LEVEL = 0.999  # cosine between up and the normal of a plane that is the floor
EXTENT, THICKNESS = 0.6, 0.004  # half edge and thickness of a plane, of the size of the scene
SURFACES: dict[str, Callable[..., Surface]] = {
    "sphere": ball,
    "capsule": capsule,
    "cylinder": cylinder,
    "box": box,
    "ellipsoid": ellipsoid,
}


def geom_pieces(
    description: Description,
    looks: Mapping[str, Sequence[Piece]],
    size: float,
    centre: np.ndarray,
    up: np.ndarray,
) -> list[Piece]:
    """Return the pieces of geoms; a plane is a slab next to the middle of the scene, unless it is the floor."""
    pieces: list[Piece] = []
    for geom in description.contacts.geoms:
        link, pose = _placed(geom, description)
        on_ground = link == GROUND or link not in looks
        if geom.shape == "plane":
            if on_ground and abs(pose.R[:, 2] @ up) < LEVEL:
                pieces.append(Piece(GROUND, _slab(pose, size, centre), PLANE))
        elif geom.shape in SURFACES and (on_ground or not looks[link]):
            surface = SURFACES[geom.shape](*geom.size).moved(pose)
            pieces.append(Piece(GROUND if on_ground else link, surface, SOLID if on_ground else ()))
    return pieces


def floor_height(description: Description, up: np.ndarray) -> float | None:
    """Return the height along `up` of the highest level plane on the ground; None without one."""
    planes = [_placed(x, description) for x in description.contacts.geoms if x.shape == "plane"]
    links = {x.name for x in description.links} - {GROUND}
    heights = [float(pose.a @ up) for link, pose in planes if link not in links and pose.R[:, 2] @ up > LEVEL]
    return max(heights, default=None)


def _placed(geom: Contact, description: Description) -> tuple[str, Pose]:
    """Return the link of a geom and its pose there."""
    frames = {x.name: x for x in description.frames}
    frame = frames.get(geom.link)
    seat = frame.origin.pose() if frame else HOME
    return (frame.link if frame else geom.link), seat @ geom.origin.pose()


def _slab(pose: Pose, size: float, centre: np.ndarray) -> Surface:
    """Return a square of a plane around the foot of the middle of the scene."""
    n = pose.R[:, 2]
    foot = centre - n * (n @ (centre - pose.a))
    thickness, edge = THICKNESS * size, 2 * EXTENT * size
    return box(edge, edge, thickness).moved(Pose(pose.R, foot - 0.5 * thickness * n))
