"""Contact between events: what is recorded before and after the loop function `between.hold`."""

from __future__ import annotations

from functools import cache

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.compiler.cache import Store
from kinpair.compiler.loops.functions import LoopFunction, compiled
from kinpair.compiler.time_loop.parts import Solve
from kinpair.contact.records import INTEGERS, MEMORY, OF_GEOM, OF_POINT, WORK
from kinpair.simulation.contact.between import hold
from kinpair.simulation.contact.numbers import ACTIVE, GUARDS, KEPT, SUMS
from kinpair.simulation.contact.prediction import CURVED
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.methods.contact_terms import (
    biases_of,
    friction_efforts,
    geoms_of,
    masses,
    poses_of,
    row_count,
    screws_of,
    tree_of,
)


def size(d: Dynamics) -> int:
    """Return the number of entries of z."""
    assert d.touching is not None
    nv, bodies, points = d.model.nv, len(d.model.parent), d.touching.data.max_contacts
    inputs = 18 * bodies + 6 * nv + nv * nv + 2 * nv + row_count(d) * nv + ACTIVE * d.places
    inputs += len(d.touching.limits) + 4 * len(d.rough_rates)
    return inputs + nv + 1 + GUARDS + KEPT * points


def start(d: Dynamics, time: Scalar, y: Vector, u: Vector) -> Vector:
    """Return z: poses, accelerations, screws, H, rates, q̈ without contact, rows of constraints, gaps of
    limits, least and greatest effort of dry friction at rest and of sliding, closed points."""
    assert d.touching is not None
    state = d.state(time, y, u)
    q, qd = state.q, state.qd
    free, _ = d.accelerations(state, d.loads(time, q, qd, u))
    M, A = masses(d, time, q, qd)
    entries = poses_of(d, q) + [x for row in biases_of(d, q, qd) for x in row]
    entries += [x for screw in screws_of(d, q) for x in screw]
    gaps = [x.gap(q) for x in d.touching.limits]
    efforts = [x for ends in friction_efforts(d, state) for end in ends for x in end]
    entries += [*np.ravel(M), *qd, *free, *np.ravel(A), *gaps, *efforts, *y[d.layout.contact][SUMS:]]
    results = d.model.nv + 1 + GUARDS + KEPT * d.touching.data.max_contacts
    return array([*entries, *np.zeros(results)])


def results(d: Dynamics, z: Vector) -> tuple[Vector, Scalar, Vector, Vector]:
    """Return q̈ (nv,), the power of friction, the guards, and slots and forces of closed points from z."""
    assert d.touching is not None
    nv, points = d.model.nv, d.touching.data.max_contacts
    first = len(z) - nv - 1 - GUARDS - KEPT * points
    guards = z[first + nv + 1 : first + nv + 1 + GUARDS]
    return z[first : first + nv], z[first + nv], guards, z[first + nv + 1 + GUARDS :]


def rate(d: Dynamics, time: Scalar, y: Vector, u: Vector, z: Vector) -> Vector:
    """ẏ, see `Dynamics.rate`, with q̈ and friction of contact."""
    qdd, power, _, _ = results(d, z)
    return d.rate_at(time, y, u, qdd, power)


def watched(d: Dynamics, time: Scalar, y: Vector, u: Vector, z: Vector) -> Vector:
    """Return what is watched at samples, see `Dynamics.watched`, and the forces of closed points."""
    return array([*d.watched(time, y, u), *results(d, z)[3]])


def solve(d: Dynamics) -> Solve:
    """Return the loop function with its constants and memory."""
    assert d.touching is not None
    data, limits = d.touching.data, d.touching.limits
    nv, bodies, n, places = d.model.nv, len(d.model.parent), data.max_contacts, d.places
    rows = 3 * places
    geoms, pairs = len(data.names), len(data.first)
    of_geoms, numbers = geoms_of(data)
    sizes = [nv, bodies, n, row_count(d), geoms, pairs, data.planes, len(data.vertices), len(data.faces)]
    sizes += [len(limits), len(d.rough_rates), d.touching.first_slot]
    memory = OF_POINT * n + OF_GEOM * geoms + 3 * WORK + MEMORY + 6 * nv + CURVED + 16 * places
    memory += rows * nv + 3 * rows * rows + 4 * rows
    wholes = 2 * n + geoms + pairs + INTEGERS + 7 * places + places * nv + 3 * rows
    rates = [*(x.v for x in limits), *d.rough_rates]
    whole = np.array([*sizes, *tree_of(d), *rates, *of_geoms], dtype=np.int64)
    numbers = [*(x.side for x in limits), *numbers]
    return Solve(_code(), np.array(numbers, dtype=float), whole, memory, wholes)


@cache
def _code() -> LoopFunction:
    """Return the loop function as machine code."""
    return compiled(hold, store=Store())
