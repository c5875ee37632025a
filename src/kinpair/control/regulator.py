"""Interface of every regulator: efforts from what is measured, its numbers at the time, and its memory.

A regulator is data and one pure function, over floats, symbols or columns: so it is part of a compiled time loop or of
a stepper, and it is the same regulator when it is called from Python.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector
from kinpair.control.course import Table
from kinpair.errors import InputError
from kinpair.model.model import Model


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Measurements that a regulator receives: time, q, q̇, the efforts or inputs that have acted until now, and,
    when asked for, the
    accelerations under them; `period` is the time between two samples, zero where there are none; `x`: internal
    states."""

    time: Scalar
    q: Vector
    qd: Vector
    efforts: Vector
    accelerations: Callable[[], Vector]
    period: float = 0.0
    x: Vector = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True, eq=False, repr=False)
class Regulator(ABC):
    """Efforts (nv,) of a mechanism as a function of what is measured.

    `table`: its numbers over time. `sample_time` [s]: it is asked at multiples of that and its efforts stay constant
    between; None asks it at all times.
    """

    model: Model
    table: Table
    sample_time: float | None = field(default=None, kw_only=True)

    @property
    def memory(self) -> np.ndarray:
        """Memory at the start (n,), or (batch, n) where motions of a batch differ."""
        return np.zeros(0)

    @abstractmethod
    def act(self, at: Measured, row: Vector, memory: Vector) -> tuple[Vector, Vector]:
        """Efforts (nv,), and what is remembered until the next sample; `row`: that of the table at the time."""

    @property
    def needs_samples(self) -> bool:
        """True if it works from one sample to the next only."""
        return bool(self.memory.size)

    def _words(self) -> str:
        """Return what is said of the regulator beyond its kind and mechanism."""
        error = self.table.errors.get("q")
        span = self.table.times[-2] - self.table.times[1]
        return "about one state" if error is None else f"along {span:g} s, coordinates to {error:.1g}"

    def __repr__(self) -> str:
        period = "" if self.sample_time is None else f", every {self.sample_time:g} s"
        return f"<{type(self).__name__} of {self.model.name!r}: {self._words()}{period}>"

    def __call__(self, time: float, q: Any, qd: Any, x: Any = ()) -> np.ndarray:
        """Efforts at a state; of regulators without a memory."""
        if self.needs_samples:
            raise InputError(
                f"{self.model.name}: this regulator works from sample to sample; give it to simulate, stepper or track"
            )
        state, own = (np.asarray(q), np.asarray(qd)), np.asarray(x, dtype=float)
        at = Measured(float(time), *state, np.zeros(self.model.nv), _unknown, x=own)
        return np.asarray(self.act(at, self.table.at(float(time)), np.zeros(0))[0], dtype=float)


def _unknown() -> Vector:
    raise InputError(
        "accelerations are known in a loop only; give the regulator to simulate, stepper or track"
    )


def check_sampled(regulator: Regulator) -> None:
    """Refuse a regulator with a memory and no sample time."""
    if regulator.needs_samples and regulator.sample_time is None:
        raise InputError(
            f"{regulator.model.name}: {type(regulator).__name__} works from sample to sample; give it a sample_time"
        )


def period_of(owner: str, sample_time: Any) -> float | None:
    """A sample time, checked."""
    if sample_time is None:
        return None
    if not (isinstance(sample_time, int | float) and 0.0 < sample_time < np.inf):
        raise InputError(
            f"{owner}: sample_time is {sample_time!r}; give seconds, above zero", argument="sample_time"
        )
    return float(sample_time)
