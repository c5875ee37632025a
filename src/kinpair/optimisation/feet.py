"""Path constraints of feet that stand: the centre of pressure inside the sole, and the friction cone.

With the wrench [n; f] of the ground on a foot at the origin of its sole, in axes of the sole, z its normal:

    (c − a_i)·b_i ≥ margin,   c = (−n_y, n_x)/f_z        corners a_i, inward normals b_i of the edges          (OP13)
    f_x² + f_y² + (m/ρ)² ≤ μ² f_z²                       m: moment about the normal at the middle of the sole  (OP14)
    f_z ≥ load                                                                                                 (OP15)

(OP13) is multiplied by f_z, so that it is linear in the wrench; forces count as parts of the weight. ρ: mean distance
of the sole from its middle, see (GZ7).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kinpair.algebra.arrays import array
from kinpair.errors import InputError
from kinpair.motion.polygon import hull
from kinpair.motion.support import mean_distance
from kinpair.optimisation.equations import Point, inner

GRAVITY = 9.81
Path = dict[str, tuple[float, Callable[[Point], Any], None]]


def standing(
    feet: Mapping[str, Any],
    *,
    friction: float = 0.6,
    margin: float = 0.0,
    load: float = 0.0,
    loops: Mapping[str, str] | None = None,
) -> Path:
    """Path constraints for `kp.optimise`: feet stand flat on the ground without tilting or slipping.

    feet: frame of the sole, its z axis upward → outline (k, 3) or (k, 2) in axes of the frame [m]. friction:
    coefficient of the ground. margin: least distance of the centre of pressure from the border of the sole [m]. load:
    least normal force of a foot as a part of the weight. loops: frame → loop between ground and foot that holds it. A
    single foot without a loop carries the whole machine: its centre of pressure is then the zero-moment point.
    """
    held = dict(loops or {})
    free = [x for x in feet if x not in held]
    if not feet or (len(feet) > 1 and free):
        raise InputError(
            f"standing: {len(feet)} feet, of which {len(free)} have no loop; give one foot, or the loop that "
            "holds each foot: loops={'sole': 'loop'}"
        )
    if not (friction > 0.0 and margin >= 0.0 and load >= 0.0):
        raise InputError(
            f"standing: friction {friction!r}, margin {margin!r}, load {load!r}; give positive numbers"
        )
    path: Path = {}
    for sole, outline in feet.items():
        own = _Foot(sole, _corners(sole, outline), held.get(sole), friction, margin, load)
        path |= {
            f"centre of pressure of {sole}": (0.0, inner(own.pressed), None),
            f"friction of {sole}": (0.0, inner(own.sticks), None),
            f"load of {sole}": (load, inner(own.loaded), None),
        }
    return path


def _corners(sole: str, outline: Any) -> np.ndarray:
    points = np.asarray(outline, dtype=float)
    if points.ndim != 2 or points.shape[1] not in (2, 3) or len(points) < 3:
        raise InputError(f"standing: the outline of {sole!r} has shape {points.shape}; give 3 or more points")
    return hull(points[:, :2])


class _Foot:
    """The constraints of one foot as functions of a point."""

    def __init__(
        self, sole: str, corners: np.ndarray, loop: str | None, friction: float, margin: float, load: float
    ) -> None:
        self.sole, self.loop, self.friction, self.load, self.corners = sole, loop, friction, load, corners
        along = np.roll(corners, -1, axis=0) - corners
        inward = np.stack([-along[:, 1], along[:, 0]], axis=1) / np.sqrt((along**2).sum(1))[:, None]
        self.inward, self.least = inward, (inward * corners).sum(1) + margin
        self.radius, self.middle = mean_distance(corners), corners.mean(axis=0)

    def wrench(self, point: Point) -> Any:
        """[n; f] at the origin of the sole in its axes, as parts of the weight."""
        R = point.rotation(self.sole)
        w = point.wrench(self.loop, self.sole) if self.loop else point.resultant(self.sole)
        weight = GRAVITY * float(point.equations.subject.mass)
        return np.concatenate([R.T @ w[:3], R.T @ w[3:]]) / weight

    def pressed(self, point: Point) -> Any:
        """Distances of the centre of pressure from the edges less the margin, times the normal force.    (OP13)"""
        n_x, n_y, _, _, _, f_z = self.wrench(point)
        return array(
            [-b[0] * n_y + b[1] * n_x - c * f_z for b, c in zip(self.inward, self.least, strict=True)]
        )

    def sticks(self, point: Point) -> Any:
        """μ² f_z² − f_x² − f_y² − (m/ρ)².    (OP14)"""
        _, _, n_z, f_x, f_y, f_z = self.wrench(point)
        m = (n_z - self.middle[0] * f_y + self.middle[1] * f_x) / self.radius
        return self.friction**2 * f_z * f_z - f_x * f_x - f_y * f_y - m * m

    def loaded(self, point: Point) -> Any:
        """Normal force f_z [N].    (OP15)"""
        return self.wrench(point)[5]
