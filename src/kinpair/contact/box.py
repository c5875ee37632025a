"""Contact points of a box with planes, spheres and capsules. Loop functions.

Corner c of a box has the signs of the bits of c: x, y, z. Edge e = 4 k + j runs along axis k, at the signs of the bits
of j on the axes k + 1 and k + 2. A capsule touches a box with its ends (0, 1), across edges (2 to 13), at corners (14
to 21); one whose segment enters the box is pushed out of the nearest face (22, 23).
"""

from __future__ import annotations

import math

from kinpair.compiler.loops.kinds import Vector
from kinpair.contact.points import curve, dot, emit, local, place, rotate
from kinpair.contact.records import SHARP, Found, Geometry
from kinpair.contact.round import bend

ON_SURFACE = 1e-12  # [m] nearer to the surface than this, the normal is that of the face
IN_CONE = 1e-9  # directions may leave the normals of an edge or a corner by this much
LEAST = 1e-9  # sine below which a segment has no nearest point on an edge


def sign(bits: int, k: int) -> float:
    """Return −1 or 1: the sign of bit k."""
    return 1.0 if (bits >> k) & 1 == 1 else -1.0


def corner(g: Geometry, f: Found, a: int, c: int, out: Vector) -> None:
    """Write corner c of box a in the world."""
    place(f.pose, a, sign(c, 0) * g.size[a, 0], sign(c, 1) * g.size[a, 1], sign(c, 2) * g.size[a, 2], out)


def box_plane(g: Geometry, f: Found, count: int, pair: int, a: int, b: int, margin: float) -> int:
    """Write the corners of box a on plane b; feature c is corner c."""
    n, x = f.work[0], f.work[1]
    rotate(f.pose, b, 0.0, 0.0, 1.0, n)
    for c in range(8):
        corner(g, f, a, c, x)
        gap = 0.0
        for i in range(3):
            gap += n[i] * (x[i] - f.pose[b, 9 + i])
        after = emit(f, count, pair, c, b, gap, n, x, margin)
        curve(f, count, after, 0, SHARP, SHARP, n)
        count = after
    return count


def nearest_face(g: Geometry, b: int, x: Vector, n: Vector) -> float:
    """Write the normal of the face of box b nearest to a point x inside it, in its axes; return its gap."""
    best, axis = -math.inf, 0
    for i in range(3):
        gap = abs(x[i]) - g.size[b, i]
        if gap > best:
            best, axis = gap, i
    n[:] = 0.0
    n[axis] = 1.0 if x[axis] >= 0.0 else -1.0
    return best


def sphere_box(
    g: Geometry, f: Found, count: int, pair: int, a: int, b: int, feature: int, centre: Vector, margin: float
) -> int:
    """Write the point of a sphere around `centre` with the radius of geom a and box b."""
    x, n, out, on_a = f.work[0], f.work[1], f.work[2], f.work[3]
    local(f.pose, b, centre, x)
    outside, flat, distance = 0, 0, 0.0
    for i in range(3):
        n[i] = x[i] - min(max(x[i], -g.size[b, i]), g.size[b, i])
        distance += n[i] * n[i]
        if n[i] != 0.0:
            outside += 1
        else:
            flat = i
    distance = math.sqrt(distance)
    if distance > ON_SURFACE:
        for i in range(3):
            n[i] /= distance
    else:
        distance, outside = nearest_face(g, b, x, n), 1
    rotate(f.pose, b, n[0], n[1], n[2], out)
    radius = g.size[a, 0]
    for i in range(3):
        on_a[i] = centre[i] - radius * out[i]
    after = emit(f, count, pair, feature, b, distance - radius, out, on_a, margin)
    curve(f, count, after, 0, bend(radius), bend(radius), out)
    if outside > 1:
        n[:] = 0.0
        n[flat] = 1.0
        rotate(f.pose, b, n[0], n[1], n[2], x)
        curve(f, count, after, 1, SHARP if outside == 3 else 0.0, SHARP, x)
    return after


def in_cone(n: Vector, bits: int, first: int, axes: int) -> bool:
    """True if n, in axes of the box, points away from `axes` faces at the signs of `bits`, from axis `first` on."""
    inside = True
    for j in range(axes):
        if n[(first + j) % 3] * sign(bits, j) < -IN_CONE:
            inside = False
    return inside


def capsule_box(g: Geometry, f: Found, count: int, pair: int, a: int, b: int, margin: float) -> int:
    """Write the points of capsule a and box b."""
    end, low, high = f.work[4], f.work[5], f.work[6]
    place(f.pose, a, 0.0, 0.0, -g.size[a, 1], end)
    local(f.pose, b, end, low)
    place(f.pose, a, 0.0, 0.0, g.size[a, 1], end)
    local(f.pose, b, end, high)
    if enters(g, b, low, high):
        return capsule_inside(g, f, count, pair, a, b, margin)
    for k in range(2):
        place(f.pose, a, 0.0, 0.0, (2 * k - 1) * g.size[a, 1], end)
        count = sphere_box(g, f, count, pair, a, b, k, end, margin)
    for k in range(3):
        for j in range(4):
            count = capsule_edge(g, f, count, pair, a, b, k, j, margin)
    for c in range(8):
        count = capsule_corner(g, f, count, pair, a, b, c, margin)
    return count


