"""Joints of an SDF file: their kinds, frames, axes and numbers. docs/formats.md has the table."""

from __future__ import annotations

import math

import numpy as np

from kinpair.description.joint_graph import WORLD, Axis, Edge
from kinpair.description.parts import Mimic
from kinpair.description.sdf_frames import MODEL, Frames
from kinpair.description.urdf_xml import Node
from kinpair.errors import listed, nearest
from kinpair.spatial.pose import HOME, Pose
from kinpair.spatial.rotation import unit

UNLIMITED = 1e16  # a limit from here on means none
KINDS = {  # type: kind of a pair, number of its axes
    "revolute": ("revolute", 1),
    "continuous": ("revolute", 1),
    "prismatic": ("prismatic", 1),
    "screw": ("helical", 1),
    "universal": ("universal", 2),
    "revolute2": ("universal", 2),
    "ball": ("spherical", 0),
    "fixed": ("fixed", 0),
    "gearbox": ("", 2),  # a coupling, see `gear`
}


def edge(node: Node, name: str, scope: str, frames: Frames) -> Edge:
    """Return a joint; `name` is its full name."""
    written = node.text("type")
    if written not in KINDS:
        raise node.error(
            f"has the type {written!r}; {nearest(written, KINDS)}Types: {listed(KINDS)}", type=written
        )
    kind, count = KINDS[written]
    ends = [frames.named(_word(node, end), scope, node) for end in ("parent", "child")]
    home = frames.home(name)
    parent, child = (frames.link(x) for x in ends)
    if parent == child:
        raise node.error(f"joins link {parent!r} to itself; parent and child must be different links")
    axes = tuple(_axis(node, tag, home, scope, frames) for tag in ("axis", "axis2")[:count])
    reference = ""
    if written == "gearbox":
        reference = frames.link(frames.named(_word(node, "gearbox_reference_body"), scope, node))
    return Edge(
        name,
        node,
        kind,
        (parent, child),
        (_home(frames, parent).inverse() @ home, _home(frames, child).inverse() @ home),
        axes,
        _pitch(node) if kind == "helical" else 0.0,
        _mimic(node, scope),
        _number(node, "gearbox_ratio", 1.0),
        reference,
    )


def _home(frames: Frames, link: str) -> Pose:
    return HOME if link == WORLD else frames.home(link)


def _word(node: Node, tag: str) -> str:
    inside = node.first(tag)
    if inside is None or not inside.content:
        raise node.error(f"has no <{tag}>; write <{tag}>NAME</{tag}> in it")
    return inside.content


def _number(node: Node | None, tag: str, default: float) -> float:
    inside = node.first(tag) if node else None
    return default if inside is None or not inside.content else _value(inside)


def _value(node: Node) -> float:
    """Return the number of an element; inf and -inf are numbers here."""
    words = {"inf": math.inf, "+inf": math.inf, "-inf": -math.inf}
    return words[node.content] if node.content in words else node.content_numbers(1)[0]


def _axis(node: Node, tag: str, home: Pose, scope: str, frames: Frames) -> Axis:
    """Return an axis; without <xyz> it is z of the joint."""
    axis = node.first(tag)
    limit, dynamics = (axis.first(x) if axis else None for x in ("limit", "dynamics"))
    lower, upper = _number(limit, "lower", -math.inf), _number(limit, "upper", math.inf)
    velocity, effort = (_number(limit, x, -1.0) for x in ("velocity", "effort"))
    return Axis(
        _direction(node, axis, home, scope, frames),
        -math.inf if lower <= -UNLIMITED else lower,
        math.inf if upper >= UNLIMITED else upper,
        *(math.nan if x < 0.0 or x >= UNLIMITED else x for x in (velocity, effort)),
        *(_number(dynamics, x, 0.0) for x in ("damping", "friction", "spring_stiffness", "spring_reference")),
    )


def _direction(node: Node, axis: Node | None, home: Pose, scope: str, frames: Frames) -> np.ndarray:
    xyz = axis.first("xyz") if axis else None
    if xyz is None or axis is None:
        return np.array((0.0, 0.0, 1.0))
    direction = np.array(xyz.content_numbers(3))
    if not direction.any():
        raise node.error("has the axis 0 0 0; give a direction")
    model = axis.first("use_parent_model_frame")
    stated = MODEL if model and model.content in ("1", "true") else xyz.text("expressed_in")
    if stated:
        outer = frames.named(stated, scope, node)
        direction = home.R.T @ (HOME if outer == WORLD else frames.home(outer)).R @ direction
    return unit(direction)


def _pitch(node: Node) -> float:
    """Advance in metres per radian: <screw_thread_pitch> in metres per turn, or <thread_pitch> in radians per metre
    with a positive value for a left-handed thread."""
    if node.each("screw_thread_pitch") or not node.each("thread_pitch"):
        return _number(node, "screw_thread_pitch", 1.0) / (2 * math.pi)
    turn = _number(node, "thread_pitch", 1.0)
    if turn == 0.0:
        raise node.error("has <thread_pitch>0</thread_pitch>; write <screw_thread_pitch>, metres per turn")
    return -1.0 / turn


def _mimic(node: Node, scope: str) -> Mimic | None:
    """q = multiplier (q of the other joint − reference) + offset."""
    axis = node.first("axis")
    mimic = axis.first("mimic") if axis else None
    if mimic is None:
        return None
    multiplier, offset, reference = (
        _number(mimic, tag, default)
        for tag, default in (("multiplier", 1.0), ("offset", 0.0), ("reference", 0.0))
    )
    if not mimic.text("joint"):
        raise node.error('has <mimic> without a joint; write <mimic joint="...">')
    return Mimic(f"{scope}{mimic.text('joint')}", multiplier, offset - multiplier * reference)
