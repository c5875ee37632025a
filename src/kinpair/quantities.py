"""What each quantity of the face is: a formulation, and the loads it is given.

Functions of (model, formulation, state...) over floats, symbols or columns of a batch. `METHODS` lists, for
each quantity that several formulations give, which do; the first is the default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector, array
from kinpair.errors import InputError, nearest
from kinpair.forces.applied import applied_wrenches
from kinpair.forces.passive import passive_efforts, spring_energy
from kinpair.formulations import composite, denoc, kinematics, newton_euler, newton_euler_forward
from kinpair.model.model import Model

Formulation: TypeAlias = Callable[..., Any]
External: TypeAlias = Mapping[str, Vector]

METHODS: dict[str, dict[str, Formulation]] = {
    "inverse_dynamics": {
        "newton-euler": newton_euler.inverse_dynamics,
        "denoc": denoc.inverse_dynamics,
    },
    "forward_dynamics": {
        "newton-euler": newton_euler_forward.forward_dynamics,
        "denoc": denoc.forward_dynamics,
    },
    "mass_matrix": {
        "newton-euler": composite.mass_matrix,
        "denoc": denoc.mass_matrix,
    },
    "coriolis_matrix": {
        "denoc": denoc.coriolis_matrix,
    },
    "reactions": {
        "newton-euler": newton_euler.reactions,
        "denoc": denoc.reactions,
    },
}
METHODS["bias_forces"] = METHODS["gravity_forces"] = METHODS["inverse_dynamics"]


def formulation(quantity: str, method: str | None) -> Formulation:
    """The function that gives `quantity` by `method`; the default one for None."""
    table = METHODS[quantity]
    if method is None:
        return next(iter(table.values()))
    if method in table:
        return table[method]
    raise InputError(
        f"{quantity} has no method {method!r}; {nearest(method, table)}Methods: {', '.join(table)}",
        quantity=quantity,
        method=method,
    )


def inverse_dynamics(
    model: Model, f: Formulation, q: Vector, qd: Vector, qdd: Vector, external: External, passive: bool
) -> Vector:
    """τ = H q̈ + C q̇ + gravity − applied − passive."""
    tau = f(model, q, qd, qdd, applied_wrenches(model, q, external))
    return tau - passive_efforts(model, q, qd) if passive else tau


def forward_dynamics(
    model: Model, f: Formulation, q: Vector, qd: Vector, tau: Vector, external: External, passive: bool
) -> tuple[Vector, Vector]:
    """q̈ and the pivots of the solve."""
    driving = tau + passive_efforts(model, q, qd) if passive else tau
    return f(model, q, qd, driving, applied_wrenches(model, q, external))


def bias_forces(
    model: Model, f: Formulation, q: Vector, qd: Vector, external: External, passive: bool
) -> Vector:
    """h = C q̇ + gravity − applied − passive: the efforts of motion without acceleration."""
    return inverse_dynamics(model, f, q, qd, np.zeros(model.nv), external, passive)


def gravity_forces(model: Model, f: Formulation, q: Vector) -> Vector:
    """The efforts that hold the mechanism still against gravity alone."""
    nothing = np.zeros(model.nv)
    return f(model, q, nothing, nothing, kinematics.no_wrenches(model))


def reactions(
    model: Model, f: Formulation, q: Vector, qd: Vector, qdd: Vector, external: External
) -> dict[str, Vector]:
    """Wrench on the child in every joint, by name of the joint."""
    w = f(model, q, qd, qdd, applied_wrenches(model, q, external))
    return {model.joint_names[i]: w[i] for i in model.moving}


def energy(model: Model, q: Vector, qd: Vector) -> Vector:
    """(kinetic energy, potential energy of gravity and springs)."""
    potential = kinematics.potential_energy(model, q) + spring_energy(model, q)
    return array([kinematics.kinetic_energy(model, q, qd), potential])


def jacobian(model: Model, frame: str, q: Vector) -> Matrix:
    """(6, nv) at the origin of the frame, world axes, angular rows first."""
    return kinematics.jacobian(model, q, model.place(frame))


def jacobian_rate(model: Model, frame: str, q: Vector, qd: Vector) -> Matrix:
    """Its derivative in time."""
    return kinematics.jacobian_rate(model, q, qd, model.place(frame))


def pose(model: Model, frame: str, q: Vector) -> tuple[Matrix, Vector]:
    """Rotation and origin of the frame in the world."""
    return kinematics.pose(model, q, model.place(frame))
