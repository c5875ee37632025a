"""Copies of a part of a mechanism: a link, all that hangs on it, and what connects these parts.

    curtain = Builder("curtain").chain("strand", n=20, length=1.0, mass=0.1).copy("strand_1", 9, xyz=[0.1, 0, 0])

Copy k of a part called x is called x_k. Copies share all data but names and places.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from kinpair.description import fields as f
from kinpair.description.chain import whole
from kinpair.description.constraint_parts import Coupling
from kinpair.description.memory import check_memory
from kinpair.description.parts import Contacts, Description, Joint, Origin, Two
from kinpair.description.place import Key, Place, checked
from kinpair.errors import listed, nearest
from kinpair.spatial.pose import HOME, Pose

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
