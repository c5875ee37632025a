"""Choosing by value, where an `if` cannot: over numbers, symbols and columns alike.

NumPy's own `where`, `sign`, `minimum`, `maximum` and `<` ask each entry of an object array for a plain truth
value, which a symbol cannot give and a column would give wrongly. These ask the entry itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def less(a: Any, b: Any) -> Any:
    """a < b, entry by entry; for `where`."""
    return _entrywise("__lt__", np.less, a, b)


def where(condition: Any, a: Any, b: Any) -> Any:
    """a where the condition holds, else b."""
    return _entrywise("where", lambda *arrays: np.where(*arrays)[()], condition, a, b)


def sign(x: Any) -> Any:
    """−1, 0 or 1; of the real part, so that a complex step passes by."""
    return _entrywise("sign", lambda v: np.sign(np.real(v)), x)


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two."""
    return _entrywise("minimum", np.minimum, a, b)


def maximum(a: Any, b: Any) -> Any:
    """The larger of two."""
    return _entrywise("maximum", np.maximum, a, b)


def _entrywise(method: str, plain: Callable[..., Any], *operands: Any) -> Any:
    """`plain` on numbers and columns; on symbols the method of the first operand that has it."""
    if all(np.asarray(x).dtype != object for x in operands):
        return plain(*operands)
    return np.frompyfunc(lambda *entries: _one(method, plain, entries), len(operands), 1)(*operands)


_SWAPPED = {"__lt__": "__gt__", "minimum": "minimum", "maximum": "maximum"}


def _one(method: str, plain: Callable[..., Any], entries: tuple[Any, ...]) -> Any:
    if method == "where":
        return _chosen(plain, *entries)
    if method in _SWAPPED and _layer(entries[1]) > _layer(entries[0]):
        return getattr(entries[1], _SWAPPED[method])(entries[0])
    return getattr(entries[0], method)(*entries[1:]) if _layer(entries[0]) else plain(*entries)


def _chosen(plain: Callable[..., Any], condition: Any, a: Any, b: Any) -> Any:
    inner = max(a, b, key=_layer)
    if _layer(inner) > 1:
        return inner.chosen(condition, a, b)
    if _layer(condition):
        return condition.where(a, b)
    if np.ndim(condition) == 0:
        return a if condition else b
    return plain(condition, a, b)


def holds_symbols(x: Any) -> bool:
    """True if it is a symbol or a jet, or contains any. They are only known at run time."""
    if isinstance(x, np.ndarray):
        return x.dtype == object and any(map(_layer, x.flat))
    return any(map(holds_symbols, x)) if isinstance(x, list | tuple) else _layer(x) > 0


def _layer(x: Any) -> int:
    """0: a number or column; 1: a symbol; above: a jet (`kinpair.algebra.jet`), of numbers, symbols or other jets."""
    if not (hasattr(x, "sign") and hasattr(x, "arctan2")):
        return 0
    return 1 + getattr(x, "level", 0)
