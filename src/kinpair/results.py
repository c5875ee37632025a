"""Results of quantities that have several parts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Energy(NamedTuple):
    """Kinetic and potential energy [J]."""

    kinetic: Any
    potential: Any


class FramePose(NamedTuple):
    """Rotation matrix and position of a frame in the world."""

    rotation: np.ndarray
    position: np.ndarray


class EffortDerivatives(NamedTuple):
    """∂τ/∂q and ∂τ/∂q̇ (nv, nv) in the tangent space; ∂τ/∂q̈ is H, but for friction from load."""

    q: np.ndarray
    qd: np.ndarray


class ActuatorDerivatives(NamedTuple):
    """∂τ/∂q, ∂τ/∂q̇ and ∂τ/∂q̈ (nv, nv) of chosen actuators, in the tangent space; rows of other rates are zero."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray


class AccelerationDerivatives(NamedTuple):
    """∂q̈/∂q, ∂q̈/∂q̇ and ∂q̈/∂τ (nv, nv) in the tangent space."""

    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray


class StateDerivative(NamedTuple):
    """Accelerations (nv,), and rates of the internal states (nx,)."""

    qdd: np.ndarray
    x_rate: np.ndarray


class Actuation(NamedTuple):
    """Efforts on the joints (nv,), and rates of the internal states (nx,)."""

    effort: np.ndarray
    x_rate: np.ndarray


class FrictionSolutions(NamedTuple):
    """Solutions that friction from load allows in one state.

    `kind` is one, shared (one motion, by forces that constraints share out in many distributions), several, none or
    ill-conditioned; `proved` says whether that there is one is proved, or found by trying every choice of what sticks.
    `accelerations` (solutions, nv), the joints that stick in each, and the joints in which they differ. `part` is the
    part of the given coefficients from which on there are several, NaN where there are not.
    """

    kind: str
    proved: bool
    accelerations: np.ndarray
    sticks: tuple[tuple[str, ...], ...]
    joints: tuple[str, ...]
    part: float
