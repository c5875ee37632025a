"""How one input varies: evenly, or drawn at random; a plain list of values needs no class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final

import numpy as np


class Drawn(Protocol):
    """An input of which values are drawn."""

    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """So many values (count,)."""
        ...


@final
@dataclass(frozen=True, slots=True)
class Grid:
    """`count` values from `low` to `high`, evenly spaced, both ends among them."""

    low: float
    high: float
    count: int

    def values(self) -> np.ndarray:
        """(count,)"""
        return np.linspace(self.low, self.high, self.count)


@final
@dataclass(frozen=True, slots=True)
class Uniform:
    """Drawn between `low` and `high`, every value as likely."""

    low: float
    high: float

    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """(count,)"""
        return rng.uniform(self.low, self.high, count)


@final
@dataclass(frozen=True, slots=True)
class Normal:
    """Drawn about `mean` with a standard `deviation`."""

    mean: float
    deviation: float

    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """(count,)"""
        return rng.normal(self.mean, self.deviation, count)


@final
@dataclass(frozen=True, slots=True)
class LatinHypercube:
    """Drawn between `low` and `high`, one value in each of `count` equal parts, in random order.

    McKay, Beckman & Conover 1979: with several such inputs the cases cover each of them evenly.
    """

    low: float
    high: float

    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """(count,)"""
        u = (rng.permutation(count) + rng.random(count)) / count
        return self.low + (self.high - self.low) * u
