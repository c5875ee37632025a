"""Springs and dampers of the joints, one element a rate; and with friction of constant level, from body to body.

τ = −k (q − q_rest) − c q̇                                                                (P1)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.forces.element import Element, Instant
from kinpair.friction.laws.joint import JointFriction
from kinpair.friction.laws.laws import Coulomb, Level, Levels, Viscous
from kinpair.model.recursion import ByBody, coordinates, each, joined, rates, total
from kinpair.model.slip import Slip
from kinpair.model.state import State
from kinpair.model.units import units

if TYPE_CHECKING:
    from kinpair.model.model import Body, Model


@final
@dataclass(frozen=True, slots=True)
class JointInput(Element):
    """The effort u on rate `v`."""

    name: str
    bodies: tuple[int, ...]
    v: int
    unit: str

    @property
    def u_names(self) -> tuple[str, ...]:
        """Name of the rate."""
        return (self.name,)

    @property
    def u_units(self) -> tuple[str, ...]:
        """N m or N."""
        return (self.unit,)

    @property
    def drives(self) -> tuple[int, ...]:
        """Rate that it drives."""
        return (self.v,)

    def efforts(self, at: Instant) -> Mapping[int, Scalar]:
        """Effort u on the rate."""
        return {self.v: at.u[0]}

    def supply(self, at: Instant) -> Mapping[str, Scalar]:
        """Power u q̇ [W]."""
        return {self.name: at.u[0] * at.state.qd[self.v]}


def joint_inputs(model: Model, driven: frozenset[int]) -> tuple[JointInput, ...]:
    """Inputs of all rates but the `driven` ones, and rates of joints that nothing drives."""
    unit, bodies = units(model)["tau"], {}
    idle = {joint.name for joint in model.description.joints if joint.actuated is False}
    left = set(range(model.nv)) - driven
    for i in model.in_order:
        own = range(model.nv)[model.v_span[i]]
        bodies |= dict.fromkeys(own, (model.parent[i], i))
        if model.joint_names[i] in idle:
            left -= set(own)
    return tuple(JointInput(model.v_names[v], bodies.get(v, ()), v, unit[v]) for v in sorted(left))


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
        """Losses c q̇² [W]."""
        rate = at.state.qd[self.v]
        return {self.name: self.damping * rate * rate}


class _Alone(NamedTuple):
    """Base of elements of one joint."""

    slip: Slip | None


def _elements(numbers: Sequence[Vector]) -> list[Element]:
    """Springs, dampers and friction of constant level of one joint, with rates and coordinates counted within it."""
    found: list[Element] = []
    for v, (damping, stiffness, rest, level, viscous) in enumerate(zip(*numbers, strict=True)):
        found += [JointDamper("", (), v, damping), JointSpring("", (), v, v, stiffness, rest)]
        found.append(JointFriction("", (), v, Coulomb(Levels(Level(level)), viscous)))
    return found


def instant(q: Vector, qd: Vector, *share: Vector) -> Instant:
    """Return the state of one joint as its elements see it."""
    return Instant(_Alone(Slip(*share) if share else None), State(q, qd))  # type: ignore[arg-type]


def _efforts(body: Body, *arguments: Vector) -> Vector:
    *numbers, q, qd = arguments[:7]
    efforts: list[Any] = [0.0] * len(qd)
    for element in _elements(numbers):
        for v, effort in element.efforts(instant(q, qd, *arguments[7:])).items():
            efforts[v] = efforts[v] + effort
    return array(efforts) if efforts else np.zeros(0)


def _energy(body: Body, *arguments: Vector) -> Scalar:
    *numbers, q, qd = arguments[:7]
    return sum((x.energy(instant(q, qd)) for x in _elements(numbers)), 0.0)


def _losses(body: Body, *arguments: Vector) -> Scalar:
    *numbers, q, qd = arguments[:7]
    at = instant(q, qd, *arguments[7:])
    return sum((x for one in _elements(numbers) for x in one.losses(at).values()), 0.0)


def _walked(model: Model, state: State) -> list[ByBody]:
    """Data by body: damping, stiffness, rest, levels of friction and their viscous part; q, q̇; and where it is
    known how rates slide, the share of the levels."""
    x, slip = model.joints, model.slip
    viscous = np.zeros(model.nv)
    for law in model.frictions:
        viscous[law.v] += law.numbers.get("viscous", 0.0)
    numbers = (x.damping, x.stiffness, x.rest, x.friction, viscous)
    share = () if slip is None else (slip.share,)
    every = (*numbers, state.qd, *share)
    fields = [rates(model, vector) for vector in every]
    return [*fields[:5], coordinates(model, state.q), *fields[5:]]


def walked_efforts(model: Model, state: State) -> Vector:
    """Efforts of all springs, dampers and frictions of joints (nv,), from body to body."""
    return joined(model, each(model, _efforts, *_walked(model, state)))


def walked_slopes(model: Model) -> tuple[ByBody, ByBody]:
    """Slopes by which efforts of springs, dampers and frictions of joints fall with coordinates and with rates, by
    body."""
    damping, stiffness, _, _, viscous, *_ = _walked(model, State(model.neutral(), np.zeros(model.nv)))
    return stiffness, each(model, lambda _, x, y: x + y, damping, viscous)


def walked_energy(model: Model, state: State) -> Scalar:
    """Energy that all springs of joints store [J], from body to body."""
    return total(model, _energy, 0.0, *_walked(model, state))


def walked_losses(model: Model, state: State) -> Scalar:
    """Power that all dampers and frictions of joints take [W], from body to body."""
    return total(model, _losses, 0.0, *_walked(model, state))


def can_be_walked(element: Element) -> bool:
    """True of inputs, springs and dampers of joints, and of friction whose level is one number in both directions."""
    if element.drives:
        from kinpair.forces.actuators.actuator import Actuator

        return isinstance(element, JointInput | Actuator)
    if not isinstance(element, JointFriction):
        return isinstance(element, JointSpring | JointDamper)
    law = element.law
    if isinstance(law, Viscous):
        return isinstance(law.exponent, float) and law.exponent == 1.0
    return (
        isinstance(law, Coulomb)
        and law.levels.level_negative is None
        and all(x.signal is None for x in law.levels.every)
    )


def joint_elements(model: Model) -> list[Element]:
    """Elements of all joints; none where the number is zero."""
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
