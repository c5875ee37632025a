"""Row groups of dry friction and limits, and accelerations with phases that are given: what exported code needs to
decide phases by itself.

    c = J q̈ + γ,   φ ≥ 0 of limits,   lo ≤ λ ≤ hi of groups of friction                         see (NS1), (NS2)

Rows are in the order of `m.row_groups`: groups of dry friction with a row for each rate, then limits. A group slides by
its rates, a sleeve by its turning times the radius. J does not depend on q, so γ = J̇q̇ is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.constraints.quantities.equations import free_terms
from kinpair.constraints.quantities.solution import solve
from kinpair.constraints.rows.build import constraints_of
from kinpair.evaluation.quantities.dynamics import held_motion
from kinpair.evaluation.quantities.friction import levels_from_load
from kinpair.evaluation.quantities.request import Request
from kinpair.forces.elements import acting
from kinpair.forces.states import Group, sticking_groups
from kinpair.friction.loads.dynamics import is_loaded
from kinpair.friction.surfaces.table import surfaces_of
from kinpair.model.model import Model
from kinpair.model.slip import Slip
from kinpair.model.state import State


class RowGroups(NamedTuple):
    """M (nv, nv) and f (nv,) of M q̈ = f + Aᵀμ + Jᵀλ, without dry friction; J (rows, nv), γ (rows,), φ (limits,)."""

    M: Matrix
    f: Vector
    J: Matrix
    gamma: Vector
    phi: Vector


class InPhases(NamedTuple):
    """q̈ (nv,), the efforts (nv,) by which rates are locked, and the least and the greatest effort of friction on each
    group, at rest and as it begins to slide (4, groups)."""

    qdd: Vector
    holding: Vector
    R: Matrix


def limited(model: Model) -> list[tuple[str, int, float, float]]:
    """Return the limits of coordinates with a rate of their own: name, rate, side (1: lower, −1: upper), place."""
    found = list[tuple[str, int, float, float]]()
    for i in model.moving:
        q, v = model.q_span[i], model.v_span[i]
        if q.stop - q.start != v.stop - v.start:
            continue
        for k, n in zip(range(model.nq)[q], range(model.nv)[v], strict=True):
            ends = (("lower", 1.0, model.joints.lower[k]), ("upper", -1.0, model.joints.upper[k]))
            name = model.q_names[k]
            found += [(f"{name} at its {w} limit", n, s, float(x)) for w, s, x in ends if np.isfinite(x)]
    return found


def row_names(model: Model) -> tuple[str, ...]:
    """Return the names of all rows: of a group with several rates one after the other."""
    groups = (x.name for x in sticking_groups(model) for _ in x.rates)
    return *groups, *(name for name, *_ in limited(model))


def _arms(model: Model, group: Group) -> Sequence[Scalar]:
    """Return how fast a group slides by each of its rates."""
    if len(group.rates) == 1:
        return [1.0]
    own = next(x for x in surfaces_of(model) if model.v_span[x.body].start == group.rates[0])
    return list(np.diag(own.sliding()))


def row_groups(
    model: Model, request: Request, q: Vector, qd: Vector, tau: Vector, time: Vector, loads: Any
) -> RowGroups:
    """Compute the parts of the problem of phases at a state."""
    nothing = np.zeros(model.nv)
    state = State(q, qd, tau=tau, time=time[0])
    M, f = free_terms(replace(model, slip=Slip(nothing, nothing)), request, state, loads)
    rows = list[Vector]()
    for group in sticking_groups(model):
        units = np.eye(model.nv)[list(group.rates)]
        rows += [array([a * x for x in unit]) for a, unit in zip(_arms(model, group), units, strict=True)]
    ends = limited(model)
    rows += [side * np.eye(model.nv)[v] for _, v, side, _ in ends]
    place = {v: k for i in model.moving for k, v in _pairs(model, i)}
    phi = [side * (q[place[v]] - at) for _, v, side, at in ends]
    J = array([list(row) for row in rows]) if rows else np.zeros((0, model.nv))
    return RowGroups(M, f, J, np.zeros(len(rows)), array(phi) if phi else np.zeros(0))


def _pairs(model: Model, i: int) -> list[tuple[int, int]]:
    q, v = range(model.nq)[model.q_span[i]], range(model.nv)[model.v_span[i]]
    return list(zip(q, v, strict=False))


def forward_dynamics_in_phases(
    model: Model,
    request: Request,
    q: Vector,
    qd: Vector,
    tau: Vector,
    share: Vector,
    held: Vector,
    time: Vector,
    loads: Any,
) -> InPhases:
    """Compute accelerations with phases given: `held` (nv,) is 1 of a rate at rest or at a closed limit, else 0;
    `share` (nv,) the direction of sliding of the others."""
    model = replace(model, slip=Slip(share, held), time=time[0])
    state, passive = State(q, qd, tau=tau, time=time[0]), request.passive
    loaded = is_loaded(model, passive=passive)
    if constraints_of(model):
        x = solve(model, request, state, loads)
        qdd, holding, from_load = x.qdd, x.holding, x.levels(state) if loaded else None
    else:
        qdd, holding = held_motion(model, request, state, loads)
        from_load = levels_from_load(model, request, state, loads) if loaded else None
    first = [x.rates[0] for x in sticking_groups(model)]
    sums = bounds_of(model, state, first, from_load, passive=passive)
    return InPhases(
        qdd, holding, array([[own[k] for k in first] for own in sums]) if first else np.zeros((4, 0))
    )


def bounds_of(
    model: Model, state: State, rates: Sequence[int], from_load: Any, *, passive: bool
) -> list[dict[int, Any]]:
    """Return the least and the greatest effort of friction on rates, at rest and as they begin to slide.

    from_load: friction from load of each rate (nv,), that may hold it and that it begins to slide with; None.
    """
    sums: list[dict[int, Any]] = [dict.fromkeys(rates, 0.0) for _ in range(4)]
    for x, at in acting(model, state, passive=passive):
        for n, bounds in enumerate((x.element.holds(at), x.element.slides(at))):
            for k, (lo, hi) in bounds.items():
                sums[2 * n][k] = sums[2 * n][k] + lo
                sums[2 * n + 1][k] = sums[2 * n + 1][k] + hi
    for n, bound in enumerate(() if from_load is None else from_load):
        for k in rates:
            sums[2 * n][k] = sums[2 * n][k] - bound[k]
            sums[2 * n + 1][k] = sums[2 * n + 1][k] + bound[k]
    return sums
