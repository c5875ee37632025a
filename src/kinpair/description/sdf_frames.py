"""Frames of an SDF file: where each is while all joints are at zero, and the link it moves with.

Links, models, joints and <frame> elements are frames. Each has a pose in another frame (`relative_to`). Names in a
nested model have the model in front, as `arm::hand`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from kinpair.description.joint_graph import WORLD
from kinpair.description.parts import Numbers, Origin
from kinpair.description.urdf_xml import Node
from kinpair.errors import listed, nearest
from kinpair.spatial.pose import HOME, Pose

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
