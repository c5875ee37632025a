"""The quantities of a mechanism under constraints by name, with the arguments that compiled code takes.

Time is a vector of one number, so that it may have a batch in front like the rest of the state.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.algebra.jet import rate
from kinpair.constraints.quantities import along_tree, friction
from kinpair.constraints.quantities.derivatives import Moving, Slopes, balance
from kinpair.constraints.quantities.efforts import actuator_efforts, efforts_under_load
from kinpair.constraints.quantities.equations import equations
from kinpair.constraints.quantities.groups import (
    InPhases,
    RowGroups,
    forward_dynamics_in_phases,
    row_groups,
)
from kinpair.constraints.quantities.projection import (
    closing_step,
    nearest_accelerations,
    nearest_rates,
    projected,
)
from kinpair.constraints.quantities.reactions import (
    constrained_wrenches,
    constraint_forces,
    row_wrenches,
)
from kinpair.constraints.quantities.solution import solve
from kinpair.constraints.rows import stacked as all_rows
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.loads import carried
from kinpair.constraints.solvers.embedding import rosenberg
from kinpair.evaluation.quantities.dynamics import pivot_measures
from kinpair.evaluation.quantities.request import External, Request
from kinpair.evaluation.quantities.table import OF_TREES, QUANTITIES, Quantity, timed
from kinpair.forces.elements import is_timed, loads_on
from kinpair.formulations import kinematics
from kinpair.friction.loads.dynamics import is_loaded, slides
from kinpair.model.model import Model
from kinpair.model.state import State
from kinpair.results import AccelerationDerivatives


def accelerations(
    model: Model, request: Request, q: Vector, qd: Vector, tau: Vector, time: Vector, loads: External
) -> tuple[Vector, Vector, Scalar]:
    """q̈; its soundness, four numbers; and one where they need no closer look, zero elsewhere, as where joints with
    friction from load are at rest, or other loads of them may fit, too."""
    solution = solve(model, request, State(q, qd, tau=tau, time=time[0]), loads)
    measures, sound = solution.soundness
    if is_loaded(model, passive=request.passive):
        sound = sound * slides(model, qd) * solution.alone
    return solution.qdd, measures, sound


def acceleration_derivatives(
    model: Model, request: Request, q: Vector, qd: Vector, tau: Vector, time: Vector, loads: External
) -> tuple[Matrix, Matrix, Matrix]:
    """∂q̈/∂q, ∂q̈/∂q̇, ∂q̈/∂τ by jets along unit rates: slow, and what compiled ones are judged by."""

    def qdd(q: Vector, qd: Vector, tau: Vector) -> Vector:
        return solve(model, request, State(q, qd, tau=tau, time=time[0]), loads).qdd

    units = np.eye(model.nv)
    by_q = [rate(lambda x: qdd(x, qd, tau), (q,), (kinematics.dq_dt(model, q, unit),)) for unit in units]
    by_qd = [rate(lambda x: qdd(q, x, tau), (qd,), (unit,)) for unit in units]
    by_tau = [rate(lambda x: qdd(q, qd, x), (tau,), (unit,)) for unit in units]
    return tuple(np.stack(columns, axis=1) for columns in (by_q, by_qd, by_tau))  # type: ignore[return-value]


def constrained_derivatives(
    model: Model, request: Request, q: Vector, qd: Vector, tau: Vector, time: Vector, loads: External
) -> tuple[tuple[Matrix, Matrix, Matrix], Scalar]:
    """Derivatives under constraints, and one where q̈ needs no closer look, zero elsewhere."""
    every = acceleration_derivatives(model, request, q, qd, tau, time, loads)
    solution = solve(model, request, State(q, qd, tau=tau, time=time[0]), loads)
    return every, solution.soundness[1] * solution.alone


def balance_slopes(model: Model, request: Request, *arguments: Any) -> Slopes:
    """Derivatives of what vanishes in motion, see `balance`, by jets along unit rates and units of the others;
    arguments: those of `Moving`, and the loads."""
    *motion, loads = arguments
    at = Moving(*motion)

    def column(name: str, way: Vector) -> Vector:
        def missing(x: Vector) -> Vector:
            return balance(model, request, at._replace(**{name: x}), loads)

        return rate(missing, (getattr(at, name),), (way,))

    ways = {name: np.eye(len(getattr(at, name))) for name in Slopes._fields}
    ways["q"] = np.array([kinematics.dq_dt(model, at.q, unit) for unit in np.eye(model.nv)])
    nothing = np.zeros((model.nv + len(at.lam), 0))
    columns = [[column(name, way) for way in own] for name, own in ways.items()]
    return Slopes(*(np.stack(own, axis=1) if own else nothing for own in columns))


def reduced_equations(
    model: Model, request: Request, q: Vector, qd: Vector, tau: Vector, time: Vector, loads: External
) -> tuple[Matrix, Vector]:
    """Rosenberg's n − l equations: ZᵀM and ZᵀF of ZᵀM q̈ = ZᵀF; with friction from load, F has it."""
    state = State(q, qd, tau=tau, time=time[0])
    loaded = is_loaded(model, passive=request.passive)
    x = solve(model, request, state, loads).equations if loaded else equations(model, request, state, loads)
    return rosenberg(x.problem(request))


