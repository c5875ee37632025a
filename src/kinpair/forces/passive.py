"""Springs, dampers and dry friction of the joints.

    τ_passive = −k (q − q_rest) − c q̇ − f sign(q̇)                                  (P1)

Dry friction here has a constant size f and is zero at rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.algebra.choice import sign
from kinpair.model.model import Model


def has_passive(model: Model) -> bool:
    """Does any joint have a spring, damper or friction?"""
    return any(x.any() for x in (model.joints.damping, model.joints.friction, model.joints.stiffness))


def passive_efforts(model: Model, q: Vector, qd: Vector) -> Vector:
    """Efforts of springs, dampers and friction on the joints (nv).    (P1)"""
    data = model.joints
    tau: list[Any] = []
    for k in range(model.nv):
        x = -data.damping[k] * qd[k]
        if data.friction[k]:
            x = x - data.friction[k] * sign(qd[k])
        tau.append(x + _spring(model, k, q))
    return array(tau) if tau else np.zeros(0)


def _spring(model: Model, k: int, q: Vector) -> Scalar:
    data = model.joints
    if not data.stiffness[k]:
        return 0.0
    return -data.stiffness[k] * (q[data.spring_q[k]] - data.rest[k])


def spring_energy(model: Model, q: Vector) -> Scalar:
    """V = Σ ½ k (q − q_rest)²."""
    data = model.joints
    V: Scalar = 0.0
    for k in np.flatnonzero(data.stiffness):
        x = q[data.spring_q[k]] - data.rest[k]
        V = V + 0.5 * data.stiffness[k] * x * x
    return V
