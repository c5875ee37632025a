"""The quantities of a mechanism under constraints: rows, accelerations and multipliers by any solver.

Time is a vector of one number, so that it may have a batch in front like the rest of the state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import add, mul
from typing import Any

import numpy as np

from kinpair.algebra import tree_ldl
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, is_nothing
from kinpair.algebra.choice import less, maximum, minimum, where
from kinpair.algebra.jet import rate
from kinpair.constraints import rows as all_rows
from kinpair.constraints.build import constraints_of
from kinpair.constraints.constraint import Motion, Rows
from kinpair.constraints.loads import carried
from kinpair.constraints.solvers import (
    OF_BODIES,
    OF_ENERGY,
    SOLVERS,
    Accelerations,
    Problem,
    Solver,
    slack,
    voronets,
)
from kinpair.constraints.solvers.embedding import completed, rosenberg
from kinpair.constraints.solvers.problem import full, soundest
from kinpair.constraints.solvers.udwadia_kalaba import constrained
from kinpair.forces.applied import applied_wrenches
from kinpair.forces.passive import passive_efforts
from kinpair.formulations import kinematics, screw
from kinpair.model.model import Model
from kinpair.model.recursion import rate_tree
from kinpair.quantities import METHODS, QUANTITIES, Ask, External, Quantity, inverse_dynamics

MASS_SOUND = 1e-12  # a pivot of the mass matrix below this part of its entry is looked at closely
EMBEDDED = ("rosenberg-extended", "maggi", "partition", *OF_ENERGY)  # these choose dependent rates
EMBEDDED_SOUND = 5e-3  # pivots of A itself; A₁⁻¹ enters twice, and rounding grows to some 1e-10
ENERGY_SOUND = 1e-2  # the same where A₁⁻¹ is differentiated too
SQUARED_SOUND = 5e-4  # pivots of A M⁻¹ Aᵀ, by which rounding grows once
FADED = 1e-6  # a row shorter than this part of the longest is mostly rounding
ENERGY_FADED = 1e-3  # the same where A₁⁻¹ is differentiated
HOLDS = 1e-6  # how far a row left out may be from holding, against the accelerations
WIDE_OPEN = 1e-3  # [rad], or a part of the mechanism's reach: no drift of an integration, but a wrong q


def free_terms(
    model: Model, ask: Ask, q: Vector, qd: Vector, tau: Vector, time: Scalar, loads: External
) -> tuple[Matrix, Vector]:
    """M = H and F = τ + passive − h: the motion without constraints is M q̈ = F.

    Where M has no inverse of its own, the same motion under constraints comes from (Udwadia & Schutte 2010)

        M + AᵀA,   F + Aᵀb                             since A q̈ = b                             (PM1)
    """
    M, F = _own_terms(model, ask, q, qd, tau, time, loads)
    if not model.held_up:
        return M, F
    found = all_rows.rows_at(constraints_of(model), Motion(model, q, time, qd))
    return M + found.A.T @ found.A, F + found.A.T @ found.b  # (PM1)


def _own_terms(
    model: Model, ask: Ask, q: Vector, qd: Vector, tau: Vector, time: Scalar, loads: External
) -> tuple[Matrix, Vector]:
    if model.terms is not None:
        M, F = model.terms(q, qd, time)
        return M, F + tau
    M = METHODS["mass_matrix"][ask.method](model, q)
    h = METHODS["inverse_dynamics"][ask.method](
        model, q, qd, np.zeros(model.nv), applied_wrenches(model, q, loads)
    )
    F = tau - h
    return M, (F + passive_efforts(model, q, qd) if ask.passive else F)


def mass_tree(model: Model) -> tuple[Sequence[int], Sequence[int]]:
    """Which entries of M are not zero, see `algebra.tree_ldl`."""
    of_bodies = model.terms is None and not model.held_up
    return rate_tree(model) if of_bodies else full(model.nv)


def problem(model: Model, ask: Ask, M: Matrix, F: Vector, found: Rows) -> Problem:
    """What the solver is given: the rows kept, in the order chosen."""
    kept = list(ask.kept)
    return Problem(M, F, found.A[kept], found.b[kept], *mass_tree(model), ask.rows, ask.dependent)


def accelerations(
    model: Model, ask: Ask, q: Vector, qd: Vector, tau: Vector, time: Vector, loads: External
) -> tuple[Vector, Vector, Scalar]:
    """q̈; soundness: pivots of mass and rows, how far rows left out are from holding, and how far the loops are from
    closing; and one where all four are as they should be, zero elsewhere."""
    M, F = free_terms(model, ask, q, qd, tau, time[0], loads)
    constraints = constraints_of(model)
    at = Motion(model, q, time[0], qd)
    found = all_rows.rows_at(constraints, at)
    given = problem(model, ask, M, F, found)
    solved = OF_MODEL[ask.solver](model, ask, q, qd, tau, time[0], loads, given)
    kept = set(ask.kept)
    left_out = [k for k in range(len(found.b)) if k not in kept]
    missed = largest([found.A[k] @ solved.qdd - found.b[k] for k in left_out])
    gap = largest(list(all_rows.residual_at(constraints, at) / all_rows.scales(model, constraints)))
    of_mass, of_rows = solved.soundness
    soundness = array(
        [of_mass, where(less(_faded(ask.solver) ** 2, _shortest(given.A)), of_rows, 0.0), missed, gap]
    )
    size = 1.0 + largest(list(solved.qdd)) if left_out else 1.0 + np.abs(reduce(add, solved.qdd, 0.0))
    return solved.qdd, soundness, is_sound(ask.solver, soundness, size)


def _faded(solver: str) -> float:
    return ENERGY_FADED if solver in OF_ENERGY else FADED


def _shortest(A: Matrix) -> Scalar:
    """The least squared length of a row as a part of the greatest; one where there are no rows."""
    squares = [sum((a * a for a in row if not is_nothing(a)), 0.0) for row in A]
    return soundest(squares, [reduce(maximum, squares)] * len(squares)) if squares else 1.0


def held_accelerations(
    model: Model,
    ask: Ask,
    q: Vector,
    qd: Vector,
    tau: Vector,
    time: Vector,
    loads: External,
    alpha: float = 0.0,
    mu: float = 0.0,
) -> tuple[Vector, Scalar]:
    """q̈ and the power of the constraint forces, λᵀA q̇, which is not zero where a constraint moves.

    With `alpha` [1/s] the rows are stabilised (Baumgarte 1972): b − 2αψ − α²φ for holonomic rows, b − αψ for others.
    With `mu` they may be of any rank, see `constraints/solvers/slack.py`.
    """
    M, F = free_terms(model, ask, q, qd, tau, time[0], loads)
    constraints = constraints_of(model)
    at = Motion(model, q, time[0], qd)
    found = all_rows.rows_at(constraints, at)
    given = problem(model, ask, M, F, found)
    if alpha:
        b = stabilised(
            found, all_rows.holonomic_rows(constraints), all_rows.residual_at(constraints, at), alpha
        )
        given = given._replace(b=b[list(ask.kept)])
    if mu:
        solved = slack.solve(given, mu)
    else:
        solved = OF_MODEL[ask.solver](model, ask, q, qd, tau, time[0], loads, given)
    return solved.qdd, solved.lam @ (given.A @ qd) if len(given.b) else 0.0


def stabilised(found: Rows, holonomic: Sequence[int], phi: Vector, alpha: float) -> Vector:
    """b with Baumgarte's terms."""
    pull = dict(zip(holonomic, phi, strict=True))
    return array(
        [
            b - 2.0 * alpha * psi - alpha * alpha * pull[k] if k in pull else b - alpha * psi
            for k, (psi, b) in enumerate(zip(found.psi, found.b, strict=True))
        ]
    )


