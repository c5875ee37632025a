"""Wrenches in joints and loops as one matrix, and what constraints do while efforts drive a mechanism; compiled."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import mul

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.algebra.choice import less, where
from kinpair.constraints.quantities.equations import largest
from kinpair.constraints.quantities.multipliers import multipliers
from kinpair.constraints.quantities.solution import solve
from kinpair.constraints.rounding import HOLDS, WIDE_OPEN
from kinpair.constraints.rows import stacked as all_rows
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.constraint import Motion
from kinpair.constraints.rows.joined import Joined
from kinpair.constraints.rows.loads import IN_LOOP, ON_LINK, by_constraint, carried
from kinpair.constraints.rows.rolling import Rolls
from kinpair.evaluation.quantities.dynamics import inverse_dynamics
from kinpair.evaluation.quantities.request import External, Request
from kinpair.evaluation.quantities.wrenches import reactions
from kinpair.model.model import Model
from kinpair.model.state import State


def constrained_wrenches(
    model: Model,
    request: Request,
    q: Vector,
    qd: Vector,
    qdd: Vector,
    tau: Vector,
    time: Vector,
    loads: External,
) -> tuple[Matrix, Scalar]:
    """Wrenches of joints and loops under the efforts tau; and one where the solve needs no closer look, else zero."""
    constraints, at = constraints_of(model), Motion(model, q, time[0], qd)
    rows = all_rows.rows_at(constraints, at)
    needed = inverse_dynamics(model, replace(request, quantity="inverse_dynamics"), q, qd, qdd, loads)
    state = State(q, qd, time=time[0])
    found = multipliers(model, request, state, rows.A, qdd, needed - tau, loads)
    carry = carried(model, constraints, q, time[0], found.lam, loads, request.axes)
    on_links = {name.removeprefix(ON_LINK): w for name, w in carry.items() if name.startswith(ON_LINK)}
    in_loops = [w for name, w in carry.items() if name.startswith(IN_LOOP)]
    tree = reactions(model, replace(request, quantity="reactions"), q, qd, qdd, on_links)
    missed = largest(list(rows.A @ qdd - rows.b))
    gap = largest(list(all_rows.residual_at(constraints, at) / all_rows.scales(model, constraints)))
    good = ((missed, HOLDS * (1.0 + largest(list(qdd)))), (gap, WIDE_OPEN), *found.sound)
    return _stacked([*tree.values(), *in_loops]), reduce(mul, [where(less(a, b), 1.0, 0.0) for a, b in good])


def row_wrenches(model: Model, request: Request, q: Vector, time: Vector) -> Matrix:
    """Wrenches in joints and loops of unit multipliers of all rows (names · 6, rows)."""
    constraints, still = constraints_of(model), np.zeros(model.nv)
    at_rest, asked = replace(model, gravity=np.zeros(3)), replace(request, quantity="reactions")
    columns: list[Vector] = []
    for unit in np.eye(sum(len(x.labels) for x in constraints)):
        carry = carried(model, constraints, q, time[0], unit, {}, request.axes)
        on_links = {name.removeprefix(ON_LINK): w for name, w in carry.items() if name.startswith(ON_LINK)}
        in_loops = [w for name, w in carry.items() if name.startswith(IN_LOOP)]
        tree = reactions(at_rest, asked, q, still, still, on_links)
        columns.append(np.concatenate([*tree.values(), *in_loops]))
    return array([list(x) for x in columns]).T if columns else np.zeros((0, 0))


def constraint_forces(
    model: Model, request: Request, q: Vector, qd: Vector, tau: Vector, time: Vector, loads: External
) -> tuple[Vector, Vector, Vector, Matrix, Matrix, Matrix, Scalar]:
    """q̈; λ of every row and how much of it others could carry, see `Multipliers`; wrenches on the children (joined, 6),
    points (joined, 3) and contacts (rolling, 3); and one where nothing needs a closer look, else zero."""
    state = State(q, qd, tau=tau, time=time[0])
    solution = solve(model, request, state, loads)
    x = solution.equations
    found = multipliers(model, request, state, x.every.A, solution.qdd, x.M @ solution.qdd - x.F, loads)
    wrenches, points, contacts = list[Vector](), list[Vector](), list[Vector]()
    for _, constraint, own in by_constraint(constraints_of(model), found.lam):
        if isinstance(constraint, Joined):
            S, M = (x.at.pose(place) for place in constraint.places(model))
            wrenches.append(constraint.wrenches(S, M, time[0]).M.T @ own)
            points.append(M.a)
            if isinstance(constraint, Rolls):
                contacts.append(M.a + constraint.rho(S, M))
    sound = reduce(mul, [where(less(a, b), 1.0, 0.0) for a, b in found.sound], solution.soundness[1])
    places = (_stacked(wrenches), _stacked(points, 3), _stacked(contacts, 3))
    return solution.qdd, found.lam, found.shared, *places, sound


def _stacked(vectors: list[Vector], size: int = 6) -> Matrix:
    return array([list(x) for x in vectors]) if vectors else np.zeros((0, size))
