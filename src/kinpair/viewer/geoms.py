"""Shapes that touch, drawn where nothing else is: geoms on the ground, and those of links that have no looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from kinpair.description.parts import GROUND, Contact, Description
from kinpair.spatial.pose import HOME, Pose
from kinpair.viewer.pieces import Piece
from kinpair.viewer.surfaces import Surface, ball, box, capsule, cylinder, ellipsoid

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
