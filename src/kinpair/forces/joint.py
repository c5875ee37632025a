"""Springs, dampers and dry friction of the joints, one element a rate.

    τ = −k (q − q_rest) − c q̇ − f sign(q̇)                                                   (P1)

Dry friction here has a constant size f and is zero at rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from kinpair.algebra.arrays import Scalar
from kinpair.algebra.choice import sign
from kinpair.forces.element import Element, Instant
from kinpair.model.model import Model


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


@final
@dataclass(frozen=True, slots=True)
class JointFriction(Element):
    """Resists rate `v` by a constant effort, and does not act at rest."""

    name: str
    bodies: tuple[int, ...]
    v: int
    friction: Scalar
    dissipates = True

    @property
    def jumps(self) -> bool:
        """Where the rate changes its sign."""
        return True

    @property
    def sticks(self) -> tuple[int, ...]:
        """The rate."""
        return (self.v,)

    def efforts(self, at: Instant) -> Mapping[int, Scalar]:
        """−f sign(q̇).    (P1)"""
        return {self.v: -self.friction * sign(at.state.qd[self.v])}

    def losses(self, at: Instant) -> Mapping[str, Scalar]:
        """f |q̇|."""
        return {self.name: self.friction * np.abs(at.state.qd[self.v])}

    def switches(self, at: Instant) -> Mapping[str, Scalar]:
        """The rate."""
        return {self.name: at.state.qd[self.v]}


def joint_elements(model: Model) -> list[Element]:
    """Those of all joints; none where the number is zero."""
    data, elements = model.joints, list[Element]()
    for i in model.in_order:
        bodies = (model.parent[i], i)
        for v in range(model.nv)[model.v_span[i]]:
            name = model.v_names[v]
            if data.damping[v]:
                elements.append(JointDamper(f"{name}.damping", bodies, v, data.damping[v]))
            if data.friction[v]:
                elements.append(JointFriction(f"{name}.friction", bodies, v, data.friction[v]))
            if data.stiffness[v]:
                q = int(data.spring_q[v])
                elements.append(
                    JointSpring(f"{name}.stiffness", bodies, v, q, data.stiffness[v], data.rest[v])
                )
    return elements
