"""The orientation of an open vessel that follows the apparent vertical of one of its points.

    n = (a − g)/|a − g|                                                                                  (VS1)
    ω = n × ṅ,   ṅ = (1 − n nᵀ) j/|a − g|                                                                (VS2)

a and j are acceleration and jerk of the point. A path with three continuous derivatives makes ω continuous, one with
four ω̇. (VS2) is the motion without spin; along a path the vessel has the least turn from upright, which is the same
where the path lies in a vertical plane, and ends as it began everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from kinpair.algebra import series
from kinpair.motion.frame_motion import crossed, normalised, quaternion_products
from kinpair.motion.trajectory import Trajectory


class Tilt(NamedTuple):
    """Axis (..., 3) of the vessel, and its angular velocity (..., 3)."""

    axis: np.ndarray
    omega: np.ndarray


def apparent_vertical(acceleration: Any, jerk: Any, gravity: Any = (0.0, 0.0, -9.81)) -> Tilt:
    """Direction in which an open vessel must point while a point of it has this acceleration and jerk (..., 3),
    without spin.

    Units: acceleration [m/s²].
    """
    f = np.asarray(acceleration, dtype=float) - np.asarray(gravity, dtype=float)
    size = np.sqrt((f * f).sum(-1, keepdims=True))
    n, j = f / size, np.asarray(jerk, dtype=float)  # (VS1)
    nd = (j - n * (n * j).sum(-1, keepdims=True)) / size
    return Tilt(n, crossed(n, nd))  # (VS2)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Aligned(Trajectory):
    """Position and quaternion (7,) of a vessel whose point `height` above its origin follows a path, tilted by (VS1).

    path: position (and more) of the origin of the vessel, were it upright. quaternion: of the vessel at rest.
    """

    path: Trajectory
    quaternion: np.ndarray
    gravity: np.ndarray
    height: float

    def within(self, time: Any, order: int, side: str) -> list[Any]:
        found = [x[..., :3] for x in self.path.within(time, order + 2, side)]
        p = [*found, *[0.0 * found[0]] * (order + 3 - len(found))]
        f = [(k + 2) * (k + 1) * p[k + 2] for k in range(order + 1)]
        f[0] = f[0] - self.gravity
        n = normalised(f, order)
        up = -self.gravity / np.sqrt(self.gravity @ self.gravity)
        turn = [
            np.concatenate([crossed(up + 0.0 * x, x), (up * x).sum(-1, keepdims=True)], axis=-1) for x in n
        ]
        turn[0] = turn[0] + np.array([0.0, 0.0, 0.0, 1.0])  # half the turn from upright, but for its length
        k = normalised([quaternion_products(x, self.quaternion + 0.0 * x) for x in turn], order)
        origin = [p[i] - self.height * n[i] for i in range(order + 1)]
        origin[0] = origin[0] + self.height * up
        return [np.concatenate(pair, axis=-1) for pair in zip(origin, k, strict=True)]


def jerk_jump(path: Trajectory) -> tuple[float, np.ndarray]:
    """Time when the third derivative of a path's position jumps most, and by how much (3,)."""
    times = np.array(path.knots)
    sides = [path.series(times, 3, side) for side in ("left", "right")]
    before, after = (series.derivatives([*x, *[0.0 * x[0]] * (4 - len(x))])[3][..., :3] for x in sides)
    worst = int(np.abs(after - before).max(-1).argmax())
    return float(times[worst]), (after - before)[worst]
