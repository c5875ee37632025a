"""All positions of six hinges, by subproblems with one unknown angle each. Loop functions.

With E = e^{ξ₁q₁} … e^{ξ₆q₆}, h_k the axis of hinge k, O_k a point on it, p_jk from O_j to O_k, all where q = 0, and
R_k the rotation about h_k by q_k, for p = R₁(p₁₂ + R₂(p₂₃ + R₃(p₃₄ + R₄(p₄₅ + …)))):

    hᵀ R(k, θ) a = d:   θ = atan2(hᵀ(k × a), hᵀa − hᵀk kᵀa) ± acos((d − hᵀk kᵀa)/r)                        (IK9)
    ‖R(k, θ) a + b‖ = d:   bᵀ R(k, θ) a = (d² − a² − b²)/2                                                (IK10)
    R(k, θ) a = b:   θ = atan2(kᵀ(a × b), aᵀb − kᵀa kᵀb)                                                  (IK11)

The arms, one function each: axes 2 and 3 parallel, axes 1 and 2 crossing, axes 1 and 2 parallel (each with a spherical
wrist), axes 2, 3 and 4 parallel with axes 5 and 6 crossing. After A. J. Elias & J. T. Wen, "IK-Geo", Mechanism and
Machine Theory 209 (2025) 105971, from D. L. Pieper's decomposition (1968).
"""

from __future__ import annotations

import math

from kinpair.compiler.loops.kinds import Integers, Matrix, Vector

MOST = 8  # solutions of one target
ROUNDING = 1e-12  # of products of two vectors: what a target at the border of reach may be beyond it
NO_ARM = 1e-15  # of products of two vectors across an axis: below it a vector is on the axis
EQUAL = 1e-7  # [rad], between two solutions that are one
ELBOW, SHOULDER, STEM, PARALLEL = range(4)  # which axes make it solvable; see `inverse_kinematics/hinges.py`
ROWS = 24  # of the scratch matrix


