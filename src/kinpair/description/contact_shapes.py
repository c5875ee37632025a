"""Shapes that touch: the keys of [[contact]], [[contact_pair]] and [[contact_exclude]], for files and for the
`Builder`, and the size of each shape in a search for contact points.

A new shape is a row of `SHAPES`, and what it answers in `kinpair.contact.support`; see docs/extend.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from reprlib import repr as shown
from typing import Any, NamedTuple

from kinpair.description import fields as f
from kinpair.description.parts import Contact, ContactExclusion, ContactPair, Numbers, Surface
from kinpair.description.place import Key, Place, Read, checked, items

SPHERE, CAPSULE, BOX, CYLINDER, ELLIPSOID, HULL = range(6)
PLANE = 1000  # after all convex shapes


class Kind(NamedTuple):
    """A shape: its key in a file, its number, and its size there from that of the description."""

    key: Key
    number: int
    size: Callable[[Numbers], Numbers]


def _present(value: object, place: Place) -> Numbers:
    """Return no size, of a shape that has none."""
    if value is not True:
        raise place.error(f"is {shown(value)}; give true")
    return ()


def _points(value: object, place: Place) -> Numbers:
    """Return the coordinates of points, one after the other."""
    entries = items(value)
    if entries is None or len(entries) < 4:
        raise place.error(f"is {shown(value)}; give four or more points [x, y, z]")
    return tuple(x for i, point in enumerate(entries) for x in f.vector(point, place.entry(i)))


def positive(count: int, form: str) -> Read:
    """Return a reader of `count` positive numbers; one number stands without brackets."""
    several = f.several(f.number, count, form)

    def check(value: object, place: Place) -> Numbers:
        size = several(value, place) if count > 1 else (f.number(value, place),)
        if not min(size) > 0.0:
            raise place.error(f"is {shown(value)}; give {form}, positive")
        return size

    return check


def _written(size: Numbers) -> Numbers:
    return size


def _halves(size: Numbers) -> Numbers:
    return tuple(x / 2 for x in size)


def _half_length(size: Numbers) -> Numbers:
    return size[0], size[1] / 2


def _none(size: Numbers) -> Numbers:
    return ()


_ROUND = positive(2, "[radius, length]")
_THREE = positive(3, "[x, y, z]")

SHAPES: dict[str, Kind] = {
    "point": Kind(Key(_present, "a point"), SPHERE, _none),
    "sphere": Kind(Key(positive(1, "a radius"), "m, radius"), SPHERE, _written),
    "capsule": Kind(Key(_ROUND, "m, radius and length along z, caps not counted"), CAPSULE, _half_length),
    "box": Kind(Key(_THREE, "m, edges along x, y, z"), BOX, _halves),
    "cylinder": Kind(Key(_ROUND, "m, radius and length along z"), CYLINDER, _half_length),
    "ellipsoid": Kind(Key(_THREE, "m, semi-axes along x, y, z"), ELLIPSOID, _written),
    "plane": Kind(Key(_present, "solid below z = 0"), PLANE, _none),
    "mesh": Kind(Key(f.name, "file with the surface; its convex hull touches"), HULL, _none),
    "hull": Kind(Key(_points, "m, points; their convex hull touches"), HULL, _none),
}


def _positive(value: object, place: Place) -> float:
    """Return a number above zero."""
    if not (x := f.number(value, place)) > 0.0:
        raise place.error(f"is {x:g}; give a number above zero")
    return x


def _exponent(value: object, place: Place) -> float:
    """Return the exponent of a compliant contact."""
    if (x := f.number(value, place)) not in (1.0, 1.5):
        raise place.error(f"is {x:g}; give 1 (linear) or 1.5 (Hertz)")
    return x


SURFACE: dict[str, Key] = {
    "mu": Key(f.zero_or_more, "coefficient of sliding friction"),
    "mu_static": Key(f.zero_or_more, "coefficient of friction at rest"),
    "restitution": Key(f.part, "normal velocity after an impact by that before it"),
    "torsional": Key(f.zero_or_more, "m, friction moment about the normal by normal force"),
    "rolling": Key(f.zero_or_more, "m, friction moment about the tangents by normal force"),
    "stiffness": Key(_positive, "N/m, of a compliant contact"),
    "exponent": Key(_exponent, "of the overlap, 1 or 1.5"),
    "dissipation": Key(f.zero_or_more, "s/m"),
    "slip_speed": Key(_positive, "m/s, at which friction of a compliant contact is complete"),
}


def count_from(value: object, place: Place) -> int:
    """Return a whole number that is zero or more."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise place.error(f"is {shown(value)}; give a whole number, zero or more")
    return value


