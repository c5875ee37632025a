"""The quantities of a mechanism under constraints, and the one solve for accelerations that everybody calls.

equations    M, F and the rows at a state: M q̈ = F + Aᵀλ, A q̈ = b
multipliers  λ of all rows, redundant ones with them, shared by compliances
friction     friction from load under constraints
solution     q̈, λ and power, by any solver; what a solve must be like to need no closer look
groups       row groups of friction and limits, accelerations in phases that are given
efforts      efforts of chosen actuators that make a motion
derivatives  derivatives of q̈, by an embedding; with friction from load by the whole system
projection   coordinates, rates and accelerations brought to the constraints
reactions    wrenches in joints and loops, as one matrix; multipliers, and where they act
along_tree   loops eliminated along the tree, for long mechanisms
table        the quantities by name, with the arguments that compiled code takes
"""

from kinpair.constraints.quantities.derivatives import Moving, Slopes, balance, by_slopes, embedded
from kinpair.constraints.quantities.equations import equations, free_terms, mass_tree, residuals
from kinpair.constraints.quantities.multipliers import shared_multipliers
from kinpair.constraints.quantities.projection import least_step, projected
from kinpair.constraints.quantities.solution import (
    ConstrainedSolution,
    solve,
    solve_any_rank,
    solve_equations,
)
from kinpair.constraints.quantities.table import rate_rows

__all__ = [
    "ConstrainedSolution",
    "Moving",
    "Slopes",
    "balance",
    "by_slopes",
    "embedded",
    "equations",
    "free_terms",
    "least_step",
    "mass_tree",
    "projected",
    "rate_rows",
    "residuals",
    "shared_multipliers",
    "solve",
    "solve_any_rank",
    "solve_equations",
]
