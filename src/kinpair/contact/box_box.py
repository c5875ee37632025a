"""Contact points of two boxes: corners on faces, edges across edges. Loop functions.

The separating axis is the best of 6 normals of faces and 9 products of edges. If an edge wins, the boxes touch where
two edges cross. Otherwise the points are the corners of the area that both faces share: corners of a over the face of
b, corners of b over the face of a, and edges that cross in the plane of the face. Each has the normal of its own face,
so (CT1) holds. Features: corner of a (0 to 7), of b (8 to 15), edges 16 + 12 e_a + e_b.
"""

from __future__ import annotations

import math

from kinpair.compiler.loops.kinds import Vector
from kinpair.contact.box import corner, sign
from kinpair.contact.points import cross, curve, dot, emit, local, place
from kinpair.contact.records import SHARP, Found, Geometry

PARALLEL = 1e-6  # sine below which edges do not cross
STEEP, NEAR = (
    0.2,
    0.9,
)  # crossing edges at a larger sine have their own normal, if its cosine to the face is larger
PREFER = 1e-3  # an edge wins by this part of the smallest half size
EVEN = 1e-6  # faces of b win but for this part
RIM = 1e-7  # corners may be outside the face by this part of the smallest half size


def axis_of(f: Found, a: int, i: int, out: Vector) -> None:
    """Write axis i of geom a in the world."""
    out[0], out[1], out[2] = f.pose[a, i], f.pose[a, 3 + i], f.pose[a, 6 + i]


def extent(g: Geometry, f: Found, a: int, n: Vector) -> float:
    """Compute how far box a reaches from its centre along n."""
    total = 0.0
    for i in range(3):
        component = n[0] * f.pose[a, i] + n[1] * f.pose[a, 3 + i] + n[2] * f.pose[a, 6 + i]
        total += g.size[a, i] * abs(component)
    return total


def separation(g: Geometry, f: Found, a: int, b: int, n: Vector) -> float:
    """Turn n from b to a; return the gap of the two boxes along it."""
    d = 0.0
    for i in range(3):
        d += n[i] * (f.pose[a, 9 + i] - f.pose[b, 9 + i])
    if d < 0.0:
        for i in range(3):
            n[i] = -n[i]
    return abs(d) - extent(g, f, a, n) - extent(g, f, b, n)


def smallest(g: Geometry, a: int, b: int) -> float:
    """Return the smallest half size of two boxes."""
    return min(min(g.size[a, 0], g.size[a, 1], g.size[a, 2]), min(g.size[b, 0], g.size[b, 1], g.size[b, 2]))


