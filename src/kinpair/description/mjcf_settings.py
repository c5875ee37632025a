"""Settings of an MJCF file from <compiler> and <option>, and the places of elements that depend on them.

A place is pos and one of quat, axisangle, euler, xyaxes, zaxis; or fromto.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import pi
from pathlib import Path

import numpy as np

from kinpair.description.files import Files
from kinpair.description.mjcf_xml import YES_NO, Tag
from kinpair.description.parts import GRAVITY, Three, three
from kinpair.errors import listed
from kinpair.spatial.pose import Pose
from kinpair.spatial.rotation import IDENTITY, about, cross, from_quaternion, unit

_ANGLES = {"degree": pi / 180.0, "radian": 1.0}
_FROM_GEOMS = {"false": "never", "true": "always", "auto": "unless given"}
_SEQUENCE = frozenset("xyzXYZ")
_FLUID = ("density", "viscosity", "wind")
_SWITCHES = ("spring", "damper", "frictionloss", "limit", "equality")


@dataclass(frozen=True, slots=True)
class Settings:
    """Meaning of the numbers of the file, and treatment of the masses of the bodies."""

    angle: float = _ANGLES["degree"]  # one unit of angle [rad]
    euler: str = "xyz"
    autolimits: bool = True
    from_geoms: str = "unless given"
    groups: tuple[float, float] = (0.0, 5.0)
    least_mass: float = 0.0
    least_inertia: float = 0.0
    balance: bool = False
    total_mass: float = -1.0
    align_free: bool = False
    mesh_folder: str = ""
    strip_path: bool = False
    files: Files = field(default_factory=Files)

    def mesh(self, name: str) -> str:
        """The path of a mesh file, as it would be sought."""
        written = name.replace("\\", "/")
        return str(Path(self.mesh_folder, written.rpartition("/")[2] if self.strip_path else written))


def settings(root: Tag, folder: Path | None) -> Settings:
    """All <compiler> elements together; a later one overrides an earlier one."""
    every: dict[str, str] = {}
    last = root
    for tag in root.each("compiler"):
        last = tag.known()
        every |= tag.attributes
    tag = Tag("compiler", every, (), last.where, root.warnings)
    if tag.text("coordinate") == "global":
        raise tag.error('has coordinate="global", which was given up; save the file with coordinate="local"')
    return Settings(
        angle=tag.word("angle", _ANGLES, "degree"),
        euler=_sequence(tag),
        autolimits=tag.word("autolimits", YES_NO, "true"),
        from_geoms=tag.word("inertiafromgeom", _FROM_GEOMS, "auto"),
        groups=_pair(tag),
        least_mass=tag.number("boundmass", 0.0),
        least_inertia=tag.number("boundinertia", 0.0),
        balance=tag.word("balanceinertia", YES_NO, "false"),
        total_mass=tag.number("settotalmass", -1.0),
        align_free=tag.word("alignfree", YES_NO, "false"),
        mesh_folder=tag.text("meshdir", tag.text("assetdir")),
        strip_path=tag.word("strippath", YES_NO, "false"),
        files=Files(folder and folder.absolute()),
    )


def _sequence(tag: Tag) -> str:
    written = tag.text("eulerseq", "xyz")
    if len(written) != 3 or not set(written) <= _SEQUENCE:
        raise tag.error(f'has eulerseq="{written}"; write three of x, y, z, X, Y, Z', found=written)
    return written


def _pair(tag: Tag) -> tuple[float, float]:
    low, high = tag.numbers("inertiagrouprange", 2, default=(0.0, 5.0))
    return low, high


def gravity(root: Tag) -> Three:
    """Gravity [m/s²]; a warning about the rest of <option> that acts on the motion."""
    vector = GRAVITY
    for tag in root.each("option"):
        vector = three(tag.numbers("gravity", 3, default=vector))
        if fluid := [name for name in _FLUID if any(tag.values(name))]:
            tag.warn(f"has {', '.join(fluid)}: the medium and its drag are left out")
    for flag in (flag for tag in root.each("option") for flag in tag.each("flag")):
        if flag.text("gravity") == "disable":
            vector = (0.0, 0.0, 0.0)
        if off := [name for name in _SWITCHES if flag.text(name) == "disable"]:
            flag.warn(f"switches off {', '.join(off)}; taken as written all the same")
    return vector


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
