"""A mechanism under constraints: assembling it, moving it, and its dynamics with every row in force.

batch           states of a batch, one by one; time as an argument of compiled code
rows            the rows of one model, and checks of a state
long            positions, rates and accelerations of long mechanisms with loops
actuated        rates that have efforts, and choices of joints that can drive a closed mechanism
sharing         loads that redundant rows leave open, and compliances that share them out
rates           rates and accelerations that obey
positions       positions that obey
rank            which rows say something new, what the equations depend on, by which rows a solver works
rubbing         friction from load in a motion that is given
drives          efforts that make a motion, and what the loops carry
reactions       wrenches in joints and loops, and which of them are not unique
forces          accelerations and forces of one state or many, with the rank found there
accelerations   accelerations of any states, compiled
derivatives     derivatives of the accelerations, also where joints stick; reduced equations
effort_derivatives  derivatives and regressor of the efforts of chosen actuators
closure         the rows of one model, and the parts above
movable         states given by name; what a mechanism and a system without bodies have in common

A module imports only what stands above it; a test checks it.
"""

from kinpair.errors import moved

__getattr__ = moved(__name__, ("assemble",), "kinpair.constraints.rows.closing")