def box_box(g: Geometry, f: Found, count: int, pair: int, a: int, b: int, margin: float) -> int:
    """Write the points of two boxes."""
    n, e_a, e_b, best_n = f.work[0], f.work[1], f.work[2], f.work[3]
    face, best, edge, best_edge = 0, -math.inf, -1, -math.inf
    scale = smallest(g, a, b)
    for k in range(6):
        axis_of(f, b if k < 3 else a, k % 3, n)
        gap = separation(g, f, a, b, n)
        if gap > margin:
            return count
        if gap > best + (0.0 if k < 3 else EVEN * scale):
            best, face = gap, k
    for k in range(9):
        axis_of(f, a, k // 3, e_a)
        axis_of(f, b, k % 3, e_b)
        cross(e_a, e_b, n)
        sine = math.sqrt(dot(n, n))
        if sine < PARALLEL:
            continue
        for i in range(3):
            n[i] /= sine
        gap = separation(g, f, a, b, n)
        if gap > margin:
            return count
        if gap > best_edge:
            best_edge, edge = gap, k
            best_n[:] = n
    if edge >= 0 and best_edge > best + PREFER * scale:
        return edge_edge(g, f, count, pair, a, b, edge // 3, edge % 3, margin)
    if face < 3:
        return face_points(g, f, count, pair, b, a, face, True, margin)
    return face_points(g, f, count, pair, a, b, face - 3, False, margin)


def edge_number(f: Found, a: int, k: int, n: Vector) -> int:
    """Return the edge of box a along axis k that is farthest along n."""
    number = 4 * k
    for j in range(2):
        axis = (k + 1 + j) % 3
        if n[0] * f.pose[a, axis] + n[1] * f.pose[a, 3 + axis] + n[2] * f.pose[a, 6 + axis] > 0.0:
            number += 1 << j
    return number


def edge_point(g: Geometry, f: Found, a: int, e: int, t: float, out: Vector) -> None:
    """Write the point of edge e of box a at t from its middle along its axis."""
    local_point = f.work[20]
    k = e // 4
    one, two = (k + 1) % 3, (k + 2) % 3
    local_point[k] = t
    local_point[one], local_point[two] = sign(e, 0) * g.size[a, one], sign(e, 1) * g.size[a, two]
    place(f.pose, a, local_point[0], local_point[1], local_point[2], out)


def edge_edge(
    g: Geometry, f: Found, count: int, pair: int, a: int, b: int, i_a: int, i_b: int, margin: float
) -> int:
    """Write the point where edges along axis i_a of box a and axis i_b of box b cross; work[3] is the normal."""
    n, x, y, e_a, e_b = f.work[3], f.work[4], f.work[5], f.work[1], f.work[2]
    for i in range(3):
        n[i] = -n[i]
    one = edge_number(f, a, i_a, n)
    for i in range(3):
        n[i] = -n[i]
    two = edge_number(f, b, i_b, n)
    edge_point(g, f, a, one, 0.0, x)
    edge_point(g, f, b, two, 0.0, y)
    axis_of(f, a, i_a, e_a)
    axis_of(f, b, i_b, e_b)
    cosine, d_a, d_b, gap = dot(e_a, e_b), 0.0, 0.0, 0.0
    for i in range(3):
        d_a += (x[i] - y[i]) * e_a[i]
        d_b += (x[i] - y[i]) * e_b[i]
        gap += (x[i] - y[i]) * n[i]
    s = (cosine * d_b - d_a) / (1.0 - cosine * cosine)
    t = d_b + s * cosine
    if abs(s) > g.size[a, i_a] or abs(t) > g.size[b, i_b]:
        return count  # corners are nearer, and the boxes are apart
    edge_point(g, f, a, one, s, x)
    after = emit(f, count, pair, 16 + 12 * one + two, b, gap, n, x, margin)
    curve(f, count, after, 0, 0.0, SHARP, e_a)
    curve(f, count, after, 1, 0.0, SHARP, e_b)
    return after


def opposite_face(f: Found, p: int, n: Vector, out: Vector) -> int:
    """Return the axis of the face of box p that is most opposite to n; write the outward normal of the face."""
    axis, best, side = 0, -1.0, 1.0
    for i in range(3):
        component = n[0] * f.pose[p, i] + n[1] * f.pose[p, 3 + i] + n[2] * f.pose[p, 6 + i]
        if abs(component) > best:
            axis, best, side = i, abs(component), -1.0 if component > 0.0 else 1.0
    axis_of(f, p, axis, out)
    for i in range(3):
        out[i] *= side
    return axis


def face_corner(axis: int, up: bool, k: int) -> int:
    """Return the number of corner k, 0 to 3 around the face, of the face across `axis`."""
    bits = (1 << axis) if up else 0
    if k == 1 or k == 2:
        bits += 1 << ((axis + 1) % 3)
    if k >= 2:
        bits += 1 << ((axis + 2) % 3)
    return bits


def face_points(
    g: Geometry, f: Found, count: int, pair: int, q: int, p: int, axis: int, p_first: bool, margin: float
) -> int:
    """Write the points of the face across `axis` of box q and the opposite face of box p; `p_first`: p is geom a."""
    n, m, x = f.work[6], f.work[7], f.work[8]
    axis_of(f, q, axis, n)
    d = 0.0
    for i in range(3):
        d += n[i] * (f.pose[p, 9 + i] - f.pose[q, 9 + i])
    up = d >= 0.0
    if not up:
        for i in range(3):
            n[i] = -n[i]
    other = opposite_face(f, p, n, m)
    axis_of(f, p, other, x)
    other_up = dot(x, m) > 0.0
    rim = RIM * smallest(g, p, q)
    for k in range(4):
        c = face_corner(other, other_up, k)
        corner(g, f, p, c, x)
        count = corner_face(g, f, count, pair, q, axis, n, c, x, rim, p_first, margin)
    for k in range(4):
        c = face_corner(axis, up, k)
        corner(g, f, q, c, x)
        if not near_corner(g, f, p, other, other_up, q, axis, x, rim):
            count = corner_face(g, f, count, pair, p, other, m, c, x, rim, not p_first, margin)
    for k in range(4):
        for j in range(4):
            count = crossing(g, f, count, pair, q, p, axis, up, other, other_up, k, j, p_first, rim, margin)
    return count


def near_corner(
    g: Geometry, f: Found, p: int, other: int, up: bool, q: int, axis: int, x: Vector, rim: float
) -> bool:
    """True if a corner of the face of p is next to the corner x of q, as seen along `axis` of q."""
    y, own, its = f.work[9], f.work[10], f.work[11]
    local(f.pose, q, x, own)
    for k in range(4):
        corner(g, f, p, face_corner(other, up, k), y)
        local(f.pose, q, y, its)
        one, two = (axis + 1) % 3, (axis + 2) % 3
        if abs(own[one] - its[one]) <= rim and abs(own[two] - its[two]) <= rim:
            return True
    return False


def corner_face(
    g: Geometry, f: Found, count: int, pair: int, q: int, axis: int, n: Vector, c: int, x: Vector, rim: float,
    first: bool, margin: float,
) -> int:  # fmt: skip
    """Write corner c, at x, of one box over the face across `axis` of box q, if it is there; `first`: it is of a."""
    y, out, on_a = f.work[10], f.work[11], f.work[12]
    local(f.pose, q, x, y)
    one, two = (axis + 1) % 3, (axis + 2) % 3
    if abs(y[one]) > g.size[q, one] + rim or abs(y[two]) > g.size[q, two] + rim:
        return count
    gap = -g.size[q, axis]
    for i in range(3):
        gap += n[i] * (x[i] - f.pose[q, 9 + i])
    if gap < -2.0 * g.size[q, axis]:
        return count  # below the whole box
    b = q if first else g.second[pair]
    for i in range(3):
        out[i] = n[i] if first else -n[i]
        on_a[i] = x[i] if first else x[i] - gap * n[i]
    after = emit(f, count, pair, c if first else 8 + c, b, gap, out, on_a, margin)
    curve(f, count, after, 0 if first else 1, SHARP, SHARP, n)
    return after


def crossing(
    g: Geometry, f: Found, count: int, pair: int, q: int, p: int, axis: int, up: bool, other: int, other_up: bool,
    k: int, j: int, p_first: bool, rim: float, margin: float,
) -> int:  # fmt: skip
    """Write the point where edge k of the face of q and edge j of the face of p cross, as seen along the face of q."""
    n, x, y, u, v, d = f.work[6], f.work[8], f.work[9], f.work[10], f.work[11], f.work[12]
    e_q, e_p, w = f.work[13], f.work[14], f.work[15]
    corner(g, f, q, face_corner(axis, up, k), x)
    corner(g, f, q, face_corner(axis, up, (k + 1) % 4), u)
    corner(g, f, p, face_corner(other, other_up, j), y)
    corner(g, f, p, face_corner(other, other_up, (j + 1) % 4), v)
    for i in range(3):
        e_q[i], e_p[i], d[i] = u[i] - x[i], v[i] - y[i], y[i] - x[i]
    cross(e_q, n, w)  # in the face of q, across its edge
    along, length, apart = dot(e_p, w), math.sqrt(dot(e_q, e_q)), dot(d, w)
    size = math.sqrt(dot(e_p, e_p))
    if abs(along) <= PARALLEL * length * size:
        return count
    t = -apart / along  # on the edge of p
    for i in range(3):
        y[i] += t * e_p[i]
        d[i] = y[i] - x[i]
    s = dot(d, e_q) / (length * length)  # on the edge of q
    if s * length <= rim or (1.0 - s) * length <= rim or t * size <= rim or (1.0 - t) * size <= rim:
        return count
    for i in range(3):
        x[i] += s * e_q[i]
    return edges_cross(g, f, count, pair, q, p, axis, up, other, other_up, k, j, p_first, margin)


def edges_cross(
    g: Geometry, f: Found, count: int, pair: int, q: int, p: int, axis: int, up: bool, other: int, other_up: bool,
    k: int, j: int, p_first: bool, margin: float,
) -> int:  # fmt: skip
    """Write the point of edges e_q, e_p through x, y; the normal is that of the edges, or of the face if they are
    nearly parallel."""
    n, x, y, out, on_a = f.work[6], f.work[8], f.work[9], f.work[10], f.work[11]
    e_q, e_p, w = f.work[13], f.work[14], f.work[15]
    cross(e_q, e_p, w)
    size = math.sqrt(dot(w, w))
    own = size > STEEP * math.sqrt(dot(e_q, e_q) * dot(e_p, e_p)) and abs(dot(w, n)) > NEAR * size
    side = 1.0 if dot(w, n) > 0.0 else -1.0
    if own:
        nearest_points(f)
    gap = 0.0
    for i in range(3):
        out[i] = side * w[i] / size if own else n[i]
        gap += out[i] * (y[i] - x[i])
    for i in range(3):
        on_a[i] = y[i] if p_first else x[i]
        out[i] = out[i] if p_first else -out[i]
    edge_q, edge_p = edge_of(axis, up, k), edge_of(other, other_up, j)
    number = 16 + 12 * edge_p + edge_q if p_first else 16 + 12 * edge_q + edge_p
    after = emit(f, count, pair, number, g.second[pair], gap, out, on_a, margin)
    curve(f, count, after, 0, 0.0, SHARP, e_p if p_first else e_q)
    curve(f, count, after, 1, 0.0, SHARP, e_q if p_first else e_p)
    return after


def nearest_points(f: Found) -> None:
    """Move x = work[8] along e_q = work[13] and y = work[9] along e_p = work[14] to where they are nearest."""
    x, y, e_q, e_p = f.work[8], f.work[9], f.work[13], f.work[14]
    qq, pp, qp, d_q, d_p = dot(e_q, e_q), dot(e_p, e_p), dot(e_q, e_p), 0.0, 0.0
    for i in range(3):
        d_q += (y[i] - x[i]) * e_q[i]
        d_p += (y[i] - x[i]) * e_p[i]
    det = qq * pp - qp * qp
    s, t = (pp * d_q - qp * d_p) / det, (qp * d_q - qq * d_p) / det
    for i in range(3):
        x[i] += s * e_q[i]
        y[i] += t * e_p[i]


def edge_of(axis: int, up: bool, k: int) -> int:
    """Return the number of edge k of the face across `axis`, from its corner k to the next one."""
    one, two = (axis + 1) % 3, (axis + 2) % 3
    run = one if k % 2 == 0 else two  # the axis along the edge
    bits = face_corner(axis, up, k)
    return 4 * run + ((bits >> ((run + 1) % 3)) & 1) + 2 * ((bits >> ((run + 2) % 3)) & 1)
