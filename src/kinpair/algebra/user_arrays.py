"""The arrays that functions of a user are run on, so that ordinary NumPy code records itself.

A `UserArray` is an object array of symbols, jets or columns. NumPy functions that its own loops cannot apply to such
entries come from the tables of `user_numpy`; all others are NumPy's. A single entry is a `UserArray` without axes, so
that NumPy functions of scalars arrive here too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinpair.algebra.arrays import is_boxed, unboxed
from kinpair.algebra.choice import where
from kinpair.algebra.user_numpy import (
    FUNCTIONS,
    LOGICAL,
    UFUNCS,
    lifted,
    number,
    reduced,
    single_entry,
    truth,
)
from kinpair.errors import TraceError

REPLACEMENTS = {  # what to use in place of a NumPy function that is not recorded
    "sort": "np.minimum and np.maximum",
    "argmax": "np.where",
    "argmin": "np.where",
    "piecewise": "np.where or np.select",
    "log1p": "np.log(1 + x)",
    "arcsinh": "np.log(x + np.sqrt(x**2 + 1))",
    "arccosh": "np.log(x + np.sqrt(x**2 - 1))",
    "arctanh": "0.5 * np.log((1 + x) / (1 - x))",
    "logaddexp": "np.log(np.exp(x) + np.exp(y))",
    "linalg.solve": "np.linalg.inv(A) @ b with a constant matrix A",
}
OTHERWISE = "see the table of recorded functions in docs/compiler.md"


def _in_place(operator: str) -> Any:
    """Return the operator of `x += y`: in place for an array, a new value for a single entry, as for a number."""

    def operate(self: Any, other: Any) -> Any:
        value = getattr(self, operator)(other)
        if self.ndim == 0:
            return value
        self[...] = value
        return self

    return operate


class UserArray(np.ndarray):
    """An object array whose NumPy functions record themselves."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        out, entrywise = options.pop("out", None), UFUNCS.get(ufunc)
        if entrywise is not None:
            _check_options(ufunc, options)
        takes_numbers = ufunc not in LOGICAL and getattr(np, ufunc.__name__, None) is ufunc
        arrays = [_numbers(plain(x)) if takes_numbers else plain(x) for x in inputs]
        if entrywise is None and method == "__call__" and ufunc.signature is None and _has_columns(arrays):
            entrywise = ufunc
        if entrywise is None:
            result = _explained(ufunc, getattr(ufunc, method), *arrays, **options)
        elif method == "__call__":
            result = lifted(entrywise, *arrays)
        elif method == "reduce" and ufunc.nin == 2:
            result = reduced(entrywise, arrays[0], options.get("axis", 0), options.get("keepdims", False))
        else:
            raise _not_recorded(f"{ufunc.__name__}.{method}")
        if out is None:
            return user_array(result)
        out[0][...] = result
        return out[0]

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function in FUNCTIONS:
            return user_array(
                FUNCTIONS[function](*map(plain, args), **{k: plain(x) for k, x in kwargs.items()})
            )
        if _are_numbers((args, kwargs)):
            return function(*_floats(args), **dict(zip(kwargs, _floats(tuple(kwargs.values())), strict=True)))
        return user_array(_explained(function, super().__array_function__, function, types, args, kwargs))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, UserArray):
            raise TraceError(
                "an index that is only known at run time is not recorded; use np.where(condition, a, b)"
            )
        result = super().__getitem__(key)
        return result if isinstance(result, UserArray) else user_array(result)

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, UserArray):
            if key.shape != self.shape or np.ndim(value) > 0:
                raise TraceError(
                    "x[condition] = values is recorded for one value only; use np.where(condition, values, x)"
                )
            key, value = (
                ...,
                lifted(lambda p, x, y: where(truth(p), x, y), plain(key), plain(value), plain(self)),
            )
        value = _numbers(plain(value))
        one = isinstance(value, np.ndarray) and value.ndim == 0 and np.ndim(super().__getitem__(key)) == 0
        super().__setitem__(key, value[()] if one else value)

    def __getattr__(self, name: str) -> Any:
        """Return a function of NumPy as a method, for plain object arrays whose entries are such arrays."""
        function = getattr(np, name, None)
        if not isinstance(function, np.ufunc):
            raise AttributeError(f"arrays have no attribute {name!r}")
        return lambda *others: function(self, *others)

    __iadd__ = _in_place("__add__")
    __isub__ = _in_place("__sub__")
    __imul__ = _in_place("__mul__")
    __itruediv__ = _in_place("__truediv__")
    __ifloordiv__ = _in_place("__floordiv__")
    __imod__ = _in_place("__mod__")
    __ipow__ = _in_place("__pow__")
    __iand__ = _in_place("__and__")
    __ior__ = _in_place("__or__")
    __ixor__ = _in_place("__xor__")

    def where(self, x: Any, y: Any) -> Any:
        """Return x where this condition holds, else y; what `kinpair.algebra.choice` calls on an entry."""
        return np.where(self, x, y)

    def __floor__(self) -> Any:
        return np.floor(self)

    def __ceil__(self) -> Any:
        return np.ceil(self)

    def dot(self, b: Any, out: Any = None) -> Any:
        """Return the product that `np.dot` gives."""
        return np.dot(self, b)

    def round(self, decimals: Any = 0, out: None = None) -> Any:  # type: ignore[override]
        """Return the entries that `np.round` gives."""
        return np.round(self, decimals)

    def item(self, *place: Any) -> Any:
        """Return a single entry."""
        return self.reshape(-1)[place[0]] if place else self.reshape(())

    def tolist(self) -> Any:
        """Return the entries in nested lists."""
        return self if self.ndim == 0 else [x.tolist() for x in self]

    def astype(self, dtype: Any, *rest: Any, **options: Any) -> Any:
        """Return a copy; entries that are only known at run time do not change."""
        if np.dtype(dtype).kind != "f":
            raise _not_recorded(f"ndarray.astype({np.dtype(dtype).name})")
        return self.copy()


