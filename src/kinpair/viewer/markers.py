"""Joints, loop closures and wheels as small solids: one form a kind, in a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kinpair.description.parts import Joint, Numbers
from kinpair.spatial.pose import Pose
from kinpair.viewer.bodies import Sizes
from kinpair.viewer.pieces import Piece
from kinpair.viewer.surfaces import Surface, axes_along, ball, box, cylinder, ellipsoid, joined, ring

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
    """What shows the kind and the axis of a joint, on the link that it moves; a slide on what holds it."""
    if joint.kind == "prismatic":
        return _marker(joint, joint.parent, joint.origin.pose(), sizes, JOINT, "joints")
    return _marker(joint, joint.child, joint.child_origin.pose().inverse(), sizes, JOINT, "joints")


def loop_markers(constraint: Any, sizes: Sizes) -> list[Piece]:
    """The same of a pair that closes a loop, on its child."""
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
    """What rolls, where its link is not drawn by the description."""
    form = WHEELS.get(str(getattr(constraint, "shape", "")))
    if type(constraint).__name__ != "Rolling" or form is None or drawn:
        return []
    axis = Pose(axes_along(np.array(constraint.axis, dtype=float)), np.zeros(3))
    return [Piece(constraint.child, form(*constraint.size).moved(constraint.child_origin.pose() @ axis), ())]
