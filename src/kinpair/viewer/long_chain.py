"""Mechanisms of many links: one rod a link, from its joint to the joints that it holds, and nothing else.

A chain of ten thousand links is a line in a picture: markers of joints and shapes of links would hide each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kinpair.description.parts import Description, Joint, Link, Numbers
from kinpair.viewer.bodies import Around, Sizes
from kinpair.viewer.looks import LINK_COLOURS
from kinpair.viewer.pieces import Piece
from kinpair.viewer.surfaces import Surface, tube

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
    """Joints that the link holds; of the last link of a chain, twice the way to its mass centre."""
    ends = [joint.origin.xyz for joint in joints] or [tuple(2.0 * x for x in link.com)]
    return [end for end in dict.fromkeys(ends) if any(end)]
