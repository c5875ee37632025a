"""Overlaps that a step finds: reduced by a displacement, where that takes energy out. Loop functions.

    φ_k < −`DEEP` and (J q̈_0)_k ≥ 0:   least δᵀ M δ with J δ ≥ `SHARE` (−φ − `DEEP`), gaps of all others kept    (CN19)
    −ΔV = f·δ = M q̈_0·δ ≥ 0                                                                                  (CN20)

q̈_0 are accelerations at rest without contact. A point that forces press together is not moved: to lift it would need
work. δ changes no rate. Its energy is a loss of the run.
"""

from __future__ import annotations

from kinpair.compiler.loops.kinds import Integers, Matrix, Vector
from kinpair.contact.records import Found
from kinpair.simulation.contact.closing import force_work
from kinpair.simulation.contact.items import Contact, Joints, solve_all, velocities
from kinpair.simulation.contact.loads import Loaded
from kinpair.simulation.contact.rows import Items, Moving, twists
from kinpair.simulation.contact.tree import Tree

DEEP = 1e-4  # [m]: overlaps up to this are not reduced
SHARE = 0.2  # of what is beyond it, in one step
PRESSED = 1e-9  # of the accelerations at rest: a normal acceleration below this is rounding


def separable(c: Contact, count: int, still: Vector) -> bool:
    """Choose the overlaps to be reduced, and write the bias of all points and limits; True if there is one.    (CN19)

    `c.ahead` has the relative velocities at the rates `still`, what forces at rest do in a step.
    """
    size, chosen = 0.0, False
    for k in range(len(still)):
        size = max(size, abs(still[k]))
    for k in range(len(c.gap)):
        c.bias[k] = max(c.gap[k], 0.0)
        if k < count and c.gap[k] < -DEEP and c.ahead[k, 0] >= -PRESSED * size:
            c.bias[k] = SHARE * (c.gap[k] + DEEP)
            c.inside[k] = 1
            chosen = True
    return chosen


def separate(
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
    shift: Vector,
    dt: float,
) -> tuple[float, float]:
    """Write the displacement (nv,); return the energy that it takes out, and the greatest reduction of an overlap [m].

    `rates` as of `closing.solve_step`; its rows of v_f and v⁺ are used up.
    """
    shift[:] = 0.0
    deepest = 0.0
    for k in range(count):
        deepest = min(deepest, c.gap[k])
    if deepest >= -DEEP:
        return 0.0, 0.0
    twists(x.screws, t, rates[5], W)
    velocities(items, f, count, W, j, s, rates[5], c.ahead)
    c.inside[:], c.impulse[:] = 0, 0.0
    if not separable(c, count, rates[5]):
        return 0.0, 0.0
    for k in range(len(f.gap)):
        items.rows[k] = min(items.rows[k], 1)
    c.ahead[:], rates[1] = 0.0, 0.0
    _, met = solve_all(x, t, items, c, f, count, j, s, materials, plan, memory, places, rates[1], rates[2], W)
    released = force_work(x.H, t, rates, rates[2]) / dt
    if not met or released < 0.0:
        return 0.0, 0.0
    shift[:] = rates[2]
    reduced = 0.0
    for k in range(count):
        if c.bias[k] < 0.0:
            reduced = max(reduced, c.after[k, 0])
    return released, reduced
