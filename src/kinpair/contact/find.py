"""All contact points of a mechanism: broad phase, then the narrow phase of each pair of kinds. Loop functions."""

from __future__ import annotations

from kinpair.compiler.loops.kinds import Matrix
from kinpair.contact.box import box_plane, capsule_box, sphere_box
from kinpair.contact.box_box import box_box
from kinpair.contact.broad import approach, place_geoms, sweep
from kinpair.contact.convex import convex_convex, convex_plane
from kinpair.contact.records import Found, Geometry
from kinpair.contact.round import (
    capsule_capsule,
    capsule_plane,
    sphere_capsule,
    sphere_cylinder,
    sphere_plane,
    sphere_sphere,
)
from kinpair.description.contact_shapes import BOX, CAPSULE, CYLINDER, PLANE, SPHERE


def narrow(g: Geometry, f: Found, count: int, pair: int, margin: float) -> int:
    """Write the points of a pair; kind[a] ≤ kind[b]."""
    a, b = g.first[pair], g.second[pair]
    one, two = g.kind[a], g.kind[b]
    if two == PLANE:
        if one == SPHERE:
            return sphere_plane(g, f, count, pair, a, b, 0, f.pose[a, 9:12], margin)
        if one == CAPSULE:
            return capsule_plane(g, f, count, pair, a, b, margin)
        if one == BOX:
            return box_plane(g, f, count, pair, a, b, margin)
        return convex_plane(g, f, count, pair, a, b, margin)
    if one == SPHERE and two == CYLINDER:
        return sphere_cylinder(g, f, count, pair, a, b, margin)
    if two > BOX:
        return convex_convex(g, f, count, pair, a, b, margin)
    if one == SPHERE:
        if two == SPHERE:
            return sphere_sphere(g, f, count, pair, a, b, margin)
        if two == CAPSULE:
            return sphere_capsule(g, f, count, pair, a, b, 0, f.pose[a, 9:12], False, margin)
        return sphere_box(g, f, count, pair, a, b, 0, f.pose[a, 9:12], margin)
    if one == CAPSULE:
        if two == CAPSULE:
            return capsule_capsule(g, f, count, pair, a, b, margin)
        return capsule_box(g, f, count, pair, a, b, margin)
    return box_box(g, f, count, pair, a, b, margin)


def find_contacts(R: Matrix, p: Matrix, g: Geometry, f: Found, margin: float) -> int:
    """Write all points of (CT1) with φ ≤ margin into f; return their number, which may exceed the capacity of f.

    The margin of a pair grows by what its geoms may approach each other in the time that is looked ahead: `f.moves`.
    R (bodies, 9), p (bodies, 3): axes by rows and origin of each body in the world, the ground first.
    """
    place_geoms(g, R, p, f)
    return find_placed(g, f, margin)


def find_placed(g: Geometry, f: Found, margin: float) -> int:
    """Write all points of geoms that are placed, see `find_contacts`."""
    count = 0
    for k in range(sweep(g, f, margin)):
        pair = f.near[k]
        nearer = approach(g, f, int(g.first[pair]), int(g.second[pair]))
        count = narrow(g, f, count, pair, margin + nearer)
    return count