def projection(model: Model, request: Request, q: Vector, qd: Vector, time: Vector) -> tuple[Vector, Vector]:
    """Coordinates and rates brought back to the constraints."""
    return projected(model, request, q, qd, time)[:2]


def terms(
    model: Model, request: Request, q: Vector, qd: Vector, tau: Vector, time: Vector, loads: External
) -> tuple[Matrix, Vector, Matrix, Vector]:
    """M, F, A, b with every row."""
    x = equations(model, request, State(q, qd, tau=tau, time=time[0]), loads)
    return x.M, x.F, x.every.A, x.every.b


def loaded_terms(
    model: Model, request: Request, q: Vector, qd: Vector, tau: Vector, time: Vector, loads: External
) -> tuple[Matrix | Vector, ...]:
    """Terms that solves in floats with friction need: M, F, A and b of all rows, forms of loads."""
    state = State(q, qd, tau=tau, time=time[0])
    return *terms(model, request, q, qd, tau, time, loads), *friction.load_forms(model, request, state, loads)


def constraint_positions(model: Model, request: Request, q: Vector, time: Vector) -> Vector:
    """φ of every holonomic row."""
    return all_rows.residual(model, constraints_of(model), q, time[0])


def constraint_matrix(model: Model, request: Request, q: Vector, time: Vector) -> Matrix:
    """A of every row."""
    return all_rows.matrix(model, constraints_of(model), q, time[0])


def constraint_rows(
    model: Model, request: Request, q: Vector, qd: Vector, time: Vector
) -> tuple[Matrix, Vector, Vector]:
    """A, ψ and b of every row."""
    every = all_rows.rows(model, constraints_of(model), q, qd, time[0])
    return every.A, every.psi, every.b


def rate_rows(model: Model, request: Request, q: Vector, qd: Vector, time: Vector) -> Vector:
    """ψ of every row as a function of the state, also where only its changes count."""
    return all_rows.psi(model, constraints_of(model), q, qd, time[0])


def rate_row_derivatives(model: Model, request: Request, q: Vector, qd: Vector, time: Vector) -> Matrix:
    """∂ψ/∂q (rows, nv) at constant rates, by jets along unit rates."""
    columns = [
        rate(lambda x: rate_rows(model, request, x, qd, time), (q,), (kinematics.dq_dt(model, q, unit),))
        for unit in np.eye(model.nv)
    ]
    return np.stack(columns, axis=1)


def loop_loads(
    model: Model, request: Request, q: Vector, time: Vector, lam: Vector, external: External
) -> dict[str, Vector]:
    """Wrenches on links and in loops that the multipliers of all rows are, see `constraints/rows/loads.py`."""
    return carried(model, constraints_of(model), q, time[0], lam, external, request.axes)


def loop_accelerations(
    model: Model, request: Request, q: Vector, qd: Vector, tau: Vector, loads: External
) -> tuple[Vector, Vector]:
    """q̈ with loops eliminated along the tree; and its soundness: the two numbers of a tree, the smallest pivot of the
    loops as a part of the diagonal, and the largest |φ|."""
    efforts = loads_on(model, State(q, qd), loads, passive=request.passive).efforts
    x = along_tree.accelerations(model, q, qd, tau + efforts, 0.0)
    tree = along_tree.longer(model)[1]
    return x.solution.qdd, array([*pivot_measures(tree, x.solution), x.least, x.gap])


def loop_projection(model: Model, request: Request, q: Vector, qd: Vector) -> tuple[Vector, Vector, Scalar]:
    """Coordinates and rates brought back to the loops, and the smallest pivot of the loops."""
    return along_tree.projected(model, q, qd, 0.0)


