"""Exact derivatives along a direction, of functions over floats or symbols: numbers that carry their own rate.

A jet is x + ε ẋ with ε² = 0; running a function on jets gives its value and its rate at once. Jets nest: the rate
of a rate is had by putting jets into jets. Each `rate` call has its own ε; the one made last is the innermost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import numpy as np

from kinpair.algebra import choice
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, is_nothing
from kinpair.algebra.user_arrays import plain
from kinpair.errors import TraceError

_LEVELS = count(1)


def rate(f: Callable[..., Any], at: Sequence[Any], along: Sequence[Any]) -> Any:
    """d f(at + ε along)/dε; the arguments and the result are scalars or arrays, `along` entry by entry as `at`."""
    level = next(_LEVELS)
    jets = [_seeded(x, xd, level) for x, xd in zip(at, along, strict=True)]
    return _rates(f(*jets), level)


def gradient(f: Callable[[Vector], Any], x: Vector) -> Vector:
    """∂f/∂x of a scalar function (n,)."""
    return array([rate(f, (x,), (unit,)) for unit in np.eye(len(x))])


def jacobian(f: Callable[[Vector], Vector], x: Vector, rows: int) -> Matrix:
    """∂f/∂x of a function with `rows` values (rows, n)."""
    columns = [rate(f, (x,), (unit,)) for unit in np.eye(len(x))]
    return array([[column[k] for column in columns] for k in range(rows)]) if rows else np.zeros((0, len(x)))


def _seeded(x: Any, xd: Any, level: int) -> Any:
    x, xd = plain(x), plain(xd)
    if np.ndim(x) == 0:
        return _jet(x, xd, level)
    jets = np.empty(np.shape(x), dtype=object)
    for k, (entry, change) in enumerate(zip(np.ravel(x), np.ravel(xd), strict=True)):
        jets.reshape(-1)[k] = _jet(entry, change, level)
    return jets


def _rates(value: Any, level: int) -> Any:
    if isinstance(value, (list, tuple)):
        return [_rates(x, level) for x in value]
    if np.ndim(value) == 0:
        return _rate_of(value[()] if isinstance(value, np.ndarray) else value, level)
    flat = [_rate_of(x, level) for x in np.ravel(value)]
    return array(flat).reshape(np.shape(value)) if flat else np.zeros(np.shape(value))


def _rate_of(x: Any, level: int) -> Any:
    return x.rate if isinstance(x, Jet) and x.level == level else 0.0


def _jet(x: Any, xd: Any, level: int) -> Any:
    return x if is_nothing(xd) else Jet(x, xd, level)


def _product(a: Any, b: Any) -> Any:
    return 0.0 if is_nothing(a) or is_nothing(b) else a * b


def _parts(x: Any, level: int) -> tuple[Any, Any]:
    """Value and rate at this level: jets of outer levels and plain numbers do not change."""
    return (x.base, x.rate) if isinstance(x, Jet) and x.level == level else (x, 0.0)


def _level(x: Any) -> int:
    return x.level if isinstance(x, Jet) else 0


def _two(f: Callable[[Any, Any], Any], change: Callable[..., Any]) -> Any:
    def operate(self: Jet, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        level = max(self.level, _level(other))
        (a, ad), (b, bd) = _parts(self, level), _parts(other, level)
        value = f(a, b)
        return _jet(value, change(a, ad, b, bd, value), level)

    return operate


def _swapped(operate: Any) -> Any:
    def swapped(self: Jet, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        return operate(Jet(other, 0.0, self.level), self)

    return swapped


def _one(f: Callable[[Any], Any], slope: Callable[[Any, Any], Any]) -> Any:
    def operate(self: Jet) -> Any:
        value = f(self.base)
        return _jet(value, _product(slope(self.base, value), self.rate), self.level)

    return operate


def _power(x: Jet, n: Any) -> Any:
    if isinstance(n, Jet):
        return (n * x.log()).exp()
    value = x.base**n
    return _jet(value, _product(n * x.base ** (n - 1), x.rate), x.level) if n else 1.0


_add = _two(lambda a, b: a + b, lambda a, ad, b, bd, v: ad + bd)
_sub = _two(lambda a, b: a - b, lambda a, ad, b, bd, v: ad - bd)
_mul = _two(lambda a, b: a * b, lambda a, ad, b, bd, v: _product(ad, b) + _product(a, bd))
_div = _two(np.divide, lambda a, ad, b, bd, v: np.divide(ad - _product(v, bd), b))
_atan2 = _two(
    np.arctan2,
    lambda a, ad, b, bd, v: np.divide(_product(ad, b) - _product(a, bd), a * a + b * b),
)
_hypot = _two(np.hypot, lambda a, ad, b, bd, v: np.divide(_product(a, ad) + _product(b, bd), v))
_min = _two(choice.minimum, lambda a, ad, b, bd, v: choice.where(choice.less(a, b), ad, bd))
_max = _two(choice.maximum, lambda a, ad, b, bd, v: choice.where(choice.less(b, a), ad, bd))


def _by_the_jet(operate: Any) -> Any:
    """A function of two numbers, one of them a jet at least."""
    return lambda a, b: operate(a, b) if isinstance(a, Jet) else operate(Jet(a, 0.0, b.level), b)


_ASKED: dict[Any, Any] = {  # NumPy asks the first argument only, or for a plain truth value
    np.arctan2: _by_the_jet(_atan2),
    np.hypot: _by_the_jet(_hypot),
    np.minimum: choice.minimum,
    np.maximum: choice.maximum,
    np.sign: choice.sign,
}


def _boxed(x: Any) -> Any:
    if not isinstance(x, Jet):
        return x
    box = np.empty((), dtype=object)
    box[()] = x
    return box


class Jet:
    """base + ε rate; made by `rate`, met only inside the function it runs."""

    __slots__ = ("base", "level", "rate")
    __array_priority__ = -1.0

    def __init__(self, base: Scalar, rate: Scalar, level: int) -> None:
        self.base, self.rate, self.level = base, rate, level

    __add__, __radd__ = _add, _swapped(_add)
    __sub__, __rsub__ = _sub, _swapped(_sub)
    __mul__, __rmul__ = _mul, _swapped(_mul)
    __truediv__, __rtruediv__ = _div, _swapped(_div)
    __pow__ = _power
    arctan2 = _atan2
    hypot = _hypot
    minimum, maximum = _min, _max  # what `choice` calls
    __neg__ = _one(lambda x: -x, lambda x, v: -1.0)
    sin = _one(np.sin, lambda x, v: np.cos(x))
    cos = _one(np.cos, lambda x, v: -np.sin(x))
    tan = _one(np.tan, lambda x, v: 1.0 + v * v)
    sqrt = _one(np.sqrt, lambda x, v: np.divide(0.5, v))
    exp = _one(np.exp, lambda x, v: v)
    log = _one(np.log, lambda x, v: np.divide(1.0, x))
    tanh = _one(np.tanh, lambda x, v: 1.0 - v * v)
    sinh = _one(np.sinh, lambda x, v: np.cosh(x))
    cosh = _one(np.cosh, lambda x, v: np.sinh(x))
    arctan = _one(np.arctan, lambda x, v: np.divide(1.0, 1.0 + x * x))
    arcsin = _one(np.arcsin, lambda x, v: np.divide(1.0, np.sqrt(1.0 - x * x)))
    arccos = _one(np.arccos, lambda x, v: np.divide(-1.0, np.sqrt(1.0 - x * x)))

    sign = _one(choice.sign, lambda x, v: 0.0)
    floor = __floor__ = _one(np.floor, lambda x, v: 0.0)

    def __rpow__(self, other: Any) -> Any:
        return (self * np.log(other)).exp()

    def __abs__(self) -> Any:
        return self * choice.sign(self.base)

    fabs = __abs__

    def chosen(self, condition: Any, a: Any, b: Any) -> Any:
        """a where the condition holds, else b; this jet is the innermost of both."""
        (x, xd), (y, yd) = _parts(a, self.level), _parts(b, self.level)
        return _jet(choice.where(condition, x, y), choice.where(condition, xd, yd), self.level)

    def __lt__(self, other: Any) -> Any:
        return self.base < _parts(other, self.level)[0]

    def __gt__(self, other: Any) -> Any:
        return self.base > _parts(other, self.level)[0]

    def __le__(self, other: Any) -> Any:
        return self.base <= _parts(other, self.level)[0]

    def __ge__(self, other: Any) -> Any:
        return self.base >= _parts(other, self.level)[0]

    def __eq__(self, other: Any) -> Any:
        return self.base == _parts(other, self.level)[0]

    def __ne__(self, other: Any) -> Any:
        return self.base != _parts(other, self.level)[0]

    __hash__ = object.__hash__

    def truth(self) -> Any:
        """True unless it is zero, as a condition."""
        return self != 0.0

    def __bool__(self) -> bool:
        return bool(self.base)

    def __float__(self) -> float:
        raise TraceError(
            "a plain number is needed here, and derivatives are taken through this value; leave out float() and int(), "
            "use functions of NumPy, and put such values into an array by np.array([...])",
            needs="float",
        )

    def __int__(self) -> int:
        return int(float(self))

    def __array_ufunc__(self, function: np.ufunc, way: str, *inputs: Any, **options: Any) -> Any:
        if way == "__call__" and function in _ASKED and not any(isinstance(x, np.ndarray) for x in inputs):
            return _ASKED[function](*inputs)
        return getattr(function, way)(*map(_boxed, inputs), **options)

    def __pos__(self) -> Jet:
        return self

    def conjugate(self) -> Jet:
        """Itself: jets are real."""
        return self

    def __repr__(self) -> str:
        return f"{self.base!r} + ε {self.rate!r}"
