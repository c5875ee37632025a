"""Items that close in a step: bias, restitution, θ of positions, energy. Loop functions.

    bias = φ/h where φ > 0,   0 where φ ≤ 0, of tangents and of friction in joints                           (CN4)
    q⁺ = q ⊕ h (θ v⁺ + (1 − θ) v⁻),   θ = 1 for rates of a point that closes in the step                    (CN6)
    Λᵀ (θ u⁺ + (1 − θ) u⁻) ≤ 0 of friction in joints, which else would do work where it reverses            (CN24)
    ΔT = Σ Λᵀ (u⁺ + u⁻)/2 ≤ 0,   ΔE = ΔT − h f·(θ − ½)(v⁺ − v⁻)                                       (CN5), (CN8)

A point with restitution that closes in the step is solved again with its rebound (CN10). Where friction and restitution
together would add energy, all e are reduced by the factor β ∈ [0, 1] for which they do not.
"""

from __future__ import annotations

import math

from kinpair.compiler.loops.kinds import Integers, Matrix, Vector
from kinpair.contact.records import Found
from kinpair.simulation.contact.items import (
    Contact,
    Joints,
    place_rows,
    push,
    solve_all,
    velocities,
    write_rows,
)
from kinpair.simulation.contact.loads import Loaded
from kinpair.simulation.contact.rows import ROWS, Items, Moving, combine, component, twists
from kinpair.simulation.contact.tree import Tree, eliminate, outward, respond

REST = 1e-9  # of Σ |J_k v_k|: a velocity below this is rounding
HALVINGS = 30  # of β
FROZEN = 16  # numbers of an item whose impulses are known: key, kind, μ, impulses (6), c (6), place
CLOSED, OPENED, REBOUNDS = range(3)
SLOW = 0.1  # of what forces do to the approach in the step: what is slower does not close


def energy_added(items: Items, c: Contact, first: int, last: int) -> float:
    """Compute ΔT that some rows of the impulses of all items cause.    (CN5)"""
    total = 0.0
    for k in range(len(items.first)):
        if items.first[k] >= 0:
            for r in range(min(first, items.rows[k]), min(last, items.rows[k])):
                i = component(r, items.rows[k])
                total += 0.5 * c.impulse[k, r] * (c.before[k, i] + c.after[k, i])
    return total


def set_bias(c: Contact, dt: float) -> None:
    """Write the bias of items that do not rebound.    (CN4)"""
    for k in range(len(c.gap)):
        c.bias[k] = c.gap[k] / dt - 0.5 * c.drift[k] if c.gap[k] > 0.0 else 0.0
        c.rebound[k] = 0


def time_to_close(gap: float, speed: float, acceleration: float, dt: float) -> float:
    """Compute the time t ≤ dt at which gap + speed t + acceleration t²/2 falls to zero; dt if it does not."""
    if gap <= 0.0:
        return 0.0
    root = speed * speed - 2.0 * acceleration * gap
    if root < 0.0 or not math.sqrt(root) - speed > 0.0:
        return dt
    return min(2.0 * gap / (math.sqrt(root) - speed), dt)


def rebounds(c: Contact, dt: float, beta: float) -> bool:
    """Give items that close in the step their rebound; True if there is one.

        u⁺ = −e (u⁻ + a t) + a (h − t),   a = (u_f − u⁻)/h,   t: when the gap closes                        (CN10)

    A rebound that is slower than what forces do to it in a step is none: the item comes to rest in the step.
    """
    changed = False
    for k in range(len(c.gap)):
        closes = c.impulse[k, 0] > 0.0 or c.rebound[k] == 1
        if not closes or not c.before[k, 0] < 0.0 or not c.restitution[k] > 0.0:
            continue
        a = (c.ahead[k, 0] - c.before[k, 0]) / dt
        t = time_to_close(c.gap[k], c.before[k, 0], a, dt)
        speed = -beta * c.restitution[k] * (c.before[k, 0] + a * t)
        if speed > abs(a) * dt:
            c.bias[k] = -(speed + a * (dt - t))
            c.rise[k] = speed * (dt - t) + 0.5 * a * (dt - t) * (dt - t)
            c.rebound[k] = 1
            changed = True
    return changed


