"""Inputs of a compiled loop: parameters, a table, and a Python function that the loop calls.

An exception cannot pass through compiled code. The loop therefore takes every answer but `SUCCESS` for a failure and
stops, and ctypes answers zero where Python could not be called.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

NOTHING = np.zeros(0)
FAILURE, SUCCESS = 0, 1  # answers to a compiled loop; ctypes answers 0 where it could not call Python


class Call(ctypes.Structure):
    """Arguments of a call from a compiled loop: the time, and the addresses of the state and of the inputs to fill."""

    time: float
    y: int
    u: int
    _fields_ = (("time", ctypes.c_double), ("y", ctypes.c_void_p), ("u", ctypes.c_void_p))


Control: TypeAlias = Callable[[float, np.ndarray], np.ndarray]
CONTROL = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """Inputs of a run next to its state: parameters (np,), a table (times, rows) of inputs, a function.

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

    def of(self, rows: Any) -> Inputs:
        """Return the inputs of one trajectory of a batch, or of several by number."""
        p, table = self.parameters, self.rows
        return replace(
            self, parameters=p[rows] if p.ndim > 1 else p, rows=table[rows] if table.ndim > 2 else table
        )

    @property
    def address(self) -> np.ndarray:
        """Address of the function."""
        address = ctypes.cast(self.called, ctypes.c_void_p).value if self.called is not None else 0
        return np.array([address or 0], dtype=np.int64)


def callback(function: Control, ny: int, nu: int, keep: Callable[[BaseException], None]) -> Any:
    """Return a Python function (time, y) → u (nu,) as a compiled loop calls it.

    The loop stops where the function raises. `keep` receives what it raised, or what a signal raised in its place.
    """
    guard = _guarded(function, ny, nu, keep)
    next(guard)
    return CONTROL(guard.send)


def _guarded(
    function: Control, ny: int, nu: int, keep: Callable[[BaseException], None]
) -> Generator[int, int]:
    """Answer calls, one after the other.

    Python raises the exception of a signal before the first instruction of a function, where no `try` of the function
    sees it. In a generator, that instruction follows `yield` and lies within the `try`.
    """
    views: dict[tuple[int, int], np.ndarray] = {}  # by address and size: the same few places again and again

    def view(address: int, size: int) -> np.ndarray:
        place = address, size
        if place not in views:
            views[place] = np.ctypeslib.as_array((ctypes.c_double * size).from_address(address))
        return views[place]

    answer = FAILURE
    while True:
        try:
            while True:
                arguments = Call.from_address((yield answer))
                answer = FAILURE
                view(arguments.u, nu)[...] = function(arguments.time, view(arguments.y, ny).copy())
                answer = SUCCESS
        except GeneratorExit:
            raise
        except BaseException as problem:
            answer = FAILURE
            keep(problem)
