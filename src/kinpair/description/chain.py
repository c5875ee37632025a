"""Chains: equal links one behind the other, from one table of keys.

    rope = Builder("rope").chain("rope", n=1000, length=10.0, mass=2.0, joint="universal")

Links and joints are called rope_1, rope_2, ...; the frame rope_end is at the free end. All links share their data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

import numpy as np

from kinpair.description import fields as f
from kinpair.description.constraint_parts import ConstraintPart
from kinpair.description.memory import check_memory
from kinpair.description.parts import GROUND, Frame, Joint, Link, Origin, Shape
from kinpair.description.place import Key, Place, checked
from kinpair.description.schema import JOINT
from kinpair.errors import listed, nearest
from kinpair.pairs import PAIRS
from kinpair.spatial.inertia import solid_cylinder
from kinpair.spatial.pose import HOME, Pose
from kinpair.spatial.rotation import turn_z_to

THICKNESS = 0.1  # radius of a link where none is given, as a part of its length
CLOSED = 1e-6  # distance from end to beginning at which a chain is closed, as a part of its length
_ACROSS = {"x": ("y", "z"), "y": ("z", "x"), "z": ("y", "x")}  # axes of the joints, by direction of the links
_OF_JOINT = ("name", "kind", "parent", "child", "mimic", *f.origin_keys(), *f.origin_keys("child_"))


def whole(value: object, place: Place) -> int:
    """A whole number, one or more."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
        raise place.error(f"is {value!r}; give a whole number, 1 or more")
    return int(value)


def _above_zero(value: object, place: Place) -> float:
    if (x := f.number(value, place)) <= 0.0:
        raise place.error(f"is {x:g}; give a number above zero")
    return x


CHAIN: dict[str, Key] = {
    "name": Key(f.name, needs="a name for the chain"),
    "n": Key(whole, "number of links", needs="the number of links"),
    "length": Key(_above_zero, "m, of the whole chain", needs="the length of the whole chain in metres"),
    "mass": Key(f.zero_or_more, "kg, of the whole chain", needs="the mass of the whole chain in kilograms"),
    "joint": Key(f.name, "kind of all joints"),
    "parent": Key(f.name, "link that holds the first joint"),
    **f.origin_keys("", "m, first joint in the parent"),
    "direction": Key(f.choice(*f.AXES), "of the links, joints at zero"),
    "radius": Key(_above_zero, "m, of the round links"),
    **{key: rule for key, rule in JOINT.items() if key not in _OF_JOINT},
}


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """The parts of a chain. `closed`: its end is at its beginning where its joints start."""

    name: str
    parent: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    end: Frame
    closed: bool
    place: Place


def chain_from(keys: Mapping[str, object], place: Place) -> Chain:
    """A chain from its keys."""
    values = checked(keys, CHAIN, place)
    origin = f.take_origin(values, place)
    name, n, length, mass = (values.pop(key) for key in ("name", "n", "length", "mass"))
    kind, parent = values.pop("joint", "universal"), values.pop("parent", GROUND)
    if kind not in PAIRS:
        raise place.at("joint").error(f"is {kind!r}; {nearest(kind, PAIRS)}Kinds: {listed(PAIRS)}")
    check_memory(n, place)
    names = [f"{name}_{k}" for k in range(1, n + 1)]
    if parent in set(names):
        raise place.at("parent").error(
            f"is {parent!r}, a link of the chain itself: its joints would form a cycle; hang it on another link and "
            "close it with a loop constraint between both ends"
        )
    word = values.pop("direction", "-z")
    step = tuple(length / n * x for x in f.AXES[word])
    link = _link(word[-1], step, mass / n, length / n, values.pop("radius", THICKNESS * length / n), place)
    axes = dict(zip(("axis", "axis2"), _ACROSS[word[-1]][: PAIRS[kind].axes], strict=False))
    directions: dict[str, Any] = {key: f.AXES[axis] for key, axis in axes.items() if "axis" not in values}
    joint = Joint("", kind, "", "", Origin(step), where=place.where, **{**directions, **values})
    end = Frame(f"{name}_end", names[-1], Origin(step), place.where)
    joints = _joints(joint, [parent, *names], origin)
    return Chain(name, parent, _links(link, names), joints, end, _is_closed(joint, n, length), place)


def _link(
    axis: str, step: tuple[float, ...], mass: float, length: float, radius: float, place: Place
) -> Link:
    """A round link from its joint to `step`, of uniform density."""
    x, y, z = (v / 2 for v in step)
    turn = () if axis == "z" else tuple(turn_z_to(f.AXES[axis]).ravel().tolist())
    shape = Shape("cylinder", (radius, length), Origin((x, y, z), turn), where=place.where)
    return Link("", mass, (x, y, z), solid_cylinder(mass, radius, length, axis), (shape,), place.where)


def _others(part: type, *own: str) -> Any:
    """Return a function from a part to the fields that all links of a chain share, in order."""
    return attrgetter(*(x.name for x in fields(part) if x.name not in own))


_SHARED_BY_LINKS = _others(Link, "name")
_SHARED_BY_JOINTS = _others(Joint, "name", "kind", "parent", "child", "origin")


def _links(link: Link, names: Iterable[str]) -> tuple[Link, ...]:
    shared = _SHARED_BY_LINKS(link)
    return tuple(Link(name, *shared) for name in names)


def _joints(joint: Joint, names: list[str], first: Origin) -> tuple[Joint, ...]:
    """Joints between the links of these names; the first one sits where the chain begins."""
    shared, kind = _SHARED_BY_JOINTS(joint), joint.kind
    origins = [first, *[joint.origin] * (len(names) - 2)]
    ends = zip(names[:-1], names[1:], origins, strict=True)
    return tuple(Joint(child, kind, parent, child, origin, *shared) for parent, child, origin in ends)


def _is_closed(joint: Joint, n: int, length: float) -> bool:
    """True if the end is at the beginning where all joints start; the n-th power of one link takes log₂ n products."""
    pair_type = PAIRS[joint.kind]
    if len(joint.start) not in (1, len(pair_type.q_parts)) or not any(joint.start):
        return False
    turn, pair = pair_type.seated(joint.axis, joint.axis2, joint.pitch)
    q = np.zeros(pair.nq) + np.array(joint.start)
    moved = Pose(turn, np.zeros(3)) @ Pose(pair.rotation(q), pair.translation(q)) @ Pose(turn.T, np.zeros(3))
    link, end = moved @ Pose(np.eye(3), np.array(joint.origin.xyz)), HOME
    while n:
        end, link, n = end @ link if n % 2 else end, link @ link, n // 2
    return bool(np.abs(end.a).max() <= CLOSED * length)


def warn_of_closed(chains: Iterable[Chain], constraints: Iterable[ConstraintPart]) -> None:
    """Warn of each chain whose end is at its beginning and is connected to nothing."""
    closed = [x for x in chains if x.closed]
    held = (
        {getattr(x, side, "") for x in constraints for side in ("parent", "child")} if closed else set[str]()
    )
    for chain in closed:
        if held.isdisjoint((chain.end.name, chain.end.link)):
            chain.place.warn(
                f"its end meets its beginning, and nothing closes it; add a loop between {chain.parent!r} and "
                f"{chain.end.link!r}, or start its joints elsewhere"
            )
