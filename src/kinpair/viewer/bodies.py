"""Links that the description does not draw, one by one and in long chains.

Mechanisms of many links: one rod a link, from its joint to the joints that it holds, and nothing else.

A chain of ten thousand links is a line in a picture: markers of joints and shapes of links would hide each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinpair.description.parts import Description, Joint, Link, Numbers
from kinpair.spatial.pose import Pose
from kinpair.viewer.looks import LINK_COLOURS
from kinpair.viewer.surfaces import Piece, Surface, between, ellipsoid, tube

BONE, MARKER = 0.012, 0.022  # radii of rods and of joints, as parts of the size of the scene
SEVERAL, SHARE = (
    12,
    0.1,
)  # above so many joints a marker is no thicker than this part of the usual distance of two
LEAST, MOST = 0.5, 0.3  # semi-axes of a solid: at least so many bones, at most this part of the size


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """Size of a mechanism at its start [m], its middle, and the thickness to draw it."""

    size: float
    centre: np.ndarray
    bone: float
    marker: float

    @staticmethod
    def of(description: Description, home: Mapping[str, Pose], looks: Mapping[str, Sequence[Piece]]) -> Sizes:
        """Compute sizes from the joints, the mass centres and what is drawn."""
        points = [home[link.name].R @ np.array(link.com) + home[link.name].a for link in description.links]
        points += [home[joint.child].a for joint in description.joints]
        points += [home[j.parent].R @ np.array(j.origin.xyz) + home[j.parent].a for j in description.joints]
        corners = [
            corners_of(piece.surface) @ home[piece.link].R.T + home[piece.link].a
            for pieces in looks.values()
            for piece in pieces
        ]
        every = np.concatenate([[*points, np.zeros(3)], *corners])
        low, high = every.min(axis=0), every.max(axis=0)
        size = float(np.sqrt(((high - low) ** 2).sum())) or 1.0
        thin = min(1.0, _room(description) / (MARKER * size))
        return Sizes(size, (low + high) / 2, thin * BONE * size, thin * MARKER * size)


def _room(description: Description) -> float:
    """Largest radius of markers that leave most of each link to be seen [m]; infinite where there are few joints."""
    lengths = [float(np.linalg.norm(x.origin.xyz)) for x in description.joints if any(x.origin.xyz)]
    return SHARE * float(np.median(lengths)) if len(lengths) > SEVERAL else np.inf


def corners_of(surface: Surface) -> np.ndarray:
    """The corners of the box around a surface (8, 3)."""
    low, high = surface.points.min(axis=0), surface.points.max(axis=0)
    choice = np.array([[i >> k & 1 for k in range(3)] for i in range(8)])
    return np.where(choice == 1, high, low)


@dataclass(frozen=True, slots=True, eq=False)
class Around:
    """Neighbours of each link, by its name: joints that move it, joints that it holds, constraints on it."""

    moved: Mapping[str, list[Joint]]
    holding: Mapping[str, list[Joint]]
    closing: Mapping[str, list[Any]]

    @staticmethod
    def of(description: Description) -> Around:
        """Collect neighbours from all joints and constraints."""
        moved, holding, closing = (defaultdict[str, list[Any]](list) for _ in range(3))
        for joint in description.joints:
            moved[joint.child].append(joint)
            holding[joint.parent].append(joint)
        for x in description.constraints:
            closing[getattr(x, "child", "")].append(x)
        return Around(moved, holding, closing)

    def held_by(self, link: str) -> Sequence[Joint]:
        """The joints that a link holds."""
        return self.holding.get(link, ())

    def is_moved(self, link: str) -> bool:
        """True if a link moves on its parent."""
        return any(x.kind != "fixed" for x in self.moved.get(link, ()))


def by_inertia(part: Link, sizes: Sizes) -> list[Piece]:
    """The solid ellipsoid of the same mass and inertia: I_x = m (b² + c²) / 5. Nothing for a link without mass."""
    if not part.mass > 0.0:
        return []
    moments, axes = np.linalg.eigh(part.tensor())
    squares = 2.5 * (moments.sum() - 2 * moments) / part.mass
    semi = np.clip(np.sqrt(np.maximum(squares, 0.0)), LEAST * sizes.bone, MOST * sizes.size)
    R = axes * np.sign(np.linalg.det(axes))
    return [Piece(part.name, ellipsoid(*semi).moved(Pose(R, np.array(part.com))))]


def bones(around: Around, part: Link, sizes: Sizes) -> list[Piece]:
    """Rods from where a link is supported to its mass centre, and to the joints and closures that it supports."""
    link = part.name
    held = [joint.child_origin.pose().inverse().a for joint in around.moved.get(link, ())]
    ends = [np.array(joint.origin.xyz) for joint in around.held_by(link)]
    ends += [np.array(x.child_origin.xyz) for x in around.closing.get(link, ())]
    if part.mass > 0.0:
        ends.append(np.array(part.com))
    starts = held or [np.zeros(3)]
    pairs = [(start, end) for start in starts for end in ends]
    return [
        Piece(link, between(start, end, sizes.bone))
        for start, end in pairs
        if np.abs(start - end).max() > 1e-9 * sizes.size
    ]


MANY = 400  # joints: above, a mechanism is drawn as rods
RADIUS = 0.003  # of a rod, as a part of the size of the scene
CORNERS = 6  # of the section of a rod
COLOUR: Numbers = (*LINK_COLOURS[0], 1.0)


def is_long(description: Description) -> bool:
    """True if a mechanism is drawn as rods."""
    return len(description.joints) > MANY


def rods(description: Description, around: Around, sizes: Sizes) -> Iterator[Piece]:
    """The rods of all links; links with equal data share their surfaces."""
    surfaces: dict[tuple[float, ...], Surface] = {}
    for link in description.links:
        for end in _ends(link, around.held_by(link.name)):
            if end not in surfaces:
                surfaces[end] = tube(np.array([(0.0, 0.0, 0.0), end]), RADIUS * sizes.size, CORNERS)
            yield Piece(link.name, surfaces[end], COLOUR)


def _ends(link: Link, joints: Sequence[Joint]) -> list[tuple[float, ...]]:
    """Joints that the link supports; of the last link of a chain, twice the distance to its mass centre."""
    ends = [joint.origin.xyz for joint in joints] or [tuple(2.0 * x for x in link.com)]
    return [end for end in dict.fromkeys(ends) if any(end)]