def write_theta(
    items: Items, t: Tree, c: Contact, small: Vector, dt: float, joined: bool, theta: Vector
) -> None:
    """Raise θ of the rates of items that close or rebound in the step.    (CN6)

    All rates of a tree have one θ, and trees that push each other, too: so closed points stay closed. Constraints join
    all trees.
    """
    for k in range(len(c.gap)):
        if items.first[k] < 0 or not c.impulse[k, 0] > 0.0:
            continue
        before, part = c.before[k, 0], 0.0
        if c.rebound[k] == 1 and c.after[k, 0] > before:
            part = (c.rise[k] - max(c.gap[k], 0.0) - dt * before) / (dt * (c.after[k, 0] - before))
        elif -before > max(small[k], SLOW * abs(c.ahead[k, 0] - before)):
            part = 1.0
        raise_tree(t, items.tip[2 * k], min(part, 1.0), joined, theta)
        raise_tree(t, items.tip[2 * k + 1], min(part, 1.0), joined, theta)
    for k in range(len(c.gap), len(items.first)):
        if items.first[k] >= 0:
            raise_tree(t, items.tip[2 * k], reversal(items, c, k), joined, theta)
    changed = True
    while changed:
        changed = False
        for k in range(len(c.gap)):
            a, b = items.tip[2 * k], items.tip[2 * k + 1]
            if items.first[k] >= 0 and c.impulse[k, 0] > 0.0 and a >= 0 and b >= 0 and theta[a] != theta[b]:
                largest = float(max(theta[a], theta[b]))
                raise_tree(t, a, largest, joined, theta)
                raise_tree(t, b, largest, joined, theta)
                changed = True


def reversal(items: Items, c: Contact, k: int) -> float:
    """Compute the least θ at which friction of a joint that reverses or stops in the step does no work.    (CN24)"""
    first, last, size, change = 0.0, 0.0, 0.0, 0.0
    for r in range(items.rows[k]):
        first += c.impulse[k, r] * c.before[k, r]
        last += c.impulse[k, r] * c.after[k, r]
        size += c.before[k, r] * c.before[k, r]
        change += (c.ahead[k, r] - c.before[k, r]) * (c.ahead[k, r] - c.before[k, r])
    if not first > 0.0 or size <= REST * REST * change:
        return 0.0
    return first / (first - min(last, 0.0))


def raise_tree(t: Tree, tip: int, part: float, joined: bool, theta: Vector) -> None:
    """Raise θ of all rates of the tree of a rate, or of all rates that constraints join."""
    if tip < 0:
        return
    for k in range(len(theta)):
        if joined or t.root[k] == t.root[tip]:
            theta[k] = max(theta[k], part)


def frozen_step(
    x: Moving,
    t: Tree,
    items: Items,
    c: Contact,
    f: Found,
    count: int,
    j: Joints,
    s: Loaded,
    memory: Vector,
    frozen: Matrix,
    rates: Matrix,
    W: Matrix,
    small: Vector,
    theta_0: float,
    dt: float,
) -> bool:
    """Take a step with impulses that are known, and write c = u⁺ + bias of their rows; False where a point is missing.

    `frozen` (items, FROZEN) has for each item its slot + 1, or minus its place among limits and rates with friction, 1
    onwards; whether it closes (OPENED), rests (CLOSED) or rebounds; μ; impulses (6), and room for c (6).
    """
    points = len(f.gap)
    c.inside[:], c.impulse[:] = 0, 0.0
    set_bias(c, dt)
    for i in range(len(frozen)):
        key, k = int(frozen[i, 0]), -1
        if key == 0:
            continue
        if key < 0:
            k = points - key - 1
        for e in range(count):
            if f.slot[e] == key - 1:
                k = e
        if k < 0:
            return False
        c.inside[k], c.mu[k] = 1, frozen[i, 2]
        for r in range(ROWS):
            c.impulse[k, r] = frozen[i, 3 + r]
        if k < len(c.gap):
            c.bias[k] = c.gap[k] / dt - 0.5 * c.drift[k] if frozen[i, 1] == OPENED else 0.0
            c.rebound[k] = 1 if frozen[i, 1] == REBOUNDS else 0
        frozen[i, FROZEN - 1] = float(k)
    rebounds(c, dt, 1.0)
    n = place_rows(items, c)
    Y = memory[: n * rates.shape[1]].reshape(n, rates.shape[1])
    write_rows(x, t, items, f, j, s, Y, Y[:0])
    start = memory[n * rates.shape[1] : n * rates.shape[1] + n]
    for k in range(len(items.first)):
        if items.first[k] >= 0:
            for r in range(items.rows[k]):
                start[items.first[k] + r] = c.impulse[k, r]
    combine(items, Y, start, rates[2])
    push(x, t, rates[1], rates[2])
    twists(x.screws, t, rates[2], W)
    velocities(items, f, count, W, j, s, rates[2], c.after)
    rates[3] = theta_0
    write_theta(items, t, c, small, dt, len(x.Q) > 0, rates[3])
    for i in range(len(frozen)):
        if frozen[i, 0] != 0.0:
            k = int(frozen[i, FROZEN - 1])
            for r in range(items.rows[k]):
                frozen[i, 9 + r] = c.after[k, component(r, items.rows[k])]
            if k < len(c.gap):
                frozen[i, 9] += c.bias[k]
    return True


