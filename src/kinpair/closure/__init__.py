"""A mechanism under constraints: assembling it, moving it, and its dynamics with every row in force.

moment       time as an argument of compiled code
target       a frame that is to be at a place, as a condition
closure      the rows of one model, and the parts below that work on them
assembly     positions, rates and accelerations that obey
structure    what the equations depend on, whatever the state
rank         which rows say something new
dynamics     accelerations, multipliers, derivatives
drives       efforts that make a motion, and what the loops carry
table        the constraints as a text
kernel_wish  which kernel is meant by the name of a quantity
movable      what a mechanism and a system without bodies have in common
"""

from kinpair.closure.closure import Closure
from kinpair.closure.dynamics import KERNELS, ConstraintForces, check_solver, copied
from kinpair.closure.kernel_wish import kernel_wish
from kinpair.closure.movable import Movable, names_given
from kinpair.closure.table import held
from kinpair.closure.target import reaching

__all__ = [
    "KERNELS",
    "Closure",
    "ConstraintForces",
    "Movable",
    "check_solver",
    "copied",
    "held",
    "kernel_wish",
    "names_given",
    "reaching",
]
