"""The numbers of a regulator over time: a course of quantities, and constants.

A row has the coefficients of (RG13) of one piece. It is in the table twice, for both ends of the piece, and its
first entry x is −1 in one and 1 in the other. A loop that reads the table on straight lines gets x, and coefficients
that do not change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinpair.algebra.arrays import Vector
from kinpair.regulators.course import Course, horner, of_lines, standing


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Times (m,), rows (m, n), and which part of a row is what.

    The numbers are data of a run, not part of its code: a loop compiled for one set of gains serves every other.
    `errors`: the largest difference of a quantity from the motion that it was made from, by name.
    """

    times: np.ndarray
    rows: np.ndarray
    spans: Mapping[str, slice]
    powers: Mapping[str, int]
    errors: Mapping[str, float] = field(default_factory=dict[str, float])

    @classmethod
    def along(cls, course: Course, constant: Mapping[str, Any] | None = None) -> Table:
        """Return the table of a course, with constants by name."""
        pieces = len(course.knots) - 1
        times = np.stack([course.knots[:-1], course.knots[1:]], axis=1).reshape(-1)
        columns = [np.tile([-1.0, 1.0], pieces)[:, None]]
        spans, powers, start = dict[str, slice](), dict[str, int](), 1
        every = {**course.parts, **standing(constant or {}).parts}
        for name, c in every.items():
            own = np.broadcast_to(c.reshape(len(c), -1), (pieces, c[0].size))
            columns.append(np.repeat(own, 2, axis=0))
            spans[name], powers[name] = slice(start, start + c[0].size), c.shape[1]
            start += c[0].size
        return cls(times, np.ascontiguousarray(np.concatenate(columns, axis=1)), spans, powers, course.errors)

    @classmethod
    def of(
        cls, times: np.ndarray, changing: Mapping[str, Any], constant: Mapping[str, Any] | None = None
    ) -> Table:
        """Return parts of a row by name: `changing` ones (m, ...) on straight lines between the times, and `constant`
        ones."""
        return cls.along(of_lines(times, changing), constant)

    def with_constants(self, constant: Mapping[str, Any]) -> Table:
        """Return the table with more constants behind the entries of each row."""
        spans, powers, columns = dict(self.spans), dict(self.powers), [self.rows]
        start = self.width
        for name, x in constant.items():
            own = np.asarray(x, dtype=float).reshape(1, -1)
            columns.append(np.broadcast_to(own, (len(self.rows), own.size)))
            spans[name], powers[name] = slice(start, start + own.size), 1
            start += own.size
        rows = np.ascontiguousarray(np.concatenate(columns, axis=1))
        return Table(self.times, rows, spans, powers, self.errors)

    @property
    def width(self) -> int:
        """Numbers of a row."""
        return self.rows.shape[-1]

    def part(self, row: Vector, name: str) -> Vector:
        """Return the quantity (n,) that a row gives.    (RG13)"""
        own, count = row[self.spans[name]], self.powers[name]
        return own if count == 1 else horner(list(own.reshape(count, -1)), row[0])

    def at(self, time: float) -> np.ndarray:
        """Return the row at a time; the first and the last beyond the ends."""
        t = float(np.clip(time, self.times[0], self.times[-1]))
        k = min(max(int(np.searchsorted(self.times, t, side="right")) - 1, 0), len(self.times) - 2)
        part = (t - self.times[k]) / (self.times[k + 1] - self.times[k])
        return self.rows[k] + part * (self.rows[k + 1] - self.rows[k])
