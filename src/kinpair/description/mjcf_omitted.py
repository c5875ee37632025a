"""What of an MJCF file acts on the motion in MuJoCo and is not simulated here: contact, flexes, plugins.

Two geoms may touch in MuJoCo if their bodies move against each other, are not neighbours (neighbours of the world may
touch it), are not excluded, and if `contype` of one has a bit in common with `conaffinity` of the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kinpair.description.mjcf_bodies import WORLD, Body, Geom
from kinpair.description.mjcf_xml import Tag
from kinpair.description.omitted import GEOM, Omitted

SECTIONS = {  # section: elements in it that act on the motion, and what they are called
    "contact": {"pair": "contact pair"},
    "deformable": {"flex": "flex element"},
}
OFF = ("contact", "constraint")  # flags that switch contact off


def omitted_parts(root: Tag, bodies: list[Body]) -> Omitted:
    """Collect everything but constraints and actuators, which are collected where they are read."""
    omitted = Omitted()
    if not _switched_off(root):
        excluded = {
            frozenset(map(tag.text, ("body1", "body2"))) for tag in _inside(root, "contact", "exclude")
        }
        for body, geom in _touching(bodies, excluded):
            label = repr(geom.name) if geom.name else f"unnamed on {body.name!r}"
            omitted.add(GEOM, label, geom.where)
    for section, kinds in SECTIONS.items():
        for tag in _inside(root, section, *kinds):
            omitted.add(kinds[tag.name], _label(tag), tag.where)
    for body in bodies:
        for tag in body.plugins:
            omitted.add(
                "plugin", f"{tag.text('plugin') or tag.text('instance')!r} on {body.name!r}", tag.where
            )
    return omitted


def _label(tag: Tag) -> str:
    """Return the name of an element, or what it joins."""
    ends = [tag.text(key) for key in ("geom1", "geom2") if tag.text(key)]
    return repr(tag.text("name") or " and ".join(ends)) if tag.text("name") or ends else "unnamed"


def _inside(root: Tag, section: str, *names: str) -> list[Tag]:
    return [tag for x in root.each(section) for tag in x.each(*names)]


def _switched_off(root: Tag) -> bool:
    """True if no geoms touch in the whole file."""
    options = root.each("option")
    flags = [flag for option in options for flag in option.each("flag")]
    return any(flag.text(word) == "disable" for flag in flags for word in OFF) or any(
        option.text("collision") == "predefined" for option in options
    )


def _touching(bodies: list[Body], excluded: set[frozenset[str]]) -> Iterator[tuple[Body, Geom]]:
    """Yield the geoms that may touch another one."""
    known = {body.name: body for body in bodies}
    solid = [body for body in bodies if any(geom.contype or geom.conaffinity for geom in body.geoms)]
    carrier = {body.name: _carrier(body, known) for body in solid}
    below = {name: _carrier(known[known[name].parent], known) for name in set(carrier.values()) - {WORLD}}
    for body in solid:
        others = [
            geom
            for other in solid
            if _apart(carrier[body.name], carrier[other.name], below)
            and frozenset((body.name, other.name)) not in excluded
            for geom in other.geoms
        ]
        yield from ((body, geom) for geom in body.geoms if any(_match(geom, other) for other in others))


def _carrier(body: Body, known: Mapping[str, Body]) -> str:
    """Return the name of the body that moves this one: the nearest with joints, or the world."""
    while not body.joints and body.name != WORLD:
        body = known[body.parent]
    return body.name


def _apart(one: str, other: str, below: Mapping[str, str]) -> bool:
    """True if two bodies with joints move against each other and are not neighbours; the world has no neighbours."""
    neighbours = WORLD not in (one, other) and (below[one] == other or below[other] == one)
    return one != other and not neighbours


def _match(one: Geom, other: Geom) -> bool:
    return bool(one.contype & other.conaffinity or other.contype & one.conaffinity)
