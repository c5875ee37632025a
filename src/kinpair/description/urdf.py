"""Reading URDF: links, joints and what they look like, as written. What it means is checked by the model."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import numpy as np

from kinpair.description.files import Files, read_text
from kinpair.description.omitted import Omitted
from kinpair.description.parts import (
    GROUND,
    SIZES,
    X_AXIS,
    Z_AXIS,
    Contact,
    Contacts,
    Description,
    Joint,
    Link,
    Mimic,
    Numbers,
    Origin,
    Shape,
    three,
)
from kinpair.description.schema import distinct
from kinpair.description.urdf_extensions import loops, transmissions
from kinpair.description.urdf_xml import Node, colour_of, drawn, robot_element
from kinpair.description.warning_list import WarningList
from kinpair.errors import DescriptionError, listed, nearest
from kinpair.spatial.inertia import ENTRIES, Inertia
from kinpair.spatial.inertia import tensor as tensor_of

Packages = Mapping[str, str | os.PathLike[str]]

WORLD = "world"
FULL_TURN = 2 * np.pi + 1e-3


@dataclass(frozen=True, slots=True)
class _Type:
    """A joint type of URDF, its kind here, and the elements that mean something."""

    kind: str
    axis: bool = False
    single: bool = False  # one degree of freedom: limit, dynamics and mimic apply
    ranged: bool = False  # must have a <limit>


_TYPES = {
    "revolute": _Type("revolute", axis=True, single=True, ranged=True),
    "continuous": _Type("revolute", axis=True, single=True),
    "prismatic": _Type("prismatic", axis=True, single=True, ranged=True),
    "fixed": _Type("fixed"),
    "floating": _Type("free"),
    "planar": _Type("planar", axis=True),
}


def read_urdf(
    path: str | os.PathLike[str],
    *,
    warnings: WarningList,
    packages: Packages | None = None,
    contacts: bool = False,
) -> Description:
    """The mechanism in a URDF file; `packages` maps names in package:// to folders."""
    folder, source, text = Path(path).absolute().parent, os.fspath(path), read_text(path)
    description = parse_urdf(
        text, source=source, warnings=warnings, folder=folder, packages=packages, contacts=contacts
    )
    if not description.links:
        line = text[: text.index("<robot")].count("\n") + 1
        raise DescriptionError(f"{source}:{line}: <robot> has no link, so there is no mechanism in it")
    return description


def parse_urdf(
    text: str,
    *,
    source: str,
    warnings: WarningList,
    folder: Path | None = None,
    packages: Packages | None = None,
    contacts: bool = False,
) -> Description:
    """The mechanism in a URDF text; `source` names it in messages, meshes are looked for from `folder`.

    contacts: collision shapes touch each other.
    """
    robot = Node(robot_element(text, source, warnings), source, warnings, "<robot>")
    _warn_of_version(robot)
    files = Files(folder and folder.absolute(), packages or {})
    colours = _colours(robot)
    links = tuple(_link(node, files, colours) for node in _named(robot, "link"))
    joints = _on_world([_joint(node) for node in _named(robot, "joint")], links)
    names = [joint.name for joint in joints]
    known = [_with_known_mimic(joint, names, warnings) for joint in joints]
    closed = loops(robot, links, known)
    _omitted(robot, links, known, contacts).report(warnings)
    joints, actuators = transmissions(robot, known)
    files.report_missing_meshes(links, warnings)
    return Description(
        name=robot.text("name") or Path(source).stem,
        links=links,
        joints=joints,
        constraints=distinct("constraint", closed),
        actuators=distinct("actuator", actuators),
        source=source,
        warnings=tuple(warnings.sentences),
        contacts=Contacts(tuple(_geoms(robot, files))) if contacts else Contacts(),
    )


def _omitted(robot: Node, links: Sequence[Link], joints: Sequence[Joint], contacts: bool) -> Omitted:
    """Contact, unless collision shapes touch, and plugins of a simulator."""
    omitted = Omitted()
    shown = [x for x in robot.each("link") if x.each("collision") and not contacts]
    names = [x.text("name") for x in shown]
    geoms = [(name, f"<collision> of {name!r}", x.where) for name, x in zip(names, shown, strict=True)]
    omitted.contact(geoms, [link.name for link in links], joints)
    for plugin in (x for extension in robot.each("gazebo") for x in extension.each("plugin")):
        omitted.plugin(plugin.text("name"), plugin.text("filename"), plugin.where)
    return omitted


