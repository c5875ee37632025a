"""The items of a step and their problem: velocities, rows, groups, impulses. Loop functions.

An item is a contact point, a limit, a rate with dry friction, a surface under load or a load that jumps, in this order.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from kinpair.compiler.loops.kinds import Integers, Matrix, Vector
from kinpair.constraints.solve.chain import SMALL, VECTORS, largest
from kinpair.constraints.solve.newton import Memory
from kinpair.constraints.solve.residual import BOX, NONE, PART, WIDTH, Problem
from kinpair.constraints.solve.scaling import satisfies, solve_rows
from kinpair.contact.records import Found
from kinpair.simulation.contact.loads import Loaded, write_forms, write_rate_forms, write_surfaces
from kinpair.simulation.contact.rows import (
    GROUPS,
    ROWS,
    Items,
    Moving,
    combine,
    component,
    own_responses,
    point_groups,
    point_rows,
    rate_row,
    relative,
    respond_to,
    responses,
    twists,
    write_group,
)
from kinpair.simulation.contact.tree import Tree, outward

TOLERANCE = 1e-12  # of |F|∞ of the scaled problem
ROUNDING = 1e-14  # of a velocity
PASSES = 12  # of adding points that would be passed


class Contact(NamedTuple):
    """Items of a step: relative velocities (items, 6) before it, without impulses and after it; h (J̇q̇)_n; gap
    (∞ of a place without point), bias and restitution of points and limits; coefficient of friction; impulses
    (items, 6); whether an item is in the problem and whether it rebounds, with the gap to which it then rises."""

    before: Matrix
    ahead: Matrix
    after: Matrix
    drift: Vector
    gap: Vector
    bias: Vector
    restitution: Vector
    mu: Vector
    impulse: Matrix
    inside: Integers
    rebound: Integers
    rise: Vector


class Joints(NamedTuple):
    """Limits: rate, sign of the row and gap; rates with dry friction: least and greatest impulse."""

    rate: Integers  # (limits + frictions,)
    sign: Vector  # (limits,)
    restitution: Vector  # (limits,)
    gap: Vector  # (limits,)
    lower: Vector  # (frictions,)
    upper: Vector  # (frictions,)


def velocities(
    items: Items, f: Found, count: int, W: Matrix, j: Joints, s: Loaded, v: Vector, u: Matrix
) -> None:
    """Compute the relative velocities u (items, 6) of all items at the twists W and the rates v."""
    points = len(f.gap)
    for k in range(count):
        relative(W, items.tip[2 * k], items.tip[2 * k + 1], f.point[k], f.frame[k], u[k])
    for k in range(len(j.rate)):
        sign = j.sign[k] if k < len(j.sign) else 1.0
        u[points + k, 0] = sign * v[j.rate[k]]
    for k in range(len(s.rate)):
        for r in range(s.rows[k]):
            u[points + len(j.rate) + k, r] = s.arm[k, r] * v[s.rate[k] + r]


def place_rows(items: Items, c: Contact) -> int:
    """Number the rows of the items that are in the problem; return the number of rows."""
    n = 0
    for k in range(len(items.first)):
        items.first[k] = -1
        if c.inside[k] == 1:
            items.first[k] = n
            n += items.rows[k]
    return n


def write_rows(
    x: Moving, t: Tree, items: Items, f: Found, j: Joints, s: Loaded, Y: Matrix, A: Matrix
) -> None:
    """Write the rows ŷ of all items in the problem, and what they do to the forms of loads."""
    points, surfaces = len(f.gap), len(f.gap) + len(j.rate)
    for k in range(len(items.first)):
        if items.first[k] < 0:
            continue
        if k < points:
            point_rows(x, t, items, k, f.point[k], f.frame[k], f.work, Y)
            write_forms(x, t, items, k, f.point[k], f.frame[k], f.work, s, A)
        elif k < surfaces:
            sign = j.sign[k - points] if k - points < len(j.sign) else 1.0
            rate_row(x, t, items, k, 0, j.rate[k - points], sign, Y)
            write_rate_forms(x, t, items, k, 0, j.rate[k - points], sign, s, A)
        elif k < surfaces + len(s.rate):
            e = k - surfaces
            for r in range(s.rows[e]):
                rate_row(x, t, items, k, r, s.rate[e] + r, s.arm[e, r], Y)
                write_rate_forms(x, t, items, k, r, s.rate[e] + r, s.arm[e, r], s, A)
        else:
            items.length[k], Y[items.first[k]] = 0, 0.0
            for i in range(len(s.b)):
                A[i, items.first[k]] = 0.0


def write_problem(
    items: Items, c: Contact, f: Found, j: Joints, s: Loaded, materials: Matrix, p: Problem, start: Vector
) -> int:
    """Write g, the groups, the loads and the start of the problem; return the number of groups."""
    points, limits, groups, surfaces = len(f.gap), len(j.sign), 0, len(f.gap) + len(j.rate)
    for k in range(len(items.first)):
        row = items.first[k]
        if row < 0:
            continue
        for r in range(items.rows[k]):
            p.g[row + r] = c.ahead[k, component(r, items.rows[k])]
            start[row + r] = c.impulse[k, r]
        if k < points + limits:  # friction has no gap
            p.g[row] += c.bias[k]
        if k >= surfaces:
            continue
        if k < points:
            material = materials[f.pair[k]]
            groups = point_groups(p.table, p.radii, p.bounds, groups, row, items.rows[k], material, c.mu[k])
        else:
            write_group(p.table, p.radii, groups, BOX, row, 1, NONE, 0.0)
            p.bounds[row, 0], p.bounds[row, 1] = 0.0, math.inf
            if k >= points + limits:
                p.bounds[row, 0] = j.lower[k - points - limits]
                p.bounds[row, 1] = j.upper[k - points - limits]
            groups += 1
    if len(s.rate) > 0 and items.first[surfaces] >= 0:
        groups = write_surfaces(items, surfaces, s, p, groups)
    return groups


def solve_items(
    x: Moving,
    t: Tree,
    items: Items,
    c: Contact,
    f: Found,
    j: Joints,
    s: Loaded,
    materials: Matrix,
    plan: Matrix,
    memory: Vector,
    places: Integers,
    free: Vector,
    rate: Vector,
) -> tuple[float, bool]:
    """Solve for the impulses of the items in the problem and the rates after it; return |F|∞ and whether it is met."""
    n, nv = place_rows(items, c), len(t.parent)
    m, parts, forms = GROUPS * n, 0, 0
    if len(s.rate) > 0 and items.first[len(f.gap) + len(j.rate)] >= 0:
        parts, forms = len(s.weights), len(s.b)
    Y = memory[: n * nv].reshape(n, nv)
    o = n * nv
    D, scaled = memory[o : o + n * n].reshape(n, n), memory[o + n * n : o + 2 * n * n].reshape(n, n)
    o += 2 * n * n
    J, regular = memory[o : o + n * n].reshape(n, n), memory[o + n * n : o + 2 * n * n].reshape(n, n)
    o += 2 * n * n
    part = memory[o : o + n * n + n]
    o += n * n + n
    g, g_scaled, start = memory[o : o + n], memory[o + n : o + 2 * n], memory[o + 2 * n : o + 3 * n]
    o += 3 * n
    radii, radii_scaled = memory[o : o + 3 * m].reshape(m, 3), memory[o + 3 * m : o + 6 * m].reshape(m, 3)
    o += 6 * m
    bounds, bounds_scaled = memory[o : o + 2 * n].reshape(n, 2), memory[o + 2 * n : o + 4 * n].reshape(n, 2)
    o += 4 * n
    vectors, small = (
        memory[o : o + VECTORS * n].reshape(VECTORS, n),
        memory[o + VECTORS * n : o + VECTORS * n + 4 * SMALL],
    )
    o += VECTORS * n + 4 * SMALL
    weights, weights_scaled = (
        memory[o : o + 3 * parts].reshape(parts, 3),
        memory[o + 3 * parts : o + 6 * parts].reshape(parts, 3),
    )
    o += 6 * parts
    b, b_scaled = memory[o : o + forms], memory[o + forms : o + 2 * forms]
    o += 2 * forms
    A, A_scaled = (
        memory[o : o + forms * n].reshape(forms, n),
        memory[o + forms * n : o + 2 * forms * n].reshape(forms, n),
    )
    e = WIDTH * m
    table, pivots, active = places[:e], places[e : e + 2 * n], places[e + 2 * n : e + 3 * n]
    starts, columns = places[e + 3 * n : e + 4 * n + 1], places[e + 4 * n + 1 : e + 4 * n + 1 + n * n]
    counts = places[e + 4 * n + 1 + n * n : e + 4 * n + 3 + n * n]
    shapes = places[e + 4 * n + 3 + n * n : e + 4 * n + 3 + n * n + PART * parts]
    write_rows(x, t, items, f, j, s, Y, A)
    if forms > 0:
        responses(x, t, items, Y, D)
    else:
        own_responses(items, Y, D)
    whole = Problem(D, g, table, radii, bounds, shapes, weights, A, b, starts, columns)
    groups = write_problem(items, c, f, j, s, materials, whole, start)
    p = Problem(D, g, table[: WIDTH * groups], radii[:groups], bounds, shapes, weights, A, b, starts, columns)
    unit = Problem(
        scaled,
        g_scaled,
        table[: WIDTH * groups],
        radii_scaled[:groups],
        bounds_scaled,
        shapes,
        weights_scaled,
        A_scaled,
        b_scaled,
        starts,
        columns,
    )
    work = Memory(vectors, small.reshape(SMALL, 4), J, part, pivots, active, regular, counts, places[:0])
    residual, met = 0.0, False
    if forms == 0 and largest(start) > 0.0:
        combine(items, Y, start, rate)
        respond_to(items, Y, rate, g, vectors[3])
        residual, met = satisfies(p, unit, start, vectors[3], work, TOLERANCE)
    if not met:
        if forms == 0:
            responses(x, t, items, Y, D)
        residual, _, met = solve_rows(p, unit, start, work, plan, TOLERANCE)
        combine(items, Y, start, rate)
    for k in range(len(items.first)):
        for r in range(ROWS):
            c.impulse[k, r] = 0.0
        if items.first[k] >= 0:
            for r in range(items.rows[k]):
                c.impulse[k, r] = start[items.first[k] + r]
    push(x, t, free, rate)
    return residual, met


def push(x: Moving, t: Tree, free: Vector, rate: Vector) -> None:
    """Replace ŷ Λ by the rates v_f + G Jᵀ Λ."""
    outward(x.H, t, rate)
    for i in range(len(free)):
        rate[i] += free[i]


def solve_all(
    x: Moving,
    t: Tree,
    items: Items,
    c: Contact,
    f: Found,
    count: int,
    j: Joints,
    s: Loaded,
    materials: Matrix,
    plan: Matrix,
    memory: Vector,
    places: Integers,
    free: Vector,
    rate: Vector,
    W: Matrix,
) -> tuple[float, bool]:
    """Solve with the items that are in the problem, add those that would be passed, and solve again."""
    residual, met = 0.0, True
    for _ in range(PASSES):
        residual, met = solve_items(x, t, items, c, f, j, s, materials, plan, memory, places, free, rate)
        twists(x.screws, t, rate, W)
        velocities(items, f, count, W, j, s, rate, c.after)
        added = False
        for k in range(len(c.gap)):
            if c.inside[k] == 0 and c.after[k, 0] + c.bias[k] < -ROUNDING * (
                abs(c.after[k, 0]) + abs(c.bias[k])
            ):
                c.inside[k] = 1
                added = True
        if not added:
            break
    return residual, met
