"""Distance and depth of two convex cores: the algorithms of Gilbert, Johnson and Keerthi, and of expanding polytopes.

Both search the difference of the cores, whose points are x_a − x_b, for its point nearest to the origin: outside by
simplices (Gilbert, Johnson, Keerthi 1988), inside and close to the surface by a polytope that grows where its nearest
face is (van den Bergen 2001). Loop functions.
"""

from __future__ import annotations

import math

from kinpair.compiler.loops.kinds import Vector
from kinpair.contact.points import cross, dot
from kinpair.contact.records import Found, Geometry
from kinpair.contact.support import farthest

ROUNDS = 100  # of the search by simplices
FINE = 1e-14  # of the square of the distance
POINTS, FACES = 160, 320  # room of the polytope
CLOSE = 1e-12  # growth of the polytope that ends its search [m]
FLAT = 1e-14  # area of a triangle without a normal, of the square of its edges

# rows of f.work: points of the difference, those of a, normals of faces, then single vectors
W, A, N, V = 32, 32 + POINTS, 32 + 2 * POINTS, 32 + 2 * POINTS + FACES
# entries of f.integers: three points of each face, whether it is there, edges of the hole, faces to visit
ALIVE, HOLE, WAITING = 3 * FACES, 4 * FACES, 7 * FACES


def difference(g: Geometry, f: Found, a: int, b: int, d: Vector, k: int) -> None:
    """Write point k of the difference, farthest along d."""
    on_b, back = f.work[V + 4], f.work[V + 5]
    farthest(g, f, a, d, f.work[A + k])
    for i in range(3):
        back[i] = -d[i]
    farthest(g, f, b, back, on_b)
    for i in range(3):
        f.work[W + k, i] = f.work[A + k, i] - on_b[i]


def nearest_of_segment(f: Found, weights: Vector) -> int:
    """Write the weights of the point of a segment nearest to the origin; return which corners count, as bits."""
    p, q = f.work[W], f.work[W + 1]
    length, along = 0.0, 0.0
    for i in range(3):
        length += (q[i] - p[i]) * (q[i] - p[i])
        along -= p[i] * (q[i] - p[i])
    t = along / length if length > 0.0 else 0.0
    weights[:] = 0.0
    if t <= 0.0:
        weights[0] = 1.0
        return 1
    if t >= 1.0:
        weights[1] = 1.0
        return 2
    weights[0], weights[1] = 1.0 - t, t
    return 3


def nearest_of_triangle(f: Found, i: int, j: int, k: int, weights: Vector, out: Vector) -> float:
    """Write the weights of corners i, j, k for the point of a triangle nearest to the origin; return its square.

    By the regions of corners, edges and inside (Ericson 2005, section 5.1.5). out (3) is the point.
    """
    p, q, r = f.work[W + i], f.work[W + j], f.work[W + k]
    d1, d2, d3, d4, d5, d6 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for m in range(3):
        one, two = q[m] - p[m], r[m] - p[m]
        d1, d2 = d1 - one * p[m], d2 - two * p[m]
        d3, d4 = d3 - one * q[m], d4 - two * q[m]
        d5, d6 = d5 - one * r[m], d6 - two * r[m]
    x, y, z = 0.0, 0.0, 0.0
    if d1 <= 0.0 and d2 <= 0.0:
        x = 1.0
    elif d3 >= 0.0 and d4 <= d3:
        y = 1.0
    elif d6 >= 0.0 and d5 <= d6:
        z = 1.0
    else:
        va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
        if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
            y = d1 / (d1 - d3)
            x = 1.0 - y
        elif vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
            z = d2 / (d2 - d6)
            x = 1.0 - z
        elif va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
            z = (d4 - d3) / ((d4 - d3) + (d5 - d6))
            y = 1.0 - z
        else:
            y, z = vb / (va + vb + vc), vc / (va + vb + vc)
            x = 1.0 - y - z
    weights[:] = 0.0
    weights[i], weights[j], weights[k] = x, y, z
    for m in range(3):
        out[m] = x * p[m] + y * q[m] + z * r[m]
    return dot(out, out)


def beyond(f: Found, i: int, j: int, k: int, m: int) -> bool:
    """True if the origin is not on the side of corner m of the plane of corners i, j, k."""
    one, two, n = f.work[V + 6], f.work[V + 7], f.work[V + 8]
    for r in range(3):
        one[r] = f.work[W + j, r] - f.work[W + i, r]
        two[r] = f.work[W + k, r] - f.work[W + i, r]
    cross(one, two, n)
    origin, corner = -dot(n, f.work[W + i]), 0.0
    for r in range(3):
        corner += n[r] * (f.work[W + m, r] - f.work[W + i, r])
    return origin * corner <= 0.0


