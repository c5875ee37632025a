"""A motion to be played, and the lamps that it shows.

What a motion shows in addition to the bodies: a lamp at each joint with dry friction, red while it sticks and green
while it slides; marked points and areas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from kinpair.description.parts import Joint, Numbers
from kinpair.errors import InputError
from kinpair.spatial.pose import Pose
from kinpair.viewer.bodies import MARKER, corners_of
from kinpair.viewer.markers import last_hit
from kinpair.viewer.panels import Panel
from kinpair.viewer.scene import GROUND, HOME, Drawn, Poses, Scene, link_poses, start_of
from kinpair.viewer.surfaces import Piece, Surface, ball


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """Times (n,) [s] and coordinates (n, nq) of a mechanism; `panels` have curves over `panel_time`; `notes` are
    sentences at times; `arrows` by name give (n, k, 2, 3), from point to point in the world, when they are asked for.

    `sticks`: by joint with dry friction, whether it sticks (n,). `points` (n, 3) and `areas`, corners (k, 3) at each
    time, are marked in the world [m].
    """

    mechanism: Drawn
    time: np.ndarray
    q: np.ndarray
    name: str = ""
    panel_time: np.ndarray = field(default_factory=lambda: np.zeros(0))
    panels: tuple[Panel, ...] = ()
    notes: tuple[tuple[float, str], ...] = ()
    arrows: Mapping[str, Callable[[], np.ndarray]] = field(
        default_factory=dict[str, Callable[[], np.ndarray]]
    )
    sticks: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    points: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    areas: Mapping[str, tuple[np.ndarray, ...]] = field(default_factory=dict[str, tuple[np.ndarray, ...]])

    def poses(self) -> dict[str, Pose]:
        """Poses of every link at every time: rotations (n, 3, 3) and positions (n, 3), by name."""
        every = self.mechanism.poses(self.q)
        ground = Pose(np.tile(HOME.R, (len(self.time), 1, 1)), np.zeros((len(self.time), 3)))
        return {GROUND: ground, **{name: Pose(x.rotation, x.position) for name, x in every.items()}}

    def at(self, time: float) -> int:
        """Number of the sample nearest to a time."""
        k = int(np.searchsorted(self.time, time))
        if k == 0 or k == len(self.time):
            return min(k, len(self.time) - 1)
        return k if self.time[k] - time < time - self.time[k - 1] else k - 1


def at(poses: Poses, k: int) -> dict[str, Pose]:
    """Return the poses of one sample."""
    return {name: Pose(x.R[k], x.a[k]) for name, x in poses.items()}


def reached(recording: Recording, scene: Scene, chosen: np.ndarray) -> np.ndarray:
    """Return the corners of the boxes around everything that is drawn, at the chosen samples (n, 3) [m]."""
    poses = recording.poses()
    places = [
        np.einsum("nij,kj->nki", poses[x.link].R[chosen], corners_of(x.surface))
        + poses[x.link].a[chosen][:, None]
        for x in scene.merged()
    ]
    return np.concatenate([x.reshape(-1, 3) for x in places])


def check_played(name: str, samples: int) -> None:
    """A motion without a sample cannot be shown."""
    if not samples:
        raise InputError(
            f"{name}: the run has no samples, so there is nothing to show; output= says when there is one"
        )


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
    """Dot that marks a point."""
    return ball(DOT * MARKER * scene.size)


def flat(corners: np.ndarray, scene: Scene) -> np.ndarray:
    """Triangles (n, 3) of a convex area, a little above the ground."""
    raised = corners + LIFT * scene.size * scene.up
    fans = [raised[[0, k, k + 1]] for k in range(1, len(raised) - 1)]
    return np.concatenate([np.zeros((0, 3)), *fans])
