"""Settings of an MJCF file from <compiler> and <option>."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import pi
from pathlib import Path

from kinpair.description.mjcf_xml import YES_NO, Tag
from kinpair.description.package_uri import Files
from kinpair.description.parts import GRAVITY, Three

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
        x, y, z = tag.numbers("gravity", 3, default=vector)
        vector = (x, y, z)
        if fluid := [name for name in _FLUID if any(tag.values(name))]:
            tag.warn(f"has {', '.join(fluid)}: the medium and its drag are left out")
    for flag in (flag for tag in root.each("option") for flag in tag.each("flag")):
        if flag.text("gravity") == "disable":
            vector = (0.0, 0.0, 0.0)
        if off := [name for name in _SWITCHES if flag.text(name) == "disable"]:
            flag.warn(f"switches off {', '.join(off)}; taken as written all the same")
    return vector