def nearest_of_simplex(f: Found, count: int, weights: Vector) -> bool:
    """Write the weights of the point of a simplex nearest to the origin; return True if the origin is inside."""
    trial, out = f.memory[4:8], f.work[V + 11]
    if count == 1:
        weights[:] = 0.0
        weights[0] = 1.0
    elif count == 2:
        nearest_of_segment(f, weights)
    elif count == 3:
        nearest_of_triangle(f, 0, 1, 2, weights, out)
    else:
        best, inside = math.inf, True
        for m in range(4):
            i, j, k = (m + 1) % 4, (m + 2) % 4, (m + 3) % 4
            if beyond(f, i, j, k, m):
                inside = False
                size = nearest_of_triangle(f, i, j, k, trial, out)
                if size < best:
                    best = size
                    weights[:] = trial
        return inside
    return False


def distance(g: Geometry, f: Found, a: int, b: int) -> float:
    """Return the distance of two cores, 0 where they overlap; f.work[V] is x_a − x_b, f.work[V + 1] is x_a."""
    v, on_a, d, weights = f.work[V], f.work[V + 1], f.work[V + 2], f.memory[0:4]
    for i in range(3):
        d[i] = f.pose[b, 9 + i] - f.pose[a, 9 + i]
    if not dot(d, d) > 0.0:
        d[0] = 1.0
    difference(g, f, a, b, d, 0)
    v[:] = f.work[W]
    on_a[:] = f.work[A]
    count = 1
    for _ in range(ROUNDS):
        size = dot(v, v)
        if not size > 0.0:
            return 0.0
        for i in range(3):
            d[i] = -v[i]
        difference(g, f, a, b, d, count)
        if size - dot(v, f.work[W + count]) <= FINE * size:
            return math.sqrt(size)
        count += 1
        if nearest_of_simplex(f, count, weights):
            return 0.0
        count = kept(f, count, weights)
        for i in range(3):
            d[i] = 0.0
            for k in range(count):
                d[i] += weights[k] * f.work[W + k, i]
        if not dot(d, d) < size:
            return math.sqrt(size)  # rounding
        v[:] = d
        on_a[:] = 0.0
        for k in range(count):
            for i in range(3):
                on_a[i] += weights[k] * f.work[A + k, i]
    return math.sqrt(dot(v, v))


def kept(f: Found, count: int, weights: Vector) -> int:
    """Remove corners without weight; return how many are left."""
    left = 0
    for k in range(count):
        if weights[k] > 0.0:
            if left < k:
                weights[left] = weights[k]
                f.work[W + left] = f.work[W + k]
                f.work[A + left] = f.work[A + k]
            left += 1
    return left


def add_face(f: Found, faces: int, i: int, j: int, k: int) -> int:
    """Add the face of points i, j, k, outward normal by their order; return the number of faces, −1 without room.

    A face without area has no normal: it closes the polytope, sees nothing and is never the nearest one.
    """
    if faces >= FACES:
        return -1
    one, two, n = f.work[V + 6], f.work[V + 7], f.work[N + faces]
    for m in range(3):
        one[m] = f.work[W + j, m] - f.work[W + i, m]
        two[m] = f.work[W + k, m] - f.work[W + i, m]
    cross(one, two, n)
    size = math.sqrt(dot(n, n))
    flat = size <= FLAT * (dot(one, one) + dot(two, two))
    for m in range(3):
        n[m] = 0.0 if flat else n[m] / size
    f.integers[3 * faces], f.integers[3 * faces + 1], f.integers[3 * faces + 2] = i, j, k
    f.integers[ALIVE + faces] = 2 if flat else 1
    return faces + 1


def first_polytope(g: Geometry, f: Found, a: int, b: int, trial: int) -> int:
    """Write a tetrahedron of points of the difference; return its number of faces, −1 if it is flat."""
    d = f.work[V + 2]
    turn = 0.7 * trial
    p, q = math.cos(turn), math.sin(turn)
    for k in range(4):
        x = 0.61 if k == 0 or k == 3 else -0.57
        y = 0.57 if k == 0 or k == 2 else -0.61
        z = 0.55 if k < 2 else -0.58
        d[0], d[1], d[2] = p * x - q * y, q * x + p * y, z
        difference(g, f, a, b, d, k)
    one, two, n = f.work[V + 6], f.work[V + 7], f.work[V + 8]
    volume = 0.0
    for m in range(3):
        one[m] = f.work[W + 1, m] - f.work[W, m]
        two[m] = f.work[W + 2, m] - f.work[W, m]
    cross(one, two, n)
    for m in range(3):
        volume += n[m] * (f.work[W + 3, m] - f.work[W, m])
    if abs(volume) <= FLAT * dot(one, one) * math.sqrt(dot(two, two)):
        return -1
    faces = 0
    for k in range(4):
        i, j, m = (k + 1) % 4, (k + 2) % 4, (k + 3) % 4
        even = (volume < 0.0) == (k % 2 == 1)
        faces = add_face(f, faces, i, j, m) if even else add_face(f, faces, i, m, j)
        if faces < 0:
            return -1
    return faces


