"""Efforts of chosen actuators that make a motion under constraints, by the rates that an embedding leaves free.

    B = ZᵀS,   τ = Bᵀ (B Bᵀ)⁻¹ Zᵀ r                    r = M q̈ − F; the least of (CI2)             (CE1)

Z is that of (CS7). The efforts do not depend on which rates it calls independent.
"""

from __future__ import annotations

from functools import reduce
from operator import mul

import numpy as np

from kinpair.algebra import ldl
from kinpair.algebra.arrays import Scalar, Vector, array, symmetric
from kinpair.algebra.choice import less, where
from kinpair.constraints.quantities.equations import Equations, equations, largest
from kinpair.constraints.quantities.solution import EMBEDDED_SOUND, HOLDS, WIDE_OPEN
from kinpair.constraints.rows import stacked as all_rows
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.solvers.embedding import parts, virtual
from kinpair.constraints.solvers.problem import soundest
from kinpair.model.model import Model
from kinpair.model.state import State
from kinpair.quantities import External, Request

REACHED = 1e-5  # a pivot of B Bᵀ below this part of its entry: the actuators hardly reach a motion
EMPTY = 1e-12  # so long counts a row that says nothing


def actuator_efforts(
    model: Model, request: Request, q: Vector, qd: Vector, qdd: Vector, time: Vector, loads: External
) -> tuple[Vector, Scalar]:
    """τ of the rates `request.actuated`, zero elsewhere; and one where nothing needs a closer look, else zero."""
    state = State(q, qd, tau=np.zeros(model.nv), time=time[0])
    x = equations(model, request, state, loads)
    problem = x.problem(request)
    embedded = parts(problem)
    Z = virtual(problem, embedded)
    B = Z[list(request.actuated)].T
    weights = symmetric(B @ B.T)
    factors = ldl.factor(weights)
    own = B.T @ ldl.solve_factored(factors, Z.T @ (x.M @ qdd - x.F))  # (CE1)
    by_rate = dict(zip(request.actuated, own, strict=True))
    tau = array([by_rate.get(k, 0.0) for k in range(model.nv)])
    of_rows = soundest(
        [np.abs(d) for d in embedded.A1.D], [np.sqrt(row @ row) for row in x.A[list(request.rows)]]
    )
    of_reach = soundest(factors.D, [weights[k, k] for k in range(len(weights))])
    measures = [
        (EMBEDDED_SOUND, of_rows),
        (REACHED, of_reach),
        *_obeyed(x, qdd),
        (largest(list(tau)), np.inf),
    ]
    return tau, reduce(mul, [where(less(low, high), 1.0, 0.0) for low, high in measures])


def _obeyed(x: Equations, qdd: Vector) -> list[tuple[Scalar, Scalar]]:
    """What must be less than what: how far the loops are open, and by how much the accelerations break each row."""
    model = x.at.model
    gap = largest(list(x.phi / all_rows.scales(model, constraints_of(model))))
    size = HOLDS * (1.0 + largest(list(qdd)))
    rows = zip(x.every.A, x.every.b, strict=True)
    return [(gap, WIDE_OPEN), *((np.abs(A @ qdd - b), size * (np.sqrt(A @ A) + EMPTY)) for A, b in rows)]
