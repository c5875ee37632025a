"""Contact points of spheres, capsules and planes, and of spheres on cylinders: closed forms. Loop functions.

A capsule is a sphere whose centre is anywhere on a segment. Points of a capsule on a plane are those of its two ends.
Two capsules touch at the nearest points of their segments; nearly parallel ones also where an end is next to the other
segment. Every point is that of two spheres, so (CT1) holds for each.
"""

from __future__ import annotations

import math

from kinpair.compiler.loops.kinds import Vector
from kinpair.contact.points import cross, curve, dot, emit, local, place, rotate
from kinpair.contact.records import SHARP, Found, Geometry
from kinpair.contact.support import bends

PARALLEL = 0.1  # sine of the angle below which capsules also touch at their ends
LEAST = 1e-9  # sine below which segments have no nearest points inside
SAME_END = 1e-9  # of a half length
SAME_PLACE = 1e-12  # [m] centres nearer than this have no direction between them


def bend(radius: float) -> float:
    """Compute the curvature of a sphere."""
    return 1.0 / radius if radius * SHARP > 1.0 else SHARP


def sphere_plane(
    g: Geometry, f: Found, count: int, pair: int, a: int, b: int, feature: int, centre: Vector, margin: float
) -> int:
    """Write the point of a sphere around `centre` on plane b."""
    n, on_a = f.work[0], f.work[1]
    rotate(f.pose, b, 0.0, 0.0, 1.0, n)
    radius, height = g.size[a, 0], 0.0
    for i in range(3):
        height += n[i] * (centre[i] - f.pose[b, 9 + i])
        on_a[i] = centre[i] - radius * n[i]
    after = emit(f, count, pair, feature, b, height - radius, n, on_a, margin)
    curve(f, count, after, 0, bend(radius), bend(radius), n)
    return after


def capsule_plane(g: Geometry, f: Found, count: int, pair: int, a: int, b: int, margin: float) -> int:
    """Write the points of both ends of capsule a on plane b."""
    end = f.work[2]
    for k in range(2):
        place(f.pose, a, 0.0, 0.0, (2 * k - 1) * g.size[a, 1], end)
        count = sphere_plane(g, f, count, pair, a, b, k, end, margin)
    return count


def two_spheres(
    f: Found,
    count: int,
    pair: int,
    b: int,
    feature: int,
    x: Vector,
    y: Vector,
    r_a: float,
    r_b: float,
    margin: float,
) -> int:
    """Write the point of spheres around x (of a) and y (of b); the normal is z of b where the centres coincide."""
    n, on_a = f.work[0], f.work[1]
    for i in range(3):
        n[i] = x[i] - y[i]
    distance = math.sqrt(dot(n, n))
    if distance > SAME_PLACE:
        for i in range(3):
            n[i] /= distance
    else:
        rotate(f.pose, b, 0.0, 0.0, 1.0, n)
    for i in range(3):
        on_a[i] = x[i] - r_a * n[i]
    after = emit(f, count, pair, feature, b, distance - r_a - r_b, n, on_a, margin)
    curve(f, count, after, 0, bend(r_a), bend(r_a), n)
    curve(f, count, after, 1, bend(r_b), bend(r_b), n)
    return after


def sphere_sphere(g: Geometry, f: Found, count: int, pair: int, a: int, b: int, margin: float) -> int:
    """Write the point of two spheres."""
    x, y = f.pose[a, 9:12], f.pose[b, 9:12]
    return two_spheres(f, count, pair, b, 0, x, y, g.size[a, 0], g.size[b, 0], margin)


def on_segment(g: Geometry, f: Found, b: int, x: Vector, y: Vector, axis: Vector) -> float:
    """Write the point y of the segment of capsule b nearest to x, and its axis; return its place, −1 to 1 inside."""
    rotate(f.pose, b, 0.0, 0.0, 1.0, axis)
    half, along = g.size[b, 1], 0.0
    for i in range(3):
        along += axis[i] * (x[i] - f.pose[b, 9 + i])
    inside = min(max(along, -half), half)
    for i in range(3):
        y[i] = f.pose[b, 9 + i] + inside * axis[i]
    return along / half if half > 0.0 else math.inf


def sphere_capsule(
    g: Geometry,
    f: Found,
    count: int,
    pair: int,
    a: int,
    b: int,
    feature: int,
    x: Vector,
    flip: bool,
    margin: float,
) -> int:
    """Write the point of a sphere around x with the radius of geom a and capsule b; `flip`: the capsule is first."""
    y, axis = f.work[3], f.work[4]
    at = on_segment(g, f, b, x, y, axis)
    r_a, r_b = g.size[a, 0], g.size[b, 0]
    if flip:
        after = two_spheres(f, count, pair, a, feature, y, x, r_b, r_a, margin)
    else:
        after = two_spheres(f, count, pair, b, feature, x, y, r_a, r_b, margin)
    if -1.0 < at < 1.0:
        curve(f, count, after, 0 if flip else 1, 0.0, bend(r_b), axis)
    return after


