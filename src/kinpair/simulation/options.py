"""Everything that a simulation is given, said once; `simulate` has the meaning of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from kinpair.simulation.events.events import Event
from kinpair.simulation.events.limits import Limits

DT = 1e-3
RTOL, ATOL = 1e-9, 1e-10
ALPHA = 20.0  # [1/s] of Baumgarte's stabilisation
PATIENCE = 10.0  # seconds of computing without progress after which a run ends
CHECKPOINT = 0.5  # seconds of work between two of them


@dataclass(frozen=True, slots=True, eq=False)
class Options:
    """As of `simulate`."""

    q: Any
    qd: Any
    duration: float
    torque: Any = None
    input: Any = None
    x: Any = None
    integrator: str = "dop853"
    dt: float | None = None
    rtol: float | None = None
    atol: Any = None
    max_step: float | None = None
    output: Any = None
    external: Mapping[str, Any] | None = None
    passive: bool = True
    parameters: Mapping[str, Any] | None = None
    time: float = 0.0
    threads: int = 1
    solver: str | None = None
    hold: str = "project"
    alpha: float = ALPHA
    rho_inf: float | None = None
    theta: float | None = None
    events: Sequence[Event] | Event | None = None
    limits: str | Limits | None = None
    patience: float = PATIENCE

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Options:
        """Those among what was given by name."""
        return cls(**{name: arguments[name] for name in NAMES if name in arguments})

    @property
    def named(self) -> dict[str, Any]:
        """By name."""
        return {name: getattr(self, name) for name in NAMES}


NAMES = tuple(field.name for field in fields(Options))


@dataclass(frozen=True, slots=True)
class Missing:
    """A function that the file does not hold; `called`: an object of a class of that name."""

    name: str
    called: bool = False
    sample_time: float | None = None

    @property
    def call(self) -> str:
        """What one would write."""
        return f"{self.name}(...)" if self.called else self.name
