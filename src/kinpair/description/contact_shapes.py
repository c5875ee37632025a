"""Shapes that touch: how each is written, and what its size is in a search for contact points.

A new shape is a row of `SHAPES`, and what it answers in `kinpair.contact.support`; see docs/extend.md.
"""

from __future__ import annotations

from collections.abc import Callable
from reprlib import repr as shown
from typing import NamedTuple

from kinpair.description import fields as f
from kinpair.description.parts import Numbers
from kinpair.description.place import Key, Place, Read, items

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
