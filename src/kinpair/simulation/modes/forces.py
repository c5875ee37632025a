"""Forces that events watch: multipliers of rows of constraints and reactions in joints, of the mode in force."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from kinpair import quantities
from kinpair.algebra.arrays import Vector
from kinpair.constraints import quantities as constrained
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.loads import ON_LINK, carried
from kinpair.model.state import State
from kinpair.simulation.dynamics import Dynamics


def forces(d: Dynamics, names: Collection[str], state: State, u: Vector) -> dict[str, Any]:
    """By name: zero for a row that does not hold, or that others imply and no compliance shares."""
    q, qd, time = state.q, state.qd, state.time
    loads = d.loads(time, q, qd, u)
    qdd, lam = _solved(d, state, loads)
    constraints = constraints_of(d.model)
    rows = [row for x in constraints for row in x.row_names]
    known: dict[str, Any] = dict(zip(rows, lam, strict=True))
    if not set(names) <= set(rows):
        on_links = carried(d.model, constraints, q, time, lam, loads)
        acting = {x.removeprefix(ON_LINK): w for x, w in on_links.items() if x.startswith(ON_LINK)}
        request = quantities.request_of("reactions", passive=d.passive)
        known = {**quantities.reactions(d.model, request, q, qd, qdd, acting), **known}
    if d.stops and d.model.slip is not None:
        efforts = d.held_motion(state, loads)[1]
        known |= {x.label: x.side * efforts[x.v] for x in d.stops}
    return {name: known.get(name, 0.0) for name in names}


def _solved(d: Dynamics, state: State, loads: dict[str, Vector]) -> tuple[Vector, Vector]:
    """q̈, and the multipliers of all rows."""
    own = d.enforcement
    if own is None:
        return quantities.accelerations(d.model, d.request, state, loads)[0], np.zeros(0)
    request = own.own(d.request)
    solution = constrained.solve(d.model, request, state, loads, mu=own.mu)
    qdd = solution.qdd
    return qdd, constrained.shared_multipliers(
        d.model, request, state, qdd, solution.lam, loads, changing=bool(own.mu)
    )
