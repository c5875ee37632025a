"""A mechanism under constraints: assembling it, moving it, and its dynamics with every row in force.

moment      time as an argument of compiled code
target      a frame that is to be at a place, as a condition
closure     the rows of one model, and the parts below that work on them
assembly    positions, rates and accelerations that obey
rank        which rows say something new
dynamics    accelerations, multipliers, derivatives
drives      efforts that make a motion, and what the loops carry
"""

from kinpair.closure.closure import Closure
from kinpair.closure.dynamics import KERNELS, ConstraintForces, check_solver, copied
from kinpair.closure.target import reaching

__all__ = ["KERNELS", "Closure", "ConstraintForces", "check_solver", "copied", "reaching"]
