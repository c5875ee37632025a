"""Which pairs of geoms may touch: boxes around geoms, and a sweep over them along x. Loop functions."""

from __future__ import annotations

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


def surround(g: Geometry, f: Found) -> None:
    """Write the box around each geom; planes have none."""
    for k in range(len(g.body)):
        if g.kind[k] != PLANE:
            for r in range(3):
                f.reach[k, r], f.reach[k, 3 + r] = reach(g, f, k, r)


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
