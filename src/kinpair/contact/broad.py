"""Pairs of geoms that may touch: boxes around geoms, and a sweep over them along x. Loop functions.

While a turns by β_a and its origin moves by δ_a, no gap to b falls by more than

    |δ_a − δ_b − β_b × (p_a − p_b)| + |β_a − β_b| radius_a + slack_a + slack_b                                (CT6)

so bodies that move together have a small margin, however fast they are.
"""

from __future__ import annotations

import math

from kinpair.compiler.loops.kinds import Matrix
from kinpair.contact.records import Found, Geometry
from kinpair.contact.support import farthest, radius_of
from kinpair.description.contact_shapes import PLANE


def place_geoms(g: Geometry, R: Matrix, p: Matrix, f: Found) -> None:
    """Write axes and origin of each geom in the world: R_g = R_body R, p_g = p_body + R_body p."""
    for k in range(len(g.body)):
        i = g.body[k]
        for r in range(3):
            for c in range(3):
                f.pose[k, 3 * r + c] = (
                    R[i, 3 * r] * g.R[k, c]
                    + R[i, 3 * r + 1] * g.R[k, 3 + c]
                    + R[i, 3 * r + 2] * g.R[k, 6 + c]
                )
            f.pose[k, 9 + r] = p[i, r] + (
                R[i, 3 * r] * g.p[k, 0] + R[i, 3 * r + 1] * g.p[k, 1] + R[i, 3 * r + 2] * g.p[k, 2]
            )


def reach(g: Geometry, f: Found, k: int, r: int) -> tuple[float, float]:
    """Return the lowest and highest coordinate r of geom k."""
    d, x, radius = f.work[0], f.work[1], radius_of(g, k)
    d[:] = 0.0
    d[r] = 1.0
    farthest(g, f, k, d, x)
    high = x[r] + radius
    d[r] = -1.0
    farthest(g, f, k, d, x)
    return x[r] - radius, high


def length(x: float, y: float, z: float) -> float:
    """Compute the length of a vector."""
    return math.sqrt(x * x + y * y + z * z)


def approach(g: Geometry, f: Found, a: int, b: int) -> float:
    """Compute how much a gap of two geoms may fall in the time that is looked ahead.    (CT6)"""
    x, y, z = f.pose[a, 9] - f.pose[b, 9], f.pose[a, 10] - f.pose[b, 10], f.pose[a, 11] - f.pose[b, 11]
    one, two = f.moves[a], f.moves[b]
    along = length(
        one[3] - two[3] - (two[1] * z - two[2] * y),
        one[4] - two[4] - (two[2] * x - two[0] * z),
        one[5] - two[5] - (two[0] * y - two[1] * x),
    )
    turn = length(one[0] - two[0], one[1] - two[1], one[2] - two[2])
    return along + turn * g.radius[a] + f.slack[a] + f.slack[b]


def surround(g: Geometry, f: Found) -> None:
    """Write the box around each geom and its moves; planes have none."""
    for k in range(len(g.body)):
        if g.kind[k] != PLANE:
            move = f.moves[k]
            more = (
                length(move[3], move[4], move[5])
                + length(move[0], move[1], move[2]) * g.radius[k]
                + f.slack[k]
            )
            for r in range(3):
                low, high = reach(g, f, k, r)
                f.reach[k, r], f.reach[k, 3 + r] = low - more, high + more


def sort_geoms(f: Found) -> None:
    """Sort `order` by lower x; it is nearly sorted from the last call on."""
    for i in range(1, len(f.order)):
        k, j = f.order[i], i - 1
        while j >= 0 and f.reach[f.order[j], 0] > f.reach[k, 0]:
            f.order[j + 1] = f.order[j]
            j -= 1
        f.order[j + 1] = k


def sweep(g: Geometry, f: Found, margin: float) -> int:
    """Write the pairs whose boxes are within `margin`, in ascending order, those with planes first; return how many."""
    count, geoms = g.planes, len(g.body)
    for k in range(count):
        f.near[k] = k
    if len(g.first) == g.planes:
        return count
    surround(g, f)
    sort_geoms(f)
    for i in range(geoms):
        a = f.order[i]
        if g.kind[a] == PLANE:
            continue
        for j in range(i + 1, geoms):
            b = f.order[j]
            if f.reach[b, 0] > f.reach[a, 3] + margin:
                break
            pair = g.pair_of[a * geoms + b]
            if pair < 0 or g.kind[b] == PLANE or apart(f, a, b, margin):
                continue
            k = count
            while k > g.planes and f.near[k - 1] > pair:
                f.near[k] = f.near[k - 1]
                k -= 1
            f.near[k] = pair
            count += 1
    return count


def apart(f: Found, a: int, b: int, margin: float) -> bool:
    """True if the boxes around two geoms are farther apart than `margin` in y or z."""
    for r in range(1, 3):
        if f.reach[a, r] > f.reach[b, 3 + r] + margin or f.reach[b, r] > f.reach[a, 3 + r] + margin:
            return True
    return False
