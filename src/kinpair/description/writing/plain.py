"""Parts that the writers share: a description reduced to what a format has, reports of what is left out, and XML
elements with numbers that read back exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias
from xml.etree import ElementTree as ET

import numpy as np

from kinpair.description.constraint_parts import Coupling, Loop
from kinpair.description.parts import (
    GRAVITY,
    GROUND,
    HERE,
    Description,
    Friction,
    Joint,
    Link,
    Numbers,
    Origin,
    Three,
    origin,
)
from kinpair.errors import DescriptionError
from kinpair.model.check_tree import tree
from kinpair.model.split import split_description
from kinpair.pairs import PAIRS
from kinpair.spatial.pose import HOME, Pose
from kinpair.spatial.rotation import to_quaternion, to_rpy


@dataclass(slots=True)
class Report:
    """Names of the parts left out by kind, in the order of the description."""

    format: str
    parts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    notes: list[str] = field(default_factory=list[str])

    def add(self, kind: str, name: str) -> None:
        """Collect a part, such as "rotor inertia" of joint "elbow"."""
        self.parts.setdefault(kind, []).append(name)

    def note(self, sentence: str) -> None:
        """Collect a sentence about what is written differently."""
        self.notes.append(f"{self.format}: {sentence}")

    def sentences(self) -> tuple[str, ...]:
        """Return a sentence for each kind, then the notes."""
        listed = (f"{kind}; left out: {', '.join(map(repr, names))}" for kind, names in self.parts.items())
        return (*(f"{self.format} has no {text}" for text in listed), *self.notes)


Follows: TypeAlias = Mapping[
    str, tuple[str, Numbers, float]
]  # coordinate: name, factors and offset of what it follows
CLOSED = 1e-12
_REMEDIES = {
    "helical": "write SDF, which has screws",
    "spherical": "write SDF or MJCF, or m.split()[0], whose joints are hinges and slides",
}
SPLIT = {
    "universal",
    "cylindrical",
    "planar",
}  # kinds whose coordinates are those of hinges and slides in a row


@dataclass(frozen=True, slots=True)
class Format:
    """Features of a format."""

    name: str
    kinds: frozenset[str]  # of joints
    loops: frozenset[str]  # kinds of loops
    springs_in_joints: bool = False
    springs: bool = False
    rotors: bool = False
    gravity: bool = False
    rates: bool = True  # largest rates of joints
    powers: int = 1  # of a coupling
    seats: Callable[[Joint], bool] = lambda joint: (
        True
    )  # the child of a joint may be anywhere in the moved frame


def reduced(description: Description, to: Format, report: Report) -> Description:
    """Return a description of parts that the format has; report the others. A joint that it cannot represent raises
    DescriptionError."""
    description = split_description(_with_ground(description), kinds=SPLIT - to.kinds)
    for joint in description.joints:
        if joint.kind not in to.kinds:
            raise DescriptionError(
                f"joint {joint.name!r} is {joint.kind}, which {to.name} does not have; {_REMEDIES[joint.kind]}",
                joint=joint.name,
            )
    description = _seated(description, to)
    joints = tuple(_joint(joint, to, report) for joint in description.joints)
    if not to.gravity and description.gravity != GRAVITY:
        report.add("gravity", " ".join(f"{x:g}" for x in description.gravity))
    for geom in description.contacts.geoms:
        report.add("contact as kinpair has it", geom.name)
    for state in description.keyframes:
        report.add("keyframe", state.name)
    for role, joint in description.gait:
        report.add(f"role {role} of a gait", joint)
    for spring in description.springs:
        if (
            not to.springs
            or spring.law
            or spring.preload
            or spring.tension_only
            or spring.rest_length is None
        ):
            report.add("spring between points of this kind", spring.name)
    constraints = [x for x in description.constraints if _representable(x, to, joints)]
    for part in description.constraints:
        if part not in constraints:
            report.add(f"{type(part).__name__.lower()} constraint of this kind", part.name)
    actuators = [
        x
        for x in description.actuators
        if x.kind == "effort" and set(dict(x.gear)) <= {"ratio"} and not x.numbers
    ]
    for actuator in description.actuators:
        if actuator not in actuators:
            report.add(f"actuator of kind {actuator.kind}", actuator.name)
    return replace(
        description,
        joints=joints,
        constraints=tuple(constraints),
        actuators=tuple(actuators),
        keyframes=(),
        gait=(),
    )


def _seated(description: Description, to: Format) -> Description:
    """Return the description with a link between a joint and its child where the format cannot place the child."""
    joints: list[Joint] = []
    between: list[Link] = []
    for joint in description.joints:
        if to.seats(joint):
            joints.append(joint)
            continue
        if joint.kind == "fixed":
            place = origin(joint.origin.pose() @ joint.child_origin.pose())
            joints.append(replace(joint, origin=place, child_origin=HERE))
            continue
        link = Link(f"{joint.name} moved", where=joint.where)
        between.append(link)
        joints.append(replace(joint, child=link.name, child_origin=HERE))
        joints.append(Joint(f"{joint.name} seat", "fixed", link.name, joint.child, joint.child_origin))
    return replace(description, joints=tuple(joints), links=(*description.links, *between))


def _representable(part: object, to: Format, joints: Collection[Joint]) -> bool:
    if isinstance(part, Loop):
        return part.kind in to.loops and not part.compliance
    if isinstance(part, Coupling):
        single = {joint.name for joint in joints if joint.kind in ("revolute", "prismatic")}
        terms = [(name, factors) for name, factors in part.terms if any(factors)]
        return (
            len(terms) <= 1
            and {part.joint, *(name for name, _ in terms)} <= single
            and all(not any(factors[to.powers :]) for _, factors in terms)
        )
    return False


def _joint(joint: Joint, to: Format, report: Report) -> Joint:
    """Return a joint with the numbers that the format has."""
    changes: dict[str, Any] = {}
    if any(isinstance(x, Friction) for x in joint.friction):
        report.add("friction law", joint.name)
        changes["friction"] = ()
    if any(joint.stiffness) and not to.springs_in_joints:
        report.add("spring of a joint", joint.name)
        changes["stiffness"] = ()
    if joint.kind in ("free", "spherical") and len(set(joint.damping)) > 1:
        report.add("damping that differs by direction", joint.name)
        changes["damping"] = ()
    if any(joint.velocity) and not to.rates:
        report.add("largest velocity of a joint", joint.name)
    if joint.rotor_inertia and not to.rotors:
        report.add("rotor inertia", joint.name)
        changes["rotor_inertia"] = 0.0
    if any(joint.start) and joint.kind != "free":
        report.add("start of a coordinate", joint.name)
    for key in ("acceleration", "jerk", "compliance"):
        if getattr(joint, key):
            report.add(f"{key} of a joint", joint.name)
    return replace(joint, **changes) if changes else joint


def in_tree_order(description: Description) -> tuple[str, list[Joint]]:
    """Return the root link and the joints, each after that of its parent."""
    return tree(description)


def on_ground(description: Description) -> Description:
    """Return the description with a root link `world` as the ground."""
    root, _ = tree(description)
    return _without(_renamed(description, {root: GROUND}), GROUND) if root == "world" else description


def _with_ground(description: Description) -> Description:
    """Return the description without a root link `ground`; another link of that name is called `ground_link`."""
    if not any(link.name == GROUND for link in description.links):
        return description
    root, _ = tree(description)
    if root == GROUND:
        return _without(description, GROUND)
    return _renamed(description, {GROUND: f"{GROUND}_link"})


def _without(description: Description, link: str) -> Description:
    return replace(description, links=tuple(x for x in description.links if x.name != link))


def _renamed(description: Description, names: Mapping[str, str]) -> Description:
    """Return the description with other names of links."""
    ends = ("parent", "child")
    return replace(
        description,
        links=tuple(_on(x, names, "name") for x in description.links),
        joints=tuple(_on(x, names, *ends) for x in description.joints),
        frames=tuple(_on(x, names, "link") for x in description.frames),
        springs=tuple(_on(x, names, *ends) for x in description.springs),
        constraints=tuple(_on(x, names, *ends) for x in description.constraints),
    )


def _on(part: Any, names: Mapping[str, str], *keys: str) -> Any:
    changes = {key: names[getattr(part, key)] for key in keys if getattr(part, key, None) in names}
    return replace(part, **changes) if changes else part


def followed(description: Description) -> Follows:
    """Return what each coordinate follows: name, factors (c_1, c_2, ...) and offset; mimic joints and couplings."""
    rows: dict[str, tuple[str, Numbers, float]] = {}
    for joint in description.joints:
        if joint.mimic is not None:
            rows[joint.name] = (joint.mimic.joint, (joint.mimic.multiplier,), joint.mimic.offset)
    for part in description.constraints:
        if isinstance(part, Coupling):
            terms = [x for x in part.terms if any(x[1])] or [("", ())]
            rows[part.joint] = (*terms[0], part.offset)
    return rows


def free_pose(joint: Joint, format: str) -> Pose:
    """Return the pose at which a free joint starts; its frame must be that of the world."""
    places = (joint.origin, joint.child_origin)
    if joint.parent != GROUND or any(any(x.xyz) or any(x.turn) for x in places):
        raise DescriptionError(
            f"joint {joint.name!r} is free and not in the frame of the world, which {format} does not have; put its "
            "origin and its child at the frame of the ground",
            joint=joint.name,
        )
    if not joint.start:
        return HOME
    x, y, z, *turn = joint.start
    return Origin((x, y, z), tuple(turn)).pose()


def own_frame(joint: Joint) -> bool:
    """True if the child of a joint is at the moved frame."""
    place = joint.child_origin
    return not any(place.xyz) and not any(place.turn)


def homes(joints: Sequence[Joint]) -> dict[str, Pose]:
    """Return the poses of links while all coordinates are zero; joints in the order of the tree."""
    poses: dict[str, Pose] = {}
    for joint in joints:
        poses[joint.child] = poses.get(joint.parent, HOME) @ joint.origin.pose() @ joint.child_origin.pose()
    return poses


def closed_at_zero(loop: Loop, poses: Mapping[str, Pose]) -> bool:
    """True if the frames of a loop are one while all coordinates are zero."""
    first = poses.get(loop.parent, HOME) @ loop.origin.pose()
    second = poses.get(loop.child, HOME) @ loop.child_origin.pose()
    return bool(
        np.allclose(first.a, second.a, atol=CLOSED, rtol=0) and np.allclose(first.R, second.R, atol=CLOSED)
    )


def cross_axes(part: Joint | Loop) -> tuple[Three, Three]:
    """Return both axes of a universal joint; the second is perpendicular to the first."""
    turn, _ = PAIRS["universal"].seated(part.axis, part.axis2, 0.0)
    first, second = (tuple(turn[:, k].tolist()) for k in (0, 1))
    return first, second


__all__ = ["GROUND", "Follows", "Format", "followed", "homes", "in_tree_order", "own_frame", "reduced"]


Element = ET.Element


def child(parent: Element, tag: str, text: str = "", /, **attributes: Any) -> Element:
    """Add an element; numbers and lists of numbers become texts, None and "" are left out."""
    words = {key.rstrip("_"): _text(value) for key, value in attributes.items() if value not in (None, "")}
    element = ET.SubElement(parent, tag, words)
    if text:
        element.text = text
    return element


def _text(value: Any) -> str:
    return value if isinstance(value, str) else numbers(value if isinstance(value, Iterable) else (value,))


def numbers(values: Iterable[float]) -> str:
    """Return numbers with as many digits as they need to read back exactly."""
    return " ".join(_number(float(x)) for x in values)


def _number(x: float) -> str:
    return str(int(x)) if x.is_integer() and abs(x) < 1e15 else repr(x)


def rpy(origin: Origin) -> str:
    """Return the turn of a frame about fixed axes, as it was written if it was written so."""
    return numbers(origin.turn if len(origin.turn) == 3 else to_rpy(origin.pose().R))


def wxyz(pose: Pose) -> str:
    """Return the quaternion of a pose, scalar first."""
    x, y, z, w = to_quaternion(pose.R).tolist()
    return numbers((w, x, y, z))


def xyzw(pose: Pose) -> str:
    """Return the quaternion of a pose, scalar last."""
    return numbers(to_quaternion(pose.R).tolist())


def text_of(root: Element) -> str:
    """Return the document, indented."""
    ET.indent(root)
    return f'<?xml version="1.0"?>\n{ET.tostring(root, encoding="unicode")}\n'
