"""Contact points of any two convex shapes, by their support functions. Loop functions.

The normal is found by `gjk`. If it is that of a face, the points are those of the other shape over the face: corners,
and the nearest point of what is round. If it is not, but a face is near to it, these points and the nearest one.
Otherwise there is one point. Features: 0 the nearest point, 1 + i corner i of a, HALF + 1 + i corner i of b.
"""

from __future__ import annotations

import math

from kinpair.compiler.loops.kinds import Vector
from kinpair.contact.gjk import V, depth, distance
from kinpair.contact.points import curve, dot, emit, rotate, spread
from kinpair.contact.records import SHARP, SLOTS, Found, Geometry
from kinpair.contact.support import (
    RIM,
    bends,
    corner_of,
    corners,
    face_normal,
    farthest,
    has_point,
    radius_of,
    scale_of,
)
from kinpair.description.contact_shapes import CYLINDER, ELLIPSOID, HULL, SPHERE

HALF = SLOTS // 2
RIMS = 2 * RIM  # features of a cylinder after its corners are the lowest points of its rims
NEAR = 1e-3  # cores nearer than this part of their size are searched by a polytope
TOUCHING = (
    1e-8  # nearer than this part of their lengths, the root of rounding, nearest points give no direction
)
FACE = 1e-5  # angle between a normal and that of a face that are the same
BOTH = 0.9  # cosine between normals of faces that meet
BELOW = 1e-9  # [m]: corners deeper under a face than the bodies overlap belong to another face
SAME = 1e-6  # points nearer than this part of the size are one
DIRECTIONS, MANY = 8, 16  # in which a hull with more corners near a plane has its outermost ones
LOW = 4.0  # a corner is as good as another one that is farther out by this times the difference of their gaps
SIDE = 1e-9  # sine of the angle to its axis below which a cylinder has no nearest point on its rim
POLISH = 6  # Newton steps of a normal between smooth shapes


def normal_of(g: Geometry, f: Found, a: int, b: int, margin: float, n: Vector, on_a: Vector) -> float:
    """Write the normal of two cores and the point of the core of a; return their signed distance.

    inf: they are farther apart than the margin.
    """
    between = distance(g, f, a, b)
    if between - radius_of(g, a) - radius_of(g, b) > margin:
        return math.inf
    on_a[:] = f.work[V + 1]
    if between > 0.0:
        for i in range(3):
            n[i] = f.work[V, i] / between
    if between > NEAR * min(scale_of(g, a), scale_of(g, b)):
        return between
    signed, found = depth(g, f, a, b)
    if found or signed < 0.0 or between <= TOUCHING * (g.radius[a] + g.radius[b]):
        n[:] = f.work[V]
        on_a[:] = f.work[V + 1]
        return signed
    return between


def polished(g: Geometry, f: Found, row: int, a: int, b: int, n: Vector, on_a: Vector, gap: float) -> float:
    """Correct the normal of two smooth shapes by Newton's method, δn = G r with r the tangential part of x_a − x_b.

    The row of the next point is memory.
    """
    if row >= len(f.gap):
        return gap
    back, x, y, d, r = f.work[6], f.work[7], f.work[8], f.work[9], f.work[10]
    for _ in range(POLISH):
        for i in range(3):
            back[i] = -n[i]
        farthest(g, f, a, back, x)
        farthest(g, f, b, n, y)
        gap = 0.0
        for i in range(3):
            r[i] = x[i] - y[i]
            gap += n[i] * r[i]
        emit(f, row, 0, 0, b, gap, n, x, math.inf)
        along, across = bends(g, f, a, x, back, d, f.work[11])
        curve(f, row, row + 1, 0, along, across, d)
        along, across = bends(g, f, b, y, n, d, f.work[11])
        curve(f, row, row + 1, 1, along, across, d)
        m = f.memory[12:22]
        spread(f, row, m)
        r1, r2 = dot(r, f.frame[row, 3:6]), dot(r, f.frame[row, 6:9])
        size = 0.0
        for i in range(3):
            n[i] += (m[7] * r1 + m[8] * r2) * f.frame[row, 3 + i] + (m[8] * r1 + m[9] * r2) * f.frame[
                row, 6 + i
            ]
            size += n[i] * n[i]
        size = math.sqrt(size)
        for i in range(3):
            n[i] /= size
    on_a[:] = x
    return gap


