"""Internal states x and inputs u of a model: names, start, rates; what they do to the joints, and their energy.

Inputs are those of the actuators, in the order of the description, then those that operate levels of friction, then
the efforts on the other rates.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.errors import InputError
from kinpair.forces.element import Instant
from kinpair.forces.elements import Owner, acting, as_efforts, elements_of, own_elements, owners_of
from kinpair.forces.walked_inputs import input_efforts, input_vector
from kinpair.formulations.kinematics import no_wrenches
from kinpair.friction.surfaces.table import LoadedJoint
from kinpair.model.model import Model
from kinpair.model.state import NOTHING, State


class Ports(NamedTuple):
    """Internal states and inputs, entry by entry: names, units, start, size."""

    x_names: tuple[str, ...]
    x_units: tuple[str, ...]
    x_start: np.ndarray
    x_scale: np.ndarray
    u_names: tuple[str, ...]
    u_units: tuple[str, ...]


def ports_of(model: Model) -> Ports:
    """Ports of all elements."""
    return model.once("ports", lambda: _ports(model))


def _ports(model: Model) -> Ports:
    every = [x.element for x in owners_of(model)]
    inputs = {name: unit for x in every for name, unit in zip(x.u_names, x.u_units, strict=True)}
    return Ports(
        tuple(name for x in every for name in x.x_names),
        tuple(unit for x in every for unit in x.x_units),
        array([*(value for x in every for value in x.x_start)]) if any(x.nx for x in every) else NOTHING,
        np.array([value for x in every for value in x.x_scale], dtype=float),
        tuple(inputs),
        tuple(inputs.values()),
    )


def has_actuators(model: Model) -> bool:
    """True if there is an element with inputs, so that u are not the joint efforts alone."""
    return model.once("has_actuators", lambda: any(x.element.nu for x in own_elements(model)))


def begin_states(model: Model, q: Vector, qd: Vector) -> Vector:
    """Internal states with which a run begins at a motion (nx,)."""
    at = Instant(model, State(q, qd))
    values = [value for x in own_elements(model) for value in x.element.x_begin(at)]
    return array(values) if values else NOTHING


Acting: TypeAlias = list[tuple[Owner, Instant]]


def _with_ports(model: Model, state: State, passive: bool) -> Acting:
    return [(x, at) for x, at in acting(model, state, passive=passive) if x.ports]


def state_rates(model: Model, state: State, *, passive: bool = True) -> Vector:
    """ẋ (nx,); internal states of what does not act stay as they are."""
    if model.walker:
        return input_vector(model, state, "rates")
    rates: list[Any] = [0.0] * len(ports_of(model).x_names)
    for x, at in _with_ports(model, state, passive):
        rates[x.x] = list(x.element.rates(at))
    return array(rates) if rates else NOTHING


def driven_efforts(model: Model, state: State) -> Vector:
    """Efforts of elements with inputs on the rates (nv,)."""
    if model.walker:
        return input_efforts(model, state)
    return _as_efforts(model, state.q, [(x, at) for x, at in _with_ports(model, state, True) if x.element.nu])


def beside_forward_dynamics(model: Model, state: State, *, passive: bool = True) -> Vector:
    """Efforts (nv,) by which the accelerations at these internal states and inputs are those of `forward_dynamics`.

    That has elements without inputs in their start, and no others.
    """
    if model.walker:
        return input_efforts(model, state)
    there = _as_efforts(model, state.q, _with_ports(model, state, passive))
    here = _with_ports(
        model, State(state.q, state.qd, time=state.time), passive
    )  # a level of time is in both
    return there - _as_efforts(model, state.q, here) if here else there


def _as_efforts(model: Model, q: Vector, elements: Acting) -> Vector:
    tau: list[Any] = [0.0] * model.nv
    w, loaded = no_wrenches(model), False
    for x, at in elements:
        for k, effort in x.element.efforts(at).items():
            tau[k] = tau[k] + effort
        for i, wrench in x.element.wrenches(at).items():
            w[i], loaded = w[i] + wrench, True
    efforts = array(tau) if tau else NOTHING
    return efforts + as_efforts(model, q, w) if loaded else efforts


class Account(NamedTuple):
    """Powers of elements with internal states or inputs, and of dry friction, by name [W]: what comes in, and what is
    lost."""

    supply: Mapping[str, Scalar]
    losses: Mapping[str, Scalar]


def account_of(model: Model, state: State, *, passive: bool = True, rubbing: Vector | None = None) -> Account:
    """Account of energy at a state; friction from load among them where its efforts `rubbing` (nv,) are known."""
    own = [(x, at) for x, at in acting(model, state, passive=passive) if x.ports or x.element.sticks]
    supply = {name: power for x, at in own for name, power in x.element.supply(at).items()}
    lost = {name: power for x, at in own for name, power in x.element.losses(at).items()}
    if rubbing is not None:
        for x in elements_of(model, passive=passive):
            if isinstance(x, LoadedJoint):
                lost |= x.heat(rubbing, state.qd)
    return Account(supply, lost)


class Group(NamedTuple):
    """Rates that dry friction may hold at rest, as one: a single rate by its name, or all rates of the joint named."""

    name: str
    rates: tuple[int, ...]


def sticking_groups(model: Model, *, passive: bool = True) -> tuple[Group, ...]:
    """Groups of rates that may stick, in the order of the rates."""
    every = {rates for x in owners_of(model) if passive or not x.passive for rates in x.element.groups}
    return tuple(_group(model, rates, every) for rates in sorted(every))


def _group(model: Model, rates: tuple[int, ...], every: Collection[tuple[int, ...]]) -> Group:
    if len(rates) == 1:
        return Group(model.v_names[rates[0]], rates)
    joint = next(model.joint_names[i] for i in model.moving if model.v_span[i].start == rates[0])
    if any((k,) in every for k in rates):
        raise InputError(
            f"{model.name}: joint {joint!r} has friction from load, by which its rates slide and stick together, and "
            "friction of a constant level on single rates: in a run both do not hold it together; "
            "leave one of them out",
            joint=joint,
        )
    return Group(joint, rates)


def sticking_names(model: Model, *, passive: bool = True) -> tuple[str, ...]:
    """Names of the groups."""
    return tuple(x.name for x in sticking_groups(model, passive=passive))


class AccountNames(NamedTuple):
    """Names of these powers."""

    supply: tuple[str, ...]
    losses: tuple[str, ...]


def account_names(model: Model, driven: bool, *, passive: bool = True) -> AccountNames:
    """Names of the account, equal for every state; `driven`: by inputs."""
    ports = ports_of(model)
    u = np.zeros(len(ports.u_names)) if driven else NOTHING
    state = State(model.neutral(), np.zeros(model.nv), ports.x_start, u)
    with np.errstate(all="ignore"):
        account = account_of(model, state, passive=passive, rubbing=np.zeros(model.nv))
        return AccountNames(*map(tuple, account))
