"""The quantities of a mechanism under constraints, and the one solve for accelerations that everybody calls.

equations    M, F and the rows at a state: M q̈ = F + Aᵀλ, A q̈ = b
soundness    what a solve must be like to need no closer look
multipliers  λ of all rows, redundant ones with them
sharing      what redundant rows carry against each other, shared out by compliances
friction     friction from load under constraints
efforts      efforts of chosen actuators that make a motion
solution     q̈, λ and power, by any solver
derivatives  derivatives of q̈, by an embedding; with friction from load by the whole system
nearest      rates, accelerations and steps that obey, near to given ones
projection   coordinates and rates brought back to the constraints
reactions    wrenches in joints and loops, as one matrix
forces       multipliers, wrenches and where they act
table        the quantities by name, with the arguments that compiled code takes
"""

from kinpair.constraints.quantities.derivatives import Moving, Slopes, balance, by_slopes, embedded
from kinpair.constraints.quantities.equations import (
    Equations,
    equations,
    free_terms,
    has_own_mass,
    mass_tree,
    residuals,
)
from kinpair.constraints.quantities.projection import least_step, projected
from kinpair.constraints.quantities.sharing import compliances_of, reaction_names, shared_multipliers
from kinpair.constraints.quantities.solution import Solution, Terms, solve, solve_any_rank, solve_equations
from kinpair.constraints.quantities.soundness import EMBEDDED, HOLDS, WIDE_OPEN, rows_sound
from kinpair.constraints.quantities.table import CALLED, CONSTRAINED, EVERY, quantity_of, rate_rows

__all__ = [
    "CALLED",
    "CONSTRAINED",
    "EMBEDDED",
    "EVERY",
    "HOLDS",
    "WIDE_OPEN",
    "Equations",
    "Moving",
    "Slopes",
    "Solution",
    "Terms",
    "balance",
    "by_slopes",
    "compliances_of",
    "embedded",
    "equations",
    "free_terms",
    "has_own_mass",
    "least_step",
    "mass_tree",
    "projected",
    "quantity_of",
    "rate_rows",
    "reaction_names",
    "residuals",
    "rows_sound",
    "shared_multipliers",
    "solve",
    "solve_any_rank",
    "solve_equations",
]
