"""The rows of constraints, one kind a file, and what can be said of them without a motion.

constraint       what every constraint answers
joined           constraints between two marked frames
loop             a pair that closes a loop
distance         a massless rod
surface          a point on a surface or curve
rolling          a convex body on a plane
knife_edge       a blade
guide            a frame that moves as prescribed
coordinates      couplings, drives, momentum, functions and formulas of a user
build            from the constraints of a description to constraints
stacked          the rows of all constraints, stacked
mobility         freedoms, redundant rows; are the constraints right, and do they hold what has no inertia?
closing          coordinates that close the loops
loads            multipliers as wrenches
table            the constraints for a reader
bounded          rows whose multipliers have bounds

A module imports only what stands above it; a test checks it.
"""

from kinpair.errors import moved

__getattr__ = moved(__name__, ("rows",), "kinpair.constraints.rows.stacked")
