"""What a solve for accelerations must be like to need no closer look."""

from __future__ import annotations

from functools import reduce
from operator import add, mul

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, is_nothing
from kinpair.algebra.choice import less, maximum, where
from kinpair.constraints.quantities.equations import Equations, largest
from kinpair.constraints.rows import stacked as all_rows
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.solvers import OF_ENERGY, Accelerations
from kinpair.constraints.solvers.problem import soundest
from kinpair.quantities import Request

MASS_SOUND = 1e-12  # a pivot of the mass matrix below this part of its scale is looked at closely
EMBEDDED = ("rosenberg-extended", "maggi", "partition", *OF_ENERGY)  # these choose dependent rates
EMBEDDED_SOUND = 5e-3  # pivots of A itself; A₁⁻¹ enters twice, and rounding grows to some 1e-10
ENERGY_SOUND = 1e-2  # the same where A₁⁻¹ is differentiated too
SQUARED_SOUND = 5e-4  # pivots of A M⁻¹ Aᵀ, by which rounding grows once
FADED = 1e-6  # a row shorter than this part of the longest is mostly rounding
ENERGY_FADED = 1e-3  # the same where A₁⁻¹ is differentiated
HOLDS = 1e-6  # how far a row left out may be from holding, against the accelerations
WIDE_OPEN = 1e-3  # [rad], or a part of the mechanism's reach: no drift of an integration, but a wrong q


def soundness(request: Request, x: Equations, solved: Accelerations) -> tuple[Vector, Scalar]:
    """Pivots of mass and rows, how far rows left out are from holding, and how far the loops are from closing; and one
    where all four are as they should be, zero elsewhere."""
    constraints = constraints_of(x.at.model)
    left_out = [k for k in range(len(x.every.b)) if k not in set(request.kept)]
    missed = largest([x.every.A[k] @ solved.qdd - x.every.b[k] for k in left_out])
    gap = largest(list(x.phi / all_rows.scales(x.at.model, constraints)))
    of_mass, of_rows = solved.soundness
    faded = ENERGY_FADED if request.solver in OF_ENERGY else FADED
    measures = array([of_mass, where(less(faded**2, _shortest(x.A)), of_rows, 0.0), missed, gap])
    size = 1.0 + largest(list(solved.qdd)) if left_out else 1.0 + np.abs(reduce(add, solved.qdd, 0.0))
    return measures, is_sound(request.solver, measures, size)


def _shortest(A: Matrix) -> Scalar:
    """The least squared length of a row as a part of the greatest; one where there are no rows."""
    squares = [sum((a * a for a in row if not is_nothing(a)), 0.0) for row in A]
    return soundest(squares, [reduce(maximum, squares)] * len(squares)) if squares else 1.0


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
