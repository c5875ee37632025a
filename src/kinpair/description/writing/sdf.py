"""A description as SDF 1.11 text: one model whose joints are those of the tree, then those that close loops."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from kinpair.description.constraint_parts import Coupling, Loop
from kinpair.description.parts import GRAVITY, GROUND, Description, Joint, Link, Origin, Shape
from kinpair.description.writing.plain import (
    Element,
    Follows,
    Format,
    Report,
    child,
    closed_at_zero,
    cross_axes,
    followed,
    free_pose,
    homes,
    in_tree_order,
    numbers,
    on_ground,
    reduced,
    text_of,
    xyzw,
)
from kinpair.description.writing.urdf import mesh_name
from kinpair.spatial.pose import HOME, Pose

SDF = Format(
    "SDF",
    kinds=frozenset(("revolute", "prismatic", "fixed", "free", "universal", "spherical", "helical")),
    loops=frozenset(("revolute", "prismatic", "fixed", "spherical", "universal", "helical")),
    springs_in_joints=True,
    gravity=True,
)
TYPES = {"spherical": "ball", "helical": "screw"}
WORLD = "world"


def to_sdf(description: Description, report: Report, folder: Path | None = None) -> str:
    """Return the text; meshes are named relative to `folder`."""
    parts = _unique(on_ground(reduced(description, SDF, report)), report)
    root, joints = in_tree_order(parts)
    sdf = ET.Element("sdf", {"version": "1.11"})
    place: Element = sdf
    floating = [joint for joint in joints if joint.kind == "free"]
    if floating or parts.gravity != GRAVITY:  # a link that no joint holds in a world is free
        place = child(sdf, "world", name="world")
        child(place, "gravity", numbers(parts.gravity))
    model = child(place, "model", name=parts.name)
    holding = {joint.child: joint for joint in joints}
    for link in parts.links:
        _link(model, link, holding.get(link.name), folder)
    follows = followed(parts)
    if root != GROUND:
        weld = child(model, "joint", name=f"{root} on the ground", type="fixed")
        child(weld, "parent", WORLD)
        child(weld, "child", root)
    for joint in floating:
        if joint.name != joint.child:
            report.note(f"the free joint {joint.name!r} is read with the name of its link, {joint.child!r}")
    for joint in joints:
        if joint.kind != "free":
            _joint(model, joint, follows)
    poses = homes(joints)
    for part in parts.constraints:
        if isinstance(part, Loop):
            if closed_at_zero(part, poses):
                _loop(model, part)
            else:
                report.add("loop that is open while all coordinates are zero", part.name)
    for frame in parts.frames:
        mark = child(
            model, "frame", name=frame.name, attached_to=None if frame.link == GROUND else frame.link
        )
        _pose(mark, frame.origin.pose())
    for actuator in parts.actuators:
        report.add("actuator", actuator.name)
    return text_of(sdf)


def _unique(description: Description, report: Report) -> Description:
    """Return the description with joints that have the name of a link renamed; in SDF both are frames."""
    taken = {part.name for part in (*description.links, *description.frames)}
    written = [joint.name for joint in description.joints if joint.kind != "free"]
    renamed = {name: f"{name}_joint" for name in written if name in taken}
    for name, other in renamed.items():
        report.note(f"joint {name!r} has the name of a link, and is written as {other!r}")
    if not renamed:
        return description
    joints = tuple(_renamed(joint, renamed) for joint in description.joints)
    constraints = tuple(
        replace(
            x,
            joint=renamed.get(x.joint, x.joint),
            terms=tuple((renamed.get(name, name), factors) for name, factors in x.terms),
        )
        if isinstance(x, Coupling)
        else x
        for x in description.constraints
    )
    return replace(description, joints=joints, constraints=constraints)


def _renamed(joint: Joint, names: Mapping[str, str]) -> Joint:
    mimic = joint.mimic and replace(joint.mimic, joint=names.get(joint.mimic.joint, joint.mimic.joint))
    return replace(joint, name=names.get(joint.name, joint.name), mimic=mimic)


def _pose(parent: Element, pose: Pose, relative_to: str = "") -> None:
    if relative_to or pose.a.any() or (pose.R != HOME.R).any():
        text = f"{numbers(pose.a)} {xyzw(pose)}"
        child(parent, "pose", text, relative_to=relative_to, rotation_format="quat_xyzw")


def _link(model: Element, link: Link, joint: Joint | None, folder: Path | None) -> None:
    """Write a link at its place in its parent while the joint is at zero; a free one is at its start."""
    element = child(model, "link", name=link.name)
    if joint is not None and joint.kind == "free":
        _pose(element, free_pose(joint, "SDF"))
    elif joint is not None:
        pose = joint.origin.pose() @ joint.child_origin.pose()
        _pose(element, pose, "" if joint.parent == GROUND else joint.parent)
    inertial = child(element, "inertial")
    _pose(inertial, Origin(link.com).pose())
    child(inertial, "mass", numbers((link.mass,)))
    tensor = child(inertial, "inertia")
    for tag, value in zip(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), link.inertia, strict=True):
        child(tensor, tag, numbers((value,)))
    for k, shape in enumerate(link.shapes):
        _shape(element, shape, f"visual {k}", folder)


def _shape(link: Element, shape: Shape, name: str, folder: Path | None) -> None:
    visual = child(link, "visual", name=name)
    _pose(visual, shape.origin.pose())
    geometry = child(visual, "geometry")
    element = child(geometry, shape.kind)
    if shape.kind == "mesh":
        child(element, "uri", mesh_name(shape.mesh, folder))
        child(element, "scale", numbers(shape.size))
    elif shape.kind == "box":
        child(element, "size", numbers(shape.size))
    else:
        for tag, value in zip(("radius", "length"), shape.size, strict=False):
            child(element, tag, numbers((value,)))
    if shape.colour:
        child(child(visual, "material"), "diffuse", numbers(shape.colour))


def _ends(model: Element, part: Joint | Loop) -> Element:
    element = child(model, "joint", name=part.name, type=TYPES.get(part.kind, part.kind))
    child(element, "parent", WORLD if part.parent == GROUND else part.parent)
    child(element, "child", WORLD if part.child == GROUND else part.child)
    if part.kind == "helical":
        child(element, "screw_thread_pitch", numbers((2 * math.pi * part.pitch,)))
    return element


def _joint(model: Element, joint: Joint, follows: Follows) -> None:
    element = _ends(model, joint)
    _pose(element, joint.child_origin.pose().inverse())
    directions = [joint.axis] if joint.kind in ("revolute", "prismatic", "helical") else []
    if joint.kind == "universal":
        directions = list(cross_axes(joint))
    for k, direction in enumerate(directions):
        axis = child(element, "axis" if k == 0 else "axis2")
        child(axis, "xyz", numbers(direction))
        limits = {
            "lower": joint.lower,
            "upper": joint.upper,
            "effort": joint.effort,
            "velocity": joint.velocity,
        }
        _numbers(axis, "limit", limits, k)
        dynamics = {
            "damping": joint.damping,
            "friction": joint.friction,
            "spring_stiffness": joint.stiffness,
            "spring_reference": joint.rest,
        }
        _numbers(axis, "dynamics", dynamics, k)
        if joint.name in follows:
            other, factors, offset = follows[joint.name]
            mimic = child(axis, "mimic", joint=other, axis="axis")
            child(mimic, "multiplier", numbers(((factors or (0.0,))[0],)))
            child(mimic, "offset", numbers((offset,)))


def _numbers(axis: Element, tag: str, values: Mapping[str, Sequence[Any]], k: int) -> None:
    """Write the numbers of an axis: one for each, or one for all."""
    written = {key: float(x[k] if len(x) > k else x[0]) for key, x in values.items() if x}
    finite = {key: x for key, x in written.items() if math.isfinite(x)}
    if finite:
        element = child(axis, tag)
        for key, x in finite.items():
            child(element, key, numbers((x,)))


def _loop(model: Element, loop: Loop) -> None:
    """Write the joint that closes a loop: its frame is that in the child; in the parent it is where the loop closes."""
    element = _ends(model, loop)
    _pose(element, loop.child_origin.pose())
    directions = cross_axes(loop) if loop.kind == "universal" else (loop.axis,)
    if loop.kind not in ("fixed", "spherical"):
        for tag, direction in zip(("axis", "axis2"), directions, strict=False):
            child(child(element, tag), "xyz", numbers(direction))
