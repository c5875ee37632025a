"""Place of an element of an MJCF file: pos, and one of quat, axisangle, euler, xyaxes, zaxis; or fromto."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinpair.description.mjcf_settings import Settings
from kinpair.description.mjcf_xml import Tag
from kinpair.errors import listed
from kinpair.spatial.pose import Pose
from kinpair.spatial.rotation import IDENTITY, about, cross, from_quaternion, unit

_ZERO = (0.0, 0.0, 0.0)
_AXES = {"x": np.array([1.0, 0.0, 0.0]), "y": np.array([0.0, 1.0, 0.0]), "z": np.array([0.0, 0.0, 1.0])}
_PARALLEL = 1e-10  # sine below which a direction is taken to be z or −z


def pose(tag: Tag, settings: Settings) -> Pose:
    """Axes and origin of the element in the frame it is written in."""
    if tag.has("fromto"):
        return between(tag)[0]
    return Pose(turn(tag, settings), np.array(tag.numbers("pos", 3, default=_ZERO)))


def between(tag: Tag) -> tuple[Pose, float]:
    """The frame in the middle of `fromto` with z from the second point to the first, and half the distance."""
    ends = np.array(tag.numbers("fromto", 6)).reshape(2, 3)
    along = ends[0] - ends[1]
    if not along.any():
        raise tag.error("has a fromto whose two points are the same; move one of them")
    return Pose(z_to(along), (ends[0] + ends[1]) / 2), float(np.sqrt(along @ along)) / 2


def turn(tag: Tag, settings: Settings) -> np.ndarray:
    """The rotation that an element has."""
    named = [name for name in TURNS if tag.has(name)]
    if len(named) > 1:
        raise tag.error(f"is turned twice, by {listed(named)}; keep one of them")
    return TURNS[named[0]](tag, settings) if named else IDENTITY


def shifted(to: np.ndarray) -> Pose:
    """A frame moved and not turned."""
    return Pose(IDENTITY, to)


def wxyz(k: np.ndarray) -> np.ndarray:
    """The rotation of a quaternion with its scalar first."""
    return from_quaternion(np.array([k[1], k[2], k[3], k[0]]))


def z_to(direction: np.ndarray) -> np.ndarray:
    """The shortest turn that takes z to a direction; about x if that is −z."""
    e = unit(direction)
    axis = cross(_AXES["z"], e)
    sine = float(np.sqrt(axis @ axis))
    if sine < _PARALLEL:
        return about(_AXES["x"], 0.0 if e[2] > 0.0 else np.pi)
    return about(axis / sine, np.arctan2(sine, e[2]))


def _nonzero(tag: Tag, attribute: str, numbers: np.ndarray) -> np.ndarray:
    if not numbers.any():
        raise tag.error(
            f"has {attribute} with nothing but zeros, which says no direction", attribute=attribute
        )
    return numbers


def _quat(tag: Tag, settings: Settings) -> np.ndarray:
    return wxyz(_nonzero(tag, "quat", np.array(tag.numbers("quat", 4))))


def _axisangle(tag: Tag, settings: Settings) -> np.ndarray:
    *axis, angle = tag.numbers("axisangle", 4)
    return about(unit(_nonzero(tag, "axisangle", np.array(axis))), angle * settings.angle)


def _euler(tag: Tag, settings: Settings) -> np.ndarray:
    return euler(np.array(tag.numbers("euler", 3)), settings)


def euler(angles: np.ndarray, settings: Settings) -> np.ndarray:
    """Turns one after the other: lower-case letters about axes that turn along, large ones about fixed axes."""
    R = IDENTITY
    for letter, angle in zip(settings.euler, (angles * settings.angle).tolist(), strict=True):
        step = about(_AXES[letter.lower()], angle)
        R = R @ step if letter.islower() else step @ R
    return R


def _xyaxes(tag: Tag, settings: Settings) -> np.ndarray:
    """x as given, y made perpendicular to it."""
    axes = np.array(tag.numbers("xyaxes", 6))
    x = unit(_nonzero(tag, "xyaxes", axes[:3]))
    y = axes[3:] - (x @ axes[3:]) * x
    if np.sqrt(y @ y) <= _PARALLEL * np.sqrt(axes[3:] @ axes[3:]):
        raise tag.error("has xyaxes that are parallel; give two directions", attribute="xyaxes")
    y = unit(y)
    return np.column_stack([x, y, cross(x, y)])


def _zaxis(tag: Tag, settings: Settings) -> np.ndarray:
    return z_to(_nonzero(tag, "zaxis", np.array(tag.numbers("zaxis", 3))))


TURNS: dict[str, Callable[[Tag, Settings], np.ndarray]] = {
    "quat": _quat,
    "axisangle": _axisangle,
    "euler": _euler,
    "xyaxes": _xyaxes,
    "zaxis": _zaxis,
}
