"""A number nobody may look at: what a symbol is to an equation."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np


class Opaque:
    """Adds, multiplies and divides like a number; refuses to be compared, tested or turned into a float."""

    __slots__ = ("hidden",)

    def __init__(self, hidden: float) -> None:
        self.hidden = hidden

    def __add__(self, x: Any) -> Opaque:
        return Opaque(self.hidden + _value(x))

    def __sub__(self, x: Any) -> Opaque:
        return Opaque(self.hidden - _value(x))

    def __rsub__(self, x: Any) -> Opaque:
        return Opaque(_value(x) - self.hidden)

    def __mul__(self, x: Any) -> Opaque:
        return Opaque(self.hidden * _value(x))

    def __truediv__(self, x: Any) -> Opaque:
        return Opaque(self.hidden / _value(x))

    def __rtruediv__(self, x: Any) -> Opaque:
        return Opaque(_value(x) / self.hidden)

    def __neg__(self) -> Opaque:
        return Opaque(-self.hidden)

    __radd__, __rmul__ = __add__, __mul__

    def sin(self) -> Opaque:
        return Opaque(math.sin(self.hidden))

    def cos(self) -> Opaque:
        return Opaque(math.cos(self.hidden))

    def sqrt(self) -> Opaque:
        return Opaque(math.sqrt(self.hidden))

    def sign(self) -> Opaque:
        return Opaque(float(np.sign(self.hidden)))

    def arctan2(self, x: Any) -> Opaque:
        return Opaque(math.atan2(self.hidden, _value(x)))

    def where(self, a: Any, b: Any) -> Any:
        return a if self.hidden else b

    def _refuse(self, *_: Any) -> NoReturn:
        raise AssertionError("an equation looked at a value")

    __bool__ = __float__ = __int__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _refuse  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


def _value(x: Any) -> float:
    return x.hidden if isinstance(x, Opaque) else x


def hide(x: np.ndarray) -> np.ndarray:
    """An object array of opaque numbers."""
    hidden = np.empty(x.shape, dtype=object)
    for k, v in np.ndenumerate(x):
        hidden[k] = Opaque(float(v))
    return hidden


def reveal(x: Any) -> np.ndarray:
    """What an equation made of them."""
    x = np.asarray(x, dtype=object)
    return np.array([_value(v) for v in x.reshape(-1)], dtype=float).reshape(x.shape)
