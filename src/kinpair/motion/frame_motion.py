"""The motion of a frame: a path of position and quaternion, followed by a law of time.

k = κ/|κ|,   ω = 2 vec(k̇ ∘ k̄),   ω̇, ω̈ from the Taylor series of the product                 (MO7)
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from kinpair.algebra import series
from kinpair.errors import InputError
from kinpair.motion.trajectory import Trajectory
from kinpair.results import FramePose
from kinpair.viewer.curves import figure_of, write_figure
from kinpair.viewer.looks import Panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROTATED = 1e-6  # how far R Rᵀ may be from one
POINTS = 1001
AXES = ("x", "y", "z")
PANELS = (
    ("velocity", "[m/s]", "twist", slice(3, 6)),
    ("angular velocity", "[rad/s]", "twist", slice(0, 3)),
    ("acceleration", "[m/s²]", "acceleration", slice(3, 6)),
    ("angular acceleration", "[rad/s²]", "acceleration", slice(0, 3)),
)


class FrameMotion(NamedTuple):
    """Rotation (..., 3, 3) and position (..., 3) of a frame; its twist and the derivatives of that (..., 6).

    The twist is [angular; linear] at the origin of the frame in world axes, as `jacobian` has it: J q̇.
    """

    rotation: np.ndarray
    position: np.ndarray
    twist: np.ndarray
    acceleration: np.ndarray
    jerk: np.ndarray


@final
@dataclass(frozen=True, eq=False, repr=False)
class FrameTrajectory:
    """A frame that moves from 0 to `duration` [s] and rests before and after.

    `motion`: position and quaternion (7,) as functions of time; `path`: the same over a parameter of its own.
    """

    path: Trajectory
    motion: Trajectory

    def __repr__(self) -> str:
        return f"<FrameTrajectory: {self.duration:g} s>"

    @property
    def duration(self) -> float:
        """Duration of the motion [s]."""
        return self.motion.duration

    @property
    def knots(self) -> tuple[float, ...]:
        """Times at which a derivative may jump, the ends among them."""
        return self.motion.knots

    @property
    def smoothness(self) -> float:
        """Number of continuous derivatives at all times, rest before and after included."""
        return self.motion.smoothness

    def at(self, time: Any, *, side: str = "") -> FrameMotion:
        """Pose, twist, acceleration and jerk at a time or times (...)."""
        found = self.motion.series(time, 3, side)
        found = [*found, *[0.0 * found[0]] * (4 - len(found))]
        p, k = [x[..., :3] for x in found], normalised([x[..., 3:] for x in found], 3)
        omega = series.derivatives(angular_velocity(k, 2))
        linear = series.derivatives(p)[1:]
        rates = [np.concatenate(pair, axis=-1) for pair in zip(omega, linear, strict=True)]
        return FrameMotion(rotation_of(k[0]), p[0], *rates)

    def plot(self, path: str | os.PathLike[str] | None = None, *, title: str = "") -> Figure:
        """Velocities and accelerations of the frame as a figure of matplotlib, written to a file where one is named."""
        time = np.linspace(0.0, self.duration, POINTS)
        found = self.at(time)
        panels = [
            Panel(name, unit, dict(zip(AXES, getattr(found, of)[:, part].T, strict=True)))
            for name, unit, of, part in PANELS
        ]
        figure = figure_of(time, [panels[:2], panels[2:]], title=title)
        if path is not None:
            write_figure(figure, path)
        return figure


def normalised(k: series.Series, order: int) -> list[Any]:
    """Quaternions or vectors scaled to length one."""
    squares = [x.sum(-1, keepdims=True) for x in series.product(k, k, order)]
    return series.product(k, series.power(squares, -0.5, order), order)


def angular_velocity(k: series.Series, order: int) -> list[Any]:
    """ω in world axes, from quaternions of length one.    (MO7)"""
    kd, conjugate = series.rate(k), [np.concatenate([-x[..., :3], x[..., 3:]], axis=-1) for x in k]
    return [
        sum(2.0 * quaternion_products(kd[j], conjugate[n - j])[..., :3] for j in range(n + 1))
        for n in range(order + 1)
    ]


def quaternion_products(a: Any, b: Any) -> Any:
    """a ∘ b of quaternions x y z w (..., 4)."""
    v, u, w, s = a[..., :3], b[..., :3], a[..., 3:], b[..., 3:]
    vector = w * u + s * v + crossed(v, u)
    return np.concatenate([vector, w * s - (v * u).sum(-1, keepdims=True)], axis=-1)


def crossed(a: Any, b: Any) -> Any:
    """a × b of vectors (..., 3), of numbers or symbols."""
    ax, ay, az = (a[..., k] for k in range(3))
    bx, by, bz = (b[..., k] for k in range(3))
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def rotation_of(k: Any) -> Any:
    """R (..., 3, 3) of quaternions of length one (..., 4)."""
    x, y, z, w = (k[..., i] for i in range(4))
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def pose_of(owner: str, name: str, value: Any) -> FramePose:
    """A rotation (3, 3) and a position (3,), checked."""
    try:
        R, x = (np.asarray(part, dtype=float) for part in value)
    except (TypeError, ValueError):
        raise InputError(
            f"{owner}: {name} is not a pose; give (rotation, position), such as m.pose(q, frame)"
        ) from None
    if R.shape != (3, 3) or x.shape != (3,) or not (np.isfinite(R).all() and np.isfinite(x).all()):
        raise InputError(
            f"{owner}: {name} has shapes {R.shape} and {x.shape}; give a rotation (3, 3), a position (3,)"
        )
    if np.abs(R @ R.T - np.eye(3)).max() > ROTATED or np.linalg.det(R) < 0.0:
        raise InputError(f"{owner}: {name} has no rotation matrix: R Rᵀ must be one, right-handed")
    return FramePose(R, x)
