"""A level of dry friction: a number or parameter, alone or times a function of time or an input.

    F_c = k,   k f(t)   or   k u                          k: number or parameter                        (LV1)

A level below zero has no meaning: there it is NaN, and whoever evaluates it reports it by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from kinpair.algebra.arrays import Scalar
from kinpair.algebra.choice import less, where
from kinpair.forces.element import Instant
from kinpair.model.signal import Signal

LEAST = -1e-12  # [N m], [N]: what is less negative is rounding of a level that reaches zero


@final
@dataclass(frozen=True, slots=True)
class Level:
    """`scale`, times its signal where it has one. An element with such a level has its input as the first of `at.u`."""

    scale: Scalar
    signal: Signal | None = None

    @property
    def timed(self) -> bool:
        """True if it is a function of time."""
        return self.signal is not None and self.signal.function is not None

    @property
    def inputs(self) -> tuple[str, ...]:
        """Name of its input, if it has one."""
        return (self.signal.input,) if self.signal is not None and self.signal.input else ()

    def value(self, at: Instant) -> Scalar:
        """F_c at a state [N m] or [N], NaN below zero.    (LV1)"""
        if self.signal is None:
            return self.scale
        level = self.scale * (
            at.u[0] if self.signal.function is None else self.signal.function(at.state.time)
        )
        return where(less(level, LEAST), np.nan, level)


def levels_of(numbers: Mapping[str, Scalar], signals: Mapping[str, Signal]) -> dict[str, Level]:
    """Levels by key, from the numbers of a law and the signals of those that change."""
    return {key: Level(x, signals.get(key)) for key, x in numbers.items() if key in KEYS}


KEYS = ("level", "level_static", "level_negative")
