"""Inputs from body to body: actuators, and efforts on rates that no actuator drives.

What drives a body is its role: an actuator of one kind with the same keys, an effort on each rate, or nothing. Bodies
of one role take one step, with the numbers of their actuators as constants.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.forces.element import Element
from kinpair.forces.joint import JointInput, instant, joint_inputs
from kinpair.model.model import Body, Model
from kinpair.model.recursion import ByBody, Roles, coordinates, each, joined, rates, total
from kinpair.model.state import NOTHING, State


class Role(NamedTuple):
    """An actuator of a kind with numbers by these keys; of kind "" an effort on each of so many rates."""

    kind: str = ""
    keys: tuple[str, ...] = ()
    efforts: int = 0


class Inputs(NamedTuple):
    """Inputs of each body: its role and the numbers of its actuator (entry 0: the ground); and by name of a vector,
    x, u, supply or losses, where the entries of each body begin and how many it has (n + 1, 2)."""

    roles: Roles
    numbers: list[dict[str, Scalar]]
    spans: Mapping[str, np.ndarray]


class Drive(NamedTuple):
    """Efforts on the rates of a body, rates of internal states, powers that come in, powers that are lost; energy."""

    efforts: Vector
    rates: Vector
    supply: Vector
    losses: Vector
    energy: Scalar


VECTORS = ("x", "u", "supply", "losses")


def inputs_of(model: Model) -> Inputs:
    """Return what drives each body, made once."""
    return model.once("inputs by body", lambda: _inputs(model))


def inputs_are(walked: Model, inputs: Inputs) -> None:
    """Give a model that is walked the inputs by body that are known already."""
    walked.once("inputs by body", lambda: inputs)


def _inputs(model: Model) -> Inputs:
    n = len(model.parent)
    roles, numbers, order = Roles([Role()] * n), [dict[str, Scalar]()] * n, list[int]()
    same: dict[tuple[Any, ...], dict[str, Scalar]] = {}
    for data in model.actuators:
        roles[data.i] = Role(data.kind, tuple(data.numbers))
        numbers[data.i] = same.setdefault(tuple(data.numbers.items()), dict(data.numbers))
        order.append(data.i)
    for x in joint_inputs(model, frozenset(data.v for data in model.actuators)):
        i = x.bodies[1]
        roles[i] = Role(efforts=roles[i].efforts + 1)
        if roles[i].efforts == 1:
            order.append(i)
    sizes = {role: _sizes(role, numbers[i]) for role, i in {role: i for i, role in enumerate(roles)}.items()}
    table = np.array([sizes[role] for role in roles])
    starts = np.zeros_like(table)
    starts[order[1:]] = np.cumsum(table[order], axis=0)[:-1]
    spans = np.stack([starts, table], axis=-1)
    return Inputs(roles, numbers, {name: spans[:, k] for k, name in enumerate(VECTORS)})


def _sizes(role: Role, numbers: Mapping[str, Scalar]) -> tuple[int, ...]:
    """Entries of the vectors of a body."""
    elements = _elements(role, numbers)
    x = np.concatenate([NOTHING, *(element.x_start for element in elements)])
    one = np.zeros(max(1, len(elements)))
    with np.errstate(all="ignore"):
        drive = _drive(None, role, numbers, one, one, x, np.zeros(len(elements)))
    return len(x), len(elements), len(drive.supply), len(drive.losses)


def _elements(role: Role, numbers: Mapping[str, Scalar]) -> list[Element]:
    """Elements of one body, with rates, coordinates and inputs counted within it."""
    if not role.kind:
        return [JointInput(str(k), (), k, "") for k in range(role.efforts)]
    from kinpair.forces.actuators.actuator import actuator

    return [actuator(role.kind, numbers)]


def _drive(
    body: Body | None, role: Role, numbers: Mapping[str, Scalar], q: Vector, qd: Vector, x: Vector, u: Vector
) -> Drive:
    efforts: list[Any] = [0.0] * len(qd)
    derivatives, supply, losses = list[Scalar](), list[Scalar](), list[Scalar]()
    energy: Scalar = 0.0
    for k, element in enumerate(_elements(role, numbers)):
        at = instant(q, qd).of(x, u[k : k + 1])
        for v, effort in element.efforts(at).items():
            efforts[v] = efforts[v] + effort
        derivatives += list(element.rates(at))
        supply += element.supply(at).values()
        losses += element.losses(at).values()
        energy = energy + element.energy(at)
    tau, x_rates, powers, lost = (array(y) if y else NOTHING for y in (efforts, derivatives, supply, losses))
    return Drive(tau, x_rates, powers, lost, energy)


def drives(model: Model, state: State) -> ByBody:
    """Return what the inputs of a state do to each body."""
    inputs, walker = inputs_of(model), model.walker
    x, u = walker.parts(state.x, "x"), walker.parts(state.u, "u")
    known = inputs.roles, inputs.numbers, coordinates(model, state.q), rates(model, state.qd), x, u
    return each(model, _drive, *known)


def _of(name: str, body: Body, drive: Drive) -> Any:
    return getattr(drive, name)


def _lost(body: Body, drive: Drive) -> Scalar:
    return sum(drive.losses, 0.0)


def input_vector(model: Model, state: State, name: str) -> Any:
    """Return a vector of `Drive` by its name: of rates (nx,), supply or losses."""
    spans = "x" if name == "rates" else name
    return model.walker.joined(each(model, PARTS[name], drives(model, state)), spans)


def input_efforts(model: Model, state: State) -> Vector:
    """Return the efforts of all inputs (nv,)."""
    return joined(model, each(model, PARTS["efforts"], drives(model, state)))


def input_energy(model: Model, state: State) -> Scalar:
    """Return what all actuators store [J]."""
    return total(model, PARTS["energy"], 0.0, drives(model, state))


def input_losses(model: Model, state: State) -> Scalar:
    """Return the power that all actuators take [W]."""
    return total(model, _lost, 0.0, drives(model, state))


PARTS = {name: partial(_of, name) for name in Drive._fields}
