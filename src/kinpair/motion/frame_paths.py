"""Paths of a frame: lines, arcs and screws, with blends between them. Position and quaternion over s = 0 to 1:

    line      p = p_0 + s (p_1 − p_0),                          k = (sin(sθ/2) a, cos(sθ/2)) ∘ k_0   (MO8)
    arc       p = c + r (u cos sφ + v sin sφ),                  k as in (MO8)                      (MO9)
    screw     p = c + e e·d + d_⊥ cos sφ + e×d sin sφ + s h φ e, k turned by sφ about e            (MO10)

with θ a the turn from start to end, d = p_0 − c, h the pitch.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import acos, pi
from typing import Any, NamedTuple

import numpy as np

from kinpair.errors import InputError
from kinpair.motion.frame_motion import FrameTrajectory, pose_of, quaternion_products
from kinpair.motion.joints import through
from kinpair.motion.laws import Harmonics, Law, law_of
from kinpair.motion.pieces import Part, retimed, scaled, sequence
from kinpair.motion.trajectory import Trajectory, positive
from kinpair.results import FramePose
from kinpair.spatial.rotation import to_quaternion, unit

ARM = 0.1  # [m]: a turn of 1 rad counts as this length where speeds are shared out
STRAIGHT = 1e-9  # of the distance: three points so near to a line have no circle
HALF_TURN = 1e-9  # [rad] from a half turn: its axis is not determined
NOWHERE = np.zeros(3)


class Curve(NamedTuple):
    """Positions offset + slope s + cosines cos(angle s) + sines sin(angle s)."""

    offset: np.ndarray
    slope: np.ndarray = NOWHERE
    cosines: np.ndarray = NOWHERE
    sines: np.ndarray = NOWHERE
    angle: float = 0.0


def line(start: Any, end: Any, duration: float | None = None, *, law: Law = "septic") -> FrameTrajectory:
    """A frame from pose to pose (rotation, position): on a straight line, turning about one axis.    (MO8)

    law: by name (cycloid, linear, cubic, quintic, septic, nonic) with a duration [s], or a motion from 0 to 1 such as
    scurve(0, 1, velocity=...) that has its own.
    """
    a, b = pose_of("line", "start", start), pose_of("line", "end", end)
    curve = Curve(a.position, slope=b.position - a.position)
    return _frame(a, curve, *_turn("line", a, b), law_of("line", law, duration))


def arc(
    start: Any, via: Any, end: Any, duration: float | None = None, *, law: Law = "septic"
) -> FrameTrajectory:
    """A frame from pose to pose on the circle through the position `via` (3,), turning about one axis.    (MO9)

    Units: places [m], duration [s].
    """
    a, b, middle = pose_of("arc", "start", start), pose_of("arc", "end", end), np.asarray(via, dtype=float)
    centre, normal = _circle(a.position, middle, b.position)
    from_centre = [x - centre for x in (a.position, middle, b.position)]
    turns = [
        float(np.arctan2(normal @ np.cross(from_centre[0], x), from_centre[0] @ x)) % (2 * pi)
        for x in from_centre[1:]
    ]
    angle = turns[1] if turns[0] < turns[1] else turns[1] - 2 * pi
    curve = Curve(centre, cosines=from_centre[0], sines=np.cross(normal, from_centre[0]), angle=angle)
    return _frame(a, curve, *_turn("arc", a, b), law_of("arc", law, duration))


def screw(
    start: Any,
    axis: Any,
    angle: float,
    duration: float | None = None,
    *,
    point: Any = (0.0, 0.0, 0.0),
    pitch: float = 0.0,
    law: Law = "septic",
) -> FrameTrajectory:
    """A frame turned by an angle [rad] about an axis (3,) through a point, advancing by pitch [m/rad].    (MO10)"""
    a, c = pose_of("screw", "start", start), np.asarray(point, dtype=float)
    if np.shape(axis) != (3,) or not np.any(axis):
        raise InputError(f"screw: axis is {axis!r}; give a direction (3,)")
    e = unit(np.asarray(axis, dtype=float))
    d = a.position - c
    along = e * (e @ d)
    curve = Curve(c + along, pitch * angle * e, d - along, np.cross(e, d), angle)
    return _frame(a, curve, e, angle, law_of("screw", law, duration))


def blended(
    *segments: FrameTrajectory, radius: float, duration: float | None = None, law: Law = "septic"
) -> FrameTrajectory:
    """Lines, arcs and screws one after the other, their corners rounded from `radius` [m] before to as much after.

    The laws and durations of the segments are not used: one law leads over the whole path. Within a blend position and
    quaternion are polynomials of order 5 that go on smoothly (C²) at both sides.
    """
    positive("blended", radius=radius)
    if len(segments) < 2:
        raise InputError("blended: give two segments or more; one has no corner")
    lengths = [_length(x.path) for x in segments]
    ends = np.concatenate([[0.0], np.cumsum(lengths)])
    paths = [segments[0].path]
    for k, (one, other) in enumerate(pairwise(segments)):
        paths.append(_joined(k, one.path, other.path))
        if radius > min(
            lengths[k] / (1 if k == 0 else 2), lengths[k + 1] / (1 if k + 2 == len(segments) else 2)
        ):
            raise InputError(
                f"blended: radius {radius:g} m is too large at corner {k + 1}: the segments there are "
                f"{lengths[k]:.4g} and {lengths[k + 1]:.4g} m long"
            )
    parts, borders = [Part(paths[0], 0.0, 1 / lengths[0])], [0.0]
    for k, corner in enumerate(ends[1:-1].tolist()):
        after = Part(paths[k + 1], corner, 1 / lengths[k + 1])
        parts += [Part(_blend(parts[-1], after, corner, radius), corner - radius), after]
        borders += [corner - radius, corner + radius]
    path = sequence(tuple(parts), (*borders, float(ends[-1])))
    return FrameTrajectory(path, retimed(path, scaled(law_of("blended", law, duration), path.duration)))


def _frame(start: FramePose, p: Curve, axis: np.ndarray, theta: float, law: Trajectory) -> FrameTrajectory:
    """A frame on a curve, turned by theta about an axis."""
    k = to_quaternion(start.rotation)
    turned = quaternion_products(np.append(axis, 0.0), k)
    path = Harmonics(
        1.0,
        (7,),
        (0.0, 1.0),
        np.append(p.offset, np.zeros(4)),
        np.append(p.slope, np.zeros(4)),
        np.append(p.cosines, k)[None],
        np.append(p.sines, turned)[None],
        np.append(np.full(3, p.angle), np.full(4, theta / 2))[None],
    )
    return FrameTrajectory(path, retimed(path, law))


def _turn(owner: str, start: FramePose, end: FramePose) -> tuple[np.ndarray, float]:
    """Axis and angle of the turn from one rotation to the other, in world axes."""
    k = to_quaternion(end.rotation @ start.rotation.T)
    theta = 2 * acos(min(1.0, float(k[3])))
    if pi - theta < HALF_TURN:
        raise InputError(
            f"{owner}: start and end are half a turn apart, about any axis; give a pose between them"
        )
    return (unit(k[:3]) if theta else np.array([0.0, 0.0, 1.0])), 2 * float(
        np.arctan2(np.sqrt(k[:3] @ k[:3]), k[3])
    )


def _circle(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centre, and normal along the sense a, b, c, of the circle through three points."""
    if b.shape != (3,):
        raise InputError(f"arc: via has shape {b.shape}; give a position (3,)")
    u, v = b - a, c - a
    n = np.cross(u, v)
    if n @ n <= (STRAIGHT * (u @ u + v @ v)) ** 2:
        raise InputError("arc: start, via and end are on a line; take line, or another point between")
    centre = a + np.cross((u @ u) * v - (v @ v) * u, n) / (2 * n @ n)
    return centre, n / np.sqrt(n @ n)


