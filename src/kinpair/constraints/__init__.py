"""What the motion must obey beyond the joints, as rows A q̇ + a = 0, A q̈ = b; and what to do with them.

constraint       what every constraint answers
joined           constraints between two marked frames
loop             a pair that closes a loop
distance         a massless rod
surface          a point on a surface or curve
rolling          a convex body on a plane
knife_edge       a blade
guide            a frame that moves as prescribed
coordinates      couplings, drives, momentum, functions of a user
custom           rows that a user writes, as functions or formulas
build            from the constraints of a description to constraints
rows             the rows of all constraints, stacked
rank_revealing   accelerations of one state, whatever the rank
mobility         freedoms, redundant rows
check            are the constraints right, and do they hold what has no inertia?
assembly         coordinates that close the loops
actuation        efforts that make a motion
loads            multipliers as wrenches
table            the constraints for a reader
bounded          rows whose multipliers have bounds
solvers          accelerations of rows of full rank, one solver a file

A module imports only what stands above it; a test checks it.
"""
