"""Interface of every motion: coordinates, rates, accelerations and jerk at a time."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinpair.algebra.choice import less, maximum, minimum, where
from kinpair.algebra.series import derivatives
from kinpair.errors import InputError
from kinpair.viewer.curves import figure_of, write_figure
from kinpair.viewer.looks import Panel, distinct

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ORDERS = 8  # derivatives looked at for smoothness; a motion without a jump among them counts as smooth
JUMP = 1e-9  # of the size of a derivative: a difference below this is rounding
SIDES = ("", "left", "right")
POINTS = 1001  # of a picture
TITLES = (
    ("coordinates", "q [rad or m]"),
    ("rates", "q̇ [rad/s or m/s]"),
    ("accelerations", "q̈ [rad/s² or m/s²]"),
    ("jerk", "q⃛ [rad/s³ or m/s³]"),
)


class Motion(NamedTuple):
    """Coordinates and their first three derivatives, each of shape (*time, *shape)."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    jerk: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(ABC):
    """Coordinates as functions of time, from 0 to `duration` [s]; before and after they rest at the ends.

    `shape`: of the coordinates, () for a single one. `knots`: times at which a derivative may jump, the ends among
    them. At a knot `at` has the values after it, at the end of the motion those before it; `side=` "left" or "right"
    has those before or after any time. Time may be a symbol: a trajectory can be part of a compiled function.
    """

    duration: float
    shape: tuple[int, ...]
    knots: tuple[float, ...]

    def __repr__(self) -> str:
        count = prod(self.shape)
        return f"<Trajectory: {count} coordinate{'s' * (count != 1)}, {self.duration:g} s>"

    @abstractmethod
    def within(self, time: Any, order: int, side: str) -> list[Any]:
        """Taylor coefficients (..., n) of all coordinates at times (..., 1) from 0 to the duration."""

    def series(self, time: Any, order: int, side: str = "") -> list[Any]:
        """Taylor coefficients (*time, n) in time: q, q̇, q̈/2, ... up to an order; zero beyond the end of the list."""
        if side not in SIDES:
            raise InputError(f"side is {side!r}; give 'left' or 'right'")
        t = _times(time)[..., None]
        if not side and t.dtype != object and t.size and t.min() >= 0.0 and t.max() <= self.duration:
            found = self.within(t, order, side)
            return [np.broadcast_to(x, np.shape(found[0])) for x in found]
        found = self.within(minimum(maximum(t, 0.0), self.duration), order, side)
        return [found[0], *(self._at_rest_outside(x, t, side) for x in found[1:])]

    def _at_rest_outside(self, x: Any, t: Any, side: str) -> Any:
        begun = where(less(0.0, t), x, 0.0 * x) if side == "left" else where(less(t, 0.0), 0.0 * x, x)
        last = self.duration
        return (
            where(less(t, last), begun, 0.0 * x) if side == "right" else where(less(last, t), 0.0 * x, begun)
        )

    def at(self, time: Any, *, side: str = "") -> Motion:
        """Coordinates, rates, accelerations and jerk at a time or times (...)."""
        found = derivatives(self.series(time, 3, side))
        lead = np.shape(found[0])[:-1]
        found += [np.zeros((*lead, prod(self.shape)))] * (4 - len(found))
        return Motion(*(np.reshape(x, (*lead, *self.shape)) for x in found))

    @cached_property
    def smoothness(self) -> float:
        """Number of continuous derivatives at all times, rest before and after the motion included; inf if all."""
        times = np.array(self.knots)
        before, after = (self._filled(times, side) for side in ("left", "right"))
        middle = self._filled((times[1:] + times[:-1]) / 2, "")
        span, steps = np.ptp(before[0], axis=0).max(initial=0.0), np.diff(times)
        shortest = np.minimum(np.append(steps, np.inf), np.append(np.inf, steps))
        for k in range(ORDERS + 1):
            size = max(np.abs(x[k]).max(initial=0.0) for x in (before, after, middle))
            rounding = JUMP * np.maximum(size, 1e-3 * span / shortest**k)
            if (np.abs(after[k] - before[k]).max(1, initial=0.0) > rounding).any():
                return k - 1
        return inf

    def _filled(self, time: np.ndarray, side: str) -> list[np.ndarray]:
        found = self.series(time, ORDERS, side)
        return [*found, *[np.zeros(np.shape(found[0]))] * (ORDERS + 1 - len(found))]

    def plot(
        self, path: str | os.PathLike[str] | None = None, *, names: Sequence[str] = (), title: str = ""
    ) -> Figure:
        """Coordinates, rates, accelerations and jerk as a figure of matplotlib; written to the path if given."""
        time = np.sort(np.concatenate([np.linspace(0.0, self.duration, POINTS), self.knots, self.knots]))
        sides = [self.at(time, side=side) for side in ("right", "left")]
        second = np.concatenate(
            [[False], time[1:] == time[:-1]]
        )  # of two equal times: first before, then after
        every = list(names) or [f"{k}" for k in range(prod(self.shape))]
        panels: list[Panel] = []
        for (name, letter), right, left in zip(TITLES, *sides, strict=True):
            values = np.where(second[:, None], *(np.reshape(x, (len(time), -1)) for x in (right, left)))
            curves = {every[k]: values[:, k] for k in range(values.shape[1])}
            panels.append(Panel(name, letter, curves, distinct(every)))
        figure = figure_of(time, [panels[:2], panels[2:]], title=title)
        if path is not None:
            write_figure(figure, path)
        return figure


def _times(time: Any) -> np.ndarray:
    """Times as an array, of floats or of symbols."""
    if hasattr(time, "arctan2"):
        made = np.empty((), dtype=object)
        made[()] = time
        return made
    x = np.asarray(time)
    return x if x.dtype == object else x.astype(float)


def positive(owner: str, **numbers: Any) -> None:
    """Refuse what is not a positive finite number of seconds, or of what the name says."""
    for name, value in numbers.items():
        if not (np.isscalar(value) and np.isfinite(value) and value > 0):  # type: ignore[arg-type]
            raise InputError(f"{owner}: {name} is {value!r}; give a positive number", **{name: value})