def convex_convex(g: Geometry, f: Found, count: int, pair: int, a: int, b: int, margin: float) -> int:
    """Write the points of two convex shapes."""
    n, on_a, face, back, own = f.work[0], f.work[1], f.work[2], f.work[3], f.work[13]
    other, middle = f.work[14], f.work[15]
    gap = normal_of(g, f, a, b, margin, n, on_a)
    if gap == math.inf:
        return count
    if is_smooth(g, a) and is_smooth(g, b):
        gap = polished(g, f, count, a, b, n, on_a, gap)
        return one_point(g, f, count, pair, a, b, 0, gap, margin)
    own[:] = n
    total = gap - radius_of(g, a) - radius_of(g, b)
    lowest, after, upright, least = min(total, 0.0) - BELOW, count, 0.0, 1.0 - 0.5 * FACE * FACE
    for i in range(3):
        back[i] = -n[i]
        middle[i] = on_a[i] - (radius_of(g, a) + 0.5 * total) * n[i]
    on_b, over_a = face_normal(g, f, b, n, face), face_normal(g, f, a, back, other)
    for turn in range(2):  # the face that is nearer to the normal first
        if after > count:
            break
        if (on_b >= over_a) == (turn == 0):
            if on_b > (least if corners(g, a) < 2 else BOTH):
                n[:], upright = face, on_b
                after = over_face(g, f, count, pair, a, b, True, lowest, margin)
        elif over_a > (least if corners(g, b) < 2 else BOTH):
            n[:], upright = other, over_a
            after = over_face(g, f, count, pair, b, a, False, lowest, margin)
    if after > count and (upright > least or is_known(f, after, pair, middle, FACE, SAME * scale_of(g, b))):
        return after
    n[:] = own
    return one_point(g, f, after, pair, a, b, 0, gap, margin)


def has_nearest(g: Geometry, k: int) -> bool:
    """True if the point of a geom nearest to a face may be another one than its corners."""
    return g.kind[k] == ELLIPSOID or g.kind[k] > HULL


def is_smooth(g: Geometry, k: int) -> bool:
    """True if a geom has a single normal at each point and a point for each normal."""
    return g.kind[k] == SPHERE or g.kind[k] == ELLIPSOID


def one_point(
    g: Geometry, f: Found, count: int, pair: int, a: int, b: int, feature: int, gap: float, margin: float
) -> int:
    """Write the nearest points of two cores with their radii; work[0] is the normal, work[1] the point of a."""
    n, core, on_a, on_b, d = f.work[0], f.work[1], f.work[4], f.work[5], f.work[12]
    back, r_a, r_b = f.work[3], radius_of(g, a), radius_of(g, b)
    for i in range(3):
        back[i] = -n[i]
        on_a[i] = core[i] - r_a * n[i]
        on_b[i] = core[i] - gap * n[i]
    after = emit(f, count, pair, feature, b, gap - r_a - r_b, n, on_a, margin)
    along, across = bends(g, f, a, core, back, d, f.work[11])
    curve(f, count, after, 0, along, across, d)
    along, across = bends(g, f, b, on_b, n, d, f.work[11])
    curve(f, count, after, 1, along, across, d)
    return after


