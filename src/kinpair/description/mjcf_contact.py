"""Contact in an MJCF file: geoms that touch, pairs and exclusions, as parts of a description.

MuJoCo's contacts are soft: `solref`, `solimp`, `margin` and `gap` say how. Contact here is rigid and uses none of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count

from kinpair.description.mjcf_bodies import Body, Geom
from kinpair.description.mjcf_geoms import Mesh, kind, meshed, whole_size
from kinpair.description.mjcf_xml import Defaults, Tag
from kinpair.description.omitted import GEOM, Omitted
from kinpair.description.parts import (
    Contact,
    ContactExclusion,
    ContactPair,
    Contacts,
    Numbers,
    Surface,
    origin,
)
from kinpair.errors import DescriptionError

OFF = ("contact", "constraint")  # flags that switch contact off
SOFT = ("solref", "solimp", "solreffriction", "margin", "gap")  # attributes that rigid contact does not use
FRICTION = (1.0, 0.005, 0.0001)  # sliding, torsional, rolling


@dataclass(frozen=True, slots=True, eq=False)
class ContactReader:
    """Reads geoms, pairs and exclusions; `links` are the names of bodies here. Shapes without contact are `omitted`."""

    bodies: list[Body]
    links: Mapping[str, str]
    meshes: Mapping[str, Mesh]
    defaults: Defaults
    omitted: Omitted

    def read(self, root: Tag) -> Contacts:
        """Return all about contact in a file; nothing where it is switched off."""
        if _switched_off(root):
            return Contacts()
        sections = root.each("contact")
        pairs = [
            self.defaults.of(tag.called("contact pair").known(), "")
            for x in sections
            for tag in x.each("pair")
        ]
        ends = {tag.text(key) for tag in pairs for key in ("geom1", "geom2")}
        predefined = any(option.text("collision") == "predefined" for option in root.each("option"))
        geoms = tuple(self._geoms(ends, predefined))
        known = {geom.name for geom in geoms}
        return Contacts(
            geoms,
            tuple(x for tag in pairs if (x := self._pair(tag, known))),
            tuple(self._exclusion(tag) for x in sections for tag in x.each("exclude")),
        )

    def _geoms(self, ends: set[str], predefined: bool) -> Iterator[Contact]:
        """Yield the geoms that touch others by their groups, or in pairs."""
        taken = {geom.tag.text("name") for body in self.bodies for geom in body.geoms}
        for body in self.bodies:
            unnamed = (name for k in count(1) if (name := f"{body.name} geom {k}") not in taken)
            for geom in body.geoms:
                contype, conaffinity = _bits(geom.tag, "contype"), _bits(geom.tag, "conaffinity")
                if predefined:
                    contype, conaffinity = 0, 0
                if contype or conaffinity or geom.tag.text("name") in ends:
                    name = geom.tag.text("name") or next(unnamed)
                    part = self._geom(geom, name, body)
                    if part is not None:
                        _warn_of_softness(geom.tag)
                        yield replace(part, contype=contype, conaffinity=conaffinity)

    def _geom(self, geom: Geom, name: str, body: Body) -> Contact | None:
        """Return a geom without its groups; None of a shape that has no contact here."""
        tag, at, what = geom.tag, geom.pose, kind(geom.tag)
        size: Numbers = ()
        file = ""
        try:
            if what == "mesh":
                mesh = meshed(tag, self.meshes)
                if mesh.path and mesh.file is None:
                    raise DescriptionError("its file is not there")
                what = "mesh" if mesh.path else "hull"
                size = mesh.scale if mesh.path else tuple(mesh.points().ravel().tolist())
                at, file = (at @ mesh.place(), str(mesh.file)) if mesh.path else (at, "")
            elif what in ("hfield", "sdf") or tag.has("mesh"):
                raise DescriptionError(f"a {what}")
            elif what != "plane":
                size = whole_size(tag, what)
        except DescriptionError:
            if self._may_touch(tag, body):
                self.omitted.add(GEOM, f"{name!r} ({what})", tag.where)
            return None
        sliding, torsional, rolling = tag.numbers("friction", 1, 3, FRICTION)
        return Contact(
            name,
            self.links[body.name],
            what,
            size,
            origin(at),
            file,
            Surface(mu=sliding, torsional=torsional, rolling=rolling),
            dimensions=int(tag.number("condim", 3.0)),
            priority=int(tag.number("priority", 0.0)),
            convex=True,
            where=tag.where,
        )

    def _may_touch(self, tag: Tag, body: Body) -> bool:
        """True if the groups of a geom fit those of a geom on another body."""
        others = (geom.tag for other in self.bodies if other is not body for geom in other.geoms)
        return any(
            _bits(tag, "contype") & _bits(x, "conaffinity") or _bits(x, "contype") & _bits(tag, "conaffinity")
            for x in others
        )

    def _pair(self, tag: Tag, known: set[str]) -> ContactPair | None:
        """Return a pair; None if one of its geoms has no contact here, which is reported with the geom."""
        ends = tag.text("geom1"), tag.text("geom2")
        every = [geom.tag.text("name") for body in self.bodies for geom in body.geoms]
        for name in ends:
            if name not in every:
                raise tag.unknown("geom", name, filter(None, every))
        if not known >= {*ends}:
            return None
        _warn_of_softness(tag)
        surface = Surface()
        if tag.has("friction") or tag.has("condim"):
            rows = int(tag.number("condim", 3.0))
            friction = tag.numbers("friction", 1, 5, (1.0, 1.0, 0.005, 0.0001, 0.0001))
            surface = Surface(
                mu=friction[0] * (rows >= 3),
                torsional=friction[2] * (rows >= 4),
                rolling=friction[3] * (rows >= 6),
            )
        return ContactPair(ends, surface, tag.where)

    def _exclusion(self, tag: Tag) -> ContactExclusion:
        tag = tag.called("contact exclude").known()
        for key in ("body1", "body2"):
            if tag.text(key) not in self.links:
                raise tag.unknown("body", tag.text(key), self.links)
        return ContactExclusion((self.links[tag.text("body1")], self.links[tag.text("body2")]), tag.where)


def _bits(tag: Tag, groups: str) -> int:
    return int(tag.number(groups, 1.0))


def _switched_off(root: Tag) -> bool:
    """True if no geoms touch in the whole file."""
    flags = [flag for option in root.each("option") for flag in option.each("flag")]
    return any(flag.text(word) == "disable" for flag in flags for word in OFF)


def _warn_of_softness(tag: Tag) -> None:
    if soft := [key for key in SOFT if tag.has(key)]:
        tag.note_once(
            f"has {', '.join(soft)}, which is not used: contact is rigid here, that of others like it too"
        )
