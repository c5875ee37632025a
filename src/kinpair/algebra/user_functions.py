"""Running functions of a user on symbols, jets and columns, as they would run on floats.

NumPy cannot hand the building of arrays (`np.array`, `np.zeros`) or the functions of `math` over to the entries. So a
function is run with its own names bound to functions that can, in a copy of its globals; so are the functions that it
calls by a global name or as a closure. What it does with floats is never changed.
"""

from __future__ import annotations

import builtins
import math
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dis import get_instructions, opmap
from functools import partial, reduce
from inspect import getattr_static
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from kinpair.algebra.choice import where
from kinpair.algebra.user_arrays import (
    UserArray,
    argument,
    holds_recorded,
    is_recorded,
    plain,
    result,
    user_array,
)
from kinpair.algebra.user_numpy import lifted, truth
from kinpair.errors import TraceError

LIBRARIES = {*sys.stdlib_module_names, "numpy", "scipy", "kinpair"}  # their functions are left as they are


OUTSIDE = "a name outside of it, so it has a memory"
STORES = {
    opmap["STORE_GLOBAL"],
    opmap["STORE_DEREF"],
}  # instructions that assign to names which others may read


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of a user; arguments may be floats, symbols, jets or columns, and arrays of them.

    An array without axes, as `np.where` gives it of floats, is a number.
    """
    if any(map(is_recorded, arguments)):
        return result(rebound(function, {})(*map(argument, arguments)))
    value = function(*arguments)
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def rebound(function: Callable[..., Any], known: dict[int, Any]) -> Callable[..., Any]:
    """Return the function with its names bound to functions of symbols; `known`: functions bound before, by id."""
    if isinstance(function, partial):
        return partial(rebound(function.func, known), *function.args, **function.keywords)
    if isinstance(function, MethodType):
        return MethodType(rebound(function.__func__, known), function.__self__)
    if not isinstance(function, FunctionType):
        method = getattr_static(type(function), "__call__", None)
        return MethodType(rebound(method, known), function) if isinstance(method, FunctionType) else function
    if id(function) in known:
        return known[id(function)]
    names: dict[str, Any] = {"__builtins__": _BUILTINS, "__name__": function.__module__}
    names["__package__"] = function.__globals__.get("__package__")
    code, before = function.__code__, function.__closure__ or ()
    cells = tuple(CellType() if _is_bound(cell) else cell for cell in before)
    known[id(function)] = own = FunctionType(code, names, function.__name__, function.__defaults__, cells)
    own.__kwdefaults__ = function.__kwdefaults__
    every = function.__globals__
    names |= {name: _bound(every[name], known) for name in _names(code) if name in every}
    for cell, other in zip(cells, before, strict=True):
        if cell is not other:
            cell.cell_contents = _bound(other.cell_contents, known)
    return own


def _is_bound(cell: CellType) -> bool:
    """True if a variable of a closure is a function or a module, which may stand for another one on symbols."""
    try:
        return callable(cell.cell_contents) or isinstance(cell.cell_contents, ModuleType)
    except ValueError:
        return False  # no value yet


@contextmanager
def restoring(function: Callable[..., Any]) -> Generator[Callable[[], None]]:
    """Restore lists, dicts and sets outside of a function that trial calls change.

    Yields a check, which raises an error if the function has a memory: it assigns to a name outside of it, or has
    changed such a container. Its result then depends on earlier calls, or the user reads what it stores.
    """
    own = function.func if isinstance(function, partial) else function
    outside = _outside(own) if isinstance(own, FunctionType) else ()
    before = [(name, x, x.copy()) for name, x in outside if isinstance(x, list | dict | set)]

    def check() -> None:
        if isinstance(own, FunctionType):
            _check_assignments(own)
            for name, x, old in before:
                if len(x) != len(old):
                    raise TraceError(f"{own.__name__} changes {name!r}, {OUTSIDE}")

    try:
        yield check
    finally:
        for _, x, old in before:
            if len(x) != len(old):
                x.clear()
                x.extend(old) if isinstance(x, list) else x.update(old)


def _outside(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the names outside of a function that it reads, with their values."""
    every, names = function.__globals__, _names(function.__code__)
    yield from ((name, every[name]) for name in names if name in every)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # no value yet
            yield name, cell.cell_contents


