"""Parts of a URDF file beyond its tree of joints: loops and transmissions.

URDF has trees only; four notations for loops are in use, and all are read:

<constraint>          the draft for URDF: a type, origin and axis in the parent and in the child
<loop_joint>          of Isaac and older versions of Drake: link1 and link2 with xyz and rpy, a type and an axis
<gazebo><joint>       an SDF joint, placed in its child
closing_x_1, _2       two links at one place, of onshape-to-robot; the file has no type, a ball joint is taken

A motor of a transmission turns `mechanicalReduction` times as far as its joint, its torque counts as often. A reduction
of 1 leaves an effort on the joint what it is, and makes no actuator: the joint is marked as actuated. A joint whose
transmission is left out is marked too. The place of the reduction differs: in <actuator> as ROS has it, in <joint>, or
in <transmission> itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from kinpair.description.actuator_parts import Actuator
from kinpair.description.constraint_parts import Loop
from kinpair.description.omitted import LeftOutError, left_out_message
from kinpair.description.parts import X_AXIS, Joint, Link, Origin, Three, origin, three
from kinpair.description.sdf_elements import written_pose
from kinpair.description.urdf_xml import Node, finite
from kinpair.errors import listed, nearest
from kinpair.spatial.pose import HOME, Pose
from kinpair.spatial.rotation import turn_z_to, unit

KINDS = {  # type in the file: kind of a loop
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "cylindrical": "cylindrical",
    "planar": "planar",
    "universal": "universal",
    "spherical": "spherical",
    "ball": "spherical",
}
CLOSING = re.compile(r"(closing_.+)_([12])")


def loops(robot: Node, links: Sequence[Link], joints: Sequence[Joint]) -> tuple[Loop, ...]:
    """Return every loop of a file, in the order of the list above."""
    names = {link.name for link in links}
    inner = [x for extension in robot.each("gazebo") for x in extension.each("joint")]
    parts = [
        *(_constraint(x, names) for x in robot.each("constraint")),
        *(_loop_joint(x, names) for x in robot.each("loop_joint")),
        *_sdf_elements(inner, names, joints),
        *_closing(robot, links),
    ]
    return tuple(parts)


def _named(node: Node) -> Node:
    return node.of(f"{node.name} {node.text('name')!r}")


def _kind(node: Node) -> str:
    written = node.text("type")
    if written not in KINDS:
        raise node.error(
            f"has the type {written!r}; {nearest(written, KINDS)}Types: {listed(KINDS)}", type=written
        )
    return KINDS[written]


def _link(node: Node, tag: str, names: set[str]) -> str:
    inside = node.first(tag)
    name = (inside.text("link") or inside.content) if inside else ""
    if name not in names:
        raise node.error(
            f"joins link {name!r} by <{tag}>, which does not exist; {nearest(name, names)}Links: {listed(names)}"
        )
    return name


def _origin(node: Node | None) -> Origin:
    if node is None:
        return Origin()
    return Origin(three(node.numbers("xyz", 3, (0.0, 0.0, 0.0))), node.numbers("rpy", 3))


def _axis(node: Node | None, default: Three = X_AXIS) -> np.ndarray:
    return unit(np.array(node.numbers("xyz", 3, default) if node else default))


def _constraint(node: Node, names: set[str]) -> Loop:
    """Return the loop of a <constraint>. Axes are written in the frames at both origins; in a universal joint they are
    the two axes of the cross."""
    node = _named(node)
    kind = _kind(node)
    parent, child = (_link(node, end, names) for end in ("parent", "child"))
    first, second = (_origin(node.first(f"{end}_origin")) for end in ("parent", "child"))
    axis = _axis(node.first("parent_axis"))
    other = node.first("child_axis")
    if other is None or kind in ("fixed", "spherical"):
        return Loop(node.text("name"), kind, parent, child, first, second, three(axis), where=node.where)
    if kind == "universal":
        axis2 = three(_axis(other))
        return Loop(
            node.text("name"), kind, parent, child, first, second, three(axis), axis2, where=node.where
        )
    turn = (
        turn_z_to(three(_axis(other))) @ turn_z_to(three(axis)).T
    )  # takes the axis of the parent to that of the child
    placed = second.pose() @ Pose(turn, np.zeros(3))
    return Loop(node.text("name"), kind, parent, child, first, origin(placed), three(axis), where=node.where)


def _loop_joint(node: Node, names: set[str]) -> Loop:
    node = _named(node)
    kind, axis = _kind(node), three(_axis(node.first("axis")))
    ends = [_link(node, end, names) for end in ("link1", "link2")]
    origins = [_origin(node.first(end)) for end in ("link1", "link2")]
    return Loop(node.text("name"), kind, ends[0], ends[1], origins[0], origins[1], axis, where=node.where)


def _sdf_elements(nodes: Sequence[Node], names: set[str], joints: Sequence[Joint]) -> Iterator[Loop]:
    homes: Mapping[str, Pose] = _homes(joints) if nodes else {}
    for node in map(_named, nodes):
        parent, child = (_link(node, end, names) for end in ("parent", "child"))
        place = written_pose(node)[1]
        axis = node.first("axis")
        xyz = axis.first("xyz") if axis else None
        direction = unit(np.array(xyz.content_numbers(3))) if xyz else np.array((0.0, 0.0, 1.0))
        first = homes.get(parent, HOME).inverse() @ homes.get(child, HOME) @ place
        yield Loop(
            node.text("name"),
            _kind(node),
            parent,
            child,
            origin(first),
            origin(place),
            three(direction),
            where=node.where,
        )


def _homes(joints: Sequence[Joint]) -> dict[str, Pose]:
    """Return the pose of each link that a joint moves, all coordinates being zero; a root is in place."""
    by_child = {joint.child: joint for joint in joints}
    homes: dict[str, Pose] = {}
    for name in by_child:
        path = [name]
        while path[-1] in by_child and path[-1] not in homes and len(path) <= len(by_child):
            path.append(by_child[path[-1]].parent)
        for link in reversed(path[:-1]):
            joint = by_child[link]
            homes[link] = homes.get(joint.parent, HOME) @ joint.origin.pose() @ joint.child_origin.pose()
    return homes


def _closing(robot: Node, links: Sequence[Link]) -> Iterator[Loop]:
    """Yield a ball joint for each two links called closing_x_1 and closing_x_2."""
    ends: dict[str, dict[str, Link]] = {}
    for link in links:
        if found := CLOSING.fullmatch(link.name):
            ends.setdefault(found[1], {})[found[2]] = link
    for name, pair in ends.items():
        if len(pair) == 2:
            robot.warnings.note(
                f"{pair['1'].where}: links {pair['1'].name!r} and {pair['2'].name!r} close a loop as a ball joint; "
                "the file does not state the kind"
            )
            yield Loop(name, "spherical", pair["1"].name, pair["2"].name, where=pair["1"].where)


SIMPLE = "SimpleTransmission"
REDUCTION = "mechanicalReduction"
SINGLE = ("revolute", "prismatic")


def transmissions(robot: Node, joints: Sequence[Joint]) -> tuple[tuple[Joint, ...], tuple[Actuator, ...]]:
    """Return the joints, marked as actuated where a transmission without an actuator drives them, and the actuators;
    one warning about all transmissions that are left out."""
    nodes = [node.of(f"transmission {node.text('name')!r}") for node in robot.each("transmission")]
    single = {joint.name for joint in joints if joint.kind in SINGLE and joint.mimic is None}
    names = {joint.name for joint in joints}
    taken: list[Actuator] = []
    left_out: list[tuple[str, str]] = []
    driven = Counter(name for node in nodes for name in _joints(node))
    for node in nodes:
        try:
            taken += _actuators(node, single, names, driven)
        except LeftOutError as reason:
            left_out.append((node.text("name"), str(reason)))
    if left_out:
        nodes[0].of("<transmission>").warn(
            left_out_message(left_out, len(nodes)),
            transmissions=tuple(name for name, _ in left_out),
        )
    marked = {name for name in driven if name in single} - {x.joint for x in taken}
    return tuple(replace(x, actuated=True) if x.name in marked else x for x in joints), tuple(taken)


def _joints(node: Node) -> list[str]:
    return [joint.text("name") for joint in node.each("joint")]


def _actuators(node: Node, single: set[str], names: set[str], driven: Counter[str]) -> Iterator[Actuator]:
    kinds = [x.content for x in node.each("type")] or [node.text("type")]
    if kinds[0].rpartition("/")[2] != SIMPLE:
        raise LeftOutError(f"it is a {kinds[0].rpartition('/')[2] or 'transmission without a type'}")
    joints, motors = _joints(node), node.each("actuator")
    if len(joints) != 1 or len(motors) != 1:
        raise LeftOutError(f"it has {len(joints)} joints and {len(motors)} actuators")
    if joints[0] not in names:
        raise LeftOutError(f"joint {joints[0]!r} does not exist")
    if driven[joints[0]] > 1:
        raise LeftOutError(f"joint {joints[0]!r} has {driven[joints[0]]}")
    ratio = _reduction(node, motors[0])
    if ratio == 1.0:
        return
    if joints[0] not in single:
        raise LeftOutError(f"joint {joints[0]!r} is not a joint of one degree that moves by itself")
    name = motors[0].text("name") or node.text("name")
    if name in names and name != joints[0]:
        name = f"{name} actuator"
    yield Actuator(name, joints[0], "effort", (), (("ratio", ratio),), where=node.where)


def _reduction(node: Node, motor: Node) -> float:
    """Reduction from the first of the places that may have it."""
    written = [x.content for place in (motor, *node.each("joint"), node) for x in place.each(REDUCTION)]
    if not written:
        return 1.0
    ratio = finite(written[0])
    if ratio is None or ratio == 0.0:
        raise LeftOutError(f"its {REDUCTION} is {written[0]!r}")
    return ratio
