"""Scalars that count the operations done with them and fold 0 and 1.

Put in the place of coordinates, they count what an unrolled, folded evaluation of an equation costs.
Constants of the mechanism are floats: what happens among them alone is done before and costs nothing.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

Tally = Counter[str]


class Counted:
    """An unknown number; `tally` is shared by all numbers of one evaluation."""

    __slots__ = ("tally",)
    __array_priority__ = 1000

    def __init__(self, tally: Tally) -> None:
        self.tally = tally

    def _new(self, operation: str) -> Counted:
        self.tally[operation] += 1
        return Counted(self.tally)

    def __add__(self, other: Any) -> Any:
        return self if _is(other, 0.0) else self._new("add")

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self if _is(other, 0.0) else self._new("add")

    def __rsub__(self, other: Any) -> Any:
        return -self if _is(other, 0.0) else self._new("add")

    def __mul__(self, other: Any) -> Any:
        if _is(other, 0.0):
            return 0.0
        return self if _is(other, 1.0) or _is(other, -1.0) else self._new("mul")

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self if _is(other, 1.0) or _is(other, -1.0) else self._new("div")

    def __rtruediv__(self, other: Any) -> Any:
        return 0.0 if _is(other, 0.0) else self._new("div")

    def __neg__(self) -> Counted:
        return self  # a sign is moved into the next sum

    def __getattr__(self, name: str) -> Any:
        if name in ("sin", "cos", "sqrt"):
            return lambda: self._new(name)
        raise AttributeError(name)


def _is(x: Any, value: float) -> bool:
    return not isinstance(x, Counted) and x == value


def count(f: Any, *sizes: int) -> Tally:
    """Operations of f on vectors of unknowns of the given sizes."""
    tally: Tally = Counter()
    f(*(np.array([Counted(tally) for _ in range(n)], dtype=object) for n in sizes))
    return tally