def dot(a: Vector, b: Vector) -> float:
    """Compute aᵀ b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def triple(a: Vector, b: Vector, c: Vector) -> float:
    """Compute aᵀ(b × c)."""
    return (
        a[0] * (b[1] * c[2] - b[2] * c[1])
        + a[1] * (b[2] * c[0] - b[0] * c[2])
        + a[2] * (b[0] * c[1] - b[1] * c[0])
    )


def turn(k: Vector, angle: float, a: Vector, result: Vector) -> None:
    """Compute R(k, angle) a = a cos + (k × a) sin + k kᵀa (1 − cos)."""
    c, s, along = math.cos(angle), math.sin(angle), dot(k, a)
    x, y, z = a[0], a[1], a[2]
    result[0] = c * x + s * (k[1] * z - k[2] * y) + (1.0 - c) * along * k[0]
    result[1] = c * y + s * (k[2] * x - k[0] * z) + (1.0 - c) * along * k[1]
    result[2] = c * z + s * (k[0] * y - k[1] * x) + (1.0 - c) * along * k[2]


def add(a: Vector, b: Vector, factor: float, result: Vector) -> None:
    """Compute a + factor b."""
    for i in range(3):
        result[i] = a[i] + factor * b[i]


def projected_angles(h: Vector, k: Vector, a: Vector, d: float, angles: Vector) -> int:
    """Solve hᵀ R(k, θ) a = d for none, one or two angles.                                             (IK9)"""
    hk, ka = dot(h, k), dot(k, a)
    x, y, e = dot(h, a) - hk * ka, triple(h, k, a), d - hk * ka
    r = math.hypot(x, y)
    slack = ROUNDING * (math.sqrt(dot(h, h) * dot(a, a)) + abs(d))
    if abs(e) > r + slack:
        return 0
    if r <= slack:
        angles[0] = 0.0  # every angle is a solution
        return 1
    ratio = max(-1.0, min(1.0, e / r))
    middle, half = math.atan2(y, x), math.atan2(math.sqrt((1.0 - ratio) * (1.0 + ratio)), ratio)
    angles[0] = middle - half
    angles[1] = middle + half
    return 2 if abs(ratio) < 1.0 else 1


def distance_angles(k: Vector, a: Vector, b: Vector, square: float, angles: Vector) -> int:
    """Solve ‖R(k, θ) a + b‖² = square.                                                                (IK10)"""
    return projected_angles(b, k, a, 0.5 * (square - dot(a, a) - dot(b, b)), angles)


def angle_between(k: Vector, a: Vector, b: Vector) -> float:
    """Solve R(k, θ) a = b; 0 where a is on the axis.                                                  (IK11)"""
    y, x = triple(k, a, b), dot(a, b) - dot(k, a) * dot(k, b)
    return math.atan2(y, x) if math.hypot(x, y) > NO_ARM * dot(a, a) else 0.0


def elbow(g: Matrix, p: Vector, w: Matrix, arm: Matrix) -> int:
    """Solve p = R₁(p₁₂ + R₂(p₂₃ + R₃p₃₄)) where axes 2 and 3 are parallel: q₁, q₃, q₂."""
    count = 0
    add(g[7], g[8], 1.0, w[0])
    add(w[0], g[9], 1.0, w[0])
    add(g[6], g[0], -1.0, w[1])  # −h₁, with g[6] = 0
    first = projected_angles(g[1], w[1], p, dot(g[1], w[0]), w[2])
    for i in range(first):
        turn(g[0], -w[2, i], p, w[3])
        add(w[3], g[7], -1.0, w[3])  # R₁ᵀp − p₁₂
        third = distance_angles(g[2], g[9], g[8], dot(w[3], w[3]), w[4])
        for j in range(third):
            turn(g[2], w[4, j], g[9], w[5])
            add(w[5], g[8], 1.0, w[5])
            arm[count, 0] = w[2, i]
            arm[count, 1] = angle_between(g[1], w[5], w[3])
            arm[count, 2] = w[4, j]
            count += 1
    return count


def shoulder(g: Matrix, p: Vector, w: Matrix, arm: Matrix) -> int:
    """Solve p = R₁R₂(p₂₃ + R₃p₃₄) where axes 1 and 2 cross: q₃, q₁, q₂."""
    count = 0
    add(g[6], g[0], -1.0, w[0])
    third = distance_angles(g[2], g[9], g[8], dot(p, p), w[1])
    for i in range(third):
        turn(g[2], w[1, i], g[9], w[2])
        add(w[2], g[8], 1.0, w[2])
        first = projected_angles(g[1], w[0], p, dot(g[1], w[2]), w[3])
        for j in range(first):
            turn(g[0], -w[3, j], p, w[4])
            arm[count, 0] = w[3, j]
            arm[count, 1] = angle_between(g[1], w[2], w[4])
            arm[count, 2] = w[1, i]
            count += 1
    return count


def stem(g: Matrix, p: Vector, w: Matrix, arm: Matrix) -> int:
    """Solve p = R₁(p₁₂ + R₂(p₂₃ + R₃p₃₄)) where axes 1 and 2 are parallel: q₃, q₂, q₁."""
    count = 0
    height = dot(g[0], p) - dot(g[0], g[7]) - dot(g[0], g[8])
    third = projected_angles(g[0], g[2], g[9], height, w[0])
    for i in range(third):
        turn(g[2], w[0, i], g[9], w[1])
        add(w[1], g[8], 1.0, w[1])
        second = distance_angles(g[1], w[1], g[7], dot(p, p), w[2])
        for j in range(second):
            turn(g[1], w[2, j], w[1], w[3])
            add(w[3], g[7], 1.0, w[3])
            arm[count, 0] = angle_between(g[0], w[3], p)
            arm[count, 1] = w[2, j]
            arm[count, 2] = w[0, i]
            count += 1
    return count


def untwisted(g: Matrix, q: Vector, first: int, last: int, a: Vector, result: Vector) -> None:
    """Compute (R_first … R_last)ᵀ a."""
    add(g[6], a, 1.0, result)
    for k in range(first, last + 1):
        turn(g[k], -q[k], result, result)


def last_angle(g: Matrix, R: Matrix, q: Vector, w: Matrix) -> float:
    """Return q₆ from R = R₁ … R₆ and the angles before it."""
    a = w[0]  # a direction across h₆
    k = 0
    for i in range(1, 3):
        if abs(g[5, i]) < abs(g[5, k]):
            k = i
    for i in range(3):
        a[i] = -g[5, i] * g[5, k]
    a[k] += 1.0
    for i in range(3):
        w[1, i] = dot(R[i], a)
    untwisted(g, q, 0, 4, w[1], w[2])
    return angle_between(g[5], a, w[2])


def wrist(g: Matrix, R: Matrix, arm: Matrix, rows: int, w: Matrix, q: Matrix) -> int:
    """Solve R = R₁ … R₆ for q₅, q₄ and q₆ of each position of the arm (rows, 3)."""
    count = 0
    for n in range(rows):
        for i in range(3):
            w[3, i] = dot(R[i], g[5])
        untwisted(g, arm[n], 0, 2, w[3], w[4])  # R₄R₅R₆ h₆
        fifth = projected_angles(g[3], g[4], g[5], dot(g[3], w[4]), w[5])
        for j in range(fifth):
            for i in range(3):
                q[count, i] = arm[n, i]
            turn(g[4], w[5, j], g[5], w[6])
            q[count, 3] = angle_between(g[3], w[6], w[4])
            q[count, 4] = w[5, j]
            q[count, 5] = last_angle(g, R, q[count], w)
            count += 1
    return count


def parallel(g: Matrix, R: Matrix, p: Vector, w: Matrix, q: Matrix) -> int:
    """Solve p = R₁(p₁₂ + R₂(p₂₃ + R₃(p₃₄ + R₄p₄₅))) and R where axes 2, 3, 4 are parallel: q₁, q₅, sum, q₃, q₂."""
    count = 0
    add(g[6], g[0], -1.0, w[3])
    for i in range(3):
        w[4, i] = g[7, i] + g[8, i] + g[9, i] + g[10, i]
        w[5, i] = dot(R[i], g[5])
    first = projected_angles(g[1], w[3], p, dot(g[1], w[4]), w[6])
    for i in range(first):
        turn(g[0], -w[6, i], w[5], w[7])  # R₁ᵀR h₆
        turn(g[0], -w[6, i], p, w[8])
        add(w[8], g[7], -1.0, w[8])
        fifth = projected_angles(g[1], g[4], g[5], dot(g[1], w[7]), w[9])
        for j in range(fifth):
            turn(g[4], w[9, j], g[5], w[10])
            total = angle_between(g[1], w[10], w[7])
            turn(g[1], total, g[10], w[11])
            add(w[8], w[11], -1.0, w[11])
            third = distance_angles(g[2], g[9], g[8], dot(w[11], w[11]), w[12])
            for n in range(third):
                turn(g[2], w[12, n], g[9], w[13])
                add(w[13], g[8], 1.0, w[13])
                q[count, 0] = w[6, i]
                q[count, 1] = angle_between(g[1], w[13], w[11])
                q[count, 2] = w[12, n]
                q[count, 3] = total - q[count, 1] - q[count, 2]
                q[count, 4] = w[9, j]
                q[count, 5] = last_angle(g, R, q[count], w)
                count += 1
    return count


def deviation(g: Matrix, R: Matrix, p: Vector, q: Vector, length: float, w: Matrix) -> float:
    """Return the largest deviation of E(q) from R [rad] and, over a length, from p; p as seen from O₁ to O₆."""
    worst = 0.0
    for i in range(3):
        w[0, i] = 0.0
    for k in range(5, -1, -1):
        turn(g[k], q[k], w[0], w[0])
        if k > 0:
            add(w[0], g[6 + k], 1.0, w[0])
    for i in range(3):
        worst = max(worst, abs(w[0, i] - p[i]) / length)
    for j in range(3):
        for i in range(3):
            w[1, i] = 1.0 if i == j else 0.0
        for k in range(5, -1, -1):
            turn(g[k], q[k], w[1], w[1])
        for i in range(3):
            worst = max(worst, abs(w[1, i] - R[i, j]))
    return worst


def is_new(q: Matrix, count: int, trial: Vector) -> bool:
    """Return whether a position differs from those that are there, by more than turns."""
    for n in range(count):
        largest = 0.0
        for k in range(6):
            largest = max(largest, abs(math.sin(0.5 * (q[n, k] - trial[k]))))
        if 2.0 * largest <= EQUAL:
            return False
    return True


def solve_targets(
    kind: int,
    g: Matrix,
    targets: Matrix,
    length: float,
    tolerance: float,
    w: Matrix,
    q: Matrix,
    counts: Integers,
) -> None:
    """Find all q (targets · MOST, 6) with E(q) = target, and their number for each target.

    targets (n, 12): R row by row, then p from O₁ to O₆. g: h₁ … h₆, a row of zeros, p₁₂, …, p₅₆. w: scratch (ROWS, 3).
    """
    for n in range(targets.shape[0]):
        R, p = targets[n, 0:9].reshape(3, 3), targets[n, 9:12]
        arm, found = w[14:18], q[n * MOST : (n + 1) * MOST]
        count = 0
        if kind == PARALLEL:
            count = parallel(g, R, p, w, found)
        elif kind == ELBOW:
            count = wrist(g, R, arm, elbow(g, p, w, arm), w, found)
        elif kind == SHOULDER:
            count = wrist(g, R, arm, shoulder(g, p, w, arm), w, found)
        else:
            count = wrist(g, R, arm, stem(g, p, w, arm), w, found)
        kept = 0
        for k in range(count):
            if deviation(g, R, p, found[k], length, w) <= tolerance and is_new(found, kept, found[k]):
                for i in range(6):
                    found[kept, i] = found[k, i]
                kept += 1
        counts[n] = kept
