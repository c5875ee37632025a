"""Shapes as the general narrow phase sees them, one row of each table a kind. Loop functions.

A shape is a core and a radius: a sphere is a point, a capsule a segment, each with its radius; others have none. The
core answers: its farthest point in a direction, its corners, the normal of its face next to a direction, whether it has
a point, and its curvature at a point.
"""

from __future__ import annotations

import math

from kinpair.compiler.loops.kinds import Vector
from kinpair.contact.points import dot, local, place
from kinpair.contact.records import SHARP, Found, Geometry
from kinpair.description.contact_shapes import BOX, CAPSULE, CYLINDER, ELLIPSOID, HULL, PLANE, SPHERE

RIM = 4  # corners on each rim of a cylinder
ON = 1e-7  # a point on a face, an edge or a rim may be off by this part of the size
ON_HULL, SAME = 1e-6, 1e-6  # the same of a hull; sine of the angle between faces that are one


def radius_of(g: Geometry, k: int) -> float:
    """Return the radius around the core of geom k."""
    return g.size[k, 0] if g.kind[k] <= CAPSULE else 0.0


def scale_of(g: Geometry, k: int) -> float:
    """Return a length of geom k: its smallest size, of a hull its thickness; inf for spheres and planes."""
    return g.size[k, 4]


def farthest(g: Geometry, f: Found, k: int, d: Vector, out: Vector) -> None:
    """Write the point of the core of geom k that is farthest along d, in the world."""
    x = f.pose[k, 0] * d[0] + f.pose[k, 3] * d[1] + f.pose[k, 6] * d[2]
    y = f.pose[k, 1] * d[0] + f.pose[k, 4] * d[1] + f.pose[k, 7] * d[2]
    z = f.pose[k, 2] * d[0] + f.pose[k, 5] * d[1] + f.pose[k, 8] * d[2]
    kind, a, b, c = g.kind[k], g.size[k, 0], g.size[k, 1], g.size[k, 2]
    if kind == HULL:
        best, at = -math.inf, int(a)
        for i in range(int(a), int(a + b)):
            value = g.vertices[i, 0] * x + g.vertices[i, 1] * y + g.vertices[i, 2] * z
            if value > best:
                best, at = value, i
        x, y, z = g.vertices[at, 0], g.vertices[at, 1], g.vertices[at, 2]
    elif kind == BOX:
        x, y, z = math.copysign(a, x), math.copysign(b, y), math.copysign(c, z)
    elif kind == CYLINDER:
        across = math.sqrt(x * x + y * y)
        x = a * x / across if across > 0.0 else a
        y = a * y / across if across > 0.0 else 0.0
        z = math.copysign(b, z)
    elif kind == ELLIPSOID:
        size = math.sqrt(a * a * x * x + b * b * y * y + c * c * z * z)
        x, y, z = a * a * x / size, b * b * y / size, c * c * z / size
    elif kind == CAPSULE:
        x, y, z = 0.0, 0.0, math.copysign(b, z)
    else:
        x, y, z = 0.0, 0.0, 0.0
    place(f.pose, k, x, y, z, out)


def corners(g: Geometry, k: int) -> int:
    """Return the number of corners of the core of geom k."""
    kind = g.kind[k]
    if kind == HULL:
        return int(g.size[k, 1])
    if kind == BOX:
        return 8
    if kind == CYLINDER:
        return 2 * RIM
    if kind == CAPSULE:
        return 2
    return 1 if kind == SPHERE else 0


