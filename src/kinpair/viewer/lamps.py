"""What a motion shows beside the bodies: a lamp at each joint with dry friction, red while it sticks and green while
it slides; marked points and areas."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from kinpair.description.parts import Joint, Numbers
from kinpair.spatial.pose import Pose
from kinpair.viewer.bodies import MARKER
from kinpair.viewer.drives import last_hit
from kinpair.viewer.pieces import Piece
from kinpair.viewer.scene import Drawn, Poses, Scene, link_poses, start_of
from kinpair.viewer.surfaces import Surface, ball

STICKS: Numbers = (0.82, 0.13, 0.13, 1.0)
SLIDES: Numbers = (0.16, 0.66, 0.3, 1.0)
POINT: Numbers = (0.72, 0.1, 0.55, 1.0)
AREA: Numbers = (0.2, 0.55, 0.85, 0.35)
LAMP, DOT = 1.6, 0.9  # radii, in those of a joint
LIFT = 0.002  # of an area above the ground, as a part of the size of the scene


def lamps(mechanism: Drawn, scene: Scene, joints: Iterable[str]) -> dict[str, Piece]:
    """A ball on the child of each of these joints, clear of what is drawn there."""
    home, radius = link_poses(mechanism, start_of(mechanism)), MARKER * scene.size
    by_name = {joint.name: joint for joint in mechanism.model.description.joints}
    return {name: _lamp(by_name[name], scene, home, radius) for name in joints if name in by_name}


def _lamp(joint: Joint, scene: Scene, home: Poses, radius: float) -> Piece:
    frame = home[joint.child] @ joint.child_origin.pose().inverse()
    axis = frame.R @ np.array(joint.axis, dtype=float)
    towards = _sideways(axis, scene.up) if joint.kind == "prismatic" else -axis / np.sqrt(axis @ axis)
    near = [x for x in scene.pieces if x.link in (joint.parent, joint.child)]
    clear = max((last_hit(x.surface.moved(home[x.link]), frame.a, towards) for x in near), default=0.0)
    clear = max(1.5 * radius, clear if clear < 0.75 * scene.size else 0.0)
    place = frame.a + (clear + LAMP * radius) * towards
    R = home[joint.child].R
    at = Pose(np.eye(3), R.T @ (place - home[joint.child].a))
    return Piece(joint.child, ball(LAMP * radius).moved(at), SLIDES, "friction")


def _sideways(axis: np.ndarray, up: np.ndarray) -> np.ndarray:
    """Upwards, across an axis; any direction across one that points upwards."""
    e = axis / np.sqrt(axis @ axis)
    best = max((up, *np.eye(3)[::-1]), key=lambda x: (abs(x @ e) < 0.9, x is up))
    across = best - (best @ e) * e
    return across / np.sqrt(across @ across)


def lit(lamp: Piece, sticks: bool) -> Piece:
    """A lamp as it looks while its joint sticks or slides."""
    return replace(lamp, colour=STICKS if sticks else SLIDES)


def dot(scene: Scene) -> Surface:
    """What marks a point."""
    return ball(DOT * MARKER * scene.size)


def flat(corners: np.ndarray, scene: Scene) -> np.ndarray:
    """Triangles (n, 3) of a convex area, a little above the ground."""
    raised = corners + LIFT * scene.size * scene.up
    fans = [raised[[0, k, k + 1]] for k in range(1, len(raised) - 1)]
    return np.concatenate([np.zeros((0, 3)), *fans])
