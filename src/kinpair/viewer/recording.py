"""A motion to be played: positions in time, curves beside them, and what happened on the way. Pure data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from kinpair.errors import InputError
from kinpair.spatial.pose import Pose
from kinpair.viewer.bodies import corners_of
from kinpair.viewer.panels import Panel
from kinpair.viewer.scene import GROUND, HOME, Drawn, Poses, Scene


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
