"""The rows of constraints, one kind a file, and what can be said of them without a motion.

constraint       what every constraint answers
joined           constraints between two marked frames
loop             a pair that closes a loop
frames           rods, surfaces and curves, blades, frames that move as prescribed
rolling          a convex body on a plane
coordinates      couplings, drives, momentum, functions and formulas of a user
build            from the constraints of a description to constraints
stacked          the rows of all constraints, stacked
mobility         freedoms, redundant rows; are the constraints right, and do they hold what has no
                 inertia? a table for a reader
closing          coordinates that close the loops
loads            multipliers as wrenches
bounded          rows whose multipliers have bounds

A module imports only what stands above it; a test checks it.
"""

from kinpair.errors import moved

__getattr__ = moved(__name__, ("rows",), "kinpair.constraints.rows.stacked")