def dimensions_from(value: object, place: Place) -> int:
    """Return the number of rows of a contact: 1, 3, 4 or 6."""
    if isinstance(value, bool) or not isinstance(value, int) or value not in (1, 3, 4, 6):
        raise place.error(
            f"is {shown(value)}; give 1 (no friction), 3 (sliding), 4 (and torsional) or 6 (and rolling)"
        )
    return value


def max_contacts_from(value: object, place: Place) -> int:
    """Return the largest number of contact points."""
    if not (count := count_from(value, place)):
        raise place.error("is 0; give the largest number of contact points that a state may have")
    return count


CONTACT: dict[str, Key] = {
    "name": Key(f.name, needs="a name for the geom"),
    "link": Key(f.name, needs='the link or frame it sits on, or "ground"'),
    **{word: shape.key for word, shape in SHAPES.items()},
    "scale": Key(positive(3, "[x, y, z]"), "of the mesh"),
    **f.origin_keys("", "m, in the link or frame"),
    **SURFACE,
    "contype": Key(count_from, "bits of its groups"),
    "conaffinity": Key(count_from, "bits of the groups that it touches"),
    "dimensions": Key(dimensions_from, "1, 3, 4 or 6"),
    "priority": Key(count_from),
}
PAIR: dict[str, Key] = {
    "geoms": Key(f.several(f.name, 2, "the names of two geoms", "name"), needs="the names of two geoms"),
    **SURFACE,
}
EXCLUSION: dict[str, Key] = {
    "links": Key(f.several(f.name, 2, "the names of two links", "name"), needs="the names of two links"),
}


def surface_of(values: dict[str, Any]) -> Surface:
    """Return the surface that checked values describe, which are taken out of them."""
    return Surface(**{x.name: values.pop(x.name) for x in fields(Surface) if x.name in values})


def contact_from(keys: Mapping[str, object], place: Place) -> Contact:
    """Return a geom from its keys."""
    values = checked(keys, CONTACT, place)
    named = [word for word in SHAPES if word in values]
    if len(named) != 1:
        raise place.error(f"has {' and '.join(named) or 'no shape'}; give one of {', '.join(SHAPES)}")
    if "scale" in values and "mesh" not in values:
        raise place.error(f"scale goes with a mesh; give the size in {named[0]}")
    (shape,) = named
    size = values.pop(shape)
    mesh = size if shape == "mesh" else ""
    size = values.pop("scale", (1.0, 1.0, 1.0)) if mesh else size
    origin = f.take_origin(values, place)
    surface = surface_of(values)
    return Contact(
        shape=shape, size=size, origin=origin, mesh=mesh, surface=surface, where=place.where, **values
    )


def pair_from(keys: Mapping[str, object], place: Place) -> ContactPair:
    """Return the surface of a pair of geoms from its keys."""
    values = checked(keys, PAIR, place)
    return ContactPair(values.pop("geoms"), surface_of(values), place.where)


def exclusion_from(keys: Mapping[str, object], place: Place) -> ContactExclusion:
    """Return two links that do not touch from their keys."""
    return ContactExclusion(checked(keys, EXCLUSION, place)["links"], place.where)