def residuals(model: Model, q: Vector, qd: Vector, time: Vector) -> list[Scalar]:
    """The largest of |φ| and of |ψ|."""
    constraints, at = constraints_of(model), Motion(model, q, time[0], qd)
    return [
        largest(list(all_rows.residual_at(constraints, at))),
        largest(list(all_rows.rows_at(constraints, at).psi)),
    ]


def is_sound(solver: str, soundness: Vector, size: Scalar) -> Scalar:
    """One where the four numbers need no closer look, zero elsewhere; `size` of the accelerations, which must be
    numbers."""
    of_mass, of_rows, missed, gap = soundness
    pairs = (
        (MASS_SOUND, of_mass),
        (rows_sound(solver), of_rows),
        (missed, HOLDS * size),
        (gap, WIDE_OPEN),
        (size, np.inf),
    )
    return reduce(mul, [where(less(low, high), 1.0, 0.0) for low, high in pairs])


def rows_sound(solver: str) -> float:
    """The least pivot of the rows that a solver works well with."""
    if solver in OF_ENERGY:
        return ENERGY_SOUND
    return EMBEDDED_SOUND if solver in EMBEDDED else SQUARED_SOUND


def of_problem(
    model: Model, ask: Ask, q: Vector, qd: Vector, tau: Vector, time: Scalar, loads: External, given: Problem
) -> Accelerations:
    """By a solver that needs M, F, A and b only."""
    return SOLVERS[ask.solver](given)