def over_face(
    g: Geometry, f: Found, count: int, pair: int, p: int, q: int, p_first: bool, lowest: float, margin: float
) -> int:
    """Write the points of p over the face of q whose outward normal is work[0]; `p_first`: p is geom a."""
    n, x, back = f.work[0], f.work[4], f.work[3]
    farthest(g, f, q, n, x)
    height = dot(n, x)  # of the face
    for i in range(3):
        back[i] = -n[i]
    kind = g.kind[p]
    for i in range(corners(g, p)):
        corner_of(g, f, p, i, x)
        feature = 1 + i if p_first else HALF + 1 + i
        if kind == SPHERE:
            feature = 0
        count = point_over(g, f, count, pair, p, q, feature, height, x, p_first, lowest, margin)
    if kind == CYLINDER:
        count = rims_over(g, f, count, pair, p, q, height, p_first, lowest, margin)
    elif has_nearest(g, p):
        farthest(g, f, p, back, x)
        count = point_over(g, f, count, pair, p, q, 0, height, x, p_first, lowest, margin)
    return faces_meet(g, f, count, pair, p, q, p_first, lowest, margin)


def rims_over(
    g: Geometry,
    f: Found,
    count: int,
    pair: int,
    p: int,
    q: int,
    height: float,
    p_first: bool,
    lowest: float,
    margin: float,
) -> int:
    """Write the lowest point of each rim of cylinder p over a face; there is none where the axis is the normal."""
    n, x = f.work[0], f.work[4]
    one = f.pose[p, 0] * n[0] + f.pose[p, 3] * n[1] + f.pose[p, 6] * n[2]
    two = f.pose[p, 1] * n[0] + f.pose[p, 4] * n[1] + f.pose[p, 7] * n[2]
    across = math.sqrt(one * one + two * two)
    if across < SIDE:
        return count
    for k in range(2):
        low = f.work[5]
        rotate(
            f.pose,
            p,
            -one / across * g.size[p, 0],
            -two / across * g.size[p, 0],
            (2 * k - 1) * g.size[p, 1],
            low,
        )
        for i in range(3):
            x[i] = f.pose[p, 9 + i] + low[i]
        feature = RIMS + 1 + k if p_first else HALF + RIMS + 1 + k
        count = point_over(g, f, count, pair, p, q, feature, height, x, p_first, lowest, margin)
    return count


def faces_meet(
    g: Geometry, f: Found, count: int, pair: int, p: int, q: int, p_first: bool, lowest: float, margin: float
) -> int:
    """Write the corners of q over the face of p, where it is next to the face of q with the normal work[0]."""
    n, face, back, x = f.work[0], f.work[2], f.work[3], f.work[4]
    if face_normal(g, f, p, back, face) < BOTH:
        return count
    n[:] = face
    farthest(g, f, p, n, x)
    height = dot(n, x)
    for i in range(corners(g, q)):
        corner_of(g, f, q, i, x)
        feature = HALF + 1 + i if p_first else 1 + i
        if not is_known(f, count, pair, x, 1.0, SAME * scale_of(g, q)):
            count = point_over(g, f, count, pair, q, p, feature, height, x, not p_first, lowest, margin)
    return count


def is_known(f: Found, count: int, pair: int, x: Vector, part: float, room: float) -> bool:
    """True if a point of the pair is as near to x as a part of its gap and `room` allow."""
    k = min(count, len(f.gap)) - 1
    while k >= 0 and f.pair[k] == pair:
        square = 0.0
        for i in range(3):
            square += (f.point[k, i] - x[i]) * (f.point[k, i] - x[i])
        if math.sqrt(square) <= part * abs(f.gap[k]) + room:
            return True
        k -= 1
    return False


