"""Parts that stand for several others: clutches, stops, and loops with friction.

Each has a massless link of its own, a joint that moves it, and a constraint that makes it follow what slides or closes.
So the joint has the slip of a clutch, the gap of a stop or the angle of a loop as its coordinate, under the name of the
part, and everything that a joint may have acts on it: friction of any law, limits, impacts, events, reactions.

| part | joint | constraint |
|---|---|---|
| clutch of joints a, b | revolute or prismatic, q = a − ratio b | coupling |
| clutch of links | revolute about the axis, in the first link | loop of kind `turn` |
| stop of a joint | revolute or prismatic, q = the coordinate | coupling |
| stop of a point | prismatic along the normal, in the first link | loop of kind `face` |
| stop of a point with `mu` | none: a plane and a point that touch, with Coulomb friction | none |
| loop with friction | of the kind of the loop, in the parent | loop of kind `fixed`, of a `pin` `plane-weld` |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinpair.description import fields as f
from kinpair.description.constraint_parts import ConstraintPart
from kinpair.description.constraint_schema import LOOP, OF_JOINT, constraint_from
from kinpair.description.contact_shapes import SURFACE
from kinpair.description.parts import GROUND, Contact, ContactPair, Joint, Link, Surface, origin
from kinpair.description.place import Key, Place, checked
from kinpair.description.schema import JOINT, joint_from, link_from
from kinpair.spatial.pose import Pose
from kinpair.spatial.rotation import turn_z_to, unit

WELDS = {"pin": ("revolute", "plane-weld")}  # kinds of joint and closing of a loop that is not a joint itself
OF_ORIGIN = tuple(f.origin_keys())
OF_CHILD = tuple(f.origin_keys("child_"))
ROUGH = ("mu", "mu_static")
LEVELS = ("level", "level_static", "level_negative", "viscous")


class Compound(NamedTuple):
    """The parts that one part stands for."""

    link: Link
    joint: Joint
    constraint: ConstraintPart


class Touching(NamedTuple):
    """The geoms and pairs that a stop with friction stands for."""

    geoms: tuple[Contact, ...]
    pairs: tuple[ContactPair, ...]


def _compound(
    name: str, joint: Mapping[str, Any], word: str, constraint: Mapping[str, Any], place: Place
) -> Compound:
    """Return the massless link, its joint and its constraint; the joint keeps the name of the part."""
    link = f"{name} link"
    own = {"name": name, "parent": GROUND, "child": link, "actuated": False, **joint}
    follows = {"name": f"{name} follows", **constraint}
    return Compound(
        link_from({"name": link}, place), joint_from(own, place), constraint_from(word, follows, place)
    )


def _coupled(
    name: str, values: Mapping[str, Any], terms: Sequence[tuple[str, float]], place: Place
) -> Compound:
    """Return a compound whose coordinate is a sum of coordinates; its joint is revolute, or prismatic if `slides`."""
    keys = dict(values)
    kind = "prismatic" if keys.pop("slides", False) else "revolute"
    follows = {"joint": name, "terms": [{"joint": x, "coefficients": c} for x, c in terms]}
    return _compound(name, {"kind": kind, **keys}, "coupling", follows, place)


def _sided(name: str, kind: str, closing: str, values: Mapping[str, Any], place: Place) -> Compound:
    """Return a compound whose joint moves in the first of two `links`, and which the second one follows."""
    keys = dict(values)
    parent, child = keys.pop("links")
    axis, at = keys.pop("axis", "z"), {key: keys.pop(key) for key in OF_ORIGIN if key in keys}
    there = {key: keys.pop(key) for key in OF_CHILD if key in keys}
    joint = {"kind": kind, "parent": parent, "axis": axis, **at, **keys}
    follows = {"kind": closing, "parent": f"{name} link", "child": child, "axis": axis, **there}
    return _compound(name, joint, "loop", follows, place)


def clutch_from(keys: Mapping[str, object], place: Place) -> Compound:
    """Return a clutch: dry friction between two joints, or two links about an axis."""
    values = dict(keys)
    read = checked(values, CLUTCH, place)
    name, levels = read["name"], {key: values.pop(key) for key in LEVELS if key in values}
    if "level" not in levels:
        raise place.at("level").error(
            "is missing; give the torque or force [N m], [N] that it transmits at most"
        )
    own = {"friction": {"law": "coulomb", **levels}}
    if ("joints" in read) == ("links" in read):
        raise place.error(
            "connects two joints or two links; give one of joints and links, each a list of two names"
        )
    if "links" in read:
        if "ratio" in read or "slides" in read:
            raise place.error("ratio and slides go with joints; a clutch of links turns about its axis")
        at = {key: values[key] for key in ("axis", *OF_ORIGIN, *OF_CHILD) if key in values}
        return _sided(name, "revolute", "turn", {"links": read["links"], **at, **own}, place)
    (a, b), ratio = read["joints"], read.get("ratio", 1.0)
    if a == b:
        raise place.error(f"connects the joint {a!r} with itself; give two joints, or use a brake")
    return _coupled(name, {"slides": read.get("slides", False), **own}, [(a, 1.0), (b, -ratio)], place)


def stop_from(keys: Mapping[str, object], place: Place) -> Compound | Touching:
    """Return a stop: limits of a coordinate, or of a point of one link along the normal of a plane of another."""
    values = dict(keys)
    read = checked(values, STOP, place)
    name = read["name"]
    if "between" in read:
        if {"joint", "links"} & set(read):
            raise place.error("has between and joint or links; give one of them")
        one = isinstance(read["between"], str)
        read["joint" if one else "links"] = values["joint" if one else "links"] = read["between"]
    if ("joint" in read) == ("links" in read):
        raise place.error("limits a joint, or a point and a plane; give one of joint and links")
    ends = [values.get(key) for key in ("lower", "upper")]
    if all(isinstance(x, (int, float)) for x in ends) and ends[0] > ends[1]:  # type: ignore[operator]
        raise place.error(f"has the lower limit {ends[0]:g} above the upper limit {ends[1]:g}; exchange them")
    own = {key: values[key] for key in ("lower", "upper", "restitution", "start") if key in values}
    if not {"lower", "upper"} & set(own):
        raise place.error("has no lower and no upper; give the least or the greatest value, rad or m")
    rough = [key for key in ROUGH if key in read]
    if rough and "links" not in read:
        raise place.error(
            f"has {rough[0]} and limits a joint; give it links, a plane and a point, or give the joint friction"
        )
    if rough:
        return _touching(name, read, place)
    if "joint" in read:
        return _coupled(name, {"slides": read.get("slides", False), **own}, [(read["joint"], 1.0)], place)
    at = {key: values[key] for key in ("axis", *OF_ORIGIN, *OF_CHILD) if key in values}
    return _sided(name, "prismatic", "face", {"links": read["links"], **at, **own}, place)


def _touching(name: str, read: dict[str, Any], place: Place) -> Touching:
    """Return the point of a stop with friction, a plane for each of its ends, and their pairs."""
    if "mu" not in read:
        raise place.error("has mu_static and no mu; give the coefficient of sliding friction")
    if "start" in read:
        raise place.error("has start and mu; it has no coordinate of its own, give the joints their start")
    plane_link, point_link = read["links"]
    base, there = f.take_origin(read, place).pose(), f.take_origin(read, place, "child_")
    axis = unit(np.array(read.get("axis", (0.0, 0.0, 1.0)), dtype=float))
    alone: dict[str, Any] = {"contype": 0, "conaffinity": 0, "where": place.where}
    geoms = [Contact(f"{name} point", point_link, "point", origin=there, **alone)]
    for word, side in (("lower", 1.0), ("upper", -1.0)):
        if word in read:
            seat = base @ Pose(turn_z_to(side * axis), float(f.number(read[word], place.at(word))) * axis)
            geoms.append(Contact(f"{name} {word}", plane_link, "plane", origin=origin(seat), **alone))
    surface = Surface(read["mu"], read.get("mu_static"), read.get("restitution"))
    pairs = [ContactPair((geoms[0].name, plane.name), surface, place.where) for plane in geoms[1:]]
    return Touching(tuple(geoms), tuple(pairs))


def loop_from(keys: Mapping[str, object], place: Place) -> Compound:
    """Return a loop with friction, or other keys of a joint, as a joint that a weld closes."""
    values, own = dict(keys), {key: keys[key] for key in OF_JOINT if key in keys}
    read = checked({key: x for key, x in values.items() if key not in own}, LOOP, place)
    kind, closing = WELDS.get(read["kind"], (read["kind"], "fixed"))
    at = {key: values[key] for key in ("axis", "axis2", "pitch", *OF_ORIGIN) if key in values}
    joint = {"kind": kind, "parent": read["parent"], **at, **own}
    there = {key: values[key] for key in (*OF_CHILD, "compliance") if key in values}
    axis = {"axis": values["axis"]} if "axis" in values and closing != "fixed" else {}
    follows = {"kind": closing, "parent": f"{read['name']} link", "child": read["child"], **axis, **there}
    return _compound(read["name"], joint, "loop", follows, place)


def has_joint(keys: Mapping[str, object]) -> bool:
    """True if the keys of a loop need a joint: friction, limits, a spring."""
    return any(key in keys for key in OF_JOINT)


_NAMES = f.several(f.name, 2, "two names")


def _one_or_two(value: object, place: Place) -> Any:
    """Return a name, or a list of two."""
    return f.name(value, place) if isinstance(value, str) else _NAMES(value, place)


_AT = {
    "axis": Key(f.axis),
    **f.origin_keys("", "m, in the first link"),
    **f.origin_keys("child_", "m, in the second"),
}
CLUTCH: dict[str, Key] = {
    "name": Key(f.name, needs="a name for the clutch"),
    "joints": Key(_NAMES, "coordinates; it slips by the first minus ratio times the second"),
    "ratio": Key(f.number),
    "slides": Key(f.flag, "true: the coordinates are lengths"),
    "links": Key(_NAMES, "links that turn against each other about the axis"),
    **_AT,
    **{key: Key(lambda value, place: value, "N m or N") for key in LEVELS},
}
STOP: dict[str, Key] = {
    "name": Key(f.name, needs="a name for the stop"),
    "joint": Key(f.name, "coordinate that it limits"),
    "between": Key(_one_or_two, "a coordinate, as joint; or the two links, as links"),
    "slides": Key(f.flag, "true: the coordinate is a length"),
    "links": Key(_NAMES, "link of the plane, normal to axis at xyz; link of the point, at child_xyz"),
    **_AT,
    **{key: Key(lambda value, place: value, "rad or m") for key in ("lower", "upper", "start")},
    "restitution": JOINT["restitution"],
    **{key: SURFACE[key] for key in ROUGH},
}
COMPOUNDS: dict[str, Callable[[Mapping[str, object], Place], Compound | Touching]] = {
    "clutch": clutch_from,
    "stop": stop_from,
}
