"""Rows whose multiplier is bounded: limits of joints, contact normals, joints that stick.

A row has a gap g(q), its rate ġ = N q̇, and bounds lo ≤ λ ≤ hi on its multiplier. `BOUNDS` says which bounds a kind of
row has; a bound that joins several rows, such as a friction cone, is one more field of `BoundedRows` next to lo and hi.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class Bounds(NamedTuple):
    """lo ≤ λ ≤ hi."""

    lo: float
    hi: float


BOUNDS: dict[str, Callable[[float], Bounds]] = {  # by kind of row, as functions of its level [N], [N m]
    "limit": lambda level: Bounds(0.0, np.inf),
    "normal": lambda level: Bounds(0.0, np.inf),
    "stick": lambda level: Bounds(-level, level),
}


@dataclass(frozen=True, slots=True, eq=False)
class BoundedRow:
    """A row at a state: its gap [m] or [rad], the rate of the gap, N (nv,), and the kind and level of its bounds."""

    name: str
    gap: float
    rate: float
    N: np.ndarray
    kind: str = "limit"
    level: float = 0.0

    @property
    def bounds(self) -> Bounds:
        """Bounds of its multiplier."""
        return BOUNDS[self.kind](self.level)


@dataclass(frozen=True, slots=True, eq=False)
class BoundedRows:
    """Several rows at one state, stacked: names, gaps (m,), rates (m,), N (m, nv), bounds lo (m,) and hi (m,)."""

    names: tuple[str, ...]
    gaps: np.ndarray
    rates: np.ndarray
    N: np.ndarray
    lo: np.ndarray
    hi: np.ndarray

    def some(self, chosen: Sequence[int]) -> BoundedRows:
        """Select these rows alone."""
        k = list(chosen)
        names = tuple(self.names[n] for n in k)
        return BoundedRows(names, self.gaps[k], self.rates[k], self.N[k], self.lo[k], self.hi[k])


def stacked(rows: Sequence[BoundedRow], nv: int) -> BoundedRows:
    """Rows of one state, in order."""
    bounds = np.array([x.bounds for x in rows]).reshape(-1, 2)
    return BoundedRows(
        tuple(x.name for x in rows),
        np.array([x.gap for x in rows], dtype=float),
        np.array([x.rate for x in rows], dtype=float),
        np.array([x.N for x in rows], dtype=float).reshape(-1, nv),
        bounds[:, 0],
        bounds[:, 1],
    )
