"""Surfaces of a joint as an element: what others ask of it before any load is known.

Its efforts are not here: they come from the solve for the accelerations, see `kinpair.friction.loads`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

from kinpair.algebra.arrays import Scalar, Vector
from kinpair.forces.element import Element, Instant
from kinpair.model.model import Model

TOGETHER = ("cylindrical", "spherical")


@final
@dataclass(frozen=True, slots=True)
class LoadedJoint(Element):
    """Friction from load on the rates of one joint."""

    name: str
    bodies: tuple[int, ...]
    rates_held: tuple[int, ...]
    law: str
    together: bool  # do its rates slide as one?
    heats: tuple[str, ...]  # names of its losses, one a rate, or one where they slide as one
    from_load = True

    @property
    def jumps(self) -> bool:
        """Where a rate changes its sign."""
        return not self.together

    @property
    def sticks(self) -> tuple[int, ...]:
        """All rates of the joint."""
        return self.rates_held

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """All of them as one, or each by itself."""
        return (self.sticks,) if self.together else tuple((k,) for k in self.sticks)

    def heat(self, efforts: Vector, qd: Vector) -> Mapping[str, Scalar]:
        """What it takes for good, by name [W], where friction from load has these efforts (nv,)."""
        powers: Sequence[Scalar] = [-(efforts[v] * qd[v]) for v in self.rates_held]
        return dict(zip(self.heats, [sum(powers, 0.0)] if self.together else powers, strict=True))

    def switches(self, at: Instant) -> Mapping[str, Scalar]:
        """The rates, if each slides by itself."""
        return {} if self.together else {f"{self.name} {v}": at.state.qd[v] for v in self.sticks}


def loaded_joints(model: Model) -> list[Element]:
    """Those of the description. Sleeves and balls slide in a plane or in space: their rates are held together."""
    found: list[Element] = []
    for x in model.surfaces:
        rates = tuple(range(model.nv)[model.v_span[x.body]])
        together = model.body[x.body].pair.kind in TOGETHER
        law = x.name.removeprefix(model.joint_names[x.body])
        heats = (x.name,) if together else tuple(f"{model.v_names[v]}{law}" for v in rates)
        found.append(LoadedJoint(x.name, (model.parent[x.body], x.body), rates, x.law, together, heats))
    return found