def _geoms(robot: Node, files: Files) -> Iterator[Contact]:
    """The collision shapes of the links, `link collision k` where they have no name."""
    taken = {x.text("name") for link in robot.each("link") for x in link.each("collision")}
    for link in robot.each("link"):
        unnamed = (name for k in count(1) if (name := f"{link.text('name')} collision {k}") not in taken)
        for collision in link.each("collision"):
            shape = _shape(collision, files)
            if shape is None:
                continue
            if shape.mesh and files.find(shape.mesh) is None:
                collision.warn(f"has the mesh {shape.mesh!r}, which is not there; it touches nothing")
                continue
            yield Contact(
                collision.text("name") or next(unnamed),
                link.text("name"),
                shape.kind,
                shape.size,
                shape.origin,
                shape.mesh,
                convex=True,
                where=shape.where,
            )


def _warn_of_version(robot: Node) -> None:
    version = robot.text("version")
    if version and version.partition(".")[0] != "1":
        robot.warn(f'has version="{version[:20]}", which is not a version of URDF; read as 1.0')


def _named(robot: Node, what: str) -> Iterator[Node]:
    """The links or the joints, each with a name of its own."""
    seen: dict[str, Node] = {}
    for node in robot.each(what):
        name = node.text("name")
        node = node.of(f"{what} {name!r}")
        if not name:
            raise DescriptionError(
                f'{node.where}: <{what}> has no name; write <{what} name="...">', part=what
            )
        if name in seen:
            raise node.error(f"exists already at {seen[name].where}; rename one of them", name=name)
        seen[name] = node
        yield node


def _colours(robot: Node) -> dict[str, Numbers]:
    """Materials that have a colour, by name: a link may name one that stands in the robot or in another link."""
    visuals = (visual for link in robot.each("link") for visual in link.each("visual"))
    materials = [x for node in (robot, *visuals) for x in node.each("material")]
    return {name: colour for x in reversed(materials) if (name := x.text("name")) and (colour := _rgba(x))}


def _rgba(material: Node) -> Numbers:
    """The colour that is written in a material; none where there is none, or none that can be read."""
    colour = material.first("color")
    numbers = colour_of(colour.text("rgba")) if colour else ()
    return numbers if len(numbers) == 4 else ()


def _link(node: Node, files: Files, colours: Mapping[str, Numbers]) -> Link:
    inertia = _inertia(node)
    shapes = (drawn(visual, lambda x: _coloured(x, files, colours)) for visual in node.each("visual"))
    return Link.of(node.text("name"), inertia, shapes, node.where)


def _inertia(link: Node) -> Inertia:
    """Mass, mass centre and inertia tensor I in axes of the link: I = R I_file Rᵀ."""
    inertial = link.first("inertial")
    if inertial is None:
        return Inertia(0.0, np.zeros(3), np.zeros((3, 3)))
    mass, tensor = inertial.first("mass"), inertial.first("inertia")
    kilograms = mass.number("value", 0.0) if mass else 0.0
    entries = [tensor.number(entry, 0.0) if tensor else 0.0 for entry in ENTRIES]
    if missing := _missing_inertia(mass, tensor):
        inertial.warn(f"has <inertial> without {listed(missing)}; taken as zero")
    origin = _origin(inertial).pose()
    return Inertia(kilograms, np.zeros(3), tensor_of(entries)).moved(origin.R, origin.a)


def _missing_inertia(mass: Node | None, tensor: Node | None) -> list[str]:
    no_mass = mass is None or not mass.has("value")
    entries = [entry for entry in ENTRIES if tensor and not tensor.has(entry)]
    return ["mass"] * no_mass + ["inertia"] * (tensor is None) + entries


def _origin(node: Node) -> Origin:
    """The <origin> inside; none means in place and not turned."""
    origin = node.first("origin")
    if origin is None:
        return Origin()
    turn = origin.numbers("rpy", 3) or origin.numbers("quat_xyzw", 4)
    if len(turn) == 3 and max(map(abs, turn)) > FULL_TURN:
        origin.warn(
            f"has an <origin> turned by {max(turn, key=abs):g} rad; angles are in radians, not degrees"
        )
    if len(turn) == 4 and not any(turn):
        raise origin.error("has an <origin> with a quaternion of zeros; 0 0 0 1 means not turned")
    return Origin(three(origin.numbers("xyz", 3, (0.0, 0.0, 0.0))), turn)


def _coloured(visual: Node, files: Files, colours: Mapping[str, Numbers]) -> Shape | None:
    """The shape of a <visual> with its colour."""
    shape, material = _shape(visual, files), next(iter(visual.each("material")), None)
    if shape is None or material is None:
        return shape
    return replace(shape, colour=_rgba(material) or colours.get(material.text("name"), ()))


