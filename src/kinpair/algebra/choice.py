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
    return _entrywise("where", np.where, condition, a, b)


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
    if _is_symbol(entries[0]):
        return getattr(entries[0], method)(*entries[1:])
    if method in _SWAPPED and _is_symbol(entries[1]):
        return getattr(entries[1], _SWAPPED[method])(entries[0])
    if method == "where" and np.ndim(entries[0]) == 0:
        return entries[1] if entries[0] else entries[2]
    return plain(*entries)


def _is_symbol(x: Any) -> bool:
    return hasattr(x, "where") and hasattr(x, "arctan2")