def capsule_capsule(g: Geometry, f: Found, count: int, pair: int, a: int, b: int, margin: float) -> int:
    """Write the points of two capsules: 0 where they cross, 1, 2 at ends of a, 3, 4 at ends of b."""
    e_a, e_b, x, y, across = f.work[5], f.work[6], f.work[7], f.work[8], f.work[9]
    rotate(f.pose, a, 0.0, 0.0, 1.0, e_a)
    rotate(f.pose, b, 0.0, 0.0, 1.0, e_b)
    cross(e_a, e_b, across)
    sine, cosine = math.sqrt(dot(across, across)), dot(e_a, e_b)
    h_a, h_b, d_a, d_b = g.size[a, 1], g.size[b, 1], 0.0, 0.0
    for i in range(3):
        d = f.pose[a, 9 + i] - f.pose[b, 9 + i]
        d_a += d * e_a[i]
        d_b += d * e_b[i]
    if sine > LEAST:
        s = (cosine * d_b - d_a) / (sine * sine)
        t = d_b + s * cosine
        if abs(s) < h_a and abs(t) < h_b:
            for i in range(3):
                x[i] = f.pose[a, 9 + i] + s * e_a[i]
                y[i] = f.pose[b, 9 + i] + t * e_b[i]
            after = two_spheres(f, count, pair, b, 0, x, y, g.size[a, 0], g.size[b, 0], margin)
            curve(f, count, after, 0, 0.0, bend(g.size[a, 0]), e_a)
            curve(f, count, after, 1, 0.0, bend(g.size[b, 0]), e_b)
            count = after
            if sine > PARALLEL:
                return count
    return capsule_ends(g, f, count, pair, a, b, sine <= PARALLEL, margin)


def capsule_ends(
    g: Geometry, f: Found, count: int, pair: int, a: int, b: int, every: bool, margin: float
) -> int:
    """Write the points at ends of two capsules: `every` end next to the inside of the other one, else the nearest."""
    end, y, axis = f.work[7], f.work[3], f.work[4]
    best, least, some = -1, math.inf, False
    for k in range(4):
        own = a if k < 2 else b
        other = b if k < 2 else a
        place(f.pose, own, 0.0, 0.0, (2 * (k % 2) - 1) * g.size[own, 1], end)
        at = on_segment(g, f, other, end, y, axis)
        distance = 0.0
        for i in range(3):
            distance += (end[i] - y[i]) * (end[i] - y[i])
        if distance < least:
            least, best = distance, k
        room = SAME_END if k < 2 else -SAME_END  # ends next to each other are one point
        if every and abs(at) < 1.0 + room:
            count = sphere_capsule(g, f, count, pair, own, other, 1 + k, end, k >= 2, margin)
            some = True
    if not some:
        own = a if best < 2 else b
        other = b if best < 2 else a
        place(f.pose, own, 0.0, 0.0, (2 * (best % 2) - 1) * g.size[own, 1], end)
        count = sphere_capsule(g, f, count, pair, own, other, 1 + best, end, best >= 2, margin)
    return count


def sphere_cylinder(g: Geometry, f: Found, count: int, pair: int, a: int, b: int, margin: float) -> int:
    """Write the point of sphere a and cylinder b: nearest to its side, a cap, or a rim where the centre is beyond both.

    Nearer to a rim than SAME_PLACE, and inside, the normal is that of the nearest face.
    """
    x, n, out, core, d = f.work[0], f.work[1], f.work[2], f.work[3], f.work[4]
    local(f.pose, b, f.pose[a, 9:12], x)
    across = math.sqrt(x[0] * x[0] + x[1] * x[1])
    side, cap = across - g.size[b, 0], abs(x[2]) - g.size[b, 1]
    one, two, gap = 1.0, 0.0, side  # the normal, away from the axis and along it
    if side > SAME_PLACE and cap > SAME_PLACE:
        gap = math.hypot(side, cap)
        one, two = side / gap, cap / gap
    elif cap > side:
        one, two, gap = 0.0, 1.0, cap
    n[0] = one * x[0] / across if across > 0.0 else one
    n[1] = one * x[1] / across if across > 0.0 else 0.0
    rotate(f.pose, b, n[0], n[1], math.copysign(two, x[2]), out)
    radius = g.size[a, 0]
    for i in range(3):
        core[i] = f.pose[a, 9 + i] - gap * out[i]
        x[i] = f.pose[a, 9 + i] - radius * out[i]
    after = emit(f, count, pair, 0, b, gap - radius, out, x, margin)
    curve(f, count, after, 0, bend(radius), bend(radius), out)
    along, around = bends(g, f, b, core, out, d, f.work[5])
    curve(f, count, after, 1, along, around, d)
    return after
