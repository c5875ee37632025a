"""Quantities of the public interface: a formulation, and the loads it is given.

A quantity is a function of (model, request, state..., external wrenches) over floats, symbols or columns of a batch.

request      how a quantity is wanted; `METHODS`: which formulations give it
dynamics     efforts, accelerations and energies
friction     what friction from load does in a state
wrenches     wrenches in the joints, and that of the ground
regressor    efforts as a linear function of inertia, damping and friction
derivatives  of efforts and accelerations
frames       poses, Jacobians and twists of links and frames
table        `QUANTITIES`, all of them

A module imports only what stands above it; a test checks it.
"""

from kinpair.evaluation.quantities.dynamics import accelerations, energy, held_motion, inverse_dynamics
from kinpair.evaluation.quantities.frames import jacobian, jacobian_rate, pose
from kinpair.evaluation.quantities.friction import levels_from_load, rubbing
from kinpair.evaluation.quantities.request import Request, request_of
from kinpair.evaluation.quantities.wrenches import reactions

__all__ = [
    "Request",
    "accelerations",
    "energy",
    "held_motion",
    "inverse_dynamics",
    "jacobian",
    "jacobian_rate",
    "levels_from_load",
    "pose",
    "reactions",
    "request_of",
    "rubbing",
]
