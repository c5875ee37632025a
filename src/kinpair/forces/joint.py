"""Springs and dampers of the joints, one element a rate.

τ = −k (q − q_rest) − c q̇                                                                (P1)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from kinpair.algebra.arrays import Scalar
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


def joint_elements(model: Model) -> list[Element]:
    """Those of all joints; none where the number is zero."""
    data, elements = model.joints, list[Element]()
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
