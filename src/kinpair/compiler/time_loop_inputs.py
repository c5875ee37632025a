"""What a run reads beside its state, and how a function of Python is called from a compiled loop."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

NOTHING = np.zeros(0)
CONTROL = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p)


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """What a run reads beside its state: parameters (np,), a table (times, rows) of inputs, a function.

    In a batch, parameters and rows may have an axis of trajectories in front.
    """

    parameters: np.ndarray = field(default_factory=lambda: NOTHING)
    times: np.ndarray = field(default_factory=lambda: NOTHING)
    rows: np.ndarray = field(default_factory=lambda: NOTHING)
    called: Any = None

    def at(self, time: float) -> np.ndarray:
        """The row of the table at a time, on a straight line; the first and the last beyond its ends."""
        k = int(np.clip(np.searchsorted(self.times, time, side="right") - 1, 0, len(self.times) - 2))
        part = (time - self.times[k]) / (self.times[k + 1] - self.times[k])
        low, high = self.rows[..., k, :], self.rows[..., k + 1, :]
        return low + min(max(part, 0.0), 1.0) * (high - low)

    @property
    def address(self) -> np.ndarray:
        """Where the function is."""
        address = ctypes.cast(self.called, ctypes.c_void_p).value if self.called is not None else 0
        return np.array([address or 0], dtype=np.int64)


def callback(function: Callable[[float, np.ndarray], np.ndarray | None], ny: int, nu: int) -> Any:
    """A Python function (time, y) → u as the loop calls it; it must not raise, and says None to end the run."""
    views: dict[tuple[int, int], np.ndarray] = {}  # by address and size: the same few places again and again

    def view(address: int, size: int) -> np.ndarray:
        place = address, size
        if place not in views:
            views[place] = np.ctypeslib.as_array((ctypes.c_double * size).from_address(address))
        return views[place]

    def call(time: float, y: int, u: int) -> int:
        result = function(time, view(y, ny).copy())
        if result is None:
            return 1
        view(u, nu)[...] = result
        return 0

    return CONTROL(call)