def _shape(visual: Node, files: Files) -> Shape | None:
    """Shape that one <visual> shows, or None with a warning."""
    geometry = visual.first("geometry")
    shape = next(iter(geometry.each()), None) if geometry else None
    if shape is None:
        return visual.warn(f"has a <{visual.name}> without a shape; left out")
    if shape.name == "mesh" and (uri := shape.text("filename")):
        scale = shape.numbers("scale", 3, (1.0, 1.0, 1.0))
        return Shape("mesh", scale, _origin(visual), str(files.find(uri) or uri), shape.where)
    sizes = SIZES.get(shape.name)
    if sizes is None or not all(shape.has(attribute) for attribute in sizes):
        known = listed([*SIZES, "mesh"])
        return shape.warn(f"has the unknown or incomplete shape <{shape.name}>; left out. Shapes: {known}")
    size = [x for attribute, count in sizes.items() for x in shape.numbers(attribute, count)]
    return Shape(shape.name, tuple(size), _origin(visual), where=shape.where)


def _joint(node: Node) -> Joint:
    written = node.text("type")
    if not written:
        raise node.error(f"has no type; write one of {listed(_TYPES)}")
    if written not in _TYPES:
        raise node.error(
            f"has the unknown type {written!r}; {nearest(written, _TYPES)}Types: {listed(_TYPES)}",
            type=written,
        )
    meaning = _TYPES[written]
    axis = node.first("axis") if meaning.axis else None
    joint = Joint(
        node.text("name"),
        meaning.kind,
        _end(node, "parent"),
        _end(node, "child"),
        origin=_origin(node),
        axis=three(axis.numbers("xyz", 3, X_AXIS)) if axis else X_AXIS if meaning.axis else Z_AXIS,
        where=node.where,
    )
    if not meaning.single:
        _warn_of_unused(node, meaning)
        return joint
    return _with_mimic(_with_dynamics(_with_limit(joint, node, meaning), node), node)


def _on_world(joints: list[Joint], links: tuple[Link, ...]) -> tuple[Joint, ...]:
    """Joints on `world`, a link that need not be declared, are joints on the ground."""
    if any(link.name == WORLD for link in links):
        return tuple(joints)
    return tuple(replace(joint, parent=GROUND) if joint.parent == WORLD else joint for joint in joints)


def _warn_of_unused(node: Node, meaning: _Type) -> None:
    """Warn that what URDF defines for one degree of freedom says nothing about several."""
    names = (
        ("mimic",) if meaning.kind == "fixed" else ("dynamics", "mimic")
    )  # damping of a fixed joint harms nobody
    if unused := [name for name in names if node.each(name)]:
        node.warn(f"is {node.text('type')}, so <{unused[0]}> has no meaning for it; left out")


def _end(joint: Node, end: str) -> str:
    """The link at one end."""
    node = joint.first(end)
    name = node.text("link") if node else ""
    if not name:
        raise joint.error(f'has no {end} link; write <{end} link="..."/> in it')
    return name


def _with_limit(joint: Joint, node: Node, meaning: _Type) -> Joint:
    limit = node.first("limit")
    if limit is None:
        if meaning.ranged:
            node.warn(f"is {node.text('type')} and has no <limit>; taken as unlimited")
        return joint
    lower, upper = _range(limit) if meaning.ranged else ((), ())
    velocity, effort = limit.numbers("velocity", 1), limit.numbers("effort", 1)
    unlimited = {"lower and upper": lower, "velocity": velocity, "effort": effort}
    missing = [name for name, numbers in unlimited.items() if not numbers]
    if meaning.ranged and missing:
        limit.warn(f"has <limit> without {listed(missing)}; taken as unlimited")
    return replace(joint, lower=lower, upper=upper, velocity=velocity, effort=effort)


def _range(limit: Node) -> tuple[Numbers, Numbers]:
    """Lower and upper; one alone leaves the other at zero, as URDF has it."""
    lower, upper = limit.numbers("lower", 1), limit.numbers("upper", 1)
    if not lower and not upper:
        return (), ()
    return lower or (0.0,), upper or (0.0,)


def _with_dynamics(joint: Joint, node: Node) -> Joint:
    dynamics = node.first("dynamics")
    if dynamics is None:
        return joint
    return replace(joint, damping=dynamics.numbers("damping", 1), friction=dynamics.numbers("friction", 1))


def _with_mimic(joint: Joint, node: Node) -> Joint:
    mimic = node.first("mimic")
    if mimic is None:
        return joint
    if not mimic.text("joint"):
        raise mimic.error('has <mimic> without a joint; write <mimic joint="..."/>')
    followed = Mimic(mimic.text("joint"), mimic.number("multiplier", 1.0), mimic.number("offset", 0.0))
    return replace(joint, mimic=followed)


def _with_known_mimic(joint: Joint, names: list[str], warnings: WarningList) -> Joint:
    """A joint that mimics one that does not exist moves on its own."""
    if joint.mimic is None or joint.mimic.joint in names:
        return joint
    warnings.add(
        f"{joint.where}: joint {joint.name!r} mimics joint {joint.mimic.joint!r}, which does not exist; "
        "taken as an independent joint",
        joint=joint.name,
        mimics=joint.mimic.joint,
    )
    return replace(joint, mimic=None)
