"""Transmissions of a URDF: a motor turns `mechanicalReduction` times as far as its joint, its torque counts as often.

A reduction of 1 leaves an effort on the joint what it is, and makes no actuator: the joint is marked as actuated. A
joint whose transmission is left out is marked too. The place of the reduction differs: in <actuator> as ROS has it, in
<joint>, or in <transmission> itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from kinpair.description.actuator_parts import Actuator
from kinpair.description.omitted import LeftOutError, left_out_message
from kinpair.description.parts import Joint
from kinpair.description.urdf_xml import Node, finite

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