def enters(g: Geometry, b: int, low: Vector, high: Vector) -> bool:
    """True if the segment from low to high, in axes of box b, has points inside the box."""
    first, last = 0.0, 1.0
    for i in range(3):
        d = high[i] - low[i]
        if abs(d) < ON_SURFACE:
            if abs(low[i]) >= g.size[b, i]:
                return False
            continue
        s, t = (-g.size[b, i] - low[i]) / d, (g.size[b, i] - low[i]) / d
        first, last = max(first, min(s, t)), min(last, max(s, t))
    return first < last - ON_SURFACE


def capsule_inside(g: Geometry, f: Found, count: int, pair: int, a: int, b: int, margin: float) -> int:
    """Write both ends of capsule a against the face of box b that needs the least displacement."""
    low, high, n, out, on_a, end = f.work[5], f.work[6], f.work[0], f.work[1], f.work[2], f.work[4]
    best, axis, side = -math.inf, 0, 1.0
    for i in range(3):
        up, down = min(low[i], high[i]) - g.size[b, i], -max(low[i], high[i]) - g.size[b, i]
        if max(up, down) > best:
            best, axis, side = max(up, down), i, 1.0 if up >= down else -1.0
    n[:] = 0.0
    n[axis] = side
    rotate(f.pose, b, n[0], n[1], n[2], out)
    for k in range(2):
        place(f.pose, a, 0.0, 0.0, (2 * k - 1) * g.size[a, 1], end)
        x = low[axis] if k == 0 else high[axis]
        for i in range(3):
            on_a[i] = end[i] - g.size[a, 0] * out[i]
        gap = side * x - g.size[b, axis] - g.size[a, 0]
        after = emit(f, count, pair, 22 + k, b, gap, out, on_a, margin)
        curve(f, count, after, 0, bend(g.size[a, 0]), bend(g.size[a, 0]), out)
        count = after
    return count


def capsule_point(
    g: Geometry, f: Found, count: int, pair: int, a: int, b: int, feature: int, margin: float
) -> int:
    """Write the point of the sphere around work[7] of capsule a and the point work[8] of box b, in axes of b."""
    x, n, out, on_a = f.work[7], f.work[9], f.work[0], f.work[1]
    distance, r = math.sqrt(dot(n, n)), g.size[a, 0]
    if not distance > ON_SURFACE:
        return count
    rotate(f.pose, b, n[0] / distance, n[1] / distance, n[2] / distance, out)
    place(f.pose, b, x[0], x[1], x[2], on_a)
    for i in range(3):
        on_a[i] -= r * out[i]
    after = emit(f, count, pair, feature, b, distance - r, out, on_a, margin)
    rotate(f.pose, a, 0.0, 0.0, 1.0, on_a)
    curve(f, count, after, 0, 0.0, bend(r), on_a)
    return after


def capsule_edge(
    g: Geometry, f: Found, count: int, pair: int, a: int, b: int, k: int, j: int, margin: float
) -> int:
    """Write the point of the inside of capsule a and the inside of edge 4 k + j of box b."""
    low, high, x, y, n, d = f.work[5], f.work[6], f.work[7], f.work[8], f.work[9], f.work[10]
    one, two = (k + 1) % 3, (k + 2) % 3
    y[one], y[two] = sign(j, 0) * g.size[b, one], sign(j, 1) * g.size[b, two]
    for i in range(3):
        d[i] = high[i] - low[i]
    square = d[one] * d[one] + d[two] * d[two]
    if square <= LEAST * LEAST * dot(d, d):
        return count
    t = ((y[one] - low[one]) * d[one] + (y[two] - low[two]) * d[two]) / square
    if not 0.0 < t < 1.0:
        return count
    for i in range(3):
        x[i] = low[i] + t * d[i]
    if not abs(x[k]) < g.size[b, k]:
        return count
    y[k] = x[k]
    for i in range(3):
        n[i] = x[i] - y[i]
    if not in_cone(n, j, one, 2):
        return count
    after = capsule_point(g, f, count, pair, a, b, 2 + 4 * k + j, margin)
    n[:] = 0.0
    n[k] = 1.0
    rotate(f.pose, b, n[0], n[1], n[2], x)
    curve(f, count, after, 1, 0.0, SHARP, x)
    return after


def capsule_corner(
    g: Geometry, f: Found, count: int, pair: int, a: int, b: int, c: int, margin: float
) -> int:
    """Write the point of the inside of capsule a and corner c of box b."""
    low, high, x, y, n, d = f.work[5], f.work[6], f.work[7], f.work[8], f.work[9], f.work[10]
    t = 0.0
    for i in range(3):
        d[i] = high[i] - low[i]
        y[i] = sign(c, i) * g.size[b, i]
        t += (y[i] - low[i]) * d[i]
    square = dot(d, d)
    if not 0.0 < t < square:
        return count
    for i in range(3):
        x[i] = low[i] + t / square * d[i]
        n[i] = x[i] - y[i]
    if not in_cone(n, c, 0, 3):
        return count
    after = capsule_point(g, f, count, pair, a, b, 14 + c, margin)
    curve(f, count, after, 1, SHARP, SHARP, n)
    return after
