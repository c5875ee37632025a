"""Interface of every element: one thing that acts on a mechanism. Copy `joint.py` to add one; nobody asks its kind.

An element is frozen data. Its functions are pure, over numbers, symbols or columns of a batch; those that it does
not write say "nothing". It may have internal states, such as a current, and inputs, such as a voltage; both have names,
and an element finds its own in `at.x` and `at.u`. Along any motion its power is what it is supplied with and what it
takes from its store, and does not lose:

    Σ τ_k q̇_k + Σ w_i · t_i = Σ supply − d(energy)/dt − Σ losses                              (EL1)

Derivation, no line of code: (EL1), a law that every element obeys and the tests check.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from kinpair.formulations import kinematics
from kinpair.model.state import NOTHING, State

if TYPE_CHECKING:
    from kinpair.algebra.arrays import Scalar, Vector
    from kinpair.model.model import Model
    from kinpair.model.recursion import ByBody


@dataclass(frozen=True, eq=False)
class Bodies:
    """Motion of the bodies in a state, worked out when first asked for."""

    model: Model
    state: State

    @cached_property
    def states(self) -> ByBody:
        """Pose and twist of each body."""
        return kinematics.states(self.model, self.state.q, self.state.qd)


@dataclass(frozen=True, eq=False)
class Instant:
    """A model in one state, as an element sees it: `x` are its own internal states, `u` its own inputs."""

    model: Model
    state: State
    x: Vector = field(default_factory=lambda: NOTHING)
    u: Vector = field(default_factory=lambda: NOTHING)
    moving: Bodies | None = None

    def __post_init__(self) -> None:
        if self.moving is None:
            object.__setattr__(self, "moving", Bodies(self.model, self.state))

    @property
    def bodies(self) -> ByBody:
        """Pose and twist of each body."""
        assert self.moving is not None
        return self.moving.states

    def of(self, x: Vector, u: Vector) -> Instant:
        """Return the instant for an element with these internal states and inputs."""
        return replace(self, x=x, u=u)


class Element(ABC):
    """An element that acts between bodies."""

    __slots__ = ()

    name: str
    bodies: tuple[int, ...]  # numbers of those that it acts on; 0 is the ground
    dissipates: ClassVar[bool] = False  # can it take energy for good?
    from_load: ClassVar[bool] = (
        False  # do its efforts follow from what a joint carries, see `kinpair.friction.loads`?
    )

    @property
    def x_names(self) -> tuple[str, ...]:
        """Names of its internal states, such as "elbow.current"."""
        return ()

    @property
    def x_units(self) -> tuple[str, ...]:
        """Units of the internal states."""
        return ("",) * self.nx

    @property
    def x_start(self) -> tuple[Scalar, ...]:
        """Values of the internal states where a run begins and none are given."""
        return (0.0,) * self.nx

    def x_begin(self, at: Instant) -> tuple[Scalar, ...]:
        """Values of the internal states for a run that begins in this motion."""
        return self.x_start

    @property
    def x_scale(self) -> tuple[float, ...]:
        """Sizes of the internal states, so that a tolerance has a meaning: of 1e-9 it is 1e-9 of this."""
        return (1.0,) * self.nx

    @property
    def x_lower(self) -> tuple[Scalar, ...]:
        """Below which they do not fall, whatever happens."""
        return (-np.inf,) * self.nx

    @property
    def u_names(self) -> tuple[str, ...]:
        """Names of its inputs."""
        return ()

    @property
    def u_units(self) -> tuple[str, ...]:
        """Units of the inputs."""
        return ("",) * self.nu

    @property
    def timed(self) -> bool:
        """True if its efforts depend on time."""
        return False

    @property
    def drives(self) -> tuple[int, ...]:
        """Numbers of the rates that its inputs drive: they have no other input."""
        return ()

    @property
    def nx(self) -> int:
        """Number of its internal states."""
        return len(self.x_names)

    @property
    def nu(self) -> int:
        """Number of its inputs."""
        return len(self.u_names)

    @property
    def jumps(self) -> bool:
        """True if its forces may have a kink or a jump where the motion has none."""
        return False

    @property
    def sticks(self) -> tuple[int, ...]:
        """Numbers of the rates that it may hold at rest, as dry friction does."""
        return ()

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Rates with dry friction in groups: rates of one group slide and stick together."""
        return tuple((k,) for k in self.sticks)

    def holds(self, at: Instant) -> Mapping[int, tuple[Scalar, Scalar]]:
        """Least and greatest effort by which it holds a rate at rest, by number of the rate [N m] or [N]."""
        return {}

    def slides(self, at: Instant) -> Mapping[int, tuple[Scalar, Scalar]]:
        """Efforts on a rate that it locked as that begins to move forward, and backward."""
        return {}

    def efforts(self, at: Instant) -> Mapping[int, Scalar]:
        """Efforts by number of the rate [N m] or [N]."""
        return {}

    def wrenches(self, at: Instant) -> Mapping[int, Vector]:
        """Wrenches [n; f] by number of the body, at its origin, in its axes; the ground's may be left out."""
        return {}

    def energy(self, at: Instant) -> Scalar:
        """Energy that it stores [J]."""
        return 0.0

    def supply(self, at: Instant) -> Mapping[str, Scalar]:
        """Powers that come in from outside, from a source of voltage or of oil, by name [W]."""
        return {}

    def losses(self, at: Instant) -> Mapping[str, Scalar]:
        """Powers that it takes for good, by name [W]."""
        return {}

    def switches(self, at: Instant) -> Mapping[str, Scalar]:
        """Functions whose sign changes where its forces have a kink or a jump, by name."""
        return {}

    def rates(self, at: Instant) -> Vector:
        """Derivatives of its internal states in time (nx,)."""
        return np.zeros(self.nx)