def damp(x: Moving, t: Tree, rates: Matrix) -> None:
    """Replace v_f without implicit damping by v_f − (M + h C)⁻¹ h C (v_f − v⁻), constraints eliminated.    (CN18)"""
    before, free, work, damping = rates[0], rates[1], rates[4], rates[6]
    damped = False
    for k in range(len(free)):
        work[k] = damping[k] * (free[k] - before[k])
        damped = damped or work[k] != 0.0
    if damped:
        respond(x.H, t, t.inward, work)
        eliminate(x.Q, 0, len(x.Q), work)
        outward(x.H, t, work)
        for k in range(len(free)):
            free[k] -= work[k]


def shifted_work(H: Matrix, t: Tree, rates: Matrix) -> float:
    """Compute h f·(θ − ½)(v⁺ − v⁻): what forces do more along q⁺ − q than along the mean rate.    (CN8)"""
    before, rate, theta, shift = rates[0], rates[2], rates[3], rates[7]
    for k in range(len(before)):
        shift[k] = (theta[k] - 0.5) * (rate[k] - before[k])
    return force_work(H, t, rates, shift)


def force_work(H: Matrix, t: Tree, rates: Matrix, shift: Vector) -> float:
    """Compute h f·shift of forces at rest f = M q̈(q_θ, 0)."""
    work, still, damping = rates[4], rates[5], rates[6]
    total = 0.0
    for k in range(len(still)):  # Δ L h q̈(q_θ, 0), less that of h C
        total -= damping[k] * still[k] * shift[k]
        work[k] = still[k]
        i = t.parent[k]
        while i >= 0:
            work[k] += H[k, i] * still[i]
            i = t.parent[i]
        work[k] *= H[k, k]
    for k in range(len(still)):  # shiftᵀ Lᵀ Δ L h q̈(q_θ, 0)
        total += work[k] * shift[k]
        i = t.parent[k]
        while i >= 0:
            total += H[k, i] * work[k] * shift[i]
            i = t.parent[i]
    return total


def solve_step(
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
    rates: Matrix,
    W: Matrix,
    small: Vector,
    theta_0: float,
    dt: float,
) -> tuple[float, bool]:
    """Solve a step with restitution; all e are reduced where they would add energy.

    `rates` has v⁻, v_f, v⁺, θ, working memory, what forces at rest do in the step, h q̈(q_θ, 0), h C, working memory.
    """
    set_bias(c, dt)
    for k in range(len(c.gap)):
        if c.ahead[k, 0] + c.bias[k] < 0.0:
            c.inside[k] = 1
    low, high, beta, residual, met = 0.0, 1.0, 1.0, 0.0, True
    for trial in range(HALVINGS):
        residual, met = solve_all(
            x, t, items, c, f, count, j, s, materials, plan, memory, places, rates[1], rates[2], W
        )
        if trial == 0 and rebounds(c, dt, beta):
            residual, met = solve_all(
                x, t, items, c, f, count, j, s, materials, plan, memory, places, rates[1], rates[2], W
            )
        rates[3] = theta_0
        write_theta(items, t, c, small, dt, len(x.Q) > 0, rates[3])
        elastic, size = False, 0.0
        for k in range(len(c.gap)):
            elastic = elastic or c.rebound[k] == 1
            size += abs(c.impulse[k, 0] * c.before[k, 0])
        added = energy_added(items, c, 0, ROWS) - shifted_work(x.H, t, rates)
        if not elastic or (added <= REST * size and high == 1.0):
            break
        if added <= REST * size:
            low = beta
        else:
            high = beta
        beta = 0.5 * (low + high) if trial < HALVINGS - 3 else low
        set_bias(c, dt)
        for k in range(len(c.gap)):
            c.rebound[k] = 1
        rebounds(c, dt, beta)
    return residual, met
