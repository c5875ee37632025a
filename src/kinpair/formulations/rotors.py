"""Rotor inertia J of the joints where the axes of the rates turn, as those of a free joint do.

    τ = J (q̈ + K q̇)            K q̇: what the turning axes add to the derivatives of the rates       (RO1)

J q̈ stands in every formulation. K is skew-symmetric and J the same for all rates of such a joint: J K q̇ does no work.
"""

from __future__ import annotations

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector, assemble
from kinpair.model.model import Model


def turning_rotors(model: Model) -> list[int]:
    """Numbers of the bodies whose joint has a rotor and several rates."""
    which, chosen = model.different
    bodies = [model.body[i] for i in chosen]
    turning = [body.pair.nv > 1 and _resists(body.rotor) for body in bodies]
    return np.flatnonzero(np.array(turning)[which]).tolist() if any(turning) else []


def _resists(rotor: Vector) -> bool:
    """True if any entry is a symbol, or a number that is not zero."""
    return any(not isinstance(J, float) or J != 0.0 for J in rotor.tolist())


def accelerations(model: Model, qd: Vector, qdd: Vector) -> Vector:
    """q̈ + K q̇ (nv,).    (RO1)"""
    several = [i for i in model.moving if model.body[i].pair.nv > 1]
    return qdd + _assembled(model, qd, several) @ qd if several else qdd


def convective_matrix(model: Model, qd: Vector) -> Matrix:
    """J K (nv, nv), the share of rotors in C.    (RO1)"""
    return _assembled(model, qd, turning_rotors(model), scaled=True)


def _assembled(model: Model, qd: Vector, bodies: list[int], *, scaled: bool = False) -> Matrix:
    blocks = list[tuple[slice, slice, Matrix]]()
    for i in bodies:
        span, body = model.v_span[i], model.body[i]
        K = body.pair.convection(qd[span])
        blocks.append((span, span, np.diag(body.rotor) @ K if scaled else K))
    return assemble((model.nv, model.nv), blocks)
