"""Which kernel is meant by the name of a quantity, with constraints and without; and what has none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinpair.constraints.assembly.closure import Closure
from kinpair.constraints.assembly.requests import KERNELS, check_solver
from kinpair.constraints.quantities import EVERY
from kinpair.constraints.solvers import DEFAULT_SOLVER
from kinpair.errors import InputError, listed, nearest
from kinpair.model.model import Model
from kinpair.quantities import OF_SURFACES, QUANTITIES, Request, request_of

OF_FRAMES = ("pose", "jacobian", "jacobian_rate")
OUTSIDE = (  # under constraints: solved with the rank found in each state, which no kernel does
    "inverse_dynamics",
    "forward_dynamics_derivatives",
    "reactions",
)


def kernel_request(
    model: Model,
    closure: Closure | None,
    quantity: str,
    solver: str | None,
    frame: str,
    external: tuple[str, ...],
    options: Mapping[str, Any],
) -> Request:
    """The request for a kernel of a quantity; options are those of a formulation: method, force, passive."""
    _check_quantity(model, closure, quantity)
    _check_arguments(model, quantity, solver, frame, external)
    whole: dict[str, Any] = {**options, "external": dict.fromkeys(external)}
    if closure is None or quantity not in KERNELS:
        if solver is not None:
            check_solver(solver)
        return request_of(quantity, owner=model.name, frame=frame, **whole)
    if quantity == "forward_dynamics" and options.get("passive", True) and closure.drives.rubbing is not None:
        closure.drives.rubbing.check()
    at = closure.assembly.start() if quantity == "forward_dynamics" else model.neutral()
    return closure.requests.of_kernel(quantity, at, DEFAULT_SOLVER if solver is None else solver, whole)


def _check_quantity(model: Model, closure: Closure | None, quantity: str) -> None:
    """Refuse an unknown quantity, and one that no kernel gives under constraints."""
    more = KERNELS if closure else OF_SURFACES if model.surfaces else ()
    known = dict.fromkeys((*QUANTITIES, *more))
    if quantity in KERNELS and quantity not in known:
        raise InputError(f"{model.name} has no constraints, so there is no {quantity}", quantity=quantity)
    if quantity not in known:
        raise InputError(
            f"no quantity {quantity!r}; {nearest(str(quantity), known)}Quantities: {listed(known, 40)}",
            quantity=quantity,
        )
    if closure and quantity in OUTSIDE:
        raise InputError(
            f"{model.name}: {quantity} under constraints is solved outside of kernels: call {quantity}(...); "
            f"without_constraints().kernel({quantity!r}) is that of the tree",
            quantity=quantity,
        )


def _check_arguments(
    model: Model, quantity: str, solver: str | None, frame: str, external: tuple[str, ...]
) -> None:
    """Refuse what a quantity does not take."""
    if solver is not None and quantity != "forward_dynamics":
        raise InputError(f"{quantity} takes no solver", quantity=quantity)
    if quantity in OF_FRAMES and not frame:
        raise InputError(f"{quantity} needs a frame; Links and frames: {listed(model.places)}")
    if frame and quantity not in OF_FRAMES:
        raise InputError(f"{quantity} takes no frame", quantity=quantity)
    if external and not EVERY[quantity].loaded:
        raise InputError(f"{quantity} takes no external wrenches", quantity=quantity)
    for name in (*external, *([frame] if frame else [])):
        model.place(name)