def loop_step(model: Model, request: Request, q: Vector) -> tuple[Vector, Scalar]:
    """The step (nv,) towards closed loops, and the largest |φ| before it."""
    return along_tree.closer(model, q, 0.0)


def loop_residuals(model: Model, request: Request, q: Vector, qd: Vector) -> Vector:
    """The largest |φ| and |ψ|."""
    return array(along_tree.residuals(model, q, qd, 0.0))


_FORCED = ("q", "qd", "tau", "time")
CONSTRAINED: dict[str, Quantity] = {
    "accelerations": Quantity(_FORCED, accelerations, loaded=True, columns=False, line=0.5),
    "acceleration_derivatives": Quantity(
        _FORCED, acceleration_derivatives, loaded=True, columns=False, recorded=False
    ),
    "constrained_derivatives": Quantity(
        _FORCED,
        constrained_derivatives,
        loaded=True,
        columns=False,
        recorded=False,
        line=0.5,
        shape=AccelerationDerivatives,
    ),
    "balance_slopes": Quantity(
        (*_FORCED, "qdd", "lam"), balance_slopes, loaded=True, columns=False, recorded=False
    ),
    "reduced_equations": Quantity(_FORCED, reduced_equations, loaded=True, columns=False),
    "projection": Quantity(("q", "qd", "time"), projection, columns=False),
    "terms": Quantity(_FORCED, terms, loaded=True, columns=False),
    "actuator_efforts": Quantity(
        ("q", "qd", "qdd", "time"), actuator_efforts, loaded=True, columns=False, line=0.5
    ),
    "efforts_under_load": Quantity(
        ("q", "qd", "qdd", "time"), efforts_under_load, loaded=True, columns=False, line=0.5
    ),
    "constraint_forces": Quantity(_FORCED, constraint_forces, loaded=True, columns=False),
    "loaded_terms": Quantity(_FORCED, loaded_terms, loaded=True, columns=False),
    "row_groups": Quantity(_FORCED, row_groups, loaded=True, columns=False, shape=RowGroups),
    "forward_dynamics_in_phases": Quantity(
        ("q", "qd", "tau", "share", "held", "time"),
        forward_dynamics_in_phases,
        loaded=True,
        columns=False,
        shape=InPhases,
    ),
    "constraint_positions": Quantity(("q", "time"), constraint_positions, columns=False),
    "constraint_matrix": Quantity(("q", "time"), constraint_matrix, columns=False),
    "constraint_rows": Quantity(("q", "qd", "time"), constraint_rows, columns=False),
    "rate_row_derivatives": Quantity(("q", "qd", "time"), rate_row_derivatives, columns=False),
    "nearest_rates": Quantity(("q", "qd", "time"), nearest_rates, columns=False),
    "nearest_accelerations": Quantity(("q", "qd", "qdd", "time"), nearest_accelerations, columns=False),
    "closing_step": Quantity(("q", "time"), closing_step, columns=False),
    "loop_loads": Quantity(("q", "time", "lam"), loop_loads, loaded=True, columns=False),
    "row_wrenches": Quantity(("q", "time"), row_wrenches, columns=False),
    "constrained_wrenches": Quantity(
        ("q", "qd", "qdd", "tau", "time"), constrained_wrenches, loaded=True, columns=False
    ),
}
LOOPS: dict[str, Quantity] = {  # of long mechanisms, as loops over the bodies
    "loop_accelerations": Quantity(("q", "qd", "tau"), loop_accelerations, loaded=True, columns=False),
    "loop_projection": Quantity(("q", "qd"), loop_projection, columns=False),
    "loop_step": Quantity(("q",), loop_step, columns=False),
    "loop_residuals": Quantity(("q", "qd"), loop_residuals, columns=False),
}
EVERY: dict[str, Quantity] = QUANTITIES | OF_TREES | CONSTRAINED | LOOPS


def quantity_of(model: Model, name: str) -> Quantity:
    """The quantity of that name, with the arguments that it takes of this model."""
    return timed(EVERY[name]) if is_timed(model) else EVERY[name]


CALLED = dict.fromkeys(("wrenches", "constrained_wrenches"), "reactions") | {
    "accelerations": "forward_dynamics",
    "actuator_efforts": "inverse_dynamics",
    "efforts_under_load": "inverse_dynamics",
    "derivatives_at_efforts": "forward_dynamics_derivatives",
    "pose_rows": "poses",
    "constrained_derivatives": "forward_dynamics_derivatives",
    "loop_accelerations": "forward_dynamics",
}  # what a caller knows a quantity by