def of_screws(
    model: Model, ask: Ask, q: Vector, qd: Vector, tau: Vector, time: Scalar, loads: External, given: Problem
) -> Accelerations:
    """By the block system of all bodies and joints: the tree eliminated from its tips, then the rows of the loops.

    The response to each row is an elimination of its own, with everything else at rest.
    """
    driving = tau + passive_efforts(model, q, qd) if ask.passive else tau
    free = screw.forward_dynamics(model, q, qd, driving, applied_wrenches(model, q, loads))
    at_rest, still = replace(model, gravity=np.zeros(3)), np.zeros(model.nv)
    nothing = kinematics.no_wrenches(model)
    responses = [screw.forward_dynamics(at_rest, q, still, row, nothing).qdd for row in given.A]
    of_mass = soundest(list(free.pivots), list(free.scales))
    return constrained(given.A, given.b, free.qdd, responses, of_mass)


def of_energy(
    model: Model, ask: Ask, q: Vector, qd: Vector, tau: Vector, time: Scalar, loads: External, given: Problem
) -> Accelerations:
    """By Voronets' or Chaplygin's equations."""
    constraints, still = constraints_of(model), np.zeros(model.nv)

    def mass(x: Vector) -> Matrix:
        return (
            METHODS["mass_matrix"][ask.method](model, x)
            if model.terms is None
            else model.terms(x, still, time)[0]
        )

    def rows(x: Vector) -> Matrix:
        return all_rows.matrix(model, constraints, x, time)[list(ask.kept)]

    Q, alone = voronets.applied(mass, given.F, q, qd), ask.solver == "chaplygin"
    qdd, of_mass = voronets.solve(mass, rows, Q, q, qd, ask.rows, ask.dependent, only_independent=alone)
    return completed(given, qdd, of_mass)


OF_MODEL = {
    **dict.fromkeys(SOLVERS, of_problem),
    **dict.fromkeys(OF_ENERGY, of_energy),
    **dict.fromkeys(OF_BODIES, of_screws),
}


def balance(
    model: Model,
    ask: Ask,
    q: Vector,
    qd: Vector,
    tau: Vector,
    time: Vector,
    qdd: Vector,
    lam: Vector,
    loads: External,
) -> tuple[Vector, Vector]:
    """What vanishes in motion: M q̈ − F − Aᵀλ, and A q̈ − b, of the rows kept."""
    found = all_rows.rows(model, constraints_of(model), q, qd, time[0], ask.kept)
    if model.terms is not None:
        M, F = free_terms(model, ask, q, qd, tau, time[0], loads)
        needed = M @ qdd - F
    else:
        needed = inverse_dynamics(model, replace(ask, quantity="inverse_dynamics"), q, qd, qdd, loads) - tau
    return needed - found.A.T @ lam, found.A @ qdd - found.b


def acceleration_derivatives(
    model: Model, ask: Ask, q: Vector, qd: Vector, tau: Vector, time: Vector, loads: External
) -> tuple[Matrix, Matrix, Matrix]:
    """∂q̈/∂q, ∂q̈/∂q̇, ∂q̈/∂τ by jets along unit rates: slow, and what compiled ones are judged by."""

    def qdd(q: Vector, qd: Vector, tau: Vector) -> Vector:
        return accelerations(model, ask, q, qd, tau, time, loads)[0]

    units = np.eye(model.nv)
    by_q = [rate(lambda x: qdd(x, qd, tau), (q,), (kinematics.dq_dt(model, q, unit),)) for unit in units]
    by_qd = [rate(lambda x: qdd(q, x, tau), (qd,), (unit,)) for unit in units]
    by_tau = [rate(lambda x: qdd(q, qd, x), (tau,), (unit,)) for unit in units]
    return tuple(np.stack(columns, axis=1) for columns in (by_q, by_qd, by_tau))  # type: ignore[return-value]


def reduced_equations(
    model: Model, ask: Ask, q: Vector, qd: Vector, tau: Vector, time: Vector, loads: External
) -> tuple[Matrix, Vector]:
    """Rosenberg's n − l equations: ZᵀM and ZᵀF of ZᵀM q̈ = ZᵀF."""
    M, F = free_terms(model, ask, q, qd, tau, time[0], loads)
    found = all_rows.rows(model, constraints_of(model), q, qd, time[0])
    return rosenberg(problem(model, ask, M, F, found))


def projection(model: Model, ask: Ask, q: Vector, qd: Vector, time: Vector) -> tuple[Vector, Vector]:
    """Coordinates and rates brought back to the constraints."""
    return projected(model, ask, q, qd, time)[:2]


def of_rank(mu: float) -> Solver:
    """The solver of rows of full rank, or, with `mu`, of any rank."""
    return (lambda x: slack.solve(x, mu)) if mu else SOLVERS["multipliers"]