def _check_assignments(own: FunctionType) -> None:
    """Raise an error if the function assigns to a name outside of it."""
    outside = set(own.__code__.co_freevars)
    for code in _codes(own.__code__):
        if not STORES & set(code.co_code[::2]):
            continue
        for step in get_instructions(code):
            if step.opname == "STORE_GLOBAL" or (step.opname == "STORE_DEREF" and step.argval in outside):
                raise TraceError(f"{own.__name__} assigns to {step.argval!r}, {OUTSIDE}")


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function and of the functions inside it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


def _names(code: CodeType) -> set[str]:
    """Return the names in the code of a function and of the functions inside it."""
    return {name for own in _codes(code) for name in own.co_names}


def _bound(value: Any, known: dict[int, Any]) -> Any:
    """Return what a name stands for on symbols."""
    if isinstance(value, ModuleType):
        return _MODULES.get(value.__name__, value)
    if isinstance(value, FunctionType):
        return value if (value.__module__ or "").partition(".")[0] in LIBRARIES else rebound(value, known)
    try:
        return _BOUND.get(value, value)
    except TypeError:
        return value  # not hashable


class _Module(ModuleType):
    """A module with some functions in place of its own."""

    def __init__(self, module: ModuleType, functions: dict[str, Any]) -> None:
        super().__init__(module.__name__)
        self.__dict__.update(functions)
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def _built(name: str) -> Callable[..., Any]:
    """Return `np.array` or a relative of it: symbols become an array that records, and such an array stays as it is."""

    def build(x: Any, dtype: Any = None, **options: Any) -> Any:
        if not holds_recorded(x):
            return getattr(np, name)(x, dtype, **options)
        return x if name != "array" and isinstance(x, UserArray) else user_array(argument(plain(x)))

    return build


def _filled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `np.zeros` or a relative of it, whose array takes symbols as entries unless its dtype is no float."""

    def fill(*args: Any, dtype: Any = None, **options: Any) -> Any:
        if dtype is not None and np.dtype(dtype).kind != "f":
            return function(*args, dtype=dtype, **options)
        return np.asarray(function(*map(plain, args), **options), dtype=object).view(UserArray)

    return fill


def _switched(function: Callable[..., Any], other: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls `other` where an argument is recorded."""

    def run(*args: Any, **options: Any) -> Any:
        return (other if holds_recorded(args) else function)(*args, **options)

    return run


def _extreme(larger: bool) -> Callable[..., Any]:
    """Return `max` or `min` of Python: the first of equal values."""

    def better(x: Any, y: Any) -> Any:
        chosen = truth(y > x) if larger else truth(y < x)
        return where(chosen, y, x)

    def extreme(*values: Any) -> Any:
        every = list(values[0]) if len(values) == 1 else values
        return reduce(lambda x, y: user_array(lifted(better, plain(x), plain(y))), every)

    return extreme


def _log(x: Any, base: float = math.e) -> Any:
    return np.log(x) if base == math.e else np.log(x) / math.log(base)


def _hypot(*x: Any) -> Any:
    return reduce(np.hypot, x)


_MATH: dict[str, Callable[..., Any]] = {
    name: getattr(np, name)
    for name in "sin cos tan sinh cosh tanh exp exp2 expm1 sqrt cbrt floor ceil trunc fabs degrees radians "
    "log2 log10 copysign fmod isnan isinf isfinite".split()
} | {
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "pow": np.power,
    "log": _log,
    "hypot": _hypot,
    "dist": lambda p, q: np.linalg.norm(np.subtract(user_array(plain(p)), q)),
}
_OWN_MATH = {
    name: _switched(getattr(math, name), other) for name, other in _MATH.items() if hasattr(math, name)
}
_OWN_NUMPY = {name: _built(name) for name in ("array", "asarray", "asanyarray")} | {
    name: _filled(getattr(np, name)) for name in ("zeros", "ones", "empty", "full", "eye", "identity")
}
_MODULES: dict[str, ModuleType] = {"numpy": _Module(np, _OWN_NUMPY), "math": _Module(math, _OWN_MATH)}
_EXTREMES = {"max": _switched(max, _extreme(True)), "min": _switched(min, _extreme(False))}
_BUILTINS = vars(builtins) | _EXTREMES
_BOUND: dict[Any, Any] = {getattr(np, name): f for name, f in _OWN_NUMPY.items()}
_BOUND |= {getattr(math, name): f for name, f in _OWN_MATH.items()}
