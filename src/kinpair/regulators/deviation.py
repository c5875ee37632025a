"""The deviation of a state from a motion along the rates, and accelerations that take it away.

    e = q⁰ ⊖ q,   ė = D⁰ q̇⁰ − D q̇,   ë = r − D q̈             D = −∂e/∂q: one, but for quaternions             (RG15)
    q̈ = (2 − D) w,   w = r + k_d ė + k_p e        ë + k_d ė + k_p e = 0, to the second order of e             (RG16)

Coordinates without quaternions have D = 1 and r = q̈⁰: there (RG16) is exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinpair.algebra.arrays import Vector
from kinpair.algebra.jet import rate
from kinpair.formulations import kinematics
from kinpair.model.model import Model


class Target(NamedTuple):
    """Where a mechanism is required to be: q (nq,), rates and accelerations (nv,)."""

    q: Vector
    qd: Vector
    qdd: Vector


class Deviation(NamedTuple):
    """e, ė, and r of (RG15), each (nv,)."""

    e: Vector
    ed: Vector
    r: Vector


def has_quaternions(model: Model) -> bool:
    """True if a coordinate of the model is part of a quaternion."""
    return model.nq != model.nv


def deviation(model: Model, q: Vector, qd: Vector, target: Target) -> Deviation:
    """Return the deviation of a state from a target.    (RG15)"""
    e = kinematics.difference(model, q, target.q)
    if not has_quaternions(model):
        return Deviation(e, target.qd - qd, target.qdd)

    def changed(at: Vector, v: Vector, to: Vector, w: Vector) -> Vector:
        along = kinematics.dq_dt(model, at, v), kinematics.dq_dt(model, to, w)
        return rate(lambda x, y: kinematics.difference(model, x, y), (at, to), along)

    state = q, qd, target.q, target.qd
    moves = kinematics.dq_dt(model, q, qd), kinematics.dq_dt(model, target.q, target.qd)
    r = rate(changed, state, (moves[0], np.zeros(model.nv), moves[1], target.qdd))
    return Deviation(e, changed(*state), r)


def required(model: Model, q: Vector, target: Vector, d: Deviation, kp: Vector, kd: Vector) -> Vector:
    """Return the accelerations (nv,) that take a deviation from coordinates `target` away.    (RG16)"""
    w = d.r + kd * d.ed + kp * d.e
    if not has_quaternions(model):
        return w
    along = kinematics.dq_dt(model, q, w)
    return 2.0 * w + rate(lambda x: kinematics.difference(model, x, target), (q,), (along,))