def projected(
    model: Model,
    ask: Ask,
    q: Vector,
    qd: Vector,
    time: Vector,
    mu: float = 0.0,
    sizes: Sequence[float] = (),
) -> tuple[Vector, Vector, Scalar]:
    """The same, by the least displacement as the mass matrix measures it, and how far the rows are from dependence:
    the smallest pivot of A M⁻¹ Aᵀ, times the smallest of its entries as a part of the `sizes` they had.

    M δ = Aᵀμ,   A δ = −φ,   q ← q ⊕ δ          holonomic rows                               (PR1)
    M δ = Aᵀμ,   A δ = −ψ,   q̇ ← q̇ + δ          all rows, at the new q                       (PR2)
    """
    nothing, constraints = np.zeros(model.nv), constraints_of(model)
    M, _ = free_terms(model, ask, q, qd, nothing, time[0], {})
    holonomic = [k for k in ask.kept if k in all_rows.holonomic_rows(constraints)]
    numbers = all_rows.holonomic_rows(constraints)
    phi = all_rows.residual(model, constraints, q, time[0])[[numbers.index(k) for k in holonomic]]
    A = all_rows.matrix(model, constraints, q, time[0])[holonomic]
    tree = mass_tree(model)
    back = of_rank(mu)(Problem(M, nothing, A, -phi, *tree)).qdd  # (PR1)
    there = kinematics.nudged(model, q, back) if holonomic else q
    M, _ = free_terms(model, ask, there, qd, nothing, time[0], {})
    found = all_rows.rows(model, constraints, there, qd, time[0], ask.kept)
    solved = of_rank(mu)(Problem(M, nothing, found.A, -found.psi, *tree))  # (PR2)
    return there, qd + solved.qdd, solved.soundness[1] * _shrunk(M, found.A, tree, sizes)


def _shrunk(
    M: Matrix, A: Matrix, tree: tuple[Sequence[int], Sequence[int]], sizes: Sequence[float]
) -> Scalar:
    """The smallest of A_k M⁻¹ A_kᵀ, each as a part of its size."""
    if not len(sizes):
        return 1.0
    factors = tree_ldl.factor(M, *tree)
    found: list[Any] = []
    for row, size in zip(A, sizes, strict=True):
        Y = enumerate(tree_ldl.swept_inward(factors, row))
        found.append(sum((y * y * factors.over_D[k] for k, y in Y if not is_nothing(y)), 0.0) / size)
    return reduce(minimum, found)


def terms(
    model: Model, ask: Ask, q: Vector, qd: Vector, tau: Vector, time: Vector, loads: External
) -> tuple[Matrix, Vector, Matrix, Vector]:
    """M, F, A, b with every row."""
    found = all_rows.rows(model, constraints_of(model), q, qd, time[0])
    return *free_terms(model, ask, q, qd, tau, time[0], loads), found.A, found.b


def constraint_positions(model: Model, ask: Ask, q: Vector, time: Vector) -> Vector:
    """φ of every holonomic row."""
    return all_rows.residual(model, constraints_of(model), q, time[0])


def constraint_matrix(model: Model, ask: Ask, q: Vector, time: Vector) -> Matrix:
    """A of every row."""
    return all_rows.matrix(model, constraints_of(model), q, time[0])


def constraint_rows(
    model: Model, ask: Ask, q: Vector, qd: Vector, time: Vector
) -> tuple[Matrix, Vector, Vector]:
    """A, ψ and b of every row."""
    found = all_rows.rows(model, constraints_of(model), q, qd, time[0])
    return found.A, found.psi, found.b


def loop_loads(
    model: Model, ask: Ask, q: Vector, time: Vector, lam: Vector, external: External
) -> dict[str, Vector]:
    """Wrenches on links and in loops that the multipliers of all rows are, see `constraints/loads.py`."""
    return carried(model, constraints_of(model), q, time[0], lam, external)


def largest(entries: Sequence[Scalar]) -> Any:
    """The largest absolute value; zero of nothing."""
    return reduce(maximum, [np.abs(x) for x in entries if not is_nothing(x)], 0.0)


_FORCED = ("q", "qd", "tau", "time")
CONSTRAINED: dict[str, Quantity] = {
    "accelerations": Quantity(_FORCED, accelerations, loaded=True, columns=False),
    "acceleration_derivatives": Quantity(_FORCED, acceleration_derivatives, loaded=True, columns=False),
    "reduced_equations": Quantity(_FORCED, reduced_equations, loaded=True, columns=False),
    "projection": Quantity(("q", "qd", "time"), projection, columns=False),
    "terms": Quantity(_FORCED, terms, loaded=True, columns=False),
    "constraint_positions": Quantity(("q", "time"), constraint_positions, columns=False),
    "constraint_matrix": Quantity(("q", "time"), constraint_matrix, columns=False),
    "constraint_rows": Quantity(("q", "qd", "time"), constraint_rows, columns=False),
    "loop_loads": Quantity(("q", "time", "lam"), loop_loads, loaded=True, columns=False),
}
EVERY: dict[str, Quantity] = QUANTITIES | CONSTRAINED
CALLED = {"accelerations": "forward_dynamics"}  # what a caller knows a quantity by
