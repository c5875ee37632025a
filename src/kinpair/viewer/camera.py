"""Where a picture is taken from: a point of view, and what of the world falls on which pixel."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin, tan

import numpy as np

from kinpair.errors import InputError, offered

OPENING = 28 * pi / 180  # between the upper and the lower edge of a picture [rad]
MARGIN = 1.08  # what is shown around the things that are drawn
VIEWS = {  # azimuth about `up` from the first axis, and elevation [rad]
    "corner": (-55 * pi / 180, 25 * pi / 180),
    "front": (0.0, 0.0),
    "side": (-pi / 2, 0.0),
    "back": (pi, 0.0),
    "top": (-pi / 2, pi / 2),
}


@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """A point of view: `axes` (3, 3) has right, upwards and towards the viewer as rows; distance [m] from the
    target."""

    axes: np.ndarray
    target: np.ndarray
    distance: float
    opening: float = OPENING

    @property
    def eye(self) -> np.ndarray:
        """Where the viewer is."""
        return self.target + self.distance * self.axes[2]

    def seen(self, points: np.ndarray) -> np.ndarray:
        """Points of the world (n, 3) as right, upwards, and depth away from the viewer; the first two as parts of
        half the height of the picture."""
        local = (points - self.eye) @ self.axes.T
        depth = np.maximum(-local[:, 2], 1e-6 * self.distance)
        flat = local[:, :2] / (depth * tan(self.opening / 2))[:, None]
        return np.concatenate([flat, depth[:, None]], axis=1)


def directions(view: str | tuple[float, float], up: np.ndarray, normal: np.ndarray | None) -> np.ndarray:
    """Right, upwards and towards the viewer (3, 3) for a view by name, or for azimuth and elevation [degrees].

    A plane mechanism is seen along the `normal` of its plane, from a little aside, where the view is "corner".
    """
    if not isinstance(view, str):
        azimuth, elevation = (float(x) * pi / 180 for x in view)
    elif view in VIEWS:
        azimuth, elevation = VIEWS[view]
    else:
        raise InputError(
            f"view is {view!r}; {offered(view, 'views', VIEWS)}; or (azimuth, elevation) in degrees"
        )
    first = _first_axis(up)
    if view == "corner" and normal is not None and abs(normal @ up) < 0.5:
        first = normal - (normal @ up) * up
        first /= np.sqrt(first @ first)
        azimuth, elevation = 18 * pi / 180, 14 * pi / 180
    second = np.cross(up, first)
    flat = cos(azimuth) * first + sin(azimuth) * second
    towards = cos(elevation) * flat + sin(elevation) * up
    right = np.cross(up, flat)
    return np.stack([right, np.cross(towards, right), towards])


def _first_axis(up: np.ndarray) -> np.ndarray:
    """x, or what of it is level; where x points upwards, y."""
    x = np.array([1.0, 0.0, 0.0]) if abs(up[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    level = x - (x @ up) * up
    return level / np.sqrt(level @ level)


def around(points: np.ndarray, axes: np.ndarray, aspect: float, opening: float = OPENING) -> Camera:
    """Return the nearest camera with these axes that sees all points in a picture `aspect` times as wide as high.

    A point (x, y, z) is seen from (c, d, e) if |x − c| ≤ s (e − z), and the same for y: the largest and the least
    x ± s z give c and e, so that the points reach the margins on both sides.
    """
    local = points @ axes.T
    z = local[:, 2]
    slopes = tan(opening / 2) / MARGIN * np.array([aspect, 1.0])
    ends = [((x + s * z).max(), (s * z - x).max()) for x, s in zip(local.T, slopes, strict=False)]
    across = [(right - left) / 2 for right, left in ends]
    height = max((right + left) / (2 * s) for (right, left), s in zip(ends, slopes, strict=True))
    depth = (z.min() + z.max()) / 2
    return Camera(axes, axes.T @ np.array([*across, depth]), float(max(height - depth, 1e-6)), opening)
