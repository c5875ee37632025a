"""Data that narrow phases read and write: geoms and pairs of a mechanism, and the contact points found.

A contact point k has, in world axes,

    n = frame[k, 0:3]   unit normal from geom b to geom a;   t1 = frame[k, 3:6],  t2 = frame[k, 6:9]
    c = point[k]        halfway between the points of a and b on the normal: c_a = c + φ n/2, c_b = c − φ n/2
    φ = gap[k]          negative where the geoms overlap;   φ̇ = n·(v_a(c) − v_b(c))                      (CT1)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinpair.compiler.loops.kinds import Integers, Matrix, Vector
from kinpair.description.contact_shapes import HULL, PLANE
from kinpair.model.contact_data import ContactData

SHARP = 1e8  # curvature of a vertex or across an edge [1/m]; more would lose digits in (CT2)
SLOTS = 1 << 16  # numbers of points that a pair may have: slot = SLOTS · pair + feature


class Geometry(NamedTuple):
    """Geoms and pairs as arrays; a sphere of radius zero is a point, a plane is solid below z = 0 of its axes.

    Sizes: sphere (radius,), capsule and cylinder (radius, half length along z), box and ellipsoid half sizes, hull
    (first row and number of rows in `vertices`, first row and number of rows in `faces`); the fifth is the smallest
    size, of a hull its thickness. A pair has kind[first] ≤ kind[second]; pairs with planes come first.
    """

    body: Integers  # (geoms,) number of the body in the model; 0 is the ground
    kind: Integers  # (geoms,)
    size: Matrix  # (geoms, 5)
    R: Matrix  # (geoms, 9) axes of the geom in axes of its body, by rows
    p: Matrix  # (geoms, 3) its origin in its body
    vertices: Matrix  # (all hulls, 3) in axes of the geom
    faces: Matrix  # (all hulls, 4) n and e of n·x + e ≤ 0 inside
    radius: Vector  # (geoms,) of the ball around the origin of a geom that holds it; 0 of a plane
    first: Integers  # (pairs,) geom a
    second: Integers  # (pairs,) geom b
    pair_of: Integers  # (geoms · geoms,) the pair of geoms i, j at i · geoms + j, −1 where they do not touch
    planes: int  # number of pairs with a plane


class Found(NamedTuple):
    """Contact points, by pair and within a pair in a fixed order of features; memory of the search after them.

    A slot is the same feature of the same pair at every call, so that multipliers of the last step start the next one.
    """

    pair: Integers  # (capacity,)
    slot: Integers  # (capacity,)
    point: Matrix  # (capacity, 3)
    frame: Matrix  # (capacity, 9) n, t1, t2
    gap: Vector  # (capacity,)
    curvature: Matrix  # (capacity, 6) of a and of b in (t1, t2): 11, 12, 22; 0 flat, SHARP at a vertex
    pose: Matrix  # (geoms, 12) axes by rows and origin of each geom in the world
    reach: Matrix  # (geoms, 6) box around each geom: lower x, y, z, upper x, y, z
    moves: (
        Matrix  # (geoms, 6) turn and displacement of the origin of each geom in the time that is looked ahead
    )
    slack: Vector  # (geoms,) more that it may move in this time [m]
    order: Integers  # (geoms,) geoms by lower x, of the last call
    near: Integers  # (pairs,) pairs whose boxes overlap
    work: Matrix  # (WORK, 3)
    integers: Integers  # (INTEGERS,)
    memory: Vector  # (MEMORY,)


WORK, INTEGERS, MEMORY = 1024, 4096, 32  # room of the search in a pair
OF_POINT, OF_GEOM = 19, 25  # numbers of a point and of a geom in `Found`


def geometry_of(data: ContactData) -> Geometry:
    """Return geoms and pairs as the loop functions read them."""
    geoms = len(data.names)
    index = np.full((geoms, geoms), -1, dtype=np.int64)
    index[data.first, data.second] = index[data.second, data.first] = np.arange(len(data.first))
    arrays = (
        data.body,
        data.kind,
        data.size,
        data.R,
        data.p,
        data.vertices,
        data.faces,
        _radii(data),
        data.first,
        data.second,
    )
    return Geometry(*arrays, index.ravel(), data.planes)


def _radii(data: ContactData) -> np.ndarray:
    """Return the radius (geoms,) of the ball around the origin of each geom that holds it."""
    vertices = np.linalg.norm(data.vertices, axis=1)

    def radius(kind: int, size: np.ndarray) -> float:
        if kind == HULL:
            return float(vertices[int(size[0]) : int(size[0] + size[1])].max())
        return 0.0 if kind == PLANE else float(np.abs(size[:3]).sum())

    return np.array([radius(int(kind), size) for kind, size in zip(data.kind, data.size, strict=True)])


def room(data: ContactData, capacity: int | None = None) -> Found:
    """Return memory for the points of a state: `max_contacts` of them, unless a capacity is given."""
    geoms, pairs, n = len(data.names), len(data.first), capacity or data.max_contacts
    return Found(
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.zeros((n, 3)),
        np.zeros((n, 9)),
        np.zeros(n),
        np.zeros((n, 6)),
        np.zeros((geoms, 12)),
        np.zeros((geoms, 6)),
        np.zeros((geoms, 6)),
        np.zeros(geoms),
        np.arange(geoms, dtype=np.int64),
        np.zeros(max(pairs, 1), dtype=np.int64),
        np.zeros((WORK, 3)),
        np.zeros(INTEGERS, dtype=np.int64),
        np.zeros(MEMORY),
    )
