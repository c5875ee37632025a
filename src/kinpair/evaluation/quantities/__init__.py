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

from kinpair.evaluation.quantities.derivatives import STEP, forward_of, solved_for
from kinpair.evaluation.quantities.dynamics import (
    accelerations,
    actuation,
    energy,
    forward_dynamics,
    held_motion,
    inverse_dynamics,
    pivot_measures,
)
from kinpair.evaluation.quantities.frames import jacobian, jacobian_rate, link_names, pose
from kinpair.evaluation.quantities.friction import levels_from_load, rubbing, terms_under_load
from kinpair.evaluation.quantities.regressor import regressor_names, regressor_parameters
from kinpair.evaluation.quantities.request import (
    METHODS,
    External,
    Request,
    check_method,
    is_default,
    request_of,
)
from kinpair.evaluation.quantities.table import DOUBTFUL, OF_SURFACES, OF_TREES, QUANTITIES, Quantity, timed
from kinpair.evaluation.quantities.wrenches import AXES, joint_order, reactions, resultant

__all__ = [
    "AXES",
    "DOUBTFUL",
    "METHODS",
    "OF_SURFACES",
    "OF_TREES",
    "QUANTITIES",
    "STEP",
    "External",
    "Quantity",
    "Request",
    "accelerations",
    "actuation",
    "check_method",
    "energy",
    "forward_dynamics",
    "forward_of",
    "held_motion",
    "inverse_dynamics",
    "is_default",
    "jacobian",
    "jacobian_rate",
    "joint_order",
    "levels_from_load",
    "link_names",
    "pivot_measures",
    "pose",
    "reactions",
    "regressor_names",
    "regressor_parameters",
    "request_of",
    "resultant",
    "rubbing",
    "solved_for",
    "terms_under_load",
    "timed",
]
