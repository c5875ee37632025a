"""NumPy functions for arrays of symbols, jets or columns: the functions that NumPy itself cannot apply to them.

`UFUNCS` and `FUNCTIONS` are tables by NumPy function. A function in `UFUNCS` takes single entries, one in `FUNCTIONS`
plain object arrays. NumPy's own loops ask comparisons for a truth value, which symbols do not have. Each function gives
the number that NumPy gives for floats; at a kink its derivative is that of the branch taken.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Sequence
from functools import reduce
from math import inf, log, pi
from typing import Any

import numpy as np

from kinpair.algebra import choice
from kinpair.algebra.arrays import single
from kinpair.errors import TraceError

HIGHEST = 64  # powers by multiplication


def truth(x: Any) -> Any:
    """Return x as a condition: a number is true unless it is zero."""
    if isinstance(x, np.ndarray):
        return x if x.dtype == bool else x != 0
    if hasattr(x, "truth"):
        return x.truth()
    return bool(x)


def number(x: Any) -> Any:
    """Return x as a number: a condition is 1 or 0."""
    if isinstance(x, (bool, np.bool_)) or (isinstance(x, np.ndarray) and x.dtype == bool):
        return x * 1.0
    return choice.where(x, 1.0, 0.0) if getattr(x, "is_condition", False) else x


def opposite(x: Any) -> Any:
    """Return the condition that holds where x does not."""
    condition = truth(x)
    return not condition if isinstance(condition, bool) else ~condition


def _either_alone(x: Any, y: Any) -> Any:
    return (truth(x) & opposite(y)) | (opposite(x) & truth(y))


def _heaviside(x: Any, at_zero: Any) -> Any:
    above = choice.where(x > 0.0, 1.0, choice.where(truth(x == 0.0), at_zero, x))
    return choice.where(x < 0.0, 0.0, above)


def _clip(x: Any, low: Any, high: Any) -> Any:
    return choice.minimum(choice.maximum(x, low), high)


def _signbit(x: Any) -> Any:
    return np.arctan2(x, -1.0) < 0.0  # −0 is negative


def _truncated(x: Any) -> Any:
    return choice.where(x < 0.0, np.ceil(x), np.floor(x))


def _rounded(x: Any) -> Any:
    """Return the nearest whole number, for a half the even one."""
    nearest = np.floor(x + 0.5)
    odd = truth(nearest - 2.0 * np.floor(0.5 * nearest) == 1.0) & truth(x + 0.5 == nearest)
    return choice.where(odd, nearest - 1.0, nearest)


def _power(x: Any, p: Any) -> Any:
    if not isinstance(p, (int, float)):
        return choice.where(truth(p == 0.0), 1.0, np.exp(p * np.log(x)))
    if 2 * p == int(2 * p) and abs(p) <= HIGHEST:
        return x**p
    if p == int(p):
        raise TraceError(f"the power {p:g} is not recorded; whole powers are, up to {HIGHEST}")
    return np.exp(p * np.log(x))


def _fmax(x: Any, y: Any) -> Any:
    return choice.where(truth(x >= y) | truth(y != y), x, y)


def _fmin(x: Any, y: Any) -> Any:
    return choice.where(truth(x <= y) | truth(y != y), x, y)


LOGICAL: dict[Any, Callable[..., Any]] = {  # these take conditions; all others take numbers
    np.logical_and: lambda x, y: truth(x) & truth(y),
    np.logical_or: lambda x, y: truth(x) | truth(y),
    np.logical_xor: _either_alone,
    np.logical_not: opposite,
}
LOGICAL |= {
    np.bitwise_and: LOGICAL[np.logical_and],
    np.bitwise_or: LOGICAL[np.logical_or],
    np.bitwise_xor: LOGICAL[np.logical_xor],
    np.invert: LOGICAL[np.logical_not],
}
_UMATH: Any = (
    sys.modules.get("numpy._core.umath") or sys.modules["numpy.core.umath"]
)  # its place before NumPy 2
UFUNCS: dict[Any, Callable[..., Any]] = LOGICAL | {
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
    np.maximum: choice.maximum,
    np.minimum: choice.minimum,
    np.fmax: _fmax,
    np.fmin: _fmin,
    _UMATH.clip: _clip,
    np.sign: choice.sign,
    np.heaviside: _heaviside,
    np.signbit: _signbit,
    np.copysign: lambda x, y: choice.where(_signbit(y), -abs(x), abs(x)),
    np.isnan: lambda x: x != x,
    np.isinf: lambda x: abs(x) == inf,
    np.isfinite: lambda x: abs(x) < inf,
    np.trunc: _truncated,
    np.rint: _rounded,
    np.floor_divide: lambda x, y: np.floor(x / y),
    np.remainder: lambda x, y: x - y * np.floor(x / y),
    np.fmod: lambda x, y: x - y * _truncated(x / y),
    np.power: _power,
    np.float_power: _power,
    np.cbrt: lambda x: choice.sign(x) * np.exp(np.log(abs(x)) / 3.0),
    np.exp2: lambda x: np.exp(log(2.0) * x),
    np.expm1: lambda x: 2.0 * np.sinh(0.5 * x) * np.exp(0.5 * x),
    np.log2: lambda x: np.log(x) / log(2.0),
    np.log10: lambda x: np.log(x) / log(10.0),
}
UFUNCS |= dict.fromkeys((np.deg2rad, np.radians), lambda x: x * (pi / 180.0))
UFUNCS |= dict.fromkeys((np.rad2deg, np.degrees), lambda x: x * (180.0 / pi))


def lifted(function: Callable[..., Any], *arrays: Any) -> Any:
    """Apply a function of single entries to arrays, broadcast."""
    return np.frompyfunc(lambda *entries: function(*map(_entry, entries)), len(arrays), 1)(*arrays)


def _entry(x: Any) -> Any:
    return x.item() if isinstance(x, np.generic) else x


def reduced(function: Callable[..., Any], x: np.ndarray, axis: Any = 0, keepdims: bool = False) -> Any:
    """Reduce an array by a function of two entries, along an axis (None: all axes)."""
    if isinstance(axis, tuple):
        if sorted(k % x.ndim for k in axis) != list(range(x.ndim)):
            raise TraceError(f"axis={axis} is not recorded; give one axis, or none for all entries")
        axis = None
    slices = list(x.reshape(-1)) if axis is None else list(np.moveaxis(x, axis, 0))
    if not slices:
        raise ValueError("an array without entries has no such value")
    value = reduce(lambda a, b: lifted(function, a, b), slices)
    if not keepdims:
        return value
    boxed = value if isinstance(value, np.ndarray) and value.dtype == object else single_entry(value)
    return boxed.reshape((1,) * x.ndim) if axis is None else np.expand_dims(boxed, axis)


def single_entry(x: Any) -> np.ndarray:
    """Return an object array without axes that holds x."""
    if isinstance(x, np.ndarray):
        return single(x)
    box = np.empty((), dtype=object)
    box[()] = x
    return box


def _where(condition: Any, *values: Any) -> Any:
    if len(values) != 2:
        raise TraceError(
            "np.where(condition) with one argument gives places, which are only known at run time; "
            "use np.where(condition, a, b)"
        )
    return lifted(lambda p, x, y: choice.where(truth(p), number(x), number(y)), condition, *values)


def _select(conditions: Sequence[Any], choices: Sequence[Any], default: Any = 0.0) -> Any:
    result = default
    for condition, value in zip(reversed(conditions), reversed(choices), strict=True):
        result = _where(condition, value, result)
    return result


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = np.asarray(x, dtype=object)
    of_vectors = x.ndim == 1 or isinstance(axis, int)
    if ord in (None, "fro") or (ord == 2 and of_vectors):
        return np.sqrt(np.add.reduce(x * x, axis=axis, keepdims=keepdims))
    if of_vectors and ord in (1, inf, -inf):
        axis = 0 if axis is None else axis
        if ord == 1:
            return np.add.reduce(np.abs(x), axis=axis, keepdims=keepdims)
        return reduced(choice.maximum if ord > 0 else choice.minimum, np.abs(x), axis, keepdims)
    raise TraceError(
        f"np.linalg.norm with ord={ord!r} is not recorded; recorded are the norms of vectors with ord 1, 2 and inf, "
        "and the Frobenius norm of matrices"
    )


def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    if period is not None or choice.holds_symbols(xp):
        found = f"period={period!r}" if period is not None else "sample points that depend on the state"
        raise TraceError(f"np.interp with {found} is not recorded; use constant sample points without period")
    places, values = np.asarray(xp, dtype=float), np.asarray(fp)
    if places.ndim != 1 or places.shape != values.shape or not len(places):
        raise ValueError("fp and xp are not of the same length")
    first, last = (values[0] if left is None else left), (values[-1] if right is None else right)
    slopes = np.diff(values) / np.diff(places)

    def part(x: Any, start: int, stop: int) -> Any:
        """Interpolate between the sample points start and stop, by halves."""
        if stop - start <= 1:
            return slopes[start] * (x - places[start]) + values[start] if stop > start else values[start]
        middle = (start + stop) // 2
        return choice.where(x < places[middle], part(x, start, middle), part(x, middle, stop))

    def line(x: Any) -> Any:
        inside = part(x, 0, len(places) - 1)
        ended = choice.where(x > places[-1], last, choice.where(truth(x == places[-1]), values[-1], inside))
        return choice.where(x < places[0], first, ended)

    return lifted(line, x)


def _like(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `np.zeros_like` or a relative of it, whose array takes symbols as entries."""
    return lambda x, *values, **_: function(np.shape(x), *values).astype(object)


def _round(x: Any, decimals: int = 0) -> Any:
    scale = 10.0**decimals
    return lifted(lambda entry: _rounded(entry * scale) / scale, x)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.round: _round,
    np.around: _round,
    np.where: _where,
    np.select: _select,
    np.linalg.norm: _norm,
    np.interp: _interp,
    np.zeros_like: _like(np.zeros),
    np.ones_like: _like(np.ones),
    np.empty_like: _like(np.zeros),
    np.full_like: _like(np.full),
}
