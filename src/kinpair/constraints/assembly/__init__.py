"""A mechanism under constraints: assembling it, moving it, and its dynamics with every row in force.

moment          time as an argument of compiled code
batch           states of a batch, one by one
rows            the rows of one model, and checks of a state
actuated        rates that have efforts, and choices of joints that can drive a closed mechanism
sharing         loads that redundant rows leave open, and compliances that share them out
rates           rates and accelerations that obey
newton          many states at once on their way to closed positions
positions       positions that obey
structure       what the equations depend on, whatever the state
rank            which rows say something new
requests        by which rows, in which order, a solver works
rubbing         friction from load in a motion that is given
drives          efforts that make a motion, and what the loops carry
reactions       wrenches in joints and loops, and which of them are not unique
any_rank        accelerations and forces of one state, with the rank found there
forces          what constraints do under given efforts, of one state or many
accelerations   accelerations of any states, compiled
modes           derivatives of the accelerations where joints stick, and with friction from load
derivatives     derivatives of the accelerations, and reduced equations
effort_derivatives  derivatives of the efforts of chosen actuators
effort_regressor  regressor of the efforts of chosen actuators
closure         the rows of one model, and the parts above
within_limits   positions outside the limits of joints, and the nearest position inside
by_name         states given by name, as arrays
table           the constraints as a text
kernel_request  which kernel is meant by the name of a quantity
movable         what a mechanism and a system without bodies have in common

A module imports only what stands above it; a test checks it.
"""

from kinpair.constraints.assembly.actuated import Actuators
from kinpair.constraints.assembly.any_rank import ConstraintForces
from kinpair.constraints.assembly.batch import copied
from kinpair.constraints.assembly.closure import Closure
from kinpair.constraints.assembly.kernel_request import kernel_request
from kinpair.constraints.assembly.movable import Movable, actuators_from, names_from
from kinpair.constraints.assembly.requests import KERNELS, check_solver
from kinpair.constraints.assembly.table import constraint_tables
from kinpair.constraints.assembly.within_limits import start_outside
from kinpair.errors import moved

__all__ = [
    "KERNELS",
    "Actuators",
    "Closure",
    "ConstraintForces",
    "Movable",
    "actuators_from",
    "check_solver",
    "constraint_tables",
    "copied",
    "kernel_request",
    "names_from",
    "start_outside",
]

__getattr__ = moved(__name__, ("assemble",), "kinpair.constraints.rows.closing")
