"""Motions made of others: polynomials and motions one after the other, a path followed by a law of time.

Motions made of polynomials, one after the other.

q(t) = Σ_j c_ij x^j,   x = (t − t_i)/h_i,   t_i ≤ t ≤ t_i + h_i                              (MO1)

Motions one after the other.

A path followed by a law of time: q(t) = p(s(t)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from kinpair.algebra.choice import less, maximum, minimum, where
from kinpair.algebra.series import composed
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


class Part(NamedTuple):
    """A motion in a sequence: its own time is (time − origin) · scale."""

    motion: Trajectory
    origin: float
    scale: float = 1.0


@final
@dataclass(frozen=True, eq=False, repr=False)
class Sequence(Trajectory):
    """Parts between the `borders`, one more than there are parts."""

    parts: tuple[Part, ...]
    borders: tuple[float, ...]

    def within(self, time: Any, order: int, side: str) -> list[Any]:
        found = self._of(0, time, order, side)
        for k in range(1, len(self.parts)):
            border = self.borders[k]
            later = less(border, time) if side == "left" else less(time, border)
            own = self._of(k, time, order, side)
            pairs = zip(own, found, strict=True) if side == "left" else zip(found, own, strict=True)
            found = [where(later, a, b) for a, b in pairs]
        return found

    def _of(self, k: int, time: Any, order: int, side: str) -> list[Any]:
        motion, origin, scale = self.parts[k]
        own = minimum(maximum((time - origin) * scale, 0.0), motion.duration)
        found = motion.within(own, order, side)
        found += [0.0 * found[0]] * (order + 1 - len(found))
        return [x * scale**n for n, x in enumerate(found)]


def sequence(parts: tuple[Part, ...], borders: tuple[float, ...]) -> Sequence:
    """The parts one after the other; the borders start at 0."""
    return Sequence(borders[-1], parts[0].motion.shape, borders, parts, borders)


HALVINGS = 60


@final
@dataclass(frozen=True, eq=False, repr=False)
class Straight(Trajectory):
    """Line from start to end (n,) at a constant rate while its parameter goes from 0 to `duration`."""

    start: np.ndarray
    end: np.ndarray

    def within(self, time: Any, order: int, side: str) -> list[Any]:
        span = self.end - self.start
        part = time / self.duration
        return [(1.0 - part) * self.start + part * self.end, span / self.duration][: order + 1]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Retimed(Trajectory):
    """`path` with its own time s, 0 to its duration, as the `law` (a single coordinate) has it.    (TY2)"""

    path: Trajectory
    law: Trajectory

    def within(self, time: Any, order: int, side: str) -> list[Any]:
        s = self.law.within(minimum(maximum(time, 0.0), self.duration), order, side)
        return composed(self.path.within(s[0], order, side), s, order)


def retimed(path: Trajectory, law: Trajectory) -> Retimed:
    """The path as the law has it; its knots are those of the law, and when the law meets those of the path."""
    inner = when(law, np.array(path.knots[1:-1]))
    knots = tuple(np.unique([*law.knots, *inner.tolist()]).tolist())
    return Retimed(law.duration, path.shape, knots, path, law)


def when(law: Trajectory, s: np.ndarray) -> np.ndarray:
    """Find when an increasing law reaches each s, by bisection."""
    low, high = np.zeros(len(s)), np.full(len(s), law.duration)
    for _ in range(HALVINGS if len(s) else 0):
        middle = (low + high) / 2
        below = law.at(middle).q < s
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return high


def scaled(law: Trajectory, length: float) -> Retimed:
    """A law from 0 to 1 as one from 0 to a length."""
    return retimed(Straight(1.0, (), (0.0, 1.0), np.zeros(1), np.array([length])), law)
