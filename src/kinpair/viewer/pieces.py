"""The parts of a scene."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from kinpair.description.parts import Numbers
from kinpair.spatial.pose import Pose
from kinpair.viewer.surfaces import Surface


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A surface fixed to a link, in its axes; colour red, green, blue, opacity from 0 to 1, empty: that of the link.

    `layer`: visual, joints, loops, springs or actuators; a page shows and hides layers.
    """

    link: str
    surface: Surface
    colour: Numbers = ()
    layer: str = "visual"
    is_mesh: bool = False

    def in_colour(self, colour: Numbers) -> Piece:
        """The same, coloured where it has no colour of its own."""
        return self if self.colour else replace(self, colour=colour)


@dataclass(frozen=True, slots=True, eq=False)
class Connector:
    """A spring, rope or rod between a point of one link and a point of another, each in the axes of its link."""

    name: str
    kind: str
    parent: str
    start: np.ndarray
    child: str
    end: np.ndarray
    radius: float
    colour: Numbers
    layer: str

    def ends(self, poses: Mapping[str, Pose]) -> tuple[np.ndarray, np.ndarray]:
        """Both points in the world."""
        parent, child = poses[self.parent], poses[self.child]
        return parent.R @ self.start + parent.a, child.R @ self.end + child.a
