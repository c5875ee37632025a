"""The keys that describe links, joints and frames, joints by their role in a gait, each with reader, unit and meaning.

One set of tables for TOML files, DH tables and the `Builder`; docs/toml.md lists the keys for people.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from reprlib import repr as shown
from typing import Any, Protocol, TypeVar

from kinpair.description import fields as f
from kinpair.description.files import read_text, toml_table
from kinpair.description.friction_laws import friction_from
from kinpair.description.parts import (
    HERE,
    ByJoint,
    Description,
    Frame,
    Joint,
    Keyframe,
    Link,
    Mimic,
    Numbers,
    Shape,
    Spring,
)
from kinpair.description.place import Key, Place, Read, checked, items, known, table
from kinpair.description.warning_list import WarningList, at
from kinpair.errors import DescriptionError, InputError
from kinpair.spatial.inertia import Six, about_com


def _as_given(inertia: Six, mass: float, com: Sequence[float]) -> Six:
    return inertia


_ABOUT = {"com": _as_given, "origin": about_com}


def mimic_from(value: object, place: Place) -> Mimic:
    """The joint that another one follows."""
    return Mimic(**checked(table(value, place), MIMIC, place.inside()))


def shapes_from(value: object, place: Place) -> tuple[Shape, ...]:
    """Read the shapes of a link, from a list of tables."""
    entries = items(value)
    if entries is None:
        raise place.error(f"is {shown(value)}; give a list of tables such as {{box = [1, 1, 1]}}")
    return tuple(_shape(table(x, place.entry(i)), place.entry(i).inside()) for i, x in enumerate(entries))


def colour_from(value: object, place: Place) -> Numbers:
    """Red, green, blue and opacity; 1, opaque, where it is not given."""
    entries = items(value) or ()
    parts = tuple(f.number(x, place) for x in entries)
    if len(parts) not in (3, 4) or not all(0.0 <= x <= 1.0 for x in parts):
        raise place.error(
            f"is {shown(value)}; give red, green, blue and, if wanted, opacity, each from 0 to 1"
        )
    return (*parts, 1.0)[:4]


def _shape(keys: Mapping[str, object], place: Place) -> Shape:
    values = checked(keys, SHAPE, place)
    kinds = [key for key in SIZES if key in values]
    if len(kinds) != 1:
        names = " and ".join(kinds) or "no shape"
        raise place.error(f"has {names}; give one of {', '.join(SIZES)}")
    if "scale" in values and "mesh" not in values:
        raise place.error(f"scale goes with a mesh; give the size in {kinds[0]}")
    origin = f.take_origin(values, place)
    size = values.get("scale", (1.0, 1.0, 1.0)) if "mesh" in values else values[kinds[0]]
    return Shape(kinds[0], size, origin, values.get("mesh", ""), place.where, values.get("colour", ()))


def link_from(keys: Mapping[str, object], place: Place) -> Link:
    """A link from its keys."""
    return link_of(checked(keys, LINK, place), place)


def link_of(values: dict[str, Any], place: Place) -> Link:
    """A link from checked values."""
    shapes = values.pop("visual", ())
    about = values.pop("inertia_about", "com")
    link = Link(**values, shapes=shapes, where=place.where)
    return replace(link, inertia=_ABOUT[about](link.inertia, link.mass, link.com))


def joint_from(keys: Mapping[str, object], place: Place) -> Joint:
    """A joint from its keys."""
    values = checked(keys, JOINT, place)
    origin, child_origin = f.take_origin(values, place), f.take_origin(values, place, "child_")
    return Joint(**values, origin=origin, child_origin=child_origin, where=place.where)


def frame_from(keys: Mapping[str, object], place: Place) -> Frame:
    """A frame from its keys."""
    values = checked(keys, FRAME, place)
    origin = f.take_origin(values, place)
    return Frame(**values, origin=origin, where=place.where)


def keyframe_from(keys: Mapping[str, object], place: Place) -> Keyframe:
    """A state from its keys."""
    return Keyframe(**checked(keys, KEYFRAME, place), where=place.where)


def spring_from(keys: Mapping[str, object], place: Place) -> Spring:
    """A spring between points from its keys."""
    values = checked(keys, SPRING, place)
    named = [key for key in OF_LAW if key in values]
    if "law" in values and named:
        raise place.error(f"law says what the tension is; leave out {' and '.join(named)}")
    if "energy" in values and "law" not in values:
        raise place.error("energy goes with a law; the energy of a stiffness is known")
    needed = values.get("stiffness") or values.get("tension_only")
    if needed and "rest_length" not in values:
        raise place.at("rest_length").error("is missing; give the length in metres at which it is slack")
    return Spring(**values, where=place.where)


def spring_in_file(keys: Mapping[str, object], place: Place) -> Spring:
    """Read a spring from a file, which holds no functions."""
    known(keys, SPRING_IN_FILE, place)
    return spring_from(keys, place)


def by_joint(read: Read) -> Read:
    """A table: name of a joint, its number or numbers."""

    def check(value: object, place: Place) -> ByJoint:
        there = place.inside()
        return tuple((name, read(x, there.at(repr(name)))) for name, x in table(value, place).items())

    return check


_ROUND = f.several(f.number, 2, "[radius, length]")

SIZES: dict[str, Key] = {
    "box": Key(f.vector, "m, edges along x, y, z"),
    "sphere": Key(lambda value, place: (f.number(value, place),), "m, radius"),
    "cylinder": Key(_ROUND, "m, radius and length along z"),
    "capsule": Key(_ROUND, "m, radius and length along z, caps not counted"),
    "mesh": Key(f.name, "file with the surface"),
}
SHAPE: dict[str, Key] = {
    **SIZES,
    "scale": Key(f.vector, "of the mesh"),
    "colour": Key(colour_from, "red, green, blue, opacity"),
    **f.origin_keys(),
}

LINK: dict[str, Key] = {
    "name": Key(f.name, needs="a name for the link"),
    "mass": Key(f.number, "kg"),
    "com": Key(f.vector, "m, mass centre in the link frame"),
    "inertia": Key(f.inertia, "kg m², about the mass centre"),
    "inertia_about": Key(f.choice("com", "origin")),
    "visual": Key(shapes_from),
}

MIMIC: dict[str, Key] = {
    "joint": Key(f.name, needs="the name of the joint it follows"),
    "multiplier": Key(f.number),
    "offset": Key(f.angle, "rad or m"),
}

JOINT: dict[str, Key] = {
    "name": Key(f.name, needs="a name for the joint"),
    "kind": Key(f.name, needs="revolute, prismatic, fixed or another kind of joint"),
    "parent": Key(f.name, needs='the link that holds the joint, "ground" for the world'),
    "child": Key(f.name, needs="the link that the joint moves"),
    **f.origin_keys("", "m, joint frame in the parent"),
    "axis": Key(f.axis),
    "axis2": Key(f.axis),
    "pitch": Key(f.number, "m/rad"),
    **f.origin_keys("child_", "m, child link in the moved joint frame"),
    "lower": Key(f.limits, "rad or m"),
    "upper": Key(f.limits, "rad or m"),
    "restitution": Key(f.part, "at the limits: rate behind an impact by that before it"),
    "velocity": Key(f.limits, "largest rate, rad/s or m/s"),
    "acceleration": Key(f.limits, "largest acceleration, rad/s² or m/s²"),
    "jerk": Key(f.limits, "largest jerk, rad/s³ or m/s³"),
    "effort": Key(f.limits, "largest torque or force, N m or N"),
    "damping": Key(f.numbers, "N m s/rad or N s/m"),
    "friction": Key(friction_from, "N m or N"),
    "stiffness": Key(f.numbers, "N m/rad or N/m"),
    "rest": Key(f.positions, "rad or m, where the spring is slack"),
    "compliance": Key(f.compliance, "rad/(N m) and m/N"),
    "rotor_inertia": Key(f.number, "kg m², of the motor about its own axis"),
    "gear_ratio": Key(f.number, "turns of the motor per turn of the joint"),
    "actuated": Key(f.flag, "true: an actuator drives it; false: nothing drives it"),
    "start": Key(f.positions, "rad or m, where the mechanism is assembled"),
    "mimic": Key(mimic_from),
}

FRAME: dict[str, Key] = {
    "name": Key(f.name, needs="a name for the frame"),
    "link": Key(f.name, needs='the link it sits on, or "ground"'),
    **f.origin_keys("", "m, in the link frame"),
}

KEYFRAME: dict[str, Key] = {
    "name": Key(f.name, needs="a name for the state"),
    "q": Key(by_joint(f.positions), "rad or m, by joint"),
    "qd": Key(by_joint(f.numbers), "rad/s or m/s, by joint"),
}


WAYS = ("ignore", "stop", "bounce", "spring", "saturate")  # what runs do at the limits of joints
LIMITS = f.choice(*WAYS)


OF_LAW = ("stiffness", "damping", "rest_length", "preload", "tension_only")
SPRING_IN_FILE: dict[str, Key] = {
    "name": Key(f.name, needs="a name for the spring"),
    "parent": Key(f.name, needs='the link or frame at one end, "ground" for the world'),
    "child": Key(f.name, needs="the link or frame at the other end"),
    "xyz": Key(f.vector, "m, its point in the parent"),
    "child_xyz": Key(f.vector, "m, its point in the child"),
    "stiffness": Key(f.number, "N/m"),
    "damping": Key(f.zero_or_more, "N s/m"),
    "rest_length": Key(f.zero_or_more, "m"),
    "preload": Key(f.number, "N, tension at the rest length"),
    "tension_only": Key(f.flag),
}
SPRING: dict[str, Key] = {**SPRING_IN_FILE, "law": Key(f.function), "energy": Key(f.function)}


class _Named(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def where(self) -> str: ...


_Part = TypeVar("_Part", bound=_Named)


def distinct(word: str, parts: Iterable[_Part]) -> tuple[_Part, ...]:
    """The parts, no two of one name."""
    seen: dict[str, _Part] = {}
    for part in parts:
        if (first := seen.setdefault(part.name, part)) is not part:
            also = f" at {first.where}" if first.where else ""
            raise DescriptionError(
                f"{at(part.where)}{word} {part.name!r} is already there{also}; give one of them another name",
                part=part.name,
                where=part.where,
                first=first.where,
            )
    return tuple(seen.values())


def with_payload(description: Description, frame: str, name: str, keys: Mapping[str, object]) -> Description:
    """The description with a link of these keys welded where the frame is, by a fixed joint of the same name."""
    parts = (*description.links, *description.joints, *description.frames)
    if any(part.name == name for part in parts):
        raise InputError(
            f"{description.name}: there is a link, joint or frame {name!r} already; give the payload another name=",
            name=name,
        )
    warnings = WarningList()
    link = link_from({"name": name, **keys}, Place(warnings, part=f"link {name!r}"))
    frames = {x.name: x for x in description.frames}
    on, origin = (frames[frame].link, frames[frame].origin) if frame in frames else (frame, HERE)
    return replace(
        description,
        links=(*description.links, link),
        joints=(*description.joints, Joint(name, "fixed", on, name, origin)),
        warnings=(*description.warnings, *warnings.sentences),
    )


SIDES = ("left", "right")
PARTS = ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll")
ROLES = tuple(f"{side}_{part}" for side in SIDES for part in PARTS)
GAIT = {role: Key(f.name) for role in ROLES}
ByRole = tuple[tuple[str, str], ...]


def gait_from(value: object, place: Place) -> ByRole:
    """Joint by role, from the table `[gait]`."""
    return tuple(checked(table(value, place), GAIT, place.inside()).items())


def read_roles(path: str | os.PathLike[str]) -> Mapping[str, str]:
    """Joint by role, from the table `[gait]` of a TOML file; other tables of the file are ignored."""
    keys = toml_table(read_text(path), str(path))
    if "gait" not in keys:
        raise InputError(f"{path}: has no table [gait]; give roles such as left_knee = 'name of the joint'")
    return dict(gait_from(keys["gait"], Place(WarningList(), str(path)).at("gait")))
