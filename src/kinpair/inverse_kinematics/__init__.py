"""Coordinates that bring frames of a mechanism to given places, its loops closed and within its limits.

targets    what is wanted of frames
residual   how far they are from it
iteration  one damped step of Newton's method
loop       the iteration, compiled
search     starts near and far, and which solution is taken
rates      rates and accelerations that keep to moving targets
path       whole paths, compiled
solver     what a mechanism asks, and the report where there is no solution
subproblems  all positions of six hinges by subproblems of one angle: loop functions
hinges     which axes of an arm allow a closed form

A module imports only what stands above it; a test checks it.
"""

from kinpair.inverse_kinematics.targets import Target

__all__ = ["Target"]
