"""Scalars that count the operations done with them and fold 0 and 1.

Put in the place of coordinates, they count what an unrolled, folded evaluation of an equation costs: the
operations that its result needs, none shared. Constants of the mechanism are floats: what happens among
them alone is done before and costs nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

Tally = Counter[str]


class Counted:
    """An unknown number: what was done to get it, and with which others."""

    __slots__ = ("args", "operation")
    __array_priority__ = 1000

    def __init__(self, operation: str = "", *args: Any) -> None:
        self.operation = operation
        self.args = tuple(x for x in args if isinstance(x, Counted))

    def __add__(self, other: Any) -> Any:
        return self if _is(other, 0.0) else Counted("add", self, other)

    __radd__ = __sub__ = __add__

    def __rsub__(self, other: Any) -> Any:
        return self if _is(other, 0.0) else Counted("add", self, other)

    def __mul__(self, other: Any) -> Any:
        if _is(other, 0.0):
            return 0.0
        return self if _is(other, 1.0) or _is(other, -1.0) else Counted("mul", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self if _is(other, 1.0) or _is(other, -1.0) else Counted("div", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return 0.0 if _is(other, 0.0) else Counted("div", self, other)

    def __neg__(self) -> Counted:
        return self  # a sign is moved into the next sum

    def sin(self) -> Counted:
        return Counted("sin", self)

    def cos(self) -> Counted:
        return Counted("cos", self)


def _is(x: Any, value: float) -> bool:
    return not isinstance(x, Counted) and x == value


def count(f: Any, *sizes: int) -> Tally:
    """Operations that the result of f on vectors of unknowns of the given sizes needs."""
    result = f(*(np.array([Counted() for _ in range(n)], dtype=object) for n in sizes))
    return needed(x for part in (result if isinstance(result, tuple) else (result,)) for x in np.ravel(part))


def needed(results: Iterable[Any]) -> Tally:
    """Operations behind the results, each counted once."""
    tally: Tally = Counter()
    seen: set[int] = set()
    waiting = [x for x in results if isinstance(x, Counted)]
    while waiting:
        x = waiting.pop()
        if id(x) not in seen:
            seen.add(id(x))
            tally[x.operation] += 1
            waiting.extend(x.args)
    del tally[""]
    return tally
