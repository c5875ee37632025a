"""Contact between events: phases are fixed, closed normals and resting tangents are equalities. Loop functions.

    M q̈ = f + Σ Jᵀ λ,   J_n q̈ + (J̇q̇)_n = 0 of closed points,   J_t q̈ + (J̇q̇)_t = 0 of points at rest              (CN11)
    λ_t = −μ λ_n d   of points that slide,   d = s/|s| where d₀·s > ½ |s|, d₀ elsewhere                          (CN12)

Limits of joints are normals without friction. Dry friction of a joint is a tangent between its levels, without normal.
d₀ is the direction in which sliding began. So forces are smooth also where s passes through zero. Where rows are
redundant, λ is the solution near that of the last event. Guards, all positive between events:

    least gap of open points,   least λ_n,   least μ_s λ_n − |λ_t| at rest,   least d₀·s − ½ |s| of sliding       (CN13)

The file is long because it is one loop function, whose parts work on the same arrays.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from kinpair.compiler.loops.kinds import Integers, Matrix, Vector
from kinpair.compiler.loops.lapack import lu_factor, lu_solve
from kinpair.compiler.time_loop.step import FULL, NOT_FINITE
from kinpair.contact.find import find_contacts
from kinpair.contact.points import curvature_bias
from kinpair.contact.records import INTEGERS, MEMORY, WORK, Found, Geometry
from kinpair.simulation.contact.numbers import ACTIVE, GUARDS, KEPT
from kinpair.simulation.contact.prediction import CURVED, body_motion
from kinpair.simulation.contact.rows import (
    MU,
    MU_STATIC,
    Items,
    Moving,
    point_rows,
    rate_row,
    relative,
    responses,
    twists,
)
from kinpair.simulation.contact.tree import Tree, factor, orthonormal, outward, respond

SLOT, PHASE, DIRECTION, FORCE = 0, 1, 2, 5
RESTS, SLIDES = 1.0, 2.0  # phases
GAP, PUSH, STICK, SLIDE = range(4)
MARGIN = 0.05  # [m]: open points up to this gap are watched
TOUCHING = 1e-14  # of 1 m and the coordinates of a point: a gap below this is rounding
EPSILON, ROUNDS = 1e-9, 5  # of the proximal term, against the unit diagonal; times it is removed


class Joints(NamedTuple):
    """Limits and rates with dry friction: rates, sides of limits, gaps of limits, least and greatest effort of friction
    at rest and of sliding (4, frictions)."""

    rate: Integers
    side: Vector
    gap: Vector
    effort: Matrix


class Closed(NamedTuple):
    """Closed points, limits and frictions: place among all of them, relative velocity and acceleration without λ
    (closed, 6), J̇q̇, direction of sliding (closed, 2), coefficients of friction, multipliers (closed, 3)."""

    rank: Integers
    u: Matrix
    bias: Matrix
    slide: Matrix
    mu: Vector
    force: Matrix


def point_bias(
    f: Found, k: int, W: Matrix, A: Matrix, P: Matrix, a: int, b: int, t: Tree, work: Vector, out: Vector
) -> None:
    """Compute J̇q̇ (3,) of the rows of a point: relative acceleration seen from b, and what curvature adds."""
    one, two, u, omega = f.work[0:3], f.work[3:6], f.work[6], f.work[7]
    body_motion(W, A, P, int(t.last[a]), a, f.point[k], one)
    body_motion(W, A, P, int(t.last[b]), b, f.point[k], two)
    v, w = two[0], two[1]
    for i in range(3):
        u[i], omega[i] = one[0, i] - v[i], one[1, i] - w[i]
    x0 = one[2, 0] - two[2, 0] - 2.0 * (w[1] * u[2] - w[2] * u[1])
    x1 = one[2, 1] - two[2, 1] - 2.0 * (w[2] * u[0] - w[0] * u[2])
    x2 = one[2, 2] - two[2, 2] - 2.0 * (w[0] * u[1] - w[1] * u[0])
    for i in range(3):
        d0, d1, d2 = f.frame[k, 3 * i], f.frame[k, 3 * i + 1], f.frame[k, 3 * i + 2]
        out[i] = d0 * x0 + d1 * x1 + d2 * x2
    curvature_bias(f, k, u, omega, work, out)


def direction(active: Vector, frame: Vector, u: Vector, out: Vector) -> float:
    """Write the direction of sliding (2,) in (t1, t2) and return d₀·s − ½ |s|.    (CN12)"""
    a = active[DIRECTION] * frame[3] + active[DIRECTION + 1] * frame[4] + active[DIRECTION + 2] * frame[5]
    b = active[DIRECTION] * frame[6] + active[DIRECTION + 1] * frame[7] + active[DIRECTION + 2] * frame[8]
    size, speed = math.hypot(a, b), math.hypot(u[1], u[2])
    if size > 0.0:
        a, b = a / size, b / size
    along = a * u[1] + b * u[2] - 0.5 * speed
    out[0], out[1] = a, b
    if along > 0.0 and speed > 0.0:
        out[0], out[1] = u[1] / speed, u[2] / speed
    return along


def joint_motion(j: Joints, k: int, v: Vector, u: Vector, first: int) -> None:
    """Write a rate, or an acceleration, of a limit along its normal, of a joint with friction along a tangent."""
    u[first], u[first + 1], u[first + 2] = 0.0, 0.0, 0.0
    if k < len(j.side):
        u[first] = j.side[k] * v[j.rate[k]]
    else:
        u[first + 1] = v[j.rate[k]]


def solve_near(K: Matrix, right: Vector, x: Vector, factors: Matrix, pivots: Integers, work: Vector) -> bool:
    """Solve K x = right for the x near the start, also where K is singular; False where it cannot be solved."""
    n, largest = len(x), 0.0
    for i in range(n):
        largest = max(largest, abs(K[i, i]))
    for i in range(n):
        for j in range(n):
            factors[i, j] = K[i, j] + (EPSILON * largest if i == j else 0.0)
            if not math.isfinite(factors[i, j]):
                return False
    if n == 0:
        return True
    if lu_factor(factors, pivots) != 0:
        return False
    for _ in range(ROUNDS):
        for i in range(n):
            work[i] = right[i]
            for j in range(n):
                work[i] -= K[i, j] * x[j]
        lu_solve(factors, pivots, work)
        for i in range(n):
            x[i] += work[i]
    return True


def solve_closed(
    x: Moving,
    t: Tree,
    items: Items,
    c: Closed,
    f: Found,
    j: Joints,
    active: Matrix,
    free: Vector,
    memory: Vector,
    places: Integers,
    qdd: Vector,
) -> bool:
    """Compute the multipliers of closed points and q̈; False where there is none.    (CN11)"""
    points, limits = len(f.gap), len(j.side)
    m, nv = len(c.rank), len(free)
    n = 3 * m
    Y, D = memory[: n * nv].reshape(n, nv), memory[n * nv : n * nv + n * n].reshape(n, n)
    o = n * nv + n * n
    o += 2 * n * n
    right, lam, work, force = (
        memory[o : o + n],
        memory[o + n : o + 2 * n],
        memory[o + 2 * n : o + 3 * n],
        memory[o + 3 * n : o + 4 * n],
    )
    for k in range(m):
        items.first[k], items.rows[k] = 3 * k, 3
        e = int(c.rank[k]) - points
        if e >= 0:
            for r in range(3):
                Y[3 * k + r] = 0.0
            side = j.side[e] if e < limits else 1.0
            rate_row(x, t, items, k, 0 if e < limits else 1, j.rate[e], side, Y)
            continue
        point_rows(x, t, items, k, f.point[c.rank[k]], f.frame[c.rank[k]], f.work, Y)
    responses(x, t, items, Y, D)
    size = 0
    index, owner = places[:n], places[n : 2 * n]
    for k in range(n):
        force[k] = 0.0
    for k in range(m):
        e = int(c.rank[k]) - points - limits
        first, last = 0, 1 if active[k, PHASE] == SLIDES else 3
        if e >= 0:
            first, last = 1, 1 if active[k, PHASE] == SLIDES else 2
            if last == 1 and c.slide[k, 0] != 0.0:
                force[3 * k + 1] = j.effort[2 if c.slide[k, 0] > 0.0 else 3, e]
        for r in range(first, last):
            index[size], owner[size] = 3 * k + r, k
            size += 1
    K, factors, pivots = (
        memory[o - 2 * n * n : o - 2 * n * n + size * size].reshape(size, size),
        memory[o - n * n : o - n * n + size * size].reshape(size, size),
        places[2 * n : 2 * n + size],
    )
    for i in range(size):
        row, k = index[i], owner[i]
        right[i] = -c.bias[k, row - 3 * k] - c.u[k, 3 + row - 3 * k]
        for e in range(m):
            right[i] -= D[row, 3 * e + 1] * force[3 * e + 1]
        lam[i] = c.force[k, row - 3 * k]
        for s in range(size):
            column, e = index[s], owner[s]
            K[i, s] = D[row, column]
            if active[e, PHASE] == SLIDES:
                K[i, s] -= c.mu[e] * (c.slide[e, 0] * D[row, column + 1] + c.slide[e, 1] * D[row, column + 2])
    if not solve_near(K, right[:size], lam[:size], factors, pivots, work[:size]):
        return False
    for i in range(size):
        e = owner[i]
        force[index[i]] = lam[i]
        if active[e, PHASE] == SLIDES:
            force[3 * e + 1] = -c.mu[e] * c.slide[e, 0] * lam[i]
            force[3 * e + 2] = -c.mu[e] * c.slide[e, 1] * lam[i]
    qdd[:] = 0.0
    for r in range(n):
        for i in range(nv):
            qdd[i] += Y[r, i] * force[r]
    outward(x.H, t, qdd)
    for i in range(nv):
        qdd[i] += free[i]
    for k in range(m):
        for r in range(3):
            c.force[k, r] = force[3 * k + r]
    return True


def friction_power(c: Closed, active: Matrix) -> float:
    """Compute the power that sliding takes, −λ_t·s."""
    total = 0.0
    for k in range(len(c.rank)):
        if active[k, PHASE] == SLIDES:
            total -= c.force[k, 1] * c.u[k, 1] + c.force[k, 2] * c.u[k, 2]
    return total


def watch(
    f: Found,
    count: int,
    c: Closed,
    j: Joints,
    active: Matrix,
    materials: Matrix,
    along: Vector,
    closed: Integers,
    guards: Vector,
) -> None:
    """Write the guards.    (CN13)"""
    guards[GAP], guards[PUSH], guards[STICK], guards[SLIDE] = 1.0, 1.0, 1.0, 1.0
    for k in range(count):
        if closed[k] == 0:
            size = abs(f.point[k, 0]) + abs(f.point[k, 1]) + abs(f.point[k, 2])
            guards[GAP] = min(guards[GAP], f.gap[k] + TOUCHING * (1.0 + size))
    points, limits = len(f.gap), len(j.side)
    for k in range(limits):
        if closed[points + k] == 0:
            guards[GAP] = min(guards[GAP], j.gap[k] + TOUCHING)
    for k in range(len(c.rank)):
        e = int(c.rank[k]) - points - limits
        if e >= 0:
            if active[k, PHASE] == RESTS:
                margin = min(c.force[k, 1] - j.effort[0, e], j.effort[1, e] - c.force[k, 1])
                guards[STICK] = min(guards[STICK], margin)
            elif c.slide[k, 0] != 0.0:
                guards[SLIDE] = min(guards[SLIDE], along[k])
            continue
        guards[PUSH] = min(guards[PUSH], c.force[k, 0])
        if e >= -limits:
            continue
        mu = materials[f.pair[c.rank[k]], MU_STATIC]
        if active[k, PHASE] == RESTS:
            guards[STICK] = min(guards[STICK], mu * c.force[k, 0] - math.hypot(c.force[k, 1], c.force[k, 2]))
        elif c.mu[k] > 0.0:
            guards[SLIDE] = min(guards[SLIDE], along[k])


def hold(dt: float, z: Vector, numbers: Vector, whole: Integers, memory: Vector, places: Integers) -> float:
    """Compute q̈, friction power, guards and forces of closed points; see `ContactHeld` for the layout of all arrays.

    Returns 0, FULL where there are more points than there is room for, or NOT_FINITE; q̈ is NaN then.
    """
    nv, nb, points, rows = whole[0], whole[1], whole[2], whole[3]
    ng, pairs, planes, vertices, faces = whole[4], whole[5], whole[6], whole[7], whole[8]
    limits, frictions, first_slot = whole[9], whole[10], whole[11]
    o = 12
    t = Tree(
        whole[o : o + nv],
        whole[o + nv : o + 2 * nv],
        whole[o + 2 * nv : o + 3 * nv],
        whole[o + 4 * nv : o + 4 * nv + nb],
        whole[o + 3 * nv : o + 4 * nv],
    )
    o += 4 * nv + nb
    rate_of = whole[o : o + limits + frictions]
    o += limits + frictions
    materials, a = numbers[limits : limits + 5 * pairs].reshape(pairs, 5), limits + 5 * pairs
    g = Geometry(
        whole[o : o + ng],
        whole[o + ng : o + 2 * ng],
        numbers[a : a + 5 * ng].reshape(ng, 5),
        numbers[a + 5 * ng : a + 14 * ng].reshape(ng, 9),
        numbers[a + 14 * ng : a + 17 * ng].reshape(ng, 3),
        numbers[a + 17 * ng : a + 17 * ng + 3 * vertices].reshape(vertices, 3),
        numbers[a + 17 * ng + 3 * vertices : a + 17 * ng + 3 * vertices + 4 * faces].reshape(faces, 4),
        numbers[a + 17 * ng + 3 * vertices + 4 * faces : a + 18 * ng + 3 * vertices + 4 * faces],
        whole[o + 2 * ng : o + 2 * ng + pairs],
        whole[o + 2 * ng + pairs : o + 2 * ng + 2 * pairs],
        whole[o + 2 * ng + 2 * pairs : o + 2 * ng + 2 * pairs + ng * ng],
        planes,
    )
    b = 0
    R, P = z[b : b + 9 * nb].reshape(nb, 9), z[b + 9 * nb : b + 12 * nb].reshape(nb, 3)
    accelerations = z[b + 12 * nb : b + 18 * nb].reshape(nb, 6)
    b += 18 * nb
    screws, H = z[b : b + 6 * nv].reshape(nv, 6), z[b + 6 * nv : b + 6 * nv + nv * nv].reshape(nv, nv)
    b += 6 * nv + nv * nv
    v, free, Q = (
        z[b : b + nv],
        z[b + nv : b + 2 * nv],
        z[b + 2 * nv : b + 2 * nv + rows * nv].reshape(rows, nv),
    )
    b += 2 * nv + rows * nv
    j = Joints(
        rate_of,
        numbers[:limits],
        z[b : b + limits],
        z[b + limits : b + limits + 4 * frictions].reshape(4, frictions),
    )
    b += limits + 4 * frictions
    n = points + limits + frictions
    state = z[b : b + ACTIVE * n].reshape(n, ACTIVE)
    b += ACTIVE * n
    qdd, power, guards = z[b : b + nv], z[b + nv : b + nv + 1], z[b + nv + 1 : b + nv + 1 + GUARDS]
    forces = z[b + nv + 1 + GUARDS : b + nv + 1 + GUARDS + KEPT * points].reshape(points, KEPT)
    e, w = 2 * points + ng + pairs + INTEGERS, 19 * points + 25 * ng
    f = Found(
        places[:points],
        places[points : 2 * points],
        memory[: 3 * points].reshape(points, 3),
        memory[3 * points : 12 * points].reshape(points, 9),
        memory[12 * points : 13 * points],
        memory[13 * points : 19 * points].reshape(points, 6),
        memory[19 * points : 19 * points + 12 * ng].reshape(ng, 12),
        memory[19 * points + 12 * ng : 19 * points + 18 * ng].reshape(ng, 6),
        memory[19 * points + 18 * ng : 19 * points + 24 * ng].reshape(ng, 6),
        memory[19 * points + 24 * ng : w],
        places[2 * points : 2 * points + ng],
        places[2 * points + ng : 2 * points + ng + pairs],
        memory[w : w + 3 * WORK].reshape(WORK, 3),
        places[2 * points + ng + pairs : e],
        memory[w + 3 * WORK : w + 3 * WORK + MEMORY],
    )
    w += 3 * WORK + MEMORY
    W, spare = memory[w : w + 6 * nv].reshape(nv, 6), memory[w + 6 * nv : w + 6 * nv + CURVED]
    w += 6 * nv + CURVED
    along, m = memory[w : w + n], 0
    closed, rank = places[e : e + n], places[e + n : e + 2 * n]
    qdd[:], power[0], guards[:], forces[:] = math.nan, 0.0, 1.0, 0.0
    for k in range(len(z) - len(qdd) - 1 - GUARDS - KEPT * points):
        if not math.isfinite(z[k]):
            return NOT_FINITE
    if not factor(H, t):
        return NOT_FINITE
    for r in range(rows):
        respond(H, t, t.inward, Q[r])
    f.moves[:], f.slack[:] = 0.0, 0.0
    for k in range(ng):
        f.order[k] = k
    count = find_contacts(R, P, g, f, MARGIN)
    if count > points:
        return FULL
    closed[:] = 0
    lost = False
    while m < n and state[m, SLOT] > 0.0:
        known = points + int(state[m, SLOT]) - 1 - first_slot
        if known < points:
            known = -1
        for k in range(count):
            if f.slot[k] == int(state[m, SLOT]) - 1:
                known = k
        if known < 0:
            lost = True
            known = 0
        else:
            closed[known] = 1
        rank[m] = known
        m += 1
    c = Closed(
        rank[:m],
        memory[w + n : w + n + 6 * m].reshape(m, 6),
        memory[w + 7 * n : w + 7 * n + 3 * m].reshape(m, 3),
        memory[w + 10 * n : w + 10 * n + 2 * m].reshape(m, 2),
        memory[w + 12 * n : w + 12 * n + m],
        memory[w + 13 * n : w + 13 * n + 3 * m].reshape(m, 3),
    )
    items = Items(
        places[e + 2 * n : e + 2 * n + m],
        places[e + 3 * n : e + 3 * n + m],
        places[e + 4 * n : e + 4 * n + 2 * m],
        places[e + 6 * n : e + 6 * n + m * nv],
        places[e + 6 * n + n * nv : e + 6 * n + n * nv + m],
    )
    w, e = w + 16 * n, e + 7 * n + n * nv
    if lost:
        qdd[:] = free
        guards[PUSH] = -1.0
        return 0.0
    twists(screws, t, v, W)
    for k in range(m):
        r = int(rank[k])
        if r >= points:
            joint_motion(j, r - points, v, c.u[k], 0)
            items.tip[2 * k], items.tip[2 * k + 1] = j.rate[r - points], -1
            c.bias[k], c.slide[k], c.mu[k] = 0.0, 0.0, 0.0
            c.slide[k, 0], along[k] = state[k, DIRECTION + 1], state[k, DIRECTION + 1] * c.u[k, 1]
            c.force[k] = state[k, FORCE : FORCE + 3]
            continue
        one, two = int(g.body[g.first[f.pair[r]]]), int(g.body[g.second[f.pair[r]]])
        items.tip[2 * k], items.tip[2 * k + 1] = t.last[one], t.last[two]
        relative(W, items.tip[2 * k], items.tip[2 * k + 1], f.point[r], f.frame[r], c.u[k])
        point_bias(f, r, W, accelerations, P, one, two, t, spare, c.bias[k])
        along[k] = direction(state[k], f.frame[r], c.u[k], c.slide[k])
        c.mu[k] = materials[f.pair[r], MU]
        for i in range(3):
            o = 3 * i
            c.force[k, i] = (
                f.frame[r, o] * state[k, FORCE]
                + f.frame[r, o + 1] * state[k, FORCE + 1]
                + f.frame[r, o + 2] * state[k, FORCE + 2]
            )
    twists(screws, t, free, W)
    for k in range(m):
        r = int(rank[k])
        if r >= points:
            joint_motion(j, r - points, free, c.u[k], 3)
            continue
        relative(W, items.tip[2 * k], items.tip[2 * k + 1], f.point[r], f.frame[r], f.memory[0:6])
        for i in range(3):
            c.u[k, 3 + i] = f.memory[i]
    rank_of = orthonormal(Q, memory[:0].reshape(rows, 0))
    x = Moving(screws, H, Q[:rank_of])
    if not solve_closed(x, t, items, c, f, j, state[:m], free, memory[w:], places[e:], qdd):
        qdd[:] = math.nan
        return NOT_FINITE
    power[0] = friction_power(c, state)
    watch(f, count, c, j, state, materials, along, closed, guards)
    for k in range(m):
        r = int(rank[k])
        if r >= points:
            continue
        forces[k, 0] = state[k, SLOT]
        for i in range(3):
            for d in range(3):
                forces[k, 1 + i] += f.frame[r, 3 * d + i] * c.force[k, d]
    return 0.0
