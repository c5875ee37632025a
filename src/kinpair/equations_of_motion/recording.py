"""What is recorded of a mechanism for its equations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinpair.algebra.arrays import Vector, array
from kinpair.compiler.program import Program, Shape
from kinpair.compiler.trace import trace
from kinpair.equations_of_motion.constant import Constant, symbols_of
from kinpair.equations_of_motion.parameters import with_letters
from kinpair.formulations import composite, denoc, kinematics, lagrange, newton_euler, rotors
from kinpair.model.model import Model

MOST = 12  # degrees of freedom for which Christoffel's symbols are written out
Equations = Callable[[Model, Vector, Vector], dict[str, Any]]


def energies(model: Model, q: Vector, qd: Vector) -> dict[str, Any]:
    """H and the potential: what the closed form starts from."""
    return {"H": composite.mass_matrix(model, q), "V": kinematics.potential_energy(model, q)}


def kinetic_energy(model: Model, q: Vector, qd: Vector) -> dict[str, Any]:
    """T (1,) [J]."""
    return {"T": array([kinematics.kinetic_energy(model, q, qd)])}


def potential_energy(model: Model, q: Vector, qd: Vector) -> dict[str, Any]:
    """V (1,) of gravity [J], zero at the origin of the world."""
    return {"V": array([kinematics.potential_energy(model, q)])}


ENERGIES: dict[str, Equations] = {"T": kinetic_energy, "V": potential_energy}


def matrices(model: Model, q: Vector, qd: Vector) -> dict[str, Any]:
    """H, C and g; C of the complement."""
    return _matrices(model, q, denoc.coriolis_matrix(model, q, qd) + rotors.convective_matrix(model, qd))


def christoffel_matrices(model: Model, q: Vector, qd: Vector) -> dict[str, Any]:
    """H, C and g; C of Christoffel's symbols."""
    return _matrices(model, q, lagrange.coriolis_matrix(model, q, qd))


def _matrices(model: Model, q: Vector, C: Any) -> dict[str, Any]:
    still = np.zeros(model.nv)
    g = newton_euler.inverse_dynamics(model, q, still, still, kinematics.no_wrenches(model))
    return {"H": composite.mass_matrix(model, q), "C": C, "g": g}


def recorded(model: Model, every: Sequence[Constant], equations: Equations) -> Program:
    """The equations of a model as a program of q, q̇ and the constants that are to be letters."""
    kept = symbols_of(every)

    def f(q: Vector, qd: Vector, *values: Any) -> dict[str, Any]:
        symbols = dict(zip(kept, values, strict=True))
        return equations(with_letters(model, symbols, list(every)) if every else model, q, qd)

    shapes: dict[str, Shape] = {"q": (model.nq,), "qd": (model.nv,)}
    with np.errstate(all="ignore"):
        return trace(f, shapes | dict.fromkeys(kept, ()), name=model.name)


def rates_are_derivatives(model: Model) -> bool:
    """Is q̇ the derivative of q? Not with quaternions."""
    if model.nq != model.nv:
        return False
    program = trace(lambda q, qd: kinematics.dq_dt(model, q, qd), {"q": (model.nq,), "qd": (model.nv,)})
    return program.outputs[0].entries == program.inputs[1].entries


def has_christoffel(model: Model) -> bool:
    """Is C made of Christoffel's symbols? Rates must be derivatives, and their work grows as n³."""
    return model.nv <= MOST and rates_are_derivatives(model)
