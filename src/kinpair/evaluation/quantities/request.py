"""Request of a quantity, and which formulations give it.

`METHODS` lists, for each quantity that several formulations give, which do; the first is the default. It is the one
with the fewest operations (`make bench` prints them), except for the Coriolis matrix: there it is DeNOC's, which serves
every pair. The rows are in `formulations/catalogue.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from kinpair.algebra.arrays import Vector
from kinpair.errors import InputError, offered
from kinpair.formulations.catalogue import Function as Formulation
from kinpair.formulations.catalogue import differentiated, giving
from kinpair.formulations.limits import refusal
from kinpair.model.model import Model

External: TypeAlias = Mapping[str, Vector]

METHODS: dict[str, dict[str, Formulation]] = {
    "inverse_dynamics": giving("inverse_dynamics"),
    "forward_dynamics": giving("forward_dynamics"),
    "mass_matrix": giving("mass_matrix"),
    "coriolis_matrix": giving("coriolis_matrix"),
    "bias_forces": giving("inverse_dynamics"),
    "gravity_forces": giving("inverse_dynamics"),
    "reactions": giving("reactions"),
    "inverse_dynamics_derivatives": differentiated(),
    "forward_dynamics_derivatives": differentiated(),
}


@dataclass(frozen=True, slots=True)
class Request:
    """Request of a quantity: by which formulation, of which frame, with which loads, at any price."""

    quantity: str
    method: str = ""
    frame: str = ""
    passive: bool = True
    external: tuple[str, ...] = ()
    force: bool = False
    axes: str = ""  # of reactions; those of the joint frame on the parent where empty
    solver: str = ""  # of the constraints
    kept: tuple[int, ...] = ()  # rows that are not redundant
    rows: tuple[int, ...] = ()  # the order in which an embedding eliminates them
    dependent: tuple[int, ...] = ()  # the rates it finds from them
    actuated: tuple[int, ...] = ()  # the rates that have efforts

    @property
    def formulation(self) -> Formulation:
        """The function of the formulation."""
        return METHODS[self.quantity][self.method]


def request_of(
    quantity: str,
    *,
    owner: str = "",
    method: str | None = None,
    frame: str = "",
    passive: bool = True,
    external: Mapping[str, Any] | None = None,
    force: bool = False,
) -> Request:
    """The request with its method found: the default one for None, an error that lists them for an unknown one.

    owner: the name of the mechanism, for the errors.
    """
    table = METHODS.get(quantity, {})
    if method is None:
        method = next(iter(table), "")
    elif not isinstance(method, str) or method not in table:  # type: ignore[redundant-expr]
        of = f"{owner}: " if owner else ""
        raise InputError(f"{of}{_no_method(quantity, method, table)}", quantity=quantity, method=method)
    if external is not None and not isinstance(external, Mapping):  # type: ignore[redundant-expr]
        raise InputError(
            f"external is {type(external).__name__}; give a dict: name of a link or frame → wrench (6,)"
        )
    return Request(quantity, method, frame, passive, tuple(external or ()), bool(force))


def is_default(request: Request) -> bool:
    """True if it requests the formulation that is taken where none is named."""
    table = METHODS.get(request.quantity, METHODS["inverse_dynamics"])
    return request.method in ("", next(iter(table)))


def _no_method(quantity: str, method: Any, table: Mapping[str, Formulation]) -> str:
    if not table:
        return f"{quantity} has no method {method!r}; it has one method only"
    ways = ", ".join(table)
    if any(str(method) in other for other in METHODS.values()):
        return f"method {method!r} does not give {quantity}; these do: {ways}"
    return f"{quantity} has no method {method!r}; {offered(str(method), 'methods', table)}"


def check_method(model: Model, request: Request) -> None:
    """Refuses what a formulation cannot do for this model, or would do at too high a price, before any work."""
    if reason := refusal(model, request.quantity, request.method, force=request.force):
        raise InputError(f"{model.name}: {reason}", quantity=request.quantity, method=request.method)
