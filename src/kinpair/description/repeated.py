"""Repeated parts of a mechanism: chains of equal links, and copies of a part.

    rope = Builder("rope").chain("rope", n=1000, length=10.0, mass=2.0, joint="universal")
    curtain = Builder("curtain").chain("strand", n=20, length=1.0, mass=0.1).copy("strand_1", 9, xyz=[0.1, 0, 0])

Links and joints of a chain are called rope_1, rope_2, ...; the frame rope_end is at its free end. All links share their
data. A copy is of a link, all that hangs on it, and what connects these parts: copy k of a part called x is called x_k.
Copies share all data but names and places.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np

from kinpair.description import fields as f
from kinpair.description.constraint_parts import ConstraintPart, Coupling
from kinpair.description.memory import check_memory
from kinpair.description.parts import GROUND, Contacts, Description, Frame, Joint, Link, Origin, Shape, Two
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


COPY: dict[str, Key] = {
    "part": Key(f.name, needs="the link that is copied with all that hangs on it"),
    "n": Key(whole, "number of copies", needs="the number of copies"),
    "onto": Key(f.name, "link of the part that holds the next copy"),
    **f.origin_keys("", "m, step from copy to copy in the parent, or the joint in `onto`"),
}
_POINTS = {
    "parent": ("origin", "xyz"),
    "child": ("child_origin", "child_xyz"),
}  # where a part sits on its ends


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """Part to copy: the joint that moves the part, names of its links, joints and frames, and all parts on them."""

    root: Joint
    names: frozenset[str]
    joints: frozenset[str]
    parts: Mapping[str, Sequence[Any]]  # by field of a description


def with_copies(description: Description, keys: Mapping[str, object], place: Place) -> Description:
    """The description with copies of a part."""
    values = checked(keys, COPY, place)
    step = f.take_origin(values, place)
    part, n, onto = values["part"], values["n"], values.get("onto", "")
    chosen = _part(description, part, onto, place)
    check_memory(len(description.links) + n * len(chosen.parts["links"]), place)
    every = {word: list(getattr(description, word)) for word in chosen.parts}
    pose = step.pose()
    moved = HOME
    for k in range(1, n + 1):
        moved = pose @ moved
        copy = _Copy(chosen, k, onto, step, moved if step.turn or any(step.xyz) else None, place)
        for word, parts in chosen.parts.items():
            every[word] += [copy.of(x) for x in parts]
    contacts = _contacts(description.contacts, chosen, n)
    return replace(description, **{word: tuple(x) for word, x in every.items()}, contacts=contacts)


def _contacts(contacts: Contacts, part: _Part, n: int) -> Contacts:
    """Geoms, pairs and exclusions, with those of the copies."""
    own = {x.name for x in contacts.geoms if x.link in part.names}

    def copied(names: Two, those: Container[str], k: int) -> Two:
        one, other = (f"{x}_{k}" if x in those else x for x in names)
        return one, other

    geoms, pairs, exclusions = list(contacts.geoms), list(contacts.pairs), list(contacts.exclusions)
    for k in range(1, n + 1):
        geoms += [
            replace(x, name=f"{x.name}_{k}", link=f"{x.link}_{k}") for x in contacts.geoms if x.name in own
        ]
        pairs += [replace(x, geoms=copied(x.geoms, own, k)) for x in contacts.pairs if own & {*x.geoms}]
        exclusions += [
            replace(x, links=copied(x.links, part.names, k))
            for x in contacts.exclusions
            if part.names & {*x.links}
        ]
    return replace(contacts, geoms=tuple(geoms), pairs=tuple(pairs), exclusions=tuple(exclusions))


def _part(description: Description, link: str, onto: str, place: Place) -> _Part:
    """The link, all that hangs on it, and what connects these parts."""
    every = [x.name for x in description.links]
    if link not in set(every):
        raise place.at("part").error(
            f"is {link!r}, which is no link; {nearest(link, every)}Links: {listed(every)}"
        )
    hanging: dict[str, list[Joint]] = {}
    for joint in description.joints:
        hanging.setdefault(joint.parent, []).append(joint)
    root = next((x for x in description.joints if x.child == link), None)
    if root is None:
        raise place.at("part").error(f"is {link!r}, which no joint moves; give a link that hangs on another")
    links, joints, waiting = {link}, {root.name}, [link]
    while waiting:
        for joint in hanging.get(waiting.pop(), ()):
            if joint.child not in links:
                links.add(joint.child)
                joints.add(joint.name)
                waiting.append(joint.child)
    if onto and onto not in links:
        raise place.at("onto").error(
            f"is {onto!r}, which is no link of the part; Links: {listed(sorted(links))}"
        )
    frames = [x for x in description.frames if x.link in links]
    names = frozenset(links | {x.name for x in frames})
    own = frozenset(joints)
    return _Part(
        root,
        names,
        own,
        {
            "links": [x for x in description.links if x.name in links],
            "joints": [x for x in description.joints if x.name in own],
            "frames": frames,
            "springs": [x for x in description.springs if _touches(x, names, own)],
            "actuators": [x for x in description.actuators if x.joint in own],
            "constraints": [x for x in description.constraints if _touches(x, names, own)],
        },
    )


def _touches(x: Any, names: frozenset[str], joints: frozenset[str]) -> bool:
    """True if a part has an end on the copied links, or acts on a coordinate of their joints."""
    ends = {getattr(x, side, "") for side in _POINTS}
    return not names.isdisjoint(ends) or _joint_of(getattr(x, "joint", ""), joints) in joints


def _joint_of(coordinate: str, joints: frozenset[str]) -> str:
    """The joint of a coordinate, which is its name or its name and a part: `wrist.angle1`."""
    return coordinate if coordinate in joints else coordinate.rpartition(".")[0]


@dataclass(frozen=True, slots=True, eq=False)
class _Copy:
    """Copy number k of a part, `moved` in the parent; None: not at all."""

    part: _Part
    k: int
    onto: str
    seat: Origin
    moved: Pose | None
    place: Place

    def of(self, x: Any) -> Any:
        """The copy of a link, joint, frame, spring, actuator or constraint."""
        if x is self.part.root:
            return self._root(x)
        keys: dict[str, Any] = {"name": self._named(x.name)}
        for side, points in _POINTS.items():
            if (end := getattr(x, side, "")) in self.part.names:
                keys[side] = self._named(end)
            elif end:
                keys |= self._outside(x, end, points)
        if getattr(x, "link", ""):
            keys["link"] = self._named(x.link)
        if getattr(x, "joint", ""):
            keys["joint"] = self._coordinate(x, x.joint)
        if getattr(x, "friction", ()):
            keys["friction"] = self._friction(x.friction)
        if getattr(x, "mimic", None):
            keys["mimic"] = replace(x.mimic, joint=self._coordinate(x, x.mimic.joint))
        if isinstance(x, Coupling):
            keys["terms"] = tuple((self._coordinate(x, name), factors) for name, factors in x.terms)
        return _replaced(x, keys)

    def _friction(self, laws: Sequence[Any]) -> tuple[Any, ...]:
        """Laws with the names of copied brakes."""
        return tuple(replace(x, name=self._named(x.name)) if getattr(x, "name", "") else x for x in laws)

    def _root(self, joint: Joint) -> Joint:
        joint = replace(joint, friction=self._friction(joint.friction)) if joint.friction else joint
        name, child = self._named(joint.name), self._named(joint.child)
        if self.onto:
            before = self.onto if self.k == 1 else f"{self.onto}_{self.k - 1}"
            return _replaced(joint, {"name": name, "child": child, "parent": before, "origin": self.seat})
        return _replaced(joint, {"name": name, "child": child, "origin": self._placed(joint.origin)})

    def _named(self, name: str) -> str:
        return f"{name}_{self.k}"

    def _coordinate(self, x: Any, name: str) -> str:
        joint = _joint_of(name, self.part.joints)
        if joint not in self.part.joints:
            raise self.place.error(
                f"{x.name!r} connects the part to joint {name!r}, which is not copied; write it for each copy"
            )
        return self._named(joint) + name.removeprefix(joint)

    def _outside(self, x: Any, end: str, points: Sequence[str]) -> dict[str, Any]:
        """Place where the copy sits on the link that holds the part; other links are not copied."""
        if end != self.part.root.parent or self.onto:
            raise self.place.error(
                f"{x.name!r} connects the part to {end!r}, which is not copied; write it for each copy"
            )
        key = next((key for key in points if hasattr(x, key)), "")
        if not key or self.moved is None:
            return {}
        here = getattr(x, key)
        if isinstance(here, Origin):
            return {key: self._placed(here)}
        return {key: self._placed(Origin(here)).xyz}

    def _placed(self, origin: Origin) -> Origin:
        """The origin, moved with the copy."""
        if self.moved is None:
            return origin
        pose = self.moved @ origin.pose()
        x, y, z = pose.a.tolist()
        turned = self.seat.turn or origin.turn
        return Origin((x, y, z), tuple(pose.R.ravel().tolist()) if turned else ())


def _replaced(x: Any, keys: Mapping[str, Any]) -> Any:
    """Return the part with other names and places, all other data shared."""
    assert is_dataclass(x)
    return type(x)(**{y.name: keys.get(y.name, getattr(x, y.name)) for y in fields(x)})
