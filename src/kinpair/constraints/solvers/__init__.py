"""Accelerations under constraints, by name: the same M q̈ = F + Aᵀλ, A q̈ = b solved by different methods."""

from __future__ import annotations

from kinpair.constraints.solvers import embedding, multipliers, slack, udwadia_kalaba, voronets
from kinpair.constraints.solvers.problem import Accelerations, Problem, Solver
from kinpair.errors import listed
from kinpair.model.model import Model

SOLVERS: dict[str, Solver] = {
    "multipliers": multipliers.solve,
    "udwadia-kalaba": udwadia_kalaba.solve,
    "rosenberg-extended": embedding.rosenberg_extended,
    "maggi": embedding.maggi,
    "partition": embedding.partition,
}
OF_ENERGY = ("voronets", "chaplygin")  # these need the mass matrix as a function of q, see `voronets.py`
OF_BODIES = ("screw", "zhao-gu")  # these work on the bodies, not on M
EVERY_SOLVER = (*SOLVERS, *OF_ENERGY, *OF_BODIES)
DEFAULT_SOLVER = next(iter(SOLVERS))


def refusal(model: Model, solver: str) -> str:
    """Reason why this solver does not work for this model; empty where it does."""
    from kinpair.formulations.zhao_gu_reactions import massless

    if model.terms is not None and solver in OF_BODIES:
        others = listed(x for x in EVERY_SOLVER if x not in OF_BODIES)
        return f"solver {solver!r} works on bodies, and this system is given by its energy; Solvers: {others}"
    if solver == "zhao-gu" and (names := massless(model)):
        return (
            f"solver 'zhao-gu' needs mass, and inertia about every axis that a body turns about; missing in "
            f"{listed(map(repr, names))}. {DEFAULT_SOLVER!r} works without"
        )
    return ""


__all__ = [
    "DEFAULT_SOLVER",
    "EVERY_SOLVER",
    "OF_BODIES",
    "OF_ENERGY",
    "SOLVERS",
    "Accelerations",
    "Problem",
    "Solver",
    "refusal",
    "slack",
    "voronets",
]
