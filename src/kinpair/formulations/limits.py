"""Limits of formulations: what one cannot do for a model, or only at too high a price, is refused before any work.

A limit is a function of the model and the quantity; it answers with a reason, or with nothing where all is well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from kinpair.model.model import Model

Limit: TypeAlias = Callable[[Model, str], str]
MANY = 12  # degrees of freedom: beyond, work that grows as their third power is done on demand only


def _body_rates(model: Model) -> str:
    """The first joint whose rates are not dq/dt, such as 'ball' (spherical)."""
    pairs = ((model.joint_names[i], model.body[i].pair) for i in model.moving)
    return next((f"{name!r} ({pair.kind})" for name, pair in pairs if pair.nq != pair.nv), "")


OTHERWISE = "`other, maps = mechanism.split()` makes them, or use method 'denoc'"


def _one_parameter_pairs(model: Model, quantity: str) -> str:
    joint = _body_rates(model)
    return f"cannot take joint {joint}: it needs one-parameter pairs; {OTHERWISE}" if joint else ""


def _coordinates(model: Model, quantity: str) -> str:
    joint = _body_rates(model) if quantity == "coriolis_matrix" else ""
    needed = f"Christoffel's symbols need rates that are dq/dt; {OTHERWISE}"
    return f"gives no coriolis_matrix with joint {joint}: {needed}" if joint else ""


def _costly(model: Model, power: str) -> str:
    if model.nv <= MANY:
        return ""
    work = f"the work grows as their {power}"
    return f"is limited to {MANY} degrees of freedom, here are {model.nv}: {work}; use method 'denoc', or force=True"


def _every_coefficient(model: Model, quantity: str) -> str:
    return _costly(model, "third power, in the form printed as their fourth")


def _third_order(model: Model, quantity: str) -> str:
    return _costly(model, "third power") if quantity == "coriolis_matrix" else ""


CANNOT: Mapping[str, Limit] = {"uicker": _one_parameter_pairs, "lagrange": _coordinates}
COSTLY: Mapping[str, Limit] = {"uicker": _every_coefficient, "lagrange": _third_order}


def refusal(model: Model, quantity: str, method: str, *, force: bool = False) -> str:
    """Reason why this method does not give this quantity of this model; empty where it does.

    `force` has the costly done, never the impossible.
    """
    limits = [table[method] for table in ((CANNOT,) if force else (CANNOT, COSTLY)) if method in table]
    reasons = (limit(model, quantity) for limit in limits)
    return next((f"method {method!r} {reason}" for reason in reasons if reason), "")