def corner_of(g: Geometry, f: Found, k: int, i: int, out: Vector) -> None:
    """Write corner i of the core of geom k, in the world."""
    kind, a, b, c = g.kind[k], g.size[k, 0], g.size[k, 1], g.size[k, 2]
    x, y, z = 0.0, 0.0, 0.0
    if kind == HULL:
        row = int(a) + i
        x, y, z = g.vertices[row, 0], g.vertices[row, 1], g.vertices[row, 2]
    elif kind == BOX:
        x, y, z = a * (2 * (i & 1) - 1), b * (2 * ((i >> 1) & 1) - 1), c * (2 * ((i >> 2) & 1) - 1)
    elif kind == CYLINDER:
        angle = 2.0 * math.pi * (i % RIM) / RIM
        x, y, z = a * math.cos(angle), a * math.sin(angle), b * (2 * (i // RIM) - 1)
    elif kind == CAPSULE:
        z = b * (2 * i - 1)
    place(f.pose, k, x, y, z, out)


def face_normal(g: Geometry, f: Found, k: int, d: Vector, out: Vector) -> float:
    """Write the outward normal of the face of geom k next to d; return the cosine between them, −1 without a face."""
    x = f.pose[k, 0] * d[0] + f.pose[k, 3] * d[1] + f.pose[k, 6] * d[2]
    y = f.pose[k, 1] * d[0] + f.pose[k, 4] * d[1] + f.pose[k, 7] * d[2]
    z = f.pose[k, 2] * d[0] + f.pose[k, 5] * d[1] + f.pose[k, 8] * d[2]
    kind, best = g.kind[k], -1.0
    a, b, c = 0.0, 0.0, 0.0
    if kind == CYLINDER or (kind == BOX and abs(z) >= abs(x) and abs(z) >= abs(y)):
        best, c = abs(z), math.copysign(1.0, z)
    elif kind == BOX and abs(y) >= abs(x):
        best, b = abs(y), math.copysign(1.0, y)
    elif kind == BOX:
        best, a = abs(x), math.copysign(1.0, x)
    elif kind == HULL:
        for i in range(int(g.size[k, 2]), int(g.size[k, 2] + g.size[k, 3])):
            cosine = g.faces[i, 0] * x + g.faces[i, 1] * y + g.faces[i, 2] * z
            if cosine > best:
                best, a, b, c = cosine, g.faces[i, 0], g.faces[i, 1], g.faces[i, 2]
    out[0] = f.pose[k, 0] * a + f.pose[k, 1] * b + f.pose[k, 2] * c
    out[1] = f.pose[k, 3] * a + f.pose[k, 4] * b + f.pose[k, 5] * c
    out[2] = f.pose[k, 6] * a + f.pose[k, 7] * b + f.pose[k, 8] * c
    return best


def has_point(g: Geometry, f: Found, k: int, point: Vector, room: float, x: Vector) -> bool:
    """True if a point is in the box, cylinder or hull k, or outside by no more than `room`; x (3) is memory."""
    local(f.pose, k, point, x)
    kind, a, b, c = g.kind[k], g.size[k, 0], g.size[k, 1], g.size[k, 2]
    if kind == BOX:
        return abs(x[0]) <= a + room and abs(x[1]) <= b + room and abs(x[2]) <= c + room
    if kind == CYLINDER:
        return math.sqrt(x[0] * x[0] + x[1] * x[1]) <= a + room and abs(x[2]) <= b + room
    inside = kind == PLANE
    if kind == HULL:
        inside = True
        for i in range(int(g.size[k, 2]), int(g.size[k, 2] + g.size[k, 3])):
            height = g.faces[i, 0] * x[0] + g.faces[i, 1] * x[1] + g.faces[i, 2] * x[2] + g.faces[i, 3]
            if height > room:
                inside = False
    return inside


def bends(
    g: Geometry, f: Found, k: int, point: Vector, n: Vector, d: Vector, x: Vector
) -> tuple[float, float]:
    """Return the curvatures of geom k at a point with outward normal n, along and across d, which is written.

    The radius around a core makes the curvature κ of the core κ/(1 + κ r). x (3) is memory.
    """
    local(f.pose, k, point, x)
    kind, a, b, c = g.kind[k], g.size[k, 0], g.size[k, 1], g.size[k, 2]
    d[0], d[1], d[2] = f.pose[k, 2], f.pose[k, 5], f.pose[k, 8]
    along, across = SHARP, SHARP
    if kind == PLANE:
        return 0.0, 0.0
    if kind == CAPSULE and abs(x[2]) < b * (1.0 - ON):
        along = 0.0
    elif kind == CYLINDER:
        z = dot(d, n)
        if abs(z) > 1.0 - ON:
            return 0.0, 0.0
        if abs(x[2]) < b * (1.0 - ON):
            return 0.0, 1.0 / a
        # on a rim: d becomes its tangent, the curve has the curvature 1/a in the direction away from the axis
        side = math.sqrt(x[0] * x[0] + x[1] * x[1])
        for i in range(3):
            d[i] = (f.pose[k, 3 * i + 1] * x[0] - f.pose[k, 3 * i] * x[1]) / side
        return math.sqrt(1.0 - z * z) / a, SHARP
    elif kind == BOX:
        return box_bends(g, f, k, x, d)
    elif kind == HULL:
        return hull_bends(g, f, k, x, d)
    elif kind == ELLIPSOID:
        return ellipsoid_bends(f, k, x, n, d, a, b, c)
    r = radius_of(g, k)
    return along / (1.0 + along * r), across / (1.0 + across * r)


def box_bends(g: Geometry, f: Found, k: int, x: Vector, d: Vector) -> tuple[float, float]:
    """Return the curvatures of box k at x in its axes: of a face, along and across an edge, of a corner."""
    outside, free = 0, 0
    for i in range(3):
        if abs(x[i]) >= g.size[k, i] * (1.0 - ON):
            outside += 1
        else:
            free = i
    for i in range(3):
        d[i] = f.pose[k, 3 * i + free]
    if outside <= 1:
        return 0.0, 0.0
    return 0.0 if outside == 2 else SHARP, SHARP


def hull_bends(g: Geometry, f: Found, k: int, x: Vector, d: Vector) -> tuple[float, float]:
    """Return the curvatures of hull k at x in its axes, by the faces that meet there: one, an edge of two, a corner."""
    first, edge, e_x, e_y, e_z = -1, False, 0.0, 0.0, 0.0
    for i in range(int(g.size[k, 2]), int(g.size[k, 2] + g.size[k, 3])):
        n_x, n_y, n_z = g.faces[i, 0], g.faces[i, 1], g.faces[i, 2]
        if n_x * x[0] + n_y * x[1] + n_z * x[2] + g.faces[i, 3] < -ON_HULL * g.size[k, 4]:
            continue
        if first < 0:
            first = i
        if edge and abs(n_x * e_x + n_y * e_y + n_z * e_z) > SAME:
            return SHARP, SHARP
        if not edge:
            o_x, o_y, o_z = g.faces[first, 0], g.faces[first, 1], g.faces[first, 2]
            e_x, e_y, e_z = n_y * o_z - n_z * o_y, n_z * o_x - n_x * o_z, n_x * o_y - n_y * o_x
            size = math.sqrt(e_x * e_x + e_y * e_y + e_z * e_z)
            edge = size > SAME
            if edge:
                e_x, e_y, e_z = e_x / size, e_y / size, e_z / size
    for i in range(3):
        d[i] = f.pose[k, 3 * i] * e_x + f.pose[k, 3 * i + 1] * e_y + f.pose[k, 3 * i + 2] * e_z
    if first < 0:
        return SHARP, SHARP
    return 0.0, SHARP if edge else 0.0


def ellipsoid_bends(
    f: Found, k: int, x: Vector, n: Vector, d: Vector, a: float, b: float, c: float
) -> tuple[float, float]:
    """Return the principal curvatures of an ellipsoid at x; d becomes the direction of the first.

    F = Σ x²/a² = 1 has the normal curvature t·H t/|∇F| along t, with H = diag(2/a²).
    """
    size = math.sqrt(
        x[0] * x[0] / (a * a * a * a) + x[1] * x[1] / (b * b * b * b) + x[2] * x[2] / (c * c * c * c)
    )
    l_x = f.pose[k, 0] * n[0] + f.pose[k, 3] * n[1] + f.pose[k, 6] * n[2]
    l_y = f.pose[k, 1] * n[0] + f.pose[k, 4] * n[1] + f.pose[k, 7] * n[2]
    l_z = f.pose[k, 2] * n[0] + f.pose[k, 5] * n[1] + f.pose[k, 8] * n[2]
    # tangents in axes of the geom, as in `tangents`
    sign = math.copysign(1.0, l_z)
    s = 1.0 / (1.0 + abs(l_z))
    u_x, u_y, u_z = 1.0 - s * l_x * l_x, -s * l_x * l_y, -sign * l_x
    v_x, v_y, v_z = l_y * u_z - l_z * u_y, l_z * u_x - l_x * u_z, l_x * u_y - l_y * u_x
    A, B, C = 1.0 / (a * a * size), 1.0 / (b * b * size), 1.0 / (c * c * size)
    uu = A * u_x * u_x + B * u_y * u_y + C * u_z * u_z
    vv = A * v_x * v_x + B * v_y * v_y + C * v_z * v_z
    uv = A * u_x * v_x + B * u_y * v_y + C * u_z * v_z
    angle = 0.5 * math.atan2(2.0 * uv, uu - vv)
    p, q = math.cos(angle), math.sin(angle)
    e_x, e_y, e_z = p * u_x + q * v_x, p * u_y + q * v_y, p * u_z + q * v_z
    for i in range(3):
        d[i] = f.pose[k, 3 * i] * e_x + f.pose[k, 3 * i + 1] * e_y + f.pose[k, 3 * i + 2] * e_z
    middle, half = 0.5 * (uu + vv), math.hypot(0.5 * (uu - vv), uv)
    return middle + half, middle - half