def user_array(x: Any) -> Any:
    """Return a result as a function of a user sees it: object arrays and single symbols as `UserArray`."""
    if isinstance(x, (list, tuple, dict)):
        return _mapped(user_array, x)
    if isinstance(x, np.ndarray) and x.dtype != object:
        return x
    if isinstance(x, (int, float, np.generic, str, type(None))):
        return x
    return plain(x if isinstance(x, np.ndarray) else single_entry(x)).view(UserArray)


def argument(x: Any) -> Any:
    """Return an argument of a function of a user: a copy, so that the function may write into it; also in a dict."""
    if type(x) is dict:
        return {name: argument(y) for name, y in x.items()}
    if isinstance(x, np.ndarray):
        return plain(x.copy()).view(UserArray) if x.dtype == object else x.copy()
    return single_entry(x).view(UserArray) if _is_symbol(x) else x


def is_recorded(x: Any) -> bool:
    """True if x is a symbol, a jet, or an object array."""
    return x.dtype == object if isinstance(x, np.ndarray) else _is_symbol(x)


def _is_symbol(x: Any) -> bool:
    return hasattr(x, "arctan2") and not isinstance(x, np.ndarray)


def plain(x: Any) -> Any:
    """Return x without `UserArray`: entries without axes are unpacked, lists with symbols become arrays."""
    if isinstance(x, (list, tuple)):
        if not holds_recorded(x):
            return x
        parts = [_boxed(plain(y)) for y in x]
        return np.stack(parts) if len({part.shape for part in parts}) == 1 else parts
    if not isinstance(x, np.ndarray) or x.dtype != object:
        return x
    x = x.view(np.ndarray)
    if any(map(is_boxed, x.flat)):
        flat = np.empty(x.size, dtype=object)
        for k, entry in enumerate(x.reshape(-1)):
            flat[k] = unboxed(entry)
        return flat.reshape(x.shape)
    return x


def result(value: Any) -> Any:
    """Return the value of a function of a user as the library takes it: no `UserArray`, conditions as numbers."""
    if isinstance(value, (list, tuple, dict)):
        return _mapped(result, value)
    return unboxed(_numbers(plain(value)))


def _mapped(function: Callable[[Any], Any], x: Any) -> Any:
    """Return a list, tuple, named tuple or dict with a function applied to its members."""
    if isinstance(x, dict):
        return {key: function(y) for key, y in x.items()}
    return type(x)(*map(function, x)) if hasattr(x, "_fields") else type(x)(map(function, x))


def _has_columns(arrays: Sequence[Any]) -> bool:
    objects = (x for x in arrays if isinstance(x, np.ndarray) and x.dtype == object)
    return any(isinstance(entry, np.ndarray) for x in objects for entry in x.flat)


def _boxed(x: Any) -> Any:
    return np.asarray(x) if isinstance(x, (np.ndarray, list, tuple)) else single_entry(x)


def holds_recorded(x: Any) -> bool:
    """True if there is an object array, a symbol or a jet in nested lists."""
    return any(map(holds_recorded, x)) if isinstance(x, (list, tuple)) else is_recorded(x)


def _numbers(x: Any) -> Any:
    """Return x with conditions among its entries as 1 or 0."""
    if isinstance(x, np.ndarray) and x.dtype == object:
        return lifted(number, x) if x.ndim else single_entry(number(x[()]))
    return number(x) if getattr(x, "is_condition", False) else x


def _are_numbers(x: Any) -> bool:
    """True if no entry of the arrays in nested arguments is anything but a number."""
    if isinstance(x, dict):
        return all(map(_are_numbers, x.values()))
    if isinstance(x, (list, tuple)):
        return all(map(_are_numbers, x))
    return not isinstance(x, UserArray) or all(isinstance(y, (int, float, np.number)) for y in x.flat)


def _floats(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return type(x)(map(_floats, x))
    return np.array(x.view(np.ndarray), dtype=float) if isinstance(x, UserArray) else x


def _explained(function: Any, call: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the result of NumPy's own function; name the function where it cannot take these entries."""
    try:
        return call(*args, **kwargs)
    except TraceError as reason:
        if not reason.parts.keys() & {"needs", "function"}:
            raise
        raise _not_recorded(_name(function)) from reason
    except TypeError as reason:
        if "method" not in str(reason) and "ufunc" not in str(reason):
            raise
        raise _not_recorded(_name(function)) from reason


def _check_options(ufunc: np.ufunc, options: dict[str, Any]) -> None:
    """Raise an error for an option that changes the result and is not recorded."""
    absent = (None, True, np._NoValue)  # type: ignore[attr-defined]
    for name, value in options.items():
        if name not in ("axis", "keepdims", "dtype", "casting") and not any(value is x for x in absent):
            raise TraceError(
                f"np.{ufunc.__name__} with {name}= is not recorded; use np.where(condition, a, b)"
            )


def _name(function: Any) -> str:
    """Return the name of a NumPy function as it is called: `linalg.solve`."""
    module = getattr(function, "__module__", "numpy").removeprefix("numpy").removeprefix(".")
    return f"{module}.{function.__name__}" if module else function.__name__


def _not_recorded(name: str) -> TraceError:
    replacement = REPLACEMENTS.get(name)
    remedy = f"use {replacement}" if replacement else OTHERWISE
    return TraceError(f"np.{name} is not recorded; {remedy}", function=name)
