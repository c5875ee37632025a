"""Interface of every machine. It has a shaft (of a cylinder: a rod), internal states, and a command."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector


class Port(NamedTuple):
    """An internal state: its name within the actuator, unit, start, size, and below which it never falls."""

    name: str
    unit: str
    start: Scalar = 0.0
    scale: float = 1.0
    lower: Scalar = -np.inf


class Shaft(NamedTuple):
    """Motion of the shaft: position since the joint was at zero, and speed."""

    position: Scalar
    speed: Scalar


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """Work of a machine at a moment: effort along the speed of its shaft, rates of its states, and powers.

    effort · speed = Σ supply − d(energy)/dt − Σ losses: (EL1) at the shaft.
    """

    effort: Scalar
    rates: tuple[Scalar, ...] = ()
    energy: Scalar = 0.0
    supply: Mapping[str, Scalar] = field(default_factory=dict[str, Scalar])
    losses: Mapping[str, Scalar] = field(default_factory=dict[str, Scalar])
    switches: Mapping[str, Scalar] = field(default_factory=dict[str, Scalar])


class Machine(ABC):
    """Makes an effort on a shaft."""

    __slots__ = ()

    unit: ClassVar[str] = ""  # of its command

    @property
    def states(self) -> tuple[Port, ...]:
        """Names of its internal states."""
        return ()

    @abstractmethod
    def work(self, x: Vector, command: Scalar, shaft: Shaft) -> Work:
        """Compute what it does at internal states x, a command, and a motion of its shaft."""
