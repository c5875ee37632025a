"""Elements of an SDF file: frames, joints, inertia and shapes. docs/formats.md has the table.

Links, models, joints and <frame> elements are frames. Each has a pose in another frame (`relative_to`), where it is
while all joints are at zero, and moves with a link. Names in a nested model have the model in front, as `arm::hand`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinpair.description.files import Files
from kinpair.description.joint_graph import WORLD, Axis, Edge
from kinpair.description.parts import SIZES, Mimic, Numbers, Origin, Shape, origin
from kinpair.description.urdf_xml import Node, colour_of
from kinpair.errors import listed, nearest
from kinpair.spatial.inertia import ENTRIES, Inertia
from kinpair.spatial.inertia import tensor as tensor_of
from kinpair.spatial.pose import HOME, Pose
from kinpair.spatial.rotation import unit

_UNDRAWN = ("plane", "empty", "heightmap", "image", "polyline", "ellipsoid", "cone")
YES = ("1", "true")
MODEL, BETWEEN = "__model__", "::"
_FORMATS = {"euler_rpy": 6, "quat_xyzw": 7}  # rotation_format: numbers in a pose


@dataclass(frozen=True, slots=True)
class Placed:
    """A frame as written: its element, the frame its pose is in, the pose, and the frame it is attached to."""

    node: Node
    relative_to: str
    pose: Callable[[], Pose]
    attached_to: str  # its own name: it is a link


def scoped(name: str, scope: str) -> str:
    """Return the full name of what is called `name` in a scope; the world is the same everywhere."""
    return WORLD if name == WORLD else f"{scope}{name}"


@dataclass(slots=True)
class Frames:
    """All frames of a file by full name; poses are computed when asked for."""

    placed: dict[str, Placed] = field(default_factory=dict[str, Placed])

    def named(self, name: str, scope: str, node: Node) -> str:
        """Return the full name of a frame that an element in this scope refers to."""
        full = scoped(name, scope)
        if full != WORLD and full not in self.placed:
            known = [x.removeprefix(scope) for x in self.placed if x.startswith(scope)]
            raise node.error(
                f"names the frame {name!r}, which does not exist; {nearest(name, known)}Frames: {listed(known)}",
                frame=name,
            )
        return full

    def home(self, name: str) -> Pose:
        """Return the pose of a frame in the world."""
        return self.within(name, WORLD)

    def within(self, name: str, outer: str) -> Pose:
        """Return the pose of a frame in one of those that it is placed in, directly or not."""
        pose, path = HOME, [name]
        while path[-1] not in (outer, WORLD):
            frame = self.placed[path[-1]]
            pose = frame.pose() @ pose
            self._step(path, frame.relative_to, "relative_to")
        return pose

    def link(self, name: str) -> str:
        """Return the link that carries a frame, or the world."""
        path = [name]
        while path[-1] != WORLD and self.placed[path[-1]].attached_to != path[-1]:
            self._step(path, self.placed[path[-1]].attached_to, "attached_to")
        return path[-1]

    def _step(self, path: list[str], to: str, word: str) -> None:
        if to in path:
            node = self.placed[path[0]].node
            raise node.error(
                f"is placed through itself: {' → '.join([*path, to])}; change one {word}", frames=path
            )
        path.append(to)


def written_pose(node: Node) -> tuple[str, Pose]:
    """Return what <pose> in an element says: the frame that it is relative to ("" if none is named), and the pose."""
    pose = node.first("pose")
    if pose is None:
        return "", HOME
    relative_to = pose.text("relative_to") or pose.text("frame")
    if not pose.content:
        return relative_to, HOME
    form = pose.text("rotation_format") or "euler_rpy"
    if form not in _FORMATS:
        raise pose.error(
            f"has rotation_format {form!r}; {nearest(form, _FORMATS)}Formats: {listed(_FORMATS)}"
        )
    x, y, z, *turn = pose.content_numbers(_FORMATS[form])
    return relative_to, Origin((x, y, z), _turn(pose, tuple(turn))).pose()


def _turn(pose: Node, turn: Numbers) -> Numbers:
    if len(turn) == 4:
        if not any(turn):
            raise pose.error("has a quaternion of zeros; 0 0 0 1 means not turned")
        return turn
    degrees = pose.text("degrees").strip().lower() in ("true", "1")
    return tuple(math.radians(x) for x in turn) if degrees else turn


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


def call_frame(model: Any, name: str) -> None:
    """Change the name of the frame of a model wherever the model itself, and not one nested in it, has it."""
    for element in model:
        if element.tag != "model":
            element.attrib.update({key: name for key, text in element.attrib.items() if text == MODEL})
            if (element.text or "").strip() == MODEL:
                element.text = name
            call_frame(element, name)


def content(node: Node, tag: str) -> str:
    """Return the text of an element inside; nothing if it is not there."""
    inside = node.first(tag)
    return inside.content if inside else ""


def _finite(node: Node | None, tag: str, default: float) -> float:
    inside = node.first(tag) if node else None
    return default if inside is None else inside.content_numbers(1)[0]


def inertia(link: Node) -> Inertia:
    """Return mass, mass centre and inertia in axes of the link; SDF takes 1 kg and 1 kg m² where nothing is written."""
    inertial = link.first("inertial")
    if inertial is not None and inertial.text("auto") in YES:
        raise inertial.error(
            'has <inertial auto="true">, inertia computed from collisions; write mass and inertia'
        )
    tensor = inertial.first("inertia") if inertial else None
    entries = [_finite(tensor, tag, float(tag[1] == tag[2])) for tag in ENTRIES]
    _, pose = written_pose(inertial) if inertial else ("", HOME)
    return Inertia(_finite(inertial, "mass", 1.0), np.zeros(3), tensor_of(entries)).moved(pose.R, pose.a)


def shape(visual: Node, files: Files) -> Shape | None:
    """Return the shape that one <visual> shows, or None."""
    geometry = visual.first("geometry")
    written = next(iter(geometry.each()), None) if geometry else None
    if written is None:
        return visual.warn("has a <visual> without a shape; left undrawn")
    if written.name in _UNDRAWN:
        return None
    place, colour = origin(written_pose(visual)[1]), _colour(visual)
    if written.name == "mesh" and (uri := content(written, "uri")):
        scale = written.first("scale")
        size = scale.content_numbers(3) if scale else (1.0, 1.0, 1.0)
        return Shape("mesh", size, place, str(files.find(uri) or uri), written.where, colour)
    sizes = SIZES.get(written.name)
    if sizes is None:
        return written.warn(
            f"has the unknown shape <{written.name}>; left undrawn. Shapes: {listed([*SIZES, 'mesh'])}"
        )
    size = [x for tag, count in sizes.items() for x in _numbers(written, tag, count)]
    return Shape(written.name, tuple(size), place, where=written.where, colour=colour)


def _numbers(node: Node, tag: str, count: int) -> Numbers:
    inside = node.first(tag)
    return inside.content_numbers(count) if inside else (1.0,) * count


def _colour(visual: Node) -> Numbers:
    material = visual.first("material")
    for tag in ("diffuse", "ambient"):
        numbers = colour_of(content(material, tag)) if material else ()
        if len(numbers) in (3, 4):
            return (*numbers, 1.0)[:4]
    return ()
