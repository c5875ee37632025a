"""Reading MJCF, the format of MuJoCo: bodies, joints, sites, constraints and actuators as parts of a description.

The keyframes of an MJCF file: qpos and qvel joint by joint, in the order and with the rates that joints have here.

MuJoCo has quaternions with the scalar first, and of a free joint the linear velocity in the world before the angular
one in the body; here the scalar is last, and the rates are the twist [ω; v] in axes of the body.

Parts of an MJCF file that act on the motion in MuJoCo and are not simulated here: flexes, plugins.

<replicate> of MJCF: copies of what is inside, each moved on from the one before and named by its number.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kinpair.description.files import read_text
from kinpair.description.memory import check_memory
from kinpair.description.mjcf_actuators import Actuators
from kinpair.description.mjcf_bodies import WORLD, Body, Reader, scaled
from kinpair.description.mjcf_contact import ContactReader
from kinpair.description.mjcf_geoms import colours, meshes
from kinpair.description.mjcf_schema import IDLE_SECTIONS, INSIDE_SECTIONS, OMITTED_SECTIONS, SECTIONS
from kinpair.description.mjcf_settings import Settings, euler, gravity, settings, shifted
from kinpair.description.mjcf_tendons import Equalities, Tendons
from kinpair.description.mjcf_xml import Tag, defaults, mjcf_element
from kinpair.description.omitted import Omitted
from kinpair.description.parts import (
    GROUND,
    ByJoint,
    Description,
    Frame,
    Joint,
    Keyframe,
    Link,
    Numbers,
    origin,
)
from kinpair.description.schema import distinct
from kinpair.description.warning_list import WarningList
from kinpair.errors import listed, nearest
from kinpair.pairs import PAIRS
from kinpair.spatial.pose import HOME, Pose
from kinpair.spatial.rotation import from_quaternion, to_quaternion


def unfolded(tag: Tag, settings: Settings) -> Tag:
    """Return the element with every <replicate> in it written out as frames."""
    inside: list[Tag] = []
    for child in tag.inside:
        inside += _copies(child, settings) if child.name == "replicate" else [unfolded(child, settings)]
    return replace(tag, inside=tuple(inside))


def _copies(tag: Tag, settings: Settings) -> Iterator[Tag]:
    """Write one frame for each copy: copy k is turned by k times the Euler angles, and sits at `offset` in the one
    before."""
    count = _count(tag.known())
    if count < 1:
        raise tag.error('makes no copies; write <replicate count="..."> with a number above zero')
    if joints := tag.each("joint", "freejoint"):
        raise joints[0].error("stands in a <replicate>, not in a body of its own; put a <body> round it")
    check_memory(_size(tag), tag, "elements")
    angles = np.array(tag.numbers("euler", 3, default=(0.0, 0.0, 0.0)))
    offset = np.array(tag.numbers("offset", 3, default=(0.0, 0.0, 0.0)))
    at, digits, once = HOME, len(str(count - 1)), unfolded(tag, settings).inside
    for k in range(count):
        suffix = f"{tag.text('sep')}{k:0{digits}d}"
        inside = tuple(_renamed(child, suffix) for child in once)
        yield Tag("frame", _written(at), inside, tag.where, tag.warnings)
        at = Pose(euler((k + 1) * angles, settings), (at @ shifted(offset)).a)


def _size(tag: Tag) -> int:
    """Number of elements that an element has with all copies in it."""
    return (_count(tag) if tag.name == "replicate" else 1) * (1 + sum(map(_size, tag.inside)))


def _count(tag: Tag) -> int:
    return int(tag.number("count", 0.0))


def _written(pose: Pose) -> dict[str, str]:
    """A pose as attributes of an element."""
    return {"pos": _words(pose.a), "xyaxes": _words(pose.R[:, :2].T.ravel())}


def _words(numbers: np.ndarray) -> str:
    return " ".join(map(repr, numbers.tolist()))


def _renamed(tag: Tag, suffix: str) -> Tag:
    """The element and all inside it, with this after their names."""
    named = {"name": tag.text("name") + suffix} if tag.has("name") else {}
    inside = tuple(_renamed(child, suffix) for child in tag.inside)
    return replace(tag, attributes={**tag.attributes, **named}, inside=inside)


ACTING_SECTIONS = {  # section: elements in it that act on the motion, and what they are called
    "deformable": {"flex": "flex element"},
}


def omitted_parts(root: Tag, bodies: list[Body]) -> Omitted:
    """Collect everything but constraints, actuators and geoms, which are collected where they are read."""
    omitted = Omitted()
    for section, kinds in ACTING_SECTIONS.items():
        for tag in _inside(root, section, *kinds):
            omitted.add(kinds[tag.name], _label(tag), tag.where)
    for body in bodies:
        for tag in body.plugins:
            omitted.add(
                "plugin", f"{tag.text('plugin') or tag.text('instance')!r} on {body.name!r}", tag.where
            )
    return omitted


def _label(tag: Tag) -> str:
    """Return the name of an element."""
    return repr(tag.text("name")) if tag.text("name") else "unnamed"


def _inside(root: Tag, section: str, *names: str) -> list[Tag]:
    return [tag for x in root.each(section) for tag in x.each(*names)]


def keyframes(root: Tag, joints: Sequence[Joint]) -> tuple[Keyframe, ...]:
    """The states that the file gives by name; one without a name is `key k`."""
    tags = [tag for section in root.each("keyframe") for tag in section.each("key")]
    moving = [joint for joint in joints if PAIRS[joint.kind].v_parts]
    return distinct("keyframe", [_keyframe(tag, k, moving) for k, tag in enumerate(tags)])


def _keyframe(tag: Tag, k: int, joints: Sequence[Joint]) -> Keyframe:
    name = tag.text("name") or f"key {k}"
    tag = tag.called(f"keyframe {name!r}").known()
    q = tuple((joint.name, _coordinates(tag, joint, own)) for joint, own in _own(tag, "qpos", joints))
    qd = tuple((joint.name, own) for joint, own in _own(tag, "qvel", joints))
    return Keyframe(name, q, _turned(qd, dict(q), joints), tag.where)


def _own(tag: Tag, attribute: str, joints: Sequence[Joint]) -> Iterator[tuple[Joint, Numbers]]:
    """Each joint with its part of the numbers; nothing if the attribute is not there."""
    sizes = [len(getattr(PAIRS[joint.kind], _PARTS[attribute])) for joint in joints]
    if tag.has(attribute):
        values, first = tag.numbers(attribute, sum(sizes)), 0
        for joint, size in zip(joints, sizes, strict=True):
            yield joint, values[first : first + size]
            first += size


_PARTS = {"qpos": "q_parts", "qvel": "v_parts"}


def _coordinates(tag: Tag, joint: Joint, values: Numbers) -> Numbers:
    if joint.kind not in _RATES:
        return values
    *place, w, x, y, z = values
    if not any((x, y, z, w)):
        tag.warn(f"has the quaternion 0 0 0 0 for joint {joint.name!r}; taken as not turned")
        w = 1.0
    return (*place, x, y, z, w)


def _turned(qd: ByJoint, q: dict[str, Numbers], joints: Sequence[Joint]) -> ByJoint:
    """The rates as they are here, at the coordinates that the keyframe gives or else the joint starts with."""
    kinds = {joint.name: joint for joint in joints}
    return tuple(
        (name, _RATES.get(kinds[name].kind, _same)(values, q.get(name) or kinds[name].start))
        for name, values in qd
    )


def _same(qd: Numbers, q: Numbers) -> Numbers:
    return qd


def _twist(qd: Numbers, q: Numbers) -> Numbers:
    v = np.array(qd[:3])
    return (*qd[3:], *(from_quaternion(np.array(q[3:])).T @ v if q else v).tolist())


_RATES: dict[str, Callable[[Numbers, Numbers], Numbers]] = {"spherical": _same, "free": _twist}


def read_mjcf(path: str | os.PathLike[str], *, warnings: WarningList) -> Description:
    """The mechanism in an MJCF file and those it includes."""
    folder = Path(path).absolute().parent
    return parse_mjcf(read_text(path), source=os.fspath(path), warnings=warnings, folder=folder)


def parse_mjcf(text: str, *, source: str, warnings: WarningList, folder: Path | None = None) -> Description:
    """The mechanism in an MJCF text; `source` names it in messages, other files are looked for from `folder`."""
    root = mjcf_element(text, source, folder, warnings)
    _check_sections(root)
    chosen = settings(root, folder)
    classes = defaults(root)
    known_meshes = meshes(root, chosen, classes)
    reader = Reader(chosen, classes, known_meshes, colours(root))
    reader.world(unfolded(_world(root), chosen))
    bodies = scaled(reader.bodies, chosen)
    names = _names(bodies)
    omitted = omitted_parts(root, bodies)
    tendons = Tendons(root, bodies, names.links, classes)
    constraints = Equalities(bodies, names.links, tendons, omitted).read(root, classes)
    joints = tendons.on_joints(tuple(_joints(bodies, names)), chosen, omitted)
    springs = tuple(tendons.springs(omitted))
    contacts = ContactReader(bodies, names.links, known_meshes, classes, omitted).read(root)
    omitted.report(warnings)
    driven = Actuators(bodies, joints, tendons, chosen, root).read(classes)
    description = Description(
        name=root.text("model") or Path(source).stem,
        links=tuple(_links(bodies, names)),
        joints=driven.joints,
        frames=tuple(_frames(bodies, names)),
        gravity=gravity(root),
        constraints=constraints,
        keyframes=keyframes(root, driven.joints),
        springs=distinct("spring", springs),
        actuators=distinct("actuator", driven.actuators),
        source=source,
        contacts=contacts,
    )
    chosen.files.report_missing_meshes(description.links, warnings)
    return replace(description, warnings=tuple(warnings.sentences))


def _check_sections(root: Tag) -> None:
    """Refuse an unknown section."""
    known = (*SECTIONS, *IDLE_SECTIONS, *OMITTED_SECTIONS)
    for tag in root.inside:
        if tag.name in INSIDE_SECTIONS:
            raise tag.error(
                "stands directly in <mujoco>, so this is a fragment of MJCF, which other files take in; "
                "load the file that includes it"
            )
        if tag.name not in known:
            raise tag.error(f"is not a section of MJCF; {nearest(tag.name, known)}Sections: {listed(known)}")


def _world(root: Tag) -> Tag:
    """All <worldbody> sections as one."""
    every = root.each("worldbody")
    if not every:
        raise root.error("has no <worldbody>, so there is no mechanism in it")
    return replace(every[0], inside=tuple(tag for world in every for tag in world.inside))


@dataclass(frozen=True, slots=True)
class _Names:
    """Names of a file: bodies by their own names, the world as the ground, and the links between joints."""

    links: Mapping[str, str]  # body: link
    between: Mapping[str, str]  # joint that another joint of its body follows: the link it moves


def _names(bodies: list[Body]) -> _Names:
    own = {body.name: body.name for body in bodies}
    links = own | {WORLD: WORLD if GROUND in own else GROUND}
    taken = {*own, *links.values(), *(site.name for body in bodies for site in body.sites)}
    between = {
        moved.joint.name: _unused(f"{body.name}/{moved.joint.name}", taken)
        for body in bodies
        for moved in body.joints[:-1]
    }
    return _Names(links, between)


def _links(bodies: list[Body], names: _Names) -> Iterator[Link]:
    """The bodies, each after the massless links between its joints."""
    for body in bodies:
        for moved in body.joints[:-1]:
            yield Link(names.between[moved.joint.name], where=body.where)
        if body.name != WORLD or names.links[WORLD] != GROUND:
            yield Link.of(body.name, body.inertia, body.shapes, body.where)


def _joints(bodies: list[Body], names: _Names) -> Iterator[Joint]:
    """The joints of each body as a chain from its parent; a body without joints is fixed."""
    taken = {moved.joint.name for body in bodies for moved in body.joints}
    for body in bodies[1:]:
        on, seat = names.links[body.parent], body.pose
        for moved in body.joints:
            child = names.between.get(moved.joint.name, body.name)
            if moved.joint.kind == "free":
                yield replace(moved.joint, parent=on, child=child, start=_free_start(seat))
            else:
                yield replace(moved.joint, parent=on, child=child, origin=origin(seat @ moved.seat))
            on, seat = child, HOME
        if not body.joints:
            name = _unused(f"{body.name} fixed", taken)
            yield Joint(name, "fixed", on, body.name, origin=origin(seat), where=body.where)


def _free_start(pose: Pose) -> Numbers:
    """The pose of a body as coordinates of its free joint; nothing where it is that of the world."""
    if not pose.a.any() and (pose.R == HOME.R).all():
        return ()
    return (*(pose.a + 0.0).tolist(), *(to_quaternion(pose.R) + 0.0).tolist())


def _frames(bodies: list[Body], names: _Names) -> Iterator[Frame]:
    """The sites; one with the name of a body goes by `name site`."""
    called = {GROUND, *names.links, *names.between.values()}
    taken = {*called, *(site.name for body in bodies for site in body.sites)}
    for body in bodies:
        for site in body.sites:
            name = site.name if site.name not in called else _unused(f"{site.name} site", taken)
            yield Frame(name, names.links[body.name], origin(site.pose), site.where)


def _unused(name: str, taken: Iterable[str]) -> str:
    """The name, or with the first number that makes it one of its own."""
    every = set(taken)
    numbered = (f"{name} {k}" for k in range(2, len(every) + 3))
    return next(n for n in (name, *numbered) if n not in every)
