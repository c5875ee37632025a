"""Writing a contact point: its axes, its curvatures, and the accelerations that curvature adds. Loop functions.

With u = v_a − v_b at c_a, ω = ω_a − ω_b, w = ω × n and the curvatures K_a, K_b in (t1, t2),

    K = K_b (1 + φ K_b)⁻¹,   B = (K_a + K)⁻¹,   A = K B,   G = K_a B K                                   (CT2)
    ṅ = G u_t + A w,   s = B w − Aᵀ u_t            normal and point of contact on a, as seen from b      (CT3)
    φ̈ = n·u̇ + u_t·G u_t + 2 u_t·A w − w·B w,   u̇ for points that are fixed on the bodies              (CT4)
"""

from __future__ import annotations

import math

from kinpair.compiler.loops.kinds import Matrix, Vector
from kinpair.contact.records import SLOTS, Found

UPSIDE_DOWN = 1e-12  # 1 + n_z in axes of geom b, below which the tangents are x and −y
EDGE = 1e-6  # [m]: surfaces with a smaller radius are edges
FLAT = 1e-3  # curvature K_a + K [1/m] below which the point stays where it is on a


def rotate(pose: Matrix, g: int, x: float, y: float, z: float, out: Vector) -> None:
    """Turn a vector from axes of geom g into the world."""
    out[0] = pose[g, 0] * x + pose[g, 1] * y + pose[g, 2] * z
    out[1] = pose[g, 3] * x + pose[g, 4] * y + pose[g, 5] * z
    out[2] = pose[g, 6] * x + pose[g, 7] * y + pose[g, 8] * z


def place(pose: Matrix, g: int, x: float, y: float, z: float, out: Vector) -> None:
    """Compute a point of geom g in the world."""
    rotate(pose, g, x, y, z, out)
    for i in range(3):
        out[i] += pose[g, 9 + i]


def local(pose: Matrix, g: int, x: Vector, out: Vector) -> None:
    """Compute a point of the world in axes of geom g."""
    a, b, c = x[0] - pose[g, 9], x[1] - pose[g, 10], x[2] - pose[g, 11]
    for i in range(3):
        out[i] = pose[g, i] * a + pose[g, 3 + i] * b + pose[g, 6 + i] * c


