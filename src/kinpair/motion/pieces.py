"""Motions made of polynomials, one after the other.

q(t) = Σ_j c_ij x^j,   x = (t − t_i)/h_i,   t_i ≤ t ≤ t_i + h_i                              (MO1)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinpair.algebra.choice import less, where
from kinpair.motion.trajectory import Trajectory


@final
@dataclass(frozen=True, eq=False, repr=False)
class Pieces(Trajectory):
    """Polynomials between the knots: coefficients (pieces, degree + 1, n), the lowest power first.    (MO1)"""

    coefficients: np.ndarray

    def within(self, time: Any, order: int, side: str) -> list[Any]:
        start, length, c = self._chosen(time, side)
        x = (time - start) / length
        degree = len(c) - 1
        for k in range(min(order, degree) + 1):  # Horner's scheme again and again gives the coefficients at x
            for j in reversed(range(k, degree)):
                c[j] = c[j] + x * c[j + 1]
        return [c[k] / length**k if k else c[k] for k in range(min(order, degree) + 1)]

    def _chosen(self, time: Any, side: str) -> tuple[Any, Any, list[Any]]:
        """Start, length and coefficients of the piece at each time."""
        breaks, c = np.array(self.knots), self.coefficients
        starts, lengths, inner = breaks[:-1], np.diff(breaks), breaks[1:-1]
        if len(inner) == 0:
            return starts[0], lengths[0], list(c[0])
        if np.asarray(time).dtype != object:
            place = np.searchsorted(inner, time[..., 0], "left" if side == "left" else "right")
            chosen = c[place]
            every = [chosen[..., j, :] for j in range(c.shape[1])]
            return starts[place][..., None], lengths[place][..., None], every
        tables = [starts[:, None], lengths[:, None], *(c[:, j] for j in range(c.shape[1]))]
        start, length, *every = (self._selected(time, table) for table in tables)
        return start, length, every

    def _selected(self, time: Any, table: np.ndarray) -> Any:
        """A row of the table by the piece in which a symbol lies."""
        found = table[0]
        for at, row in zip(self.knots[1:-1], table[1:], strict=True):
            found = where(less(time, at), found, row)
        return found
