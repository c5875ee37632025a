"""Friction from load in a time step: radii that depend on the impulses of all items. Loop functions.

    r = h L + Σ weight ‖A Λ + b‖,   b: of the motion without impulses                                      (CN22)
    A = ŵ·ŷ − φ·(m, f) + E,   ŵ = (1 − Qᵀ Q) ŷ_Q − Qᵀ R⁻¹ Lᵀ                                               (CN23)

ŷ_Q is the row of the forms by rates; R⁻¹ L the multipliers of loops by impulses, with the rows R Q of the constraints;
a contact point pushes the bodies behind a joint with the screw (m, f), which the wrench φ of a form takes up. A load
that jumps has a row θ of its own, which no mass answers: see (NS11).
"""

from __future__ import annotations

from typing import NamedTuple

from kinpair.compiler.loops.kinds import Integers, Matrix, Vector
from kinpair.constraints.solve.residual import (
    BOX,
    DISC,
    JUMP,
    LIMIT,
    LINEAR,
    LOAD,
    LOADS,
    LOWER,
    NONE,
    PART,
    WIDTH,
    Problem,
)
from kinpair.simulation.contact.rows import Items, Moving, component, point_row, write_group
from kinpair.simulation.contact.tree import Tree, eliminate, respond

JUMPS = 3  # shape of a part beyond those of `residual`: it jumps
OWN = 3  # rows of a surface at most


class Loaded(NamedTuple):
    """Surfaces: first rate, rows, first part; parts: shape, first form; forms: surface, first rate of its joint. Arms
    (surfaces, 3), ends (surfaces, 2), weights and limits (parts, 3), ŵ (forms, nv), φ (forms, 6), E (forms, 3), b."""

    rate: Integers
    rows: Integers
    part: Integers
    shape: Integers
    form: Integers
    surface: Integers
    root: Integers
    arm: Matrix
    ends: Matrix
    weights: Matrix
    W: Matrix
    screw: Matrix
    own: Matrix
    b: Vector
    work: Vector


def answer_to_motion(
    x: Moving, t: Tree, s: Loaded, L: Matrix, held: Vector, damping: Vector, before: Vector, free: Vector
) -> None:
    """Turn the rows of all forms into ŵ, and add the multipliers of the motion without impulses to b.    (CN23)

    L: R⁻¹ L (rank, forms); held: r (nv,) of (CN21); free: v_f (nv,) without implicit damping.
    """
    work = s.work
    respond(x.H, t, t.inward, held)
    for k in range(len(work)):
        work[k] = damping[k] * (free[k] - before[k])
    respond(x.H, t, t.inward, work)
    for i in range(len(s.b)):
        respond(x.H, t, t.inward, s.W[i])
        eliminate(x.Q, 0, len(x.Q), s.W[i])
        for r in range(len(x.Q)):
            for k in range(len(work)):
                s.b[i] += L[r, i] * x.Q[r, k] * held[k]
                s.W[i, k] -= L[r, i] * x.Q[r, k]
        for k in range(len(work)):
            s.b[i] -= s.W[i, k] * work[k]


def moves_joint(t: Tree, tip: int, root: int) -> bool:
    """True if a tip is behind the joint whose first rate is `root`."""
    k = tip
    while k >= 0:
        if k == root:
            return True
        k = t.parent[k]
    return False


def write_forms(
    x: Moving, t: Tree, items: Items, k: int, c: Vector, frame: Vector, work: Matrix, s: Loaded, A: Matrix
) -> None:
    """Write what the rows of contact point k do to all forms.    (CN23)"""
    a, b, y = items.tip[2 * k], items.tip[2 * k + 1], s.work
    for r in range(items.rows[k]):
        axis = component(r, items.rows[k]) % 3
        point_row(x, t, a, b, c, frame[3 * axis : 3 * axis + 3], r >= 3, work, y)
        respond(x.H, t, t.inward, y)
        for i in range(len(s.b)):
            total, sign = 0.0, 0.0
            for e in range(len(y)):
                total += s.W[i, e] * y[e]
            sign += 1.0 if moves_joint(t, a, s.root[i]) else 0.0
            sign -= 1.0 if moves_joint(t, b, s.root[i]) else 0.0
            for e in range(3):
                total -= sign * (s.screw[i, e] * work[0, e] + s.screw[i, 3 + e] * work[1, e])
            A[i, items.first[k] + r] = total


def write_rate_forms(
    x: Moving, t: Tree, items: Items, k: int, r: int, rate: int, factor: float, s: Loaded, A: Matrix
) -> None:
    """Write what row r of item k, an effort on a rate, does to all forms."""
    s.work[:] = 0.0
    s.work[rate] = factor
    respond(x.H, t, t.inward, s.work)
    for i in range(len(s.b)):
        total = 0.0
        for e in range(len(s.work)):
            total += s.W[i, e] * s.work[e]
        A[i, items.first[k] + r] = total


def write_surfaces(items: Items, first: int, s: Loaded, p: Problem, groups: int) -> int:
    """Write the groups, loads and rows θ of all surfaces, whose items begin at `first`; return the number of groups.

    D and A have the rows of all items.
    """
    jump, part = first + len(s.rate), 0
    for k in range(len(s.rate)):
        row, count = items.first[first + k], s.rows[k]
        write_group(p.table, p.radii, groups, BOX if count == 1 else DISC, row, count, NONE, 0.0)
        p.radii[groups, LOWER] = s.ends[k, 0] if count > 1 else 0.0
        if count == 1:
            p.bounds[row, 0], p.bounds[row, 1] = -s.ends[k, 0], s.ends[k, 1]
        p.table[WIDTH * groups + LOAD] = part
        p.table[WIDTH * groups + LOADS] = s.part[k + 1] - s.part[k]
        for n in range(s.part[k], s.part[k + 1]):
            p.weights[n] = s.weights[n]
            p.parts[PART * n], p.parts[PART * n + 1] = s.shape[n], s.form[n]
            p.parts[PART * n + 2] = s.form[n + 1] - s.form[n]
            for i in range(s.form[n], s.form[n + 1]):
                p.b[i] = s.b[i]
                for r in range(count):
                    p.A[i, row + r] += s.own[i, r]
            if s.shape[n] == JUMPS:
                jump_row(items.first[jump], s.form[n], s.weights[n, LIMIT], p)
                p.parts[PART * n] = LINEAR
                jump += 1
        part = s.part[k + 1]
        groups += 1
    for k in range(first + len(s.rate), jump):
        write_group(p.table, p.radii, groups, JUMP, items.first[k], 1, NONE, 0.0)
        p.bounds[items.first[k], 0], p.bounds[items.first[k], 1] = 0.0, 1.0
        groups += 1
    return groups


def jump_row(row: int, i: int, limit: float, p: Problem) -> None:
    """Write c_θ = limit − y with y the form i, which is θ from here on.    (NS11)"""
    p.g[row] = limit - p.b[i]
    for e in range(len(p.g)):
        p.D[row, e] = -p.A[i, e]
        p.A[i, e] = 0.0
    p.A[i, row], p.b[i] = 1.0, 0.0
