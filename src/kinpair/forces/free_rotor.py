"""Effort of rotor inertia that arises because the axes of a free joint's rates turn with the body: −J K q̇ of (RO1).

It belongs to inertia, so that `passive=False` does not leave it out, and it does no work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from kinpair.algebra.arrays import Scalar
from kinpair.forces.element import Element, Instant
from kinpair.formulations.rotors import turning_rotors
from kinpair.model.model import Model


@final
@dataclass(frozen=True, slots=True)
class FreeRotor(Element):
    """The rotor in the joint of body `i`."""

    name: str
    bodies: tuple[int, ...]
    i: int

    def efforts(self, at: Instant) -> Mapping[int, Scalar]:
        """−J K q̇."""
        body, span = at.model.body[self.i], at.model.v_span[self.i]
        qd = at.state.qd[span]
        tau = -body.rotor * (body.pair.convection(qd) @ qd)
        return dict(zip(range(span.start, span.stop), tau, strict=True))


def free_rotors(model: Model) -> tuple[FreeRotor, ...]:
    """Free rotors of all joints of several rates."""
    return tuple(
        FreeRotor(f"{model.joint_names[i]}.rotor", (model.parent[i], i), i) for i in turning_rotors(model)
    )
