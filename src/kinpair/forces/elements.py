"""All elements of a model as one tuple, and the sums that everybody asks for.

`passive=False` leaves out those of the description: what a run has added acts all the same, and rotors do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.forces.applied import applied_wrenches, as_efforts
from kinpair.forces.element import Element, Instant
from kinpair.forces.free_rotor import free_rotors
from kinpair.forces.joint import joint_elements
from kinpair.forces.point_spring import point_springs
from kinpair.model.model import Model
from kinpair.model.state import State

NO_LOADS: Mapping[str, Vector] = {}


class Loads(NamedTuple):
    """Efforts on the rates (nv,), and wrenches by body at its origin and in its axes, as formulations take them."""

    efforts: Vector
    wrenches: list[Vector]


def elements_of(model: Model, *, passive: bool = True) -> tuple[Element, ...]:
    """Those of the joints, those between points, rotors of free joints, and those that were added."""
    described = model.once("elements", lambda: _described(model)) if passive else ()
    return described + model.once("free_rotors", lambda: free_rotors(model)) + model.added


def _described(model: Model) -> tuple[Element, ...]:
    return (*joint_elements(model), *point_springs(model))


def loads_on(
    model: Model, state: State, external: Mapping[str, Vector] = NO_LOADS, *, passive: bool = True
) -> Loads:
    """Of all elements, and of wrenches [n; f] applied to links and frames, in world axes at their origins."""
    at, w = Instant(model, state), applied_wrenches(model, state.q, external)
    tau: list[Any] = [0.0] * model.nv
    for element in elements_of(model, passive=passive):
        for k, effort in element.efforts(at).items():
            tau[k] = tau[k] + effort
        for i, wrench in element.wrenches(at).items():
            w[i] = w[i] + wrench
    return Loads(array(tau) if tau else np.zeros(0), w)


def efforts_of(
    model: Model, state: State, external: Mapping[str, Vector] = NO_LOADS, *, passive: bool = True
) -> Vector:
    """The same as efforts on the rates alone (nv,)."""
    tau, w = loads_on(model, state, external, passive=passive)
    return tau + as_efforts(model, state.q, w)


def stored_energy(model: Model, state: State, *, passive: bool = True) -> Scalar:
    """What all elements store [J]."""
    at = Instant(model, state)
    return sum((x.energy(at) for x in elements_of(model, passive=passive)), 0.0)


def losses(model: Model, state: State, *, passive: bool = True) -> dict[str, Scalar]:
    """Powers that elements take for good, by name [W]."""
    at = Instant(model, state)
    return {
        name: power
        for x in elements_of(model, passive=passive)
        if x.dissipates
        for name, power in x.losses(at).items()
    }


def couples_branches(model: Model, *, passive: bool = True) -> bool:
    """Does an element act between bodies of which none carries the other?"""
    for element in elements_of(model, passive=passive):
        outermost = max(element.bodies, default=0)
        if not set(element.bodies) <= {0, *model.path_to_ground(outermost)}:
            return True
    return False
