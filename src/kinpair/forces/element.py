"""What every element answers: one thing that acts on a mechanism. Copy `joint.py` to add one; nobody asks its kind.

An element is frozen data. Its functions are pure, over numbers, symbols or columns of a batch; those that it does
not write say "nothing". Along any motion its power is what it takes from its store and does not lose:

    Σ τ_k q̇_k + Σ w_i · t_i = −d(energy)/dt − Σ losses                                       (EL1)

Derivation, no line of code: (EL1), a law that every element obeys and the tests check.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector
from kinpair.formulations import kinematics
from kinpair.model.model import Model
from kinpair.model.recursion import ByBody
from kinpair.model.state import State


@dataclass(frozen=True, eq=False)
class Instant:
    """A model in one state; how its bodies move is worked out when first asked for."""

    model: Model
    state: State

    @cached_property
    def bodies(self) -> ByBody:
        """Pose and twist of each body."""
        return kinematics.states(self.model, self.state.q, self.state.qd)


class Element(ABC):
    """One thing that acts between bodies."""

    __slots__ = ()

    name: str
    bodies: tuple[int, ...]  # numbers of those that it acts on; 0 is the ground
    nx: ClassVar[int] = 0  # internal states
    dissipates: ClassVar[bool] = False  # can it take energy for good?

    @property
    def jumps(self) -> bool:
        """May its forces have a kink or a jump where the motion has none?"""
        return False

    @property
    def sticks(self) -> tuple[int, ...]:
        """Numbers of the rates that it may hold at rest, as dry friction does."""
        return ()

    def efforts(self, at: Instant) -> Mapping[int, Scalar]:
        """Efforts by number of the rate [N m] or [N]."""
        return {}

    def wrenches(self, at: Instant) -> Mapping[int, Vector]:
        """Wrenches [n; f] by number of the body, at its origin, in its axes; the ground's may be left out."""
        return {}

    def energy(self, at: Instant) -> Scalar:
        """What it stores [J]."""
        return 0.0

    def losses(self, at: Instant) -> Mapping[str, Scalar]:
        """Powers that it takes for good, by name [W]."""
        return {}

    def switches(self, at: Instant) -> Mapping[str, Scalar]:
        """Functions whose sign changes where its forces have a kink or a jump, by name."""
        return {}

    def rates(self, at: Instant) -> Vector:
        """Derivatives of its internal states in time (nx,)."""
        return np.zeros(self.nx)
