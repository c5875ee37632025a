"""Kernels that give exactly the result of a method of a mechanism, for calls that go straight to it, see `thin`;
and which kernel is meant by the name of a quantity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kinpair.constraints.assembly.closure import Closure
from kinpair.constraints.assembly.rank import IN_PHASES, KERNELS, check_solver
from kinpair.constraints.quantities.solution import EMBEDDED
from kinpair.constraints.quantities.table import EVERY
from kinpair.constraints.solvers import DEFAULT_SOLVER
from kinpair.errors import InputError, listed, nearest
from kinpair.evaluation.calls import Calls
from kinpair.evaluation.quantities.request import Request, request_of
from kinpair.evaluation.quantities.table import OF_SURFACES, QUANTITIES
from kinpair.evaluation.thin import Answer
from kinpair.friction.loads.dynamics import is_loaded
from kinpair.friction.states import FrictionStates
from kinpair.model.model import Model

CHOSEN = ("method", "frame", "passive", "external", "force")  # options that are part of a request
ANOTHER = {  # quantities of methods
    "energy": "energies",
    "_poses_of_one": "poses",
    "forward_dynamics_derivatives": "derivatives_at_efforts",
}
FORMULATED = {"derivatives_at_efforts": "forward_dynamics_derivatives"}
CLOSED = ("inverse_dynamics", "forward_dynamics", "forward_dynamics_derivatives")  # with every row in force
OF_ACTUATORS = ("inverse_dynamics_derivatives", "regressor")  # those of the actuated joints
DEFAULTS = {"method": None, "force": False, "passive": True}
LOOKED_AT = CLOSED[1:]  # states at rest, or where friction from load was not found, are solved again


def answer_of_tree(
    model: Model, calls: Calls, friction: FrictionStates, method: str, options: dict[str, Any]
) -> Answer | None:
    """Return the kernel where no constraint is active; None where there is none."""
    chosen = {word: options[word] for word in CHOSEN if word in options}
    quantity, passive = ANOTHER.get(method, method), bool(options.get("passive", True))
    if options.get("actuators") not in (None, "all"):
        return None
    if method == "forward_dynamics_derivatives" and is_loaded(model, passive=passive):
        return None
    request = request_of(FORMULATED.get(quantity, quantity), owner=model.name, **chosen)
    moving = friction.moving(passive=passive) if method in LOOKED_AT else ()
    return Answer(calls, replace(request, quantity=quantity), moving)


def answer_in_loops(
    closure: Closure, calls: Calls, friction: FrictionStates, method: str, options: dict[str, Any]
) -> Answer | None:
    """Return the kernel with every row active; of what constraints leave alone, as of a tree."""
    passive = bool(options.get("passive", True))
    loaded = is_loaded(closure.model, passive=passive)
    actuators = options.get("actuators")
    if method not in CLOSED:
        of_actuators = method in OF_ACTUATORS and actuators is None and closure.drives.actuated.closed
        if of_actuators or (method == "inverse_dynamics_derivatives" and loaded):
            return None
        return answer_of_tree(closure.model, calls, friction, method, options)
    if (loaded and method != "inverse_dynamics") or actuators not in (None, "all"):
        return None
    request = _known(closure, method, options)
    moving = friction.moving(passive=passive) if method in LOOKED_AT else ()
    return None if request is None else Answer(calls, request, moving)


def _known(closure: Closure, method: str, options: dict[str, Any]) -> Request | None:
    """The request whose rows are known not to depend on the state."""
    chosen = {word: options.get(word, DEFAULTS[word]) for word in DEFAULTS}
    external = options.get("external") or {}
    if method == "inverse_dynamics":
        return closure.drives.known(options.get("actuators"), chosen, external)
    if method == "forward_dynamics_derivatives":
        return closure.derivatives.known(chosen, external)
    solver = options.get("solver") or DEFAULT_SOLVER
    if solver in EMBEDDED:  # dependent rates are chosen anew on the way
        return None
    return closure.dynamics.known(solver, chosen, external)


SOLVED = ("phases", "friction_solutions", "friction", "impact")  # with inequalities, by loop functions
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
    if closure is None and quantity in IN_PHASES:
        return replace(request_of("forward_dynamics", owner=model.name, **whole), quantity=quantity)
    if closure is None or quantity not in (*KERNELS, *IN_PHASES):
        if solver is not None:
            check_solver(solver)
        return request_of(quantity, owner=model.name, frame=frame, **whole)
    if quantity == "forward_dynamics":
        closure.drives.rubbing.check(passive=bool(options.get("passive", True)))
    dynamic = quantity in ("forward_dynamics", "forward_dynamics_in_phases")
    at = closure.assembly.start() if dynamic else model.neutral()
    return closure.requests.of_kernel(quantity, at, DEFAULT_SOLVER if solver is None else solver, whole)


def _check_quantity(model: Model, closure: Closure | None, quantity: str) -> None:
    """Refuse an unknown quantity, and one that no kernel gives under constraints."""
    more = KERNELS if closure else OF_SURFACES if model.surfaces else ()
    known = dict.fromkeys((*QUANTITIES, *IN_PHASES, *more))
    if quantity in SOLVED:
        raise InputError(
            f"{model.name}: {quantity} is a problem with inequalities, which no formula solves; kernels give its "
            "parts, 'row_groups', and 'forward_dynamics_in_phases' with phases as arguments",
            quantity=quantity,
        )
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
