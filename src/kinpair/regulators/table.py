"""The numbers of a regulator over time: gains and a nominal motion, on straight lines between knots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinpair.algebra.arrays import Vector


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Times (m,), rows (m, n), and which part of a row is what.

    The numbers are data of a run, not part of its code: a loop compiled for one set of gains serves every other.
    """

    times: np.ndarray
    rows: np.ndarray
    spans: Mapping[str, slice]

    @classmethod
    def of(
        cls, times: np.ndarray, changing: Mapping[str, Any], constant: Mapping[str, Any] | None = None
    ) -> Table:
        """Parts of a row by name: `changing` ones (m, ...) over the times, and `constant` ones."""
        t = np.asarray(times, dtype=float)
        over = {name: np.asarray(x, dtype=float).reshape(len(t), -1) for name, x in changing.items()}
        for name, x in (constant or {}).items():
            over[name] = np.broadcast_to(np.asarray(x, dtype=float).reshape(1, -1), (len(t), np.size(x)))
        spans, start = dict[str, slice](), 0
        for name, columns in over.items():
            spans[name] = slice(start, start + columns.shape[1])
            start += columns.shape[1]
        return cls(t, np.ascontiguousarray(np.concatenate(list(over.values()), axis=1)), spans)

    @property
    def width(self) -> int:
        """Numbers of a row."""
        return self.rows.shape[-1]

    def part(self, row: Vector, name: str) -> Vector:
        """What a row says about something."""
        return row[self.spans[name]]

    def at(self, time: float) -> np.ndarray:
        """The row at a time; the first and the last beyond the ends."""
        t = float(np.clip(time, self.times[0], self.times[-1]))
        k = min(max(int(np.searchsorted(self.times, t, side="right")) - 1, 0), len(self.times) - 2)
        part = (t - self.times[k]) / (self.times[k + 1] - self.times[k])
        return self.rows[k] + part * (self.rows[k + 1] - self.rows[k])
