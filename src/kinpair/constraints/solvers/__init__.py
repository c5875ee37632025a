"""Accelerations under constraints, by name: the same M q̈ = F + Aᵀλ, A q̈ = b solved in different ways."""

from __future__ import annotations

from kinpair.constraints.solvers import embedding, multipliers, udwadia_kalaba
from kinpair.constraints.solvers.problem import Accelerations, Problem, Solver

SOLVERS: dict[str, Solver] = {
    "multipliers": multipliers.solve,
    "udwadia-kalaba": udwadia_kalaba.solve,
    "rosenberg-extended": embedding.rosenberg_extended,
    "maggi": embedding.maggi,
    "partition": embedding.partition,
}
DEFAULT_SOLVER = next(iter(SOLVERS))

__all__ = ["DEFAULT_SOLVER", "SOLVERS", "Accelerations", "Problem", "Solver"]
