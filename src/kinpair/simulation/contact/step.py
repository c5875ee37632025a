"""A time step with contact (Moreau–Jean): impulses, and rates at its end. Loop functions.

M (v⁺ − v⁻) = h f + Σ Jᵀ Λ,   v_f = v⁻ + h M⁻¹ f,   c = u⁺ + bias                                      (NS1h)

The file is long because it is one loop function, a step from its begin to its end.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from kinpair.compiler.loops.kinds import Integers, Matrix, Vector
from kinpair.compiler.time_loop.step import FULL, NOT_FINITE
from kinpair.constraints.solve.chain import ACCURATE
from kinpair.contact.broad import place_geoms
from kinpair.contact.find import find_placed
from kinpair.contact.records import INTEGERS, MEMORY, WORK, Found, Geometry
from kinpair.simulation.contact.closing import (
    FROZEN,
    REST,
    damp,
    energy_added,
    frozen_step,
    shifted_work,
    solve_step,
)
from kinpair.simulation.contact.items import Contact, Joints, velocities
from kinpair.simulation.contact.loads import Loaded, answer_to_motion
from kinpair.simulation.contact.numbers import (
    DEPTH,
    FRICTION,
    IMPACT,
    KEPT,
    LEDGER,
    POINTS,
    REDUCTION,
    RESIDUAL,
    SEPARATION,
    UNMET,
)
from kinpair.simulation.contact.prediction import CURVED, body_speed, look_ahead, predict, widen
from kinpair.simulation.contact.rows import MU, MU_STATIC, RESTITUTION, ROWS, Items, Moving, rows_of, twists
from kinpair.simulation.contact.separation import separate
from kinpair.simulation.contact.tree import Tree, factor, orthonormal, respond

MARGIN = (
    1e-3  # [m]: points farther apart than this and than their bodies approach in two steps are not searched
)
SEARCHES = 4  # of a step
TOUCHING = 1e-14  # of 1 m and the coordinates of a point: a gap below this is rounding
KNOWN, BARE = 1.0, 2.0
SUMS = RESIDUAL  # those before it are summed over a run
RESULTS = 3  # vectors of length nv: rates, θ, displacement
HEADER = 17  # whole numbers before the tables: sizes in the order of `Sizes`


class Sizes(NamedTuple):
    """Sizes of a mechanism with contact, in the order of the header of its whole numbers."""

    rates: int
    bodies: int
    points: int  # capacity
    constraints: int  # rows of loops and drives
    limits: int
    frictions: int
    geoms: int
    pairs: int
    planes: int  # pairs with a plane
    vertices: int
    faces: int
    plan: int  # rows of the plan of methods
    per_point: int  # rows of a point at most
    surfaces: int  # under load
    parts: int  # of their loads
    forms: int
    jumps: int  # parts that jump

    @property
    def joints(self) -> int:
        """Number of items that are not contact points."""
        return self.limits + self.frictions + self.surfaces + self.jumps


def warm_start(kept: Matrix, f: Found, count: int, dt: float, c: Contact) -> None:
    """Start points from the forces that their slots had in the last step; most are in the same order."""
    k = -1
    for r in range(len(kept)):
        slot = int(kept[r, 0]) - 1
        if slot < 0:
            break
        known = False
        for _ in range(count):
            k = k + 1 if k + 1 < count else 0
            if f.slot[k] == slot:
                known = True
                break
        if known:
            for i in range(3):
                o = 3 * i
                total = (
                    f.frame[k, o] * kept[r, 1]
                    + f.frame[k, o + 1] * kept[r, 2]
                    + f.frame[k, o + 2] * kept[r, 3]
                )
                c.impulse[k, i] = dt * total
            c.inside[k] = 1


def keep(f: Found, items: Items, c: Contact, count: int, dt: float, kept: Matrix) -> int:
    """Write slots and forces of the points that push; return their number."""
    n = 0
    kept[:] = 0.0
    for k in range(count):
        if items.first[k] >= 0 and c.impulse[k, 0] > 0.0:
            kept[n, 0] = float(f.slot[k] + 1)
            for i in range(3):
                for a in range(3):
                    kept[n, 1 + i] += f.frame[k, 3 * a + i] * c.impulse[k, a] / dt
            n += 1
    return n


def begin(
    items: Items,
    c: Contact,
    f: Found,
    count: int,
    g: Geometry,
    t: Tree,
    materials: Matrix,
    j: Joints,
    s: Loaded,
) -> None:
    """Write bodies, numbers of rows, gaps and materials of all items; no item is in the problem yet."""
    points, limits = len(f.gap), len(j.sign)
    c.inside[:], c.impulse[:], c.after[:], c.before[:], c.ahead[:] = 0, 0.0, 0.0, 0.0, 0.0
    for k in range(points):
        c.gap[k] = math.inf
        items.rows[k], c.drift[k] = 0, 0.0
        if k < count:
            size = abs(f.point[k, 0]) + abs(f.point[k, 1]) + abs(f.point[k, 2])
            c.gap[k] = f.gap[k] if abs(f.gap[k]) > TOUCHING * (1.0 + size) else 0.0
            material = materials[f.pair[k]]
            items.rows[k] = rows_of(material)
            c.restitution[k] = material[RESTITUTION]
            items.tip[2 * k] = t.last[g.body[g.first[f.pair[k]]]]
            items.tip[2 * k + 1] = t.last[g.body[g.second[f.pair[k]]]]
    for k in range(len(j.rate)):
        items.rows[points + k], items.tip[2 * (points + k)], items.tip[2 * (points + k) + 1] = (
            1,
            j.rate[k],
            -1,
        )
        if k < limits:
            c.gap[points + k], c.restitution[points + k], c.drift[points + k] = (
                j.gap[k],
                j.restitution[k],
                0.0,
            )
        else:
            c.inside[points + k] = 1
    first = points + len(j.rate)
    for k in range(first, len(items.first)):  # surfaces, then jumps
        c.inside[k], items.rows[k], items.tip[2 * k], items.tip[2 * k + 1] = 1, 1, -1, -1
        if k - first < len(s.rate):
            items.rows[k] = s.rows[k - first]
            items.tip[2 * k] = s.rate[k - first] + s.rows[k - first] - 1


def coefficients(c: Contact, f: Found, count: int, materials: Matrix, small: Vector) -> None:
    """Write μ: that of rest where a point does not slide before the step."""
    for k in range(count):
        slides = math.hypot(c.before[k, 1], c.before[k, 2]) > small[k]
        c.mu[k] = materials[f.pair[k], MU if slides else MU_STATIC]


def step(dt: float, z: Vector, numbers: Vector, whole: Integers, memory: Vector, places: Integers) -> float:
    """Take the state z through a step with contact; see `TimeStepping` for the layout of all arrays.

    The last entry of z is 0; `KNOWN` where impulses are known, see `closing.frozen_step`; `BARE` without displacement.

    Returns 0, FULL where there are more points than there is room for, or NOT_FINITE: rates are NaN then.
    """
    nv, nb, points, rows, limits, frictions = whole[0], whole[1], whole[2], whole[3], whole[4], whole[5]
    ng, pairs, planes, vertices, faces, plans = whole[6], whole[7], whole[8], whole[9], whole[10], whole[11]
    surfaces, parts, forms, jumps = whole[13], whole[14], whole[15], whole[16]
    result = len(z) - RESULTS * nv - LEDGER - 1
    for k in range(len(z)):
        if not math.isfinite(z[k]):
            z[result : result + nv] = math.nan
            return NOT_FINITE
    # constants
    o = HEADER
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
    so = o
    o += 3 * surfaces + 2 * parts + 2 * forms + (2 if surfaces > 0 else 0)
    a = 0
    theta_0, sign, restitution = numbers[0], numbers[1 : 1 + limits], numbers[1 + limits : 1 + 2 * limits]
    a += 1 + 2 * limits
    plan = numbers[a : a + 5 * plans].reshape(plans, 5)
    a += 5 * plans
    materials = numbers[a : a + 5 * pairs].reshape(pairs, 5)
    a += 5 * pairs
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
    # the state
    b = 0
    R, P = z[b : b + 9 * nb].reshape(nb, 9), z[b + 9 * nb : b + 12 * nb].reshape(nb, 3)
    accelerations = z[b + 12 * nb : b + 18 * nb].reshape(nb, 6)
    b += 18 * nb
    screws, later = z[b : b + 6 * nv].reshape(nv, 6), z[b + 6 * nv : b + 12 * nv].reshape(nv, 6)
    b += 12 * nv
    H = z[b : b + nv * nv].reshape(nv, nv)
    b += nv * nv
    before, free, still = z[b : b + nv], z[b + nv : b + 2 * nv], z[b + 2 * nv : b + 3 * nv]
    damping = z[b + 3 * nv : b + 4 * nv]
    b += 4 * nv
    Q = z[b : b + rows * nv].reshape(rows, nv)
    b += rows * nv
    j = Joints(
        rate_of,
        sign,
        restitution,
        z[b : b + limits],
        z[b + limits : b + limits + frictions],
        z[b + limits + frictions : b + limits + 2 * frictions],
    )
    b += limits + 2 * frictions
    y = b
    b += 5 * surfaces + 3 * parts + forms * (nv + 10 + rows) + (nv if surfaces > 0 else 0)
    kept = z[b : b + KEPT * points].reshape(points, KEPT)
    b += KEPT * points
    rate, theta, shift = z[b : b + nv], z[b + nv : b + 2 * nv], z[b + 2 * nv : b + 3 * nv]
    ledger = z[b + RESULTS * nv : b + RESULTS * nv + LEDGER]
    # memory
    n, m = points + limits + frictions + surfaces + jumps, points + limits
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
        memory[19 * points + 24 * ng : 19 * points + 25 * ng],
        places[2 * points : 2 * points + ng],
        places[2 * points + ng : 2 * points + ng + pairs],
        memory[19 * points + 25 * ng : 19 * points + 25 * ng + 3 * WORK].reshape(WORK, 3),
        places[2 * points + ng + pairs : 2 * points + ng + pairs + INTEGERS],
        memory[19 * points + 25 * ng + 3 * WORK : 19 * points + 25 * ng + 3 * WORK + MEMORY],
    )
    e, w = 2 * points + ng + pairs + INTEGERS, 19 * points + 25 * ng + 3 * WORK + MEMORY
    items = Items(
        places[e : e + n],
        places[e + n : e + 2 * n],
        places[e + 2 * n : e + 4 * n],
        places[e + 5 * n : e + 5 * n + n * nv],
        places[e + 4 * n : e + 5 * n],
    )
    inside, bouncing = (
        places[e + 5 * n + n * nv : e + 6 * n + n * nv],
        places[e + 6 * n + n * nv : e + 7 * n + n * nv],
    )
    c = Contact(
        memory[w : w + 6 * n].reshape(n, 6),
        memory[w + 6 * n : w + 12 * n].reshape(n, 6),
        memory[w + 12 * n : w + 18 * n].reshape(n, 6),
        memory[w + 28 * n : w + 29 * n],
        memory[w + 24 * n : w + 24 * n + m],
        memory[w + 25 * n : w + 25 * n + m],
        memory[w + 26 * n : w + 26 * n + m],
        memory[w + 27 * n : w + 28 * n],
        memory[w + 18 * n : w + 24 * n].reshape(n, 6),
        inside,
        bouncing,
        memory[w + 29 * n : w + 30 * n],
    )
    small, W = memory[w + 30 * n : w + 31 * n], memory[w + 31 * n : w + 31 * n + 6 * nv].reshape(nv, 6)
    spare = memory[w + 31 * n + 6 * nv : w + 31 * n + 6 * nv + CURVED]
    rates = memory[w + 31 * n + 6 * nv + CURVED : w + 31 * n + 14 * nv + CURVED].reshape(8, nv)
    w, e = w + 31 * n + 14 * nv + CURVED, e + 7 * n + n * nv
    i, d = so + 3 * surfaces + 1, y + 5 * surfaces + 3 * parts
    s = Loaded(
        whole[so : so + surfaces],
        whole[so + surfaces : so + 2 * surfaces],
        whole[so + 2 * surfaces : i],
        whole[i : i + parts],
        whole[i + parts : i + 2 * parts + 1],
        whole[i + 2 * parts + 1 : i + 2 * parts + 1 + forms],
        whole[i + 2 * parts + 1 + forms : i + 2 * parts + 1 + 2 * forms],
        z[y : y + 3 * surfaces].reshape(surfaces, 3),
        z[y + 3 * surfaces : y + 5 * surfaces].reshape(surfaces, 2),
        z[y + 5 * surfaces : d].reshape(parts, 3),
        z[d : d + forms * nv].reshape(forms, nv),
        z[d + forms * nv : d + forms * (nv + 6)].reshape(forms, 6),
        z[d + forms * (nv + 6) : d + forms * (nv + 9)].reshape(forms, 3),
        z[d + forms * (nv + 9) : d + forms * (nv + 10)],
        rates[4],
    )
    d += forms * (nv + 10)
    held = z[d : d + nv]
    d += nv if surfaces > 0 else 0
    L = z[d : d + forms * rows].reshape(rows, forms)
    if not factor(H, t):
        rate[:] = math.nan
        return NOT_FINITE
    for r in range(rows):
        respond(H, t, t.inward, Q[r])
    rank = orthonormal(Q, L)
    x = Moving(later, H, Q[:rank])
    rates[0], rates[1], rates[5], rates[6] = before, free, still, damping
    if surfaces > 0:
        answer_to_motion(x, t, s, L, held, damping, before, free)
    damp(x, t, rates)
    twists(screws, t, before, W)
    place_geoms(g, R, P, f)
    look_ahead(W, t, g, f, 2.0 * dt)
    if z[len(z) - 1] != KNOWN:  # the search of known impulses is as wide as the one that found their points
        f.slack[:] = 0.0
    for k in range(ng):
        f.order[k] = k
    count, residual, met = 0, 0.0, True
    for _ in range(SEARCHES):
        count = find_placed(g, f, MARGIN)
        if count > points:
            rate[:] = math.nan
            return FULL
        begin(items, c, f, count, g, t, materials, j, s)
        twists(screws, t, before, W)
        velocities(items, f, count, W, j, s, before, c.before)
        for k in range(n):
            small[k] = 0.0
            if k < count:
                small[k] = REST * (
                    body_speed(W, items.tip[2 * k], f.point[k])
                    + body_speed(W, items.tip[2 * k + 1], f.point[k])
                )
        coefficients(c, f, count, materials, small)
        predict(items, f, count, W, accelerations, P, g, dt, c, spare)
        twists(later, t, rates[1], W)
        velocities(items, f, count, W, j, s, rates[1], c.ahead)
        warm_start(kept, f, count, dt, c)
        if z[len(z) - 1] == KNOWN:
            frozen = memory[len(memory) - FROZEN * n :].reshape(n, FROZEN)
            if not frozen_step(
                x, t, items, c, f, count, j, s, memory[w:], frozen, rates, W, small, theta_0, dt
            ):
                return NOT_FINITE
            rate[:], theta[:], shift[:], ledger[:] = rates[2], rates[3], 0.0, 0.0
            return 0.0
        residual, met = solve_step(
            x,
            t,
            items,
            c,
            f,
            count,
            j,
            s,
            materials,
            plan,
            memory[w:],
            places[e:],
            rates,
            W,
            small,
            theta_0,
            dt,
        )
        if not widen(W, t, g, f, dt, MARGIN, spare):
            break
    rate[:], theta[:] = rates[2], rates[3]
    ledger[POINTS] = float(keep(f, items, c, count, dt, kept))
    ledger[IMPACT] = shifted_work(H, t, rates) - energy_added(items, c, 0, 1)
    ledger[FRICTION] = -energy_added(items, c, 1, ROWS)
    for k in range(m, n):
        lost = -0.5 * c.impulse[k, 0] * (c.before[k, 0] + c.after[k, 0])
        ledger[IMPACT] -= lost
        ledger[FRICTION] += lost
    ledger[RESIDUAL], ledger[DEPTH] = residual, 0.0
    ledger[UNMET] = 0.0 if met or residual <= ACCURATE else 1.0
    for k in range(count):
        ledger[DEPTH] = max(ledger[DEPTH], -f.gap[k])
    shift[:], ledger[SEPARATION], ledger[REDUCTION] = 0.0, 0.0, 0.0
    if z[len(z) - 1] == 0.0:
        ledger[SEPARATION], ledger[REDUCTION] = separate(
            x, t, items, c, f, count, j, s, materials, plan, memory[w:], places[e:], rates, W, shift, dt
        )
    return 0.0
