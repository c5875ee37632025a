"""Accelerations under constraints, by name: the same M q̈ = F + Aᵀλ, A q̈ = b solved in different ways."""

from __future__ import annotations

from kinpair.constraints.solvers import embedding, multipliers, slack, udwadia_kalaba, voronets
from kinpair.constraints.solvers.problem import Accelerations, Problem, Solver

SOLVERS: dict[str, Solver] = {
    "multipliers": multipliers.solve,
    "udwadia-kalaba": udwadia_kalaba.solve,
    "rosenberg-extended": embedding.rosenberg_extended,
    "maggi": embedding.maggi,
    "partition": embedding.partition,
}
OF_ENERGY = ("voronets", "chaplygin")  # these need the mass matrix as a function of q, see `voronets.py`
OF_BODIES = ("screw",)  # these work on the bodies, not on M
EVERY_SOLVER = (*SOLVERS, *OF_ENERGY, *OF_BODIES)
DEFAULT_SOLVER = next(iter(SOLVERS))

__all__ = [
    "DEFAULT_SOLVER",
    "EVERY_SOLVER",
    "OF_BODIES",
    "OF_ENERGY",
    "SOLVERS",
    "Accelerations",
    "Problem",
    "Solver",
    "slack",
    "voronets",
]
