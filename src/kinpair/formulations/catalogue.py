"""The formulations by name, and what each gives: one row each, the first that gives a quantity is its default.

`newton-euler` is the leanest of all in every quantity it gives, so it stands first. It has no C; the first that has is
`denoc`, whose C is the published one with Ḣ − 2C skew for every pair. Christoffel's C, of `lagrange` and `uicker`,
mostly takes fewer operations, but needs rates that are dq/dt and is refused beyond twelve of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from kinpair.formulations import (
    appell,
    composite,
    denoc,
    kane,
    lagrange,
    newton_euler,
    newton_euler_forward,
    popov,
    roberson_wittenburg,
    screw,
    uicker,
    zhao_gu,
)

Function: TypeAlias = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Formulation:
    """The functions of one formulation; None: it does not give this.

    `differentiated`: its derivatives are offered as well, of recursions and of closed forms; the others would only
    give the same numbers again.
    """

    inverse_dynamics: Function
    forward_dynamics: Function
    mass_matrix: Function
    coriolis_matrix: Function | None = None
    reactions: Function | None = None
    differentiated: bool = False


FORMULATIONS: dict[str, Formulation] = {
    "newton-euler": Formulation(
        newton_euler.inverse_dynamics,
        newton_euler_forward.forward_dynamics,
        composite.mass_matrix,
        reactions=newton_euler.reactions,
        differentiated=True,
    ),
    "denoc": Formulation(
        denoc.inverse_dynamics,
        denoc.forward_dynamics,
        denoc.mass_matrix,
        denoc.coriolis_matrix,
        denoc.reactions,
        differentiated=True,
    ),
    "lagrange": Formulation(
        lagrange.inverse_dynamics,
        lagrange.forward_dynamics,
        lagrange.mass_matrix,
        lagrange.coriolis_matrix,
        differentiated=True,
    ),
    "uicker": Formulation(
        uicker.inverse_dynamics,
        uicker.forward_dynamics,
        uicker.mass_matrix,
        uicker.coriolis_matrix,
        differentiated=True,
    ),
    "popov": Formulation(
        popov.inverse_dynamics, popov.forward_dynamics, popov.mass_matrix, reactions=popov.reactions
    ),
    "appell": Formulation(appell.inverse_dynamics, appell.forward_dynamics, appell.mass_matrix),
    "kane": Formulation(kane.inverse_dynamics, kane.forward_dynamics, kane.mass_matrix),
    "roberson-wittenburg": Formulation(
        roberson_wittenburg.inverse_dynamics,
        roberson_wittenburg.forward_dynamics,
        roberson_wittenburg.mass_matrix,
        reactions=roberson_wittenburg.reactions,
    ),
    "screw": Formulation(
        screw.inverse_dynamics, screw.forward_dynamics, screw.mass_matrix, reactions=screw.reactions
    ),
    "zhao-gu": Formulation(
        zhao_gu.inverse_dynamics, zhao_gu.forward_dynamics, zhao_gu.mass_matrix, reactions=zhao_gu.reactions
    ),
}


def giving(quantity: str) -> dict[str, Function]:
    """The functions of a field by formulation, without those that do not give it."""
    methods = {name: getattr(row, quantity) for name, row in FORMULATIONS.items()}
    return {name: f for name, f in methods.items() if f is not None}


def differentiated() -> dict[str, Function]:
    """The inverse dynamics of the formulations whose derivatives are offered."""
    return {name: row.inverse_dynamics for name, row in FORMULATIONS.items() if row.differentiated}