def _length(path: Trajectory) -> float:
    """Length of a segment: |p′| and the turn |k′| are the same all along it."""
    rate = path.within(np.array([0.5]), 1, "")[1]
    return float(np.sqrt(rate[:3] @ rate[:3] + (2 * ARM) ** 2 * rate[3:] @ rate[3:]))


def _joined(k: int, one: Trajectory, other: Trajectory) -> Trajectory:
    """Join the other segment, its quaternions with the sign in which the first one ends; refused where there is a
    gap."""
    end, start = one.within(np.array([1.0]), 0, "")[0], other.within(np.array([0.0]), 0, "")[0]
    sign = 1.0 if end[3:] @ start[3:] > 0 else -1.0
    gap = np.abs(np.append(start[:3], sign * start[3:]) - end).max()
    if gap > 1e-9:
        raise InputError(f"blended: segment {k + 2} starts {gap:.3g} away from where segment {k + 1} ends")
    if sign > 0 or not isinstance(other, Harmonics):
        return other
    flip = np.append(np.ones(3), -np.ones(4))
    columns = ("offset", "slope", "cosines", "sines")
    return replace(other, **{name: flip * getattr(other, name) for name in columns})


def _blend(before: Part, after: Part, corner: float, radius: float) -> Trajectory:
    """Order 5 from one part to the other: position, first and second derivative agree at both ends."""
    values: list[np.ndarray] = []
    ends = [(before, corner - radius), (after, corner + radius)]
    found = [x.motion.within(np.array([(s - x.origin) * x.scale]), 2, "") for x, s in ends]
    for order in range(3):
        factor = (1.0, 1.0, 2.0)[order]
        pair = [factor * f[order] * x.scale**order for f, (x, _) in zip(found, ends, strict=True)]
        values.append(np.array(pair))
    return through(np.array([0.0, 2 * radius]), *values)
