"""Rows of contact points, limits and joints with dry friction as one problem over impulses. Loop functions.

An item is a contact point, a limit or a rate with friction. A contact point c with axes n, t1, t2 has the rows

    u = (n, t1, t2)·(v_a(c) − v_b(c)),   J_k = d·v_k + (c × d)·ω_k   for rate k with the screw (ω_k, v_k)         (CN3)

and, where its material has rolling or torsional friction, rows of (t1, t2) and n·(ω_a − ω_b). `tree.py` has D = J G Jᵀ.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from kinpair.compiler.loops.kinds import Integers, Matrix, Vector
from kinpair.constraints.solve.residual import BOX, DISC, NONE, WIDTH
from kinpair.simulation.contact.tree import Tree, eliminate, path, respond

MU, MU_STATIC, RESTITUTION, ROLLING, TORSION = range(5)  # columns of materials
ROWS = 6  # of a contact point at most
GROUPS = 4


class Moving(NamedTuple):
    """A mechanism at a state: screws (ω, v at the origin of the world) of its rates, factors of H, and Q of (CN2)."""

    screws: Matrix  # (nv, 6)
    H: Matrix  # (nv, nv)
    Q: Matrix  # (rank, nv)


class Items(NamedTuple):
    """Items of a step, contact points first; those in the problem have a first row, others −1."""

    first: Integers  # (items,) first row
    rows: Integers  # (items,) number of rows
    tip: Integers  # (2 items,) last rates of both bodies, −1 on the ground
    rates: Integers  # (items · nv,) rates at which rows ŷ have entries: on their paths to the ground, or all with Q
    length: Integers  # (items,) number of these


def twists(screws: Matrix, t: Tree, v: Vector, W: Matrix) -> None:
    """Compute the twist W (nv, 6) in world axes, at its origin, of what each rate moves, at the rates v."""
    for s in range(len(t.inward) - 1, -1, -1):
        k = t.inward[s]
        p = t.parent[k]
        for i in range(6):
            W[k, i] = screws[k, i] * v[k]
            if p >= 0:
                W[k, i] += W[p, i]


def relative(W: Matrix, a: int, b: int, c: Vector, frame: Vector, u: Vector) -> None:
    """Compute velocity and angular velocity of body a relative to b at the point c, along n, t1, t2: u (6,)."""
    x0, x1, x2, x3, x4, x5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if a >= 0:
        x0, x1, x2, x3, x4, x5 = W[a, 0], W[a, 1], W[a, 2], W[a, 3], W[a, 4], W[a, 5]
    if b >= 0:
        x0, x1, x2 = x0 - W[b, 0], x1 - W[b, 1], x2 - W[b, 2]
        x3, x4, x5 = x3 - W[b, 3], x4 - W[b, 4], x5 - W[b, 5]
    x3 += x1 * c[2] - x2 * c[1]
    x4 += x2 * c[0] - x0 * c[2]
    x5 += x0 * c[1] - x1 * c[0]
    for i in range(3):
        d0, d1, d2 = frame[3 * i], frame[3 * i + 1], frame[3 * i + 2]
        u[i] = d0 * x3 + d1 * x4 + d2 * x5
        u[3 + i] = d0 * x0 + d1 * x1 + d2 * x2


def add_screw(screws: Matrix, t: Tree, tip: int, sign: float, m: Vector, d: Vector, y: Vector) -> None:
    """Add sign (m·ω_k + d·v_k) to the entries of the rates k between a tip and the ground.    (CN3)"""
    k = tip
    while k >= 0:
        total = 0.0
        for i in range(3):
            total += m[i] * screws[k, i] + d[i] * screws[k, 3 + i]
        y[k] += sign * total
        k = t.parent[k]


def point_row(
    x: Moving, t: Tree, a: int, b: int, c: Vector, d: Vector, moment: bool, work: Matrix, y: Vector
) -> None:
    """Write the row J of a contact point along d, of velocity, or of angular velocity where it is of a `moment`."""
    m, f = work[0], work[1]
    if moment:
        m[:], f[:] = d, 0.0
    else:
        f[:] = d
        m[0] = c[1] * d[2] - c[2] * d[1]
        m[1] = c[2] * d[0] - c[0] * d[2]
        m[2] = c[0] * d[1] - c[1] * d[0]
    y[:] = 0.0
    add_screw(x.screws, t, a, 1.0, m, f, y)
    add_screw(x.screws, t, b, -1.0, m, f, y)


def component(r: int, count: int) -> int:
    """Return the entry of u (6,) that row r of a point is: n, t1, t2 of velocity; t1, t2, n of angular velocity."""
    if r < 3:
        return r
    return 3 if r == count - 1 and r % 2 == 1 else r + 1


def point_rows(
    x: Moving, t: Tree, items: Items, k: int, c: Vector, frame: Vector, work: Matrix, Y: Matrix
) -> None:
    """Write the rows ŷ of contact point k: normal, two tangents, and those of moments that it has."""
    nv, first, count = len(t.parent), items.first[k], items.rows[k]
    a, b = items.tip[2 * k], items.tip[2 * k + 1]
    items.length[k] = path(t, a, b, items.rates[k * nv : (k + 1) * nv])
    for r in range(count):
        axis = component(r, count) % 3
        point_row(x, t, a, b, c, frame[3 * axis : 3 * axis + 3], r >= 3, work, Y[first + r])
        respond(x.H, t, items.rates[k * nv : k * nv + items.length[k]], Y[first + r])
        eliminate(x.Q, 0, len(x.Q), Y[first + r])
    spread(x, items, k)


def rate_row(x: Moving, t: Tree, items: Items, k: int, r: int, rate: int, factor: float, Y: Matrix) -> None:
    """Write row r of item k, a single rate with a factor, as ŷ."""
    nv, row = len(t.parent), items.first[k] + r
    items.length[k] = path(t, items.tip[2 * k], -1, items.rates[k * nv : (k + 1) * nv])
    Y[row] = 0.0
    Y[row, rate] = factor
    respond(x.H, t, items.rates[k * nv : k * nv + items.length[k]], Y[row])
    eliminate(x.Q, 0, len(x.Q), Y[row])
    spread(x, items, k)


def share_tree(t: Tree, items: Items, i: int, j: int) -> bool:
    """True if a path of item i and one of item j end at the same rate."""
    for r in range(2):
        tip = items.tip[2 * i + r]
        for s in range(2):
            other = items.tip[2 * j + s]
            if tip >= 0 and other >= 0 and t.root[tip] == t.root[other]:
                return True
    return False


def responses(x: Moving, t: Tree, items: Items, Y: Matrix, D: Matrix) -> None:
    """Write D = ŷᵀ ŷ of all rows.    (CN1)"""
    D[:] = 0.0
    for i in range(len(items.first)):
        if items.first[i] >= 0:
            for j in range(i + 1):
                if items.first[j] >= 0 and (len(x.Q) > 0 or share_tree(t, items, i, j)):
                    block(items, i, j, Y, D)


def own_responses(items: Items, Y: Matrix, D: Matrix) -> None:
    """Write the entries of D = ŷᵀ ŷ between rows of one item; no others."""
    for i in range(len(items.first)):
        if items.first[i] >= 0:
            block(items, i, i, Y, D)


def block(items: Items, i: int, j: int, Y: Matrix, D: Matrix) -> None:
    """Write the entries of D between rows of two items, three at once: sums do not wait for each other."""
    nv, n = Y.shape[1], items.length[i]
    rates, last = items.rates[i * nv : i * nv + n], items.first[j] + items.rows[j] - 1
    for r in range(items.first[i], items.first[i] + items.rows[i]):
        s = items.first[j]
        while s <= last:
            s1, s2 = int(min(s + 1, last)), int(min(s + 2, last))
            a, b, c = 0.0, 0.0, 0.0
            for e in range(n):
                k = rates[e]
                y = Y[r, k]
                a += y * Y[s, k]
                b += y * Y[s1, k]
                c += y * Y[s2, k]
            D[r, s], D[r, s1], D[r, s2] = a, b, c
            D[s, r], D[s1, r], D[s2, r] = a, b, c
            s += 3


def spread(x: Moving, items: Items, k: int) -> None:
    """Write that rows of an item have entries at all rates, where constraints are eliminated from them."""
    if len(x.Q) > 0:
        nv = x.Q.shape[1]
        items.length[k] = nv
        for i in range(nv):
            items.rates[k * nv + i] = i


def combine(items: Items, Y: Matrix, x: Vector, v: Vector) -> None:
    """Compute v = ŷ x from multipliers x of all rows."""
    nv = len(v)
    v[:] = 0.0
    for k in range(len(items.first)):
        if items.first[k] >= 0:
            rates = items.rates[k * nv : k * nv + items.length[k]]
            for r in range(items.first[k], items.first[k] + items.rows[k]):
                for e in range(len(rates)):
                    v[rates[e]] += Y[r, rates[e]] * x[r]


def respond_to(items: Items, Y: Matrix, v: Vector, g: Vector, c: Vector) -> None:
    """Compute c = ŷᵀ v + g of all rows."""
    nv = len(v)
    for k in range(len(items.first)):
        if items.first[k] >= 0:
            rates = items.rates[k * nv : k * nv + items.length[k]]
            for r in range(items.first[k], items.first[k] + items.rows[k]):
                total = 0.0
                for e in range(len(rates)):
                    total += Y[r, rates[e]] * v[rates[e]]
                c[r] = total + g[r]


def write_group(
    table: Integers, radii: Matrix, g: int, kind: int, first: int, count: int, normal: int, mu: float
) -> None:
    """Write a group without load."""
    o = WIDTH * g
    table[o], table[o + 1], table[o + 2], table[o + 3] = kind, first, count, normal
    table[o + 4], table[o + 5] = 0, 0
    radii[g, 0], radii[g, 1], radii[g, 2] = 0.0, 0.0, mu


def point_groups(
    table: Integers,
    radii: Matrix,
    bounds: Matrix,
    g: int,
    first: int,
    count: int,
    material: Vector,
    mu: float,
) -> int:
    """Write the groups of a contact point: its normal and its discs; return the number of the next group."""
    write_group(table, radii, g, BOX, first, 1, NONE, 0.0)
    bounds[first, 0], bounds[first, 1] = 0.0, math.inf
    g += 1
    if count >= 3:
        write_group(table, radii, g, DISC, first + 1, 2, first, mu)
        g += 1
    if count >= 5:
        write_group(table, radii, g, DISC, first + 3, 2, first, material[ROLLING])
        g += 1
    if count == 4 or count == 6:
        write_group(table, radii, g, DISC, first + count - 1, 1, first, material[TORSION])
        g += 1
    return g


def rows_of(material: Vector) -> int:
    """Number of rows of a contact point of a material: 1 without friction, 3, 4 with torsion, 5 rolling, 6 both."""
    if material[MU] == 0.0 and material[MU_STATIC] == 0.0:
        return 1
    return 3 + (2 if material[ROLLING] > 0.0 else 0) + (1 if material[TORSION] > 0.0 else 0)
