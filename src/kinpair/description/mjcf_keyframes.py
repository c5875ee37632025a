"""The keyframes of an MJCF file: qpos and qvel joint by joint, in the order and with the rates that joints have here.

MuJoCo has quaternions with the scalar first, and of a free joint the linear velocity in the world before the angular
one in the body; here the scalar is last, and the rates are the twist [ω; v] in axes of the body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from kinpair.description.mjcf_xml import Tag
from kinpair.description.parts import ByJoint, Joint, Keyframe, Numbers
from kinpair.description.schema import distinct
from kinpair.pairs import PAIRS
from kinpair.spatial.rotation import from_quaternion


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
