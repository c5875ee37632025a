"""A description as URDF text. Loops are written as <constraint>, the draft for URDF that kinpair reads."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

from kinpair.description.constraint_parts import Loop
from kinpair.description.parts import GROUND, Description, Joint, Link, Origin, Shape
from kinpair.description.writing.plain import (
    Element,
    Follows,
    Format,
    Report,
    child,
    followed,
    in_tree_order,
    numbers,
    own_frame,
    reduced,
    rpy,
    text_of,
)

URDF = Format(
    "URDF",
    kinds=frozenset(("revolute", "prismatic", "fixed", "free", "planar")),
    loops=frozenset(("revolute", "prismatic", "fixed", "spherical", "cylindrical")),
    seats=own_frame,
)
TYPES = {"free": "floating", "planar": "planar", "fixed": "fixed", "prismatic": "prismatic"}
WORLD = "world"
UNLIMITED = 1e9  # URDF needs a limit of each revolute and prismatic joint


def to_urdf(description: Description, report: Report, folder: Path | None = None) -> str:
    """Return the text; meshes are named relative to `folder`."""
    parts = reduced(description, URDF, report)
    root, joints = in_tree_order(parts)
    robot = ET.Element("robot", {"name": parts.name})
    if root == GROUND:
        child(robot, "link", name=WORLD)
    for link in parts.links:
        _link(robot, link, folder)
    follows = followed(parts)
    for joint in joints:
        if any(joint.start) and joint.kind == "free":
            report.add("start of a coordinate", joint.name)
        _joint(robot, joint, follows)
    for frame in parts.frames:
        child(robot, "link", name=frame.name)
        _fixed(robot, f"{frame.name} frame", _name(frame.link), frame.name, frame.origin)
    for part in parts.constraints:
        if isinstance(part, Loop):
            _loop(robot, part)
    for actuator in parts.actuators:
        transmission = child(robot, "transmission", name=f"{actuator.name} transmission")
        child(transmission, "type", "transmission_interface/SimpleTransmission")
        child(transmission, "joint", name=actuator.joint)
        motor = child(transmission, "actuator", name=actuator.name)
        child(motor, "mechanicalReduction", numbers((dict(actuator.gear).get("ratio", 1.0),)))
    return text_of(robot)


def _name(link: str) -> str:
    return WORLD if link == GROUND else link


def _origin(parent: Element, tag: str, origin: Origin) -> None:
    if any(origin.xyz) or any(origin.turn):
        child(parent, tag, xyz=origin.xyz, rpy=rpy(origin))


def _fixed(robot: Element, name: str, parent: str, link: str, origin: Origin) -> None:
    element = child(robot, "joint", name=name, type="fixed")
    _origin(element, "origin", origin)
    child(element, "parent", link=parent)
    child(element, "child", link=link)


def _link(robot: Element, link: Link, folder: Path | None) -> None:
    element = child(robot, "link", name=link.name)
    if link.mass or any(link.inertia):
        inertial = child(element, "inertial")
        _origin(inertial, "origin", Origin(link.com))
        child(inertial, "mass", value=link.mass)
        xx, yy, zz, xy, xz, yz = link.inertia
        child(inertial, "inertia", ixx=xx, iyy=yy, izz=zz, ixy=xy, ixz=xz, iyz=yz)
    for shape in link.shapes:
        _shape(element, shape, folder)


def _shape(link: Element, shape: Shape, folder: Path | None) -> None:
    visual = child(link, "visual")
    _origin(visual, "origin", shape.origin)
    geometry = child(visual, "geometry")
    if shape.kind == "mesh":
        child(geometry, "mesh", filename=mesh_name(shape.mesh, folder), scale=shape.size)
    elif shape.kind == "box":
        child(geometry, "box", size=shape.size)
    else:
        keys = dict(zip(("radius", "length"), shape.size, strict=False))
        child(geometry, shape.kind, **keys)
    if shape.colour:
        material = child(visual, "material", name=f"colour {numbers(shape.colour)}")
        child(material, "color", rgba=shape.colour)


def mesh_name(mesh: str, folder: Path | None) -> str:
    """Return the name of a mesh as seen from the file."""
    path = Path(mesh)
    if folder is None or not path.is_absolute() or not path.is_relative_to(folder):
        return mesh
    return path.relative_to(folder).as_posix()


def _joint(robot: Element, joint: Joint, follows: Follows) -> None:
    ranged = joint.kind in ("revolute", "prismatic")
    limited = bool(joint.lower or joint.upper)
    kind = TYPES.get(joint.kind) or ("revolute" if limited else "continuous")
    element = child(robot, "joint", name=joint.name, type=kind)
    _origin(element, "origin", joint.origin)
    child(element, "parent", link=_name(joint.parent))
    child(element, "child", link=joint.child)
    if ranged or joint.kind == "planar":
        child(element, "axis", xyz=joint.axis)
    if ranged:
        numbers_ = {
            "lower": (joint.lower or (-UNLIMITED,))[0] if limited else None,
            "upper": (joint.upper or (UNLIMITED,))[0] if limited else None,
            "velocity": joint.velocity[0] if joint.velocity else None,
            "effort": joint.effort[0] if joint.effort else None,
        }
        if any(x is not None for x in numbers_.values()) or joint.kind == "prismatic":
            child(element, "limit", **numbers_)
        if any(joint.damping) or any(joint.friction):
            pairs = {"damping": joint.damping, "friction": joint.friction}
            child(element, "dynamics", **{key: x[0] for key, x in pairs.items() if x})
        if joint.name in follows:
            other, factors, offset = follows[joint.name]
            child(element, "mimic", joint=other, multiplier=(factors or (0.0,))[0], offset=offset)


def _loop(robot: Element, loop: Loop) -> None:
    element = child(robot, "constraint", name=loop.name, type=loop.kind)
    for end, link, origin in (("parent", loop.parent, loop.origin), ("child", loop.child, loop.child_origin)):
        child(element, end, link=_name(link))
        child(element, f"{end}_origin", xyz=origin.xyz, rpy=rpy(origin))
        child(element, f"{end}_axis", xyz=loop.axis)