def point_over(
    g: Geometry, f: Found, count: int, pair: int, p: int, q: int, feature: int, height: float, x: Vector,
    p_first: bool, lowest: float, margin: float,
) -> int:  # fmt: skip
    """Write the point of the core of p at x over the face of q with normal work[0] and `height`, if it is there."""
    n, foot, out, on_a, d = f.work[0], f.work[6], f.work[7], f.work[8], f.work[9]
    r = radius_of(g, p)
    lift = dot(n, x) - height
    gap = lift - r
    if gap > margin or gap < lowest:
        return count
    for i in range(3):
        foot[i] = x[i] - lift * n[i]
    if not has_point(g, f, q, foot, 1e-7 * scale_of(g, q), d):
        return count
    for i in range(3):
        out[i] = n[i] if p_first else -n[i]
        on_a[i] = x[i] - r * n[i] if p_first else foot[i]
    after = emit(f, count, pair, feature, g.second[pair], gap, out, on_a, margin)
    side = 0 if p_first else 1
    if (has_nearest(g, p) and feature == 0) or (g.kind[p] == CYLINDER and feature % HALF > RIMS):
        for i in range(3):
            out[i] = -n[i]
        along, across = bends(g, f, p, x, out, d, f.work[10])
        curve(f, count, after, side, along, across, d)
    else:
        k = SHARP / (1.0 + SHARP * r)
        curve(f, count, after, side, k, k, n)
    return after


def convex_plane(g: Geometry, f: Found, count: int, pair: int, a: int, b: int, margin: float) -> int:
    """Write the points of a cylinder, an ellipsoid or a hull on plane b: corners, rims, the lowest point."""
    n, x, on_a = f.work[0], f.work[4], f.work[1]
    rotate(f.pose, b, 0.0, 0.0, 1.0, n)
    height = dot(n, f.pose[b, 9:12])
    if g.kind[a] == HULL and corners(g, a) > DIRECTIONS:
        return hull_plane(g, f, count, pair, a, b, height, margin)
    for i in range(corners(g, a)):
        count = corner_plane(g, f, count, pair, a, b, i, height, margin)
    if g.kind[a] == CYLINDER:
        count = rims_over(g, f, count, pair, a, b, height, True, -math.inf, margin)
    elif has_nearest(g, a):
        for i in range(3):
            x[i] = -n[i]
        farthest(g, f, a, x, on_a)
        count = one_point(g, f, count, pair, a, b, 0, dot(n, on_a) - height, margin)
    return count


def corner_plane(
    g: Geometry, f: Found, count: int, pair: int, a: int, b: int, i: int, height: float, margin: float
) -> int:
    """Write corner i of geom a on plane b, whose normal is work[0]."""
    n, x = f.work[0], f.work[4]
    corner_of(g, f, a, i, x)
    after = emit(f, count, pair, 1 + i, b, dot(n, x) - height, n, x, margin)
    curve(f, count, after, 0, SHARP, SHARP, n)
    return after


def hull_plane(
    g: Geometry, f: Found, count: int, pair: int, a: int, b: int, height: float, margin: float
) -> int:
    """Write the corners of hull a within the margin of plane b; of many the lowest and the outermost of each direction.

    A rounded rim has many corners, of which few carry. Of outer corners lower ones count more.
    """
    n, x, chosen, best = f.work[0], f.work[4], f.integers[0 : DIRECTIONS + 1], f.memory[0 : DIRECTIONS + 1]
    chosen[:], best[:], near = -1, -math.inf, 0
    for i in range(corners(g, a)):
        corner_of(g, f, a, i, x)
        gap = dot(n, x) - height
        if gap > margin:
            continue
        near += 1
        if -gap > best[DIRECTIONS]:
            best[DIRECTIONS], chosen[DIRECTIONS] = -gap, i
        u = f.pose[b, 0] * x[0] + f.pose[b, 3] * x[1] + f.pose[b, 6] * x[2]
        v = f.pose[b, 1] * x[0] + f.pose[b, 4] * x[1] + f.pose[b, 7] * x[2]
        for k in range(DIRECTIONS):
            angle = 2.0 * math.pi * k / DIRECTIONS
            out = u * math.cos(angle) + v * math.sin(angle) - LOW * gap
            if out > best[k]:
                best[k], chosen[k] = out, i
    for i in range(corners(g, a)):
        is_chosen = near <= MANY
        for k in range(DIRECTIONS + 1):
            is_chosen = is_chosen or chosen[k] == i
        if is_chosen:
            count = corner_plane(g, f, count, pair, a, b, i, height, margin)
    return count
