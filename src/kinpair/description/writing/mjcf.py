"""A description as MJCF text: bodies in their parents, a body for each link."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np

from kinpair.description.constraint_parts import Loop
from kinpair.description.parts import GROUND, Description, Frame, Joint, Link, Origin, Shape, Spring
from kinpair.description.writing.plain import (
    Element,
    Follows,
    Format,
    Report,
    child,
    followed,
    free_pose,
    in_tree_order,
    on_ground,
    reduced,
    text_of,
    wxyz,
)
from kinpair.description.writing.urdf import mesh_name
from kinpair.spatial.pose import HOME, Pose

MJCF = Format(
    "MJCF",
    kinds=frozenset(("revolute", "prismatic", "fixed", "free", "spherical")),
    loops=frozenset(("fixed", "spherical", "revolute")),
    springs_in_joints=True,
    springs=True,
    rotors=True,
    gravity=True,
    rates=False,
    powers=4,
    seats=lambda joint: (
        joint.kind != "spherical" or not any(joint.child_origin.turn)
    ),  # axes are those of the body
)
TYPES = {"revolute": "hinge", "prismatic": "slide", "spherical": "ball"}


def to_mjcf(description: Description, report: Report, folder: Path | None = None) -> str:
    """Return the text; meshes are named relative to `folder`."""
    parts = on_ground(reduced(description, MJCF, report))
    root, joints = in_tree_order(parts)
    mujoco = ET.Element("mujoco", {"model": parts.name})
    child(
        mujoco, "compiler", angle="radian", autolimits="true", inertiafromgeom="false", balanceinertia="false"
    )
    child(mujoco, "option", gravity=parts.gravity)
    asset = ET.SubElement(mujoco, "asset")
    world = child(mujoco, "worldbody")
    writer = _Bodies(asset, folder, {link.name: link for link in parts.links})
    writer.bodies[GROUND] = world
    if root != GROUND:
        writer.add(world, root, HOME)
    for joint in joints:
        writer.joined(joint)
    for frame in parts.frames:
        writer.site(frame)
    equality, tendon, actuator = (ET.SubElement(mujoco, x) for x in ("equality", "tendon", "actuator"))
    for part in parts.constraints:
        if isinstance(part, Loop):
            writer.loop(equality, part)
    _follow(equality, followed(parts))
    for spring in parts.springs:
        if not (spring.law or spring.preload or spring.tension_only or spring.rest_length is None):
            writer.spring(tendon, spring)
    for motor in parts.actuators:
        gear = dict(motor.gear).get("ratio", 1.0)
        child(actuator, "motor", name=motor.name, joint=motor.joint, gear=gear)
    for section in (asset, equality, tendon, actuator):
        if not len(section):
            mujoco.remove(section)
    return text_of(mujoco)


class _Bodies:
    """Writes bodies one after another, each in its parent."""

    def __init__(self, asset: Element, folder: Path | None, links: dict[str, Link]) -> None:
        self._asset, self._folder, self._links = asset, folder, links
        self._meshes: dict[tuple[str, object], str] = {}
        self.bodies: dict[str, Element] = {}

    def add(self, parent: Element, name: str, pose: Pose) -> Element:
        """Write a body with its inertia and looks."""
        link = self._links[name]
        body = child(parent, "body", name=name, **_place(pose))
        self.bodies[name] = body
        if link.mass or any(link.inertia):
            child(body, "inertial", pos=link.com, mass=link.mass, fullinertia=link.inertia)
        for shape in link.shapes:
            self._shape(body, shape)
        return body

    def joined(self, joint: Joint) -> None:
        """Write the child of a joint at its place in the parent while the joint is at zero, then the joint in it."""
        if joint.kind == "free":
            pose = free_pose(joint, "MJCF")
            body = self.add(self.bodies[joint.parent], joint.child, pose)
            keys = {"type": "free", "damping": (joint.damping or (0.0,))[0], "armature": _armature(joint)}
            stated = {k: _list(x) for k, x in keys.items() if x}
            body.insert(0, child(ET.Element("x"), "joint", name=joint.name, **stated))
            return
        seat = joint.child_origin.pose()
        body = self.add(self.bodies[joint.parent], joint.child, joint.origin.pose() @ seat)
        if joint.kind == "fixed":
            return
        inverse = seat.inverse()
        keys: dict[str, object] = {"name": joint.name, "type": TYPES[joint.kind], "pos": inverse.a}
        if joint.kind != "spherical":
            keys["axis"] = inverse.R @ np.array(joint.axis)
            limits = (joint.lower or (-np.inf,))[0], (joint.upper or (np.inf,))[0]
            if np.isfinite(limits).any():
                keys["range"] = np.clip(limits, -1e10, 1e10)
            if any(joint.stiffness):
                keys |= {"stiffness": joint.stiffness[0], "springref": (joint.rest or (0.0,))[0]}
            if joint.effort:
                keys["actuatorfrcrange"] = (-joint.effort[0], joint.effort[0])
        if joint.rotor_inertia:
            keys["armature"] = _armature(joint)
        if any(joint.damping):
            keys["damping"] = joint.damping[0]
        if any(joint.friction):
            keys["frictionloss"] = joint.friction[0]
        body.insert(0, child(ET.Element("x"), "joint", **{k: _list(x) for k, x in keys.items()}))

    def site(self, frame: Frame) -> None:
        """Write a frame as a site."""
        child(self.bodies[frame.link], "site", name=frame.name, **_place(frame.origin.pose()))

    def _mark(self, link: str, name: str, pose: Pose) -> str:
        child(self.bodies[link], "site", name=name, **_place(pose))
        return name

    def loop(self, equality: Element, loop: Loop) -> None:
        """Write a loop between two sites; a hinge as two points on its axis that stay together."""
        ends = (loop.parent, loop.origin.pose()), (loop.child, loop.child_origin.pose())
        kind = "weld" if loop.kind == "fixed" else "connect"
        shifts = (0.0, 1.0) if loop.kind == "revolute" else (0.0,)
        for k, shift in enumerate(shifts):
            name = loop.name if k == 0 else f"{loop.name} axis"
            along = Pose(np.eye(3), shift * np.array(loop.axis) / np.linalg.norm(loop.axis))
            sites = [
                self._mark(link, f"{name} {n}", pose @ along) for n, (link, pose) in enumerate(ends, start=1)
            ]
            child(equality, kind, name=name, site1=sites[0], site2=sites[1])

    def spring(self, tendon: Element, spring: Spring) -> None:
        """Write a spring between points as a spatial tendon."""
        element = child(
            tendon,
            "spatial",
            name=spring.name,
            stiffness=spring.stiffness,
            damping=spring.damping,
            springlength=spring.rest_length,
        )
        ends = (spring.parent, spring.xyz), (spring.child, spring.child_xyz)
        for k, (link, xyz) in enumerate(ends, start=1):
            child(element, "site", site=self._mark(link, f"{spring.name} {k}", Origin(xyz).pose()))

    def _shape(self, body: Element, shape: Shape) -> None:
        keys: dict[str, object] = {
            "type": shape.kind,
            "contype": "0",
            "conaffinity": "0",
            "rgba": shape.colour or None,
        }
        if shape.kind == "mesh":
            key = (shape.mesh, shape.size)
            if key not in self._meshes:
                self._meshes[key] = f"{Path(shape.mesh).stem} {len(self._meshes)}"
                file = mesh_name(shape.mesh, self._folder)
                child(self._asset, "mesh", name=self._meshes[key], file=file, scale=shape.size)
            keys["mesh"] = self._meshes[key]
        elif shape.kind == "box":
            keys["size"] = [x / 2 for x in shape.size]
        else:
            keys["size"] = [shape.size[0], *(x / 2 for x in shape.size[1:])]
        child(body, "geom", **keys, **_place(shape.origin.pose()))


def _armature(joint: Joint) -> float:
    return joint.gear_ratio**2 * joint.rotor_inertia


def _list(x: object) -> object:
    return x.tolist() if isinstance(x, np.ndarray) else x


def _place(pose: Pose) -> dict[str, object]:
    """Return pos and quat of a pose, where they are not those of the parent."""
    keys: dict[str, object] = {"pos": pose.a.tolist()} if pose.a.any() else {}
    return keys | ({"quat": wxyz(pose)} if (pose.R != HOME.R).any() else {})


def _follow(equality: Element, follows: Follows) -> None:
    """Write what each coordinate follows as a polynomial."""
    for joint, (other, factors, offset) in follows.items():
        coefficients = (offset, *factors, *(0.0,) * (4 - len(factors)))
        child(equality, "joint", name=f"{joint} follows", joint1=joint, joint2=other, polycoef=coefficients)
