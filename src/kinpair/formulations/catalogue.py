"""The formulations by name, and what each gives: one row each, the first that gives a quantity is its default.

`newton-euler` is the cheapest in every quantity it gives, so it stands first. It has no C; the first that has is
`denoc`, whose C is the published one with Ḣ − 2C skew for every pair, by composite bodies in vectors of three.
Christoffel's C, of `lagrange` and `uicker`, needs rates that are dq/dt and is refused beyond twelve of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

Function: TypeAlias = Callable[..., Any]


@cache
def _found(module: str, name: str) -> Function:
    return getattr(import_module(f"kinpair.formulations.{module}"), name)


@dataclass(frozen=True, slots=True)
class OfModule:
    """A function of a formulation; its module is imported when the function is first called."""

    module: str
    name: str

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return _found(self.module, self.name)(*arguments, **options)


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


def _row(module: str, *more: str, differentiated: bool = False, **elsewhere: str) -> Formulation:
    """A formulation in a module that also gives `more`; some of its functions are in other modules."""
    names = ("inverse_dynamics", "forward_dynamics", "mass_matrix", *more)
    functions: dict[str, Any] = {name: OfModule(elsewhere.get(name, module), name) for name in names}
    return Formulation(**functions, differentiated=differentiated)


FORMULATIONS: dict[str, Formulation] = {
    "newton-euler": _row(
        "newton_euler",
        "reactions",
        differentiated=True,
        forward_dynamics="newton_euler_forward",
        mass_matrix="composite",
    ),
    "denoc": _row("denoc", "coriolis_matrix", "reactions", differentiated=True, coriolis_matrix="convective"),
    "lagrange": _row("lagrange", "coriolis_matrix", differentiated=True),
    "uicker": _row("uicker", "coriolis_matrix", differentiated=True),
    "popov": _row("popov", "reactions"),
    "appell": _row("appell"),
    "kane": _row("kane"),
    "roberson-wittenburg": _row("roberson_wittenburg", "reactions"),
    "screw": _row("screw", "reactions"),
    "zhao-gu": _row("zhao_gu", "reactions"),
}


def giving(quantity: str) -> dict[str, Function]:
    """The functions of a field by formulation, without those that do not give it."""
    methods = {name: getattr(row, quantity) for name, row in FORMULATIONS.items()}
    return {name: f for name, f in methods.items() if f is not None}


def differentiated() -> dict[str, Function]:
    """The inverse dynamics of the formulations whose derivatives are offered."""
    return {name: row.inverse_dynamics for name, row in FORMULATIONS.items() if row.differentiated}
