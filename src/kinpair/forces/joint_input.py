"""An effort on a rate that no actuator drives, as an input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from kinpair.algebra.arrays import Scalar
from kinpair.forces.element import Element, Instant
from kinpair.model.model import Model
from kinpair.model.units import units


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
