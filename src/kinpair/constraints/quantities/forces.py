"""What the constraints do while efforts drive the mechanism, compiled: multipliers, wrenches, and where they act."""

from __future__ import annotations

from functools import reduce
from operator import mul

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.algebra.choice import less, where
from kinpair.constraints.quantities.sharing import multipliers
from kinpair.constraints.quantities.solution import solve
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.joined import Joined
from kinpair.constraints.rows.loads import by_constraint
from kinpair.constraints.rows.rolling import Rolls
from kinpair.model.model import Model
from kinpair.model.state import State
from kinpair.quantities import External, Request


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
    places = (_stacked(wrenches, 6), _stacked(points, 3), _stacked(contacts, 3))
    return solution.qdd, found.lam, found.shared, *places, sound


def _stacked(vectors: list[Vector], size: int) -> Matrix:
    return array([list(x) for x in vectors]) if vectors else np.zeros((0, size))