def dot(a: Vector, b: Vector) -> float:
    """Compute the product a·b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector, out: Vector) -> None:
    """Compute a × b."""
    x, y, z = a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
    out[0], out[1], out[2] = x, y, z


def tangents(pose: Matrix, b: int, frame: Vector) -> None:
    """Write t1, t2 next to n: the axes x, y of geom b, turned by the least rotation that brings its z to n."""
    x, y, z = frame[0], frame[1], frame[2]
    n_x = pose[b, 0] * x + pose[b, 3] * y + pose[b, 6] * z
    n_y = pose[b, 1] * x + pose[b, 4] * y + pose[b, 7] * z
    n_z = pose[b, 2] * x + pose[b, 5] * y + pose[b, 8] * z
    if 1.0 + n_z < UPSIDE_DOWN:
        rotate(pose, b, 1.0, 0.0, 0.0, frame[3:6])
    else:
        k = 1.0 / (1.0 + n_z)
        rotate(pose, b, 1.0 - k * n_x * n_x, -k * n_x * n_y, -n_x, frame[3:6])
    cross(frame[0:3], frame[3:6], frame[6:9])


def emit(
    f: Found, count: int, pair: int, feature: int, b: int, gap: float, n: Vector, on_a: Vector, margin: float
) -> int:
    """Write a point on a with gap φ and normal n, if φ ≤ margin; return the number of points so far."""
    if not gap <= margin:
        return count
    if count < len(f.gap):
        f.pair[count], f.slot[count], f.gap[count] = pair, SLOTS * pair + feature, gap
        for i in range(3):
            f.point[count, i] = on_a[i] - 0.5 * gap * n[i]
            f.frame[count, i] = n[i]
        tangents(f.pose, b, f.frame[count])
        f.curvature[count] = 0.0
    return count + 1


def curve(f: Found, before: int, count: int, side: int, along: float, across: float, d: Vector) -> None:
    """Write the curvatures of the point last written: `along` d and `across` it; side 0 is a, 1 is b."""
    if count == before or count > len(f.gap):
        return
    k = count - 1
    x, y = dot(d, f.frame[k, 3:6]), dot(d, f.frame[k, 6:9])
    size = x * x + y * y
    c = x * x / size if size > 0.0 else 1.0
    s = x * y / size if size > 0.0 else 0.0
    f.curvature[k, 3 * side] = across + (along - across) * c
    f.curvature[k, 3 * side + 1] = (along - across) * s
    f.curvature[k, 3 * side + 2] = along + (across - along) * c


def spread(f: Found, k: int, out: Vector) -> None:
    """Compute B (3), A (4), G (3) of (CT2): 11, 12, 22 of symmetric ones, 11, 12, 21, 22 of A."""
    phi, b1, b2, b3 = f.gap[k], f.curvature[k, 3], f.curvature[k, 4], f.curvature[k, 5]
    sharpest = 0.5 * (b1 + b3) + math.hypot(0.5 * (b1 - b3), b2)
    if phi > -EDGE and 0.5 < -phi * sharpest < 4.0:  # 1 + φ K_b or K_a + K of an edge is nearly singular
        phi = -0.5 / sharpest
    # K = (det K_b φ + K_b) / det(1 + φ K_b): the adjugate of 2 × 2 matrices
    minor = b1 * b3 - b2 * b2
    scale = 1.0 + phi * (b1 + b3) + phi * phi * minor
    k1, k2, k3 = (b1 + phi * minor) / scale, b2 / scale, (b3 + phi * minor) / scale
    a1, a2, a3 = f.curvature[k, 0], f.curvature[k, 1], f.curvature[k, 2]
    s1, s2, s3 = a1 + k1, a2 + k2, a3 + k3
    mean, det, B1, B2, B3 = 0.5 * (s1 + s3), s1 * s3 - s2 * s2, 0.0, 0.0, 0.0
    larger = mean + math.copysign(math.hypot(0.5 * (s1 - s3), s2), mean)
    if abs(det) > FLAT * abs(larger):
        B1, B2, B3 = s3 / det, -s2 / det, s1 / det
    elif abs(larger) > FLAT:
        B1, B2, B3 = s1 / larger / larger, s2 / larger / larger, s3 / larger / larger
    out[0], out[1], out[2] = B1, B2, B3
    out[3], out[4] = k1 * B1 + k2 * B2, k1 * B2 + k2 * B3
    out[5], out[6] = k2 * B1 + k3 * B2, k2 * B2 + k3 * B3
    m1, m2, m3, m4 = a1 * B1 + a2 * B2, a1 * B2 + a2 * B3, a2 * B1 + a3 * B2, a2 * B2 + a3 * B3
    out[7], out[8], out[9] = m1 * k1 + m2 * k2, m1 * k2 + m2 * k3, m3 * k2 + m4 * k3


def curvature_bias(f: Found, k: int, u: Vector, omega: Vector, work: Vector, out: Vector) -> None:
    """Add the accelerations (n, t1, t2) that motion of the point of contact over the surfaces causes.

    u (3), omega (3): velocity of a relative to b at point[k], and angular velocity of a relative to b, world axes.
    out (3) is J̇q̇ of the points that are fixed on the bodies, as seen from b; it becomes J̇q̇ of the three rows, the
    tangents without their turn about n. work (22,).
    """
    n, t1, t2 = f.frame[k, 0:3], f.frame[k, 3:6], f.frame[k, 6:9]
    m, w, slide, turn, change = work[0:10], work[10:13], work[13:16], work[16:19], work[19:22]
    cross(omega, n, w)
    spread(f, k, m)
    half, u_n = 0.5 * f.gap[k], dot(u, n)
    w1, w2 = dot(w, t1), dot(w, t2)
    u1, u2 = dot(u, t1) + half * w1, dot(u, t2) + half * w2
    s1 = m[0] * w1 + m[1] * w2 - m[3] * u1 - m[5] * u2  # (CT3)
    s2 = m[1] * w1 + m[2] * w2 - m[4] * u1 - m[6] * u2
    turn1 = m[7] * u1 + m[8] * u2 + m[3] * w1 + m[4] * w2
    turn2 = m[8] * u1 + m[9] * u2 + m[5] * w1 + m[6] * w2
    for i in range(3):
        turn[i] = turn1 * t1[i] + turn2 * t2[i]
        slide[i] = (
            s1 * t1[i] + s2 * t2[i] - 0.5 * u_n * n[i] - half * (turn[i] - w[i])
        )  # of the point halfway
    cross(omega, slide, change)
    out[0] += dot(n, change) + dot(turn, u)  # (CT4), with the point halfway
    out[1] += dot(t1, change) - turn1 * u_n
    out[2] += dot(t2, change) - turn2 * u_n
