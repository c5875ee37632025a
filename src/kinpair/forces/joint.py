"""Springs and dampers of the joints, one element a rate.

τ = −k (q − q_rest) − c q̇                                                                (P1)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.forces.element import Element, Instant
from kinpair.model.model import Body, Model
from kinpair.model.recursion import ByBody, coordinates, each, joined, rates, total
from kinpair.model.state import NOTHING, State


@final
@dataclass(frozen=True, slots=True)
class JointSpring(Element):
    """Pulls coordinate `q` to `rest`, along rate `v`."""

    name: str
    bodies: tuple[int, ...]
    v: int
    q: int
    stiffness: Scalar
    rest: Scalar

    def efforts(self, at: Instant) -> Mapping[int, Scalar]:
        """−k (q − q_rest).    (P1)"""
        return {self.v: -self.stiffness * (at.state.q[self.q] - self.rest)}

    def energy(self, at: Instant) -> Scalar:
        """½ k (q − q_rest)²."""
        x = at.state.q[self.q] - self.rest
        return 0.5 * self.stiffness * x * x


@final
@dataclass(frozen=True, slots=True)
class JointDamper(Element):
    """Resists rate `v` in proportion."""

    name: str
    bodies: tuple[int, ...]
    v: int
    damping: Scalar
    dissipates = True

    def efforts(self, at: Instant) -> Mapping[int, Scalar]:
        """−c q̇.    (P1)"""
        return {self.v: -self.damping * at.state.qd[self.v]}

    def losses(self, at: Instant) -> Mapping[str, Scalar]:
        """c q̇²."""
        rate = at.state.qd[self.v]
        return {self.name: self.damping * rate * rate}


@dataclass(frozen=True, slots=True)
class OfOneJoint:
    """Springs and dampers of the rates of one joint (nv,), as a step from body to body sees them.

    `places`: the coordinate each spring acts on, counted within the joint.
    """

    damping: Vector
    stiffness: Vector
    rest: Vector
    places: Vector

    def elements(self) -> list[Element]:
        """The elements, with numbers of rates and coordinates within the joint."""
        found: list[Element] = []
        for v, damping in enumerate(self.damping):
            found.append(JointDamper("", (), v, damping))
            found.append(JointSpring("", (), v, int(self.places[v]), self.stiffness[v], self.rest[v]))
        return found


def joint_numbers(model: Model) -> ByBody:
    """The numbers of `OfOneJoint` by body, as a tuple."""
    x = model.joints
    numbers: ByBody = [None]
    for i in model.moving:
        span, first = model.v_span[i], model.q_span[i].start
        own = np.arange(span.stop - span.start)
        places = np.where(x.stiffness[span] != 0.0, x.spring_q[span] - first, own)
        numbers.append((x.damping[span], x.stiffness[span], x.rest[span], places))
    return numbers


def _efforts(body: Body, numbers: tuple[Any, ...], q: Vector, qd: Vector) -> Vector:
    at = Instant(None, State(q, qd))  # type: ignore[arg-type]
    efforts: list[Any] = [0.0] * len(qd)
    for element in OfOneJoint(*numbers).elements():
        for v, effort in element.efforts(at).items():
            efforts[v] = efforts[v] + effort
    return array(efforts) if efforts else np.zeros(0)


def walked_efforts(model: Model, state: State) -> Vector:
    """Efforts of all springs and dampers of joints (nv,), from body to body."""
    qs, qds = coordinates(model, state.q), rates(model, state.qd)
    return joined(model, each(model, _efforts, joint_numbers(model), qs, qds))


def _energy(body: Body, numbers: tuple[Any, ...], q: Vector) -> Scalar:
    at = Instant(None, State(q, NOTHING))  # type: ignore[arg-type]
    return sum((element.energy(at) for element in OfOneJoint(*numbers).elements()), 0.0)


def walked_energy(model: Model, state: State) -> Scalar:
    """What all springs of joints store [J], from body to body."""
    return total(model, _energy, 0.0, joint_numbers(model), coordinates(model, state.q))


def _losses(body: Body, numbers: tuple[Any, ...], q: Vector, qd: Vector) -> Scalar:
    at = Instant(None, State(q, qd))  # type: ignore[arg-type]
    return sum((x for one in OfOneJoint(*numbers).elements() for x in one.losses(at).values()), 0.0)


def walked_losses(model: Model, state: State) -> Scalar:
    """Power that all dampers of joints take [W], from body to body."""
    qs, qds = coordinates(model, state.q), rates(model, state.qd)
    return total(model, _losses, 0.0, joint_numbers(model), qs, qds)


def joint_elements(model: Model) -> list[Element]:
    """Those of all joints; none where the number is zero."""
    data, elements = model.joints, list[Element]()
    if not (data.damping.any() or data.stiffness.any()):
        return elements
    for i in model.in_order:
        bodies = (model.parent[i], i)
        for v in range(model.nv)[model.v_span[i]]:
            name = model.v_names[v]
            if data.damping[v]:
                elements.append(JointDamper(f"{name}.damping", bodies, v, data.damping[v]))
            if data.stiffness[v]:
                q = int(data.spring_q[v])
                elements.append(
                    JointSpring(f"{name}.stiffness", bodies, v, q, data.stiffness[v], data.rest[v])
                )
    return elements