def depth(g: Geometry, f: Found, a: int, b: int) -> tuple[float, bool]:
    """Return the signed distance of two cores that overlap or are close, and True if the nearest face was found.

    f.work[V] is the normal from b to a, f.work[V + 1] is x_a. Apart, it is the distance of the nearest plane.
    """
    n, on_a = f.work[V], f.work[V + 1]
    faces, trial = -1, 0
    while faces < 0 and trial < 5:
        faces = first_polytope(g, f, a, b, trial)
        trial += 1
    if faces < 0:
        return 0.0, False
    points, signed, over = 4, 0.0, False
    while True:
        best, face = math.inf, -1
        for k in range(faces):
            if f.integers[ALIVE + k] == 1:
                height = dot(f.work[N + k], f.work[W + f.integers[3 * k]])
                if height < best:
                    best, face = height, k
        if face < 0:
            return signed, over
        signed, over = touched(f, face, best, n, on_a)
        difference(g, f, a, b, f.work[N + face], points)
        if dot(f.work[N + face], f.work[W + points]) - best <= CLOSE or points + 1 >= POINTS:
            return signed, over
        faces = grown(f, faces, face, points)
        if faces < 0:
            return signed, over
        points += 1


def touched(f: Found, face: int, height: float, n: Vector, on_a: Vector) -> tuple[float, bool]:
    """Write normal and point of the nearest face; return the signed distance, and True if the origin is over it."""
    weights = f.memory[0:4]
    i, j, k = f.integers[3 * face], f.integers[3 * face + 1], f.integers[3 * face + 2]
    barycentric(f, i, j, k, weights)
    over = min(weights[0], min(weights[1], weights[2])) >= -1e-6
    for m in range(3):
        n[m] = -f.work[N + face, m]
        on_a[m] = (
            weights[0] * f.work[A + i, m] + weights[1] * f.work[A + j, m] + weights[2] * f.work[A + k, m]
        )
    return -height, over


def barycentric(f: Found, i: int, j: int, k: int, weights: Vector) -> None:
    """Write the weights of corners i, j, k for the projection of the origin on their plane.

    By areas of triangles over the normal, which slender faces do not cancel.
    """
    one, two, n, area = f.work[V + 6], f.work[V + 7], f.work[V + 8], f.work[V + 9]
    p = f.work[W + i]
    for m in range(3):
        one[m], two[m] = f.work[W + j, m] - p[m], f.work[W + k, m] - p[m]
    cross(one, two, n)
    square = dot(n, n)
    cross(two, p, area)
    weights[1] = dot(area, n) / square
    cross(p, one, area)
    weights[2] = dot(area, n) / square
    weights[0] = 1.0 - weights[1] - weights[2]


def grown(f: Found, faces: int, face: int, point: int) -> int:
    """Replace the faces that point `point` sees, from `face` on; return the number of faces, −1 without room.

    Faces are visited from neighbour to neighbour, so that rounding never tears the polytope.
    """
    edges, waiting, visited = 0, 1, 0
    f.integers[WAITING] = face
    f.integers[ALIVE + face] = 0
    while visited < waiting:
        k = f.integers[WAITING + visited]
        visited += 1
        for e in range(3):
            i, j = int(f.integers[3 * k + e]), int(f.integers[3 * k + (e + 1) % 3])
            next_face = neighbour(f, faces, i, j)
            if next_face >= 0 and is_seen(f, next_face, point):
                f.integers[ALIVE + next_face] = 0
                f.integers[WAITING + waiting] = next_face
                waiting += 1
            elif next_face >= 0:
                f.integers[HOLE + 2 * edges], f.integers[HOLE + 2 * edges + 1] = i, j
                edges += 1
    used = 0
    for e in range(edges):
        while used < faces and f.integers[ALIVE + used] != 0:
            used += 1
        if add_face(f, used, f.integers[HOLE + 2 * e], f.integers[HOLE + 2 * e + 1], point) < 0:
            return -1
        faces = max(faces, used + 1)
    return faces


def neighbour(f: Found, faces: int, i: int, j: int) -> int:
    """Return the face with the edge from j to i, −1 if it is gone."""
    for k in range(faces):
        if f.integers[ALIVE + k] != 0:
            p, q, r = f.integers[3 * k], f.integers[3 * k + 1], f.integers[3 * k + 2]
            if (p == j and q == i) or (q == j and r == i) or (r == j and p == i):
                return k
    return -1


def is_seen(f: Found, k: int, point: int) -> bool:
    """True if a point is above face k; a face without area is removed with its neighbours."""
    height = 0.0
    for m in range(3):
        height += f.work[N + k, m] * (f.work[W + point, m] - f.work[W + f.integers[3 * k], m])
    return height > 0.0 or f.integers[ALIVE + k] == 2
