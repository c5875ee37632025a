"""Every operation a node can have: what it takes, what it gives, what it means. Nothing else exists.

`n` is a number, `b` a truth value. `meaning` is the operation on plain floats, as NumPy has it: nothing
raises, a NaN goes through.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Operation:
    """`takes` and `gives` are kinds; `counts` is the column of an operation count it falls in."""

    takes: str
    gives: str
    meaning: Callable[..., Any]
    counts: str


def _guarded(function: Callable[[float], float]) -> Callable[[float], float]:
    """`function`, with NaN where it is undefined and infinity where it overflows."""

    def meaning(x: float) -> float:
        try:
            return function(x)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return meaning


def _divide(x: float, y: float) -> float:
    if y != 0.0:
        return x / y
    return math.nan if x == 0.0 or x != x else math.copysign(math.inf, x) * math.copysign(1.0, y)


def _log(x: float) -> float:
    return -math.inf if x == 0.0 else math.log(x)


def _sign(x: float) -> float:
    return 1.0 if x > 0.0 else -1.0 if x < 0.0 else x


def _floor(x: float) -> float:
    return float(math.floor(x)) if math.isfinite(x) else x


OPERATIONS: dict[str, Operation] = {
    "const": Operation("", "n", lambda: None, ""),
    "symbol": Operation("", "n", lambda: None, ""),
    "add": Operation("nn", "n", lambda x, y: x + y, "additions"),
    "sub": Operation("nn", "n", lambda x, y: x - y, "additions"),
    "mul": Operation("nn", "n", lambda x, y: x * y, "multiplications"),
    "div": Operation("nn", "n", _divide, "divisions"),
    "neg": Operation("n", "n", lambda x: -x, "negations"),
    "sqrt": Operation("n", "n", _guarded(math.sqrt), "functions"),
    "sin": Operation("n", "n", _guarded(math.sin), "functions"),
    "cos": Operation("n", "n", _guarded(math.cos), "functions"),
    "atan2": Operation("nn", "n", math.atan2, "functions"),
    "exp": Operation("n", "n", _guarded(math.exp), "functions"),
    "log": Operation("n", "n", _guarded(_log), "functions"),
    "tanh": Operation("n", "n", math.tanh, "functions"),
    "abs": Operation("n", "n", abs, "choices"),
    "sign": Operation("n", "n", _sign, "choices"),
    "floor": Operation("n", "n", _floor, "choices"),
    "min": Operation("nn", "n", lambda x, y: x if x < y or x != x else y, "choices"),
    "max": Operation("nn", "n", lambda x, y: x if x > y or x != x else y, "choices"),
    "lt": Operation("nn", "b", lambda x, y: x < y, "choices"),
    "le": Operation("nn", "b", lambda x, y: x <= y, "choices"),
    "eq": Operation("nn", "b", lambda x, y: x == y, "choices"),
    "and": Operation("bb", "b", lambda p, q: p and q, "choices"),
    "or": Operation("bb", "b", lambda p, q: p or q, "choices"),
    "not": Operation("b", "b", lambda p: not p, "choices"),
    "where": Operation("bnn", "n", lambda p, x, y: x if p else y, "choices"),
}
COLUMNS = ("multiplications", "additions", "divisions", "negations", "functions", "choices")
