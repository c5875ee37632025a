"""Arguments of the user, checked; and the reference: equations run on them without a compiler.

A single state runs on floats. A batch runs once, on columns: entry k of each vector is the array of
that coordinate over the batch.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinpair.algebra.arrays import array, columns, rows
from kinpair.algebra.choice import holds_symbols
from kinpair.algebra.user_arrays import UserArray
from kinpair.errors import InputError, TraceError, listed

WRENCH = ("nx", "ny", "nz", "fx", "fy", "fz")


def _is_masked(value: Any) -> bool:
    """True if it is a masked array of NumPy. Their module takes long to import; where it was not, there are none."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(value, masked.MaskedArray)


@dataclass(frozen=True, slots=True)
class Expected:
    """An argument of a call: its name and what each of its numbers is."""

    name: str
    entries: Sequence[str]

    def checked(self, owner: str, value: Any) -> np.ndarray:
        """The value as floats of shape (n,) or (batch, n)."""
        n = len(self.entries)
        if (
            type(value) is np.ndarray
            and value.dtype == float
            and value.ndim in (1, 2)
            and value.shape[-1] == n
        ):
            return value
        if holds_symbols(value):
            raise TraceError(
                f"{owner}: {self.name} is only known at run time, and what was called here works on numbers: it cannot "
                "be recorded",
                argument=self.name,
            )
        try:
            x = np.asarray(value, dtype=float if isinstance(value, UserArray) else None)
        except (TypeError, ValueError):
            x = np.array(None)
        if x.dtype.kind not in "fiub" or _is_masked(value):
            other = "complex" if x.dtype.kind == "c" else type(value).__name__
            raise InputError(
                f"{owner}: {self.name} is not an array of real numbers (it is {other}); "
                f"expected shape ({n},) or (batch, {n})",
                argument=self.name,
            )
        x = x.astype(float, copy=False)
        if x.ndim not in (1, 2) or x.shape[-1] != n:
            raise self._wrong_shape(owner, x, f"({n},) or (batch, {n})")
        return x

    def recorded(self, owner: str, value: Any) -> np.ndarray:
        """The value, numbers and symbols, of shape (n,)."""
        x = array(value) if isinstance(value, list | tuple) else np.asarray(value)
        if x.shape != (len(self.entries),):
            raise self._wrong_shape(owner, x, f"({len(self.entries)},)")
        return x

    def _wrong_shape(self, owner: str, x: np.ndarray, expected: str) -> InputError:
        return InputError(
            f"{owner}: {self.name} has shape {x.shape}; expected {expected}: "
            f"{listed(self.entries, 12) or 'nothing moves'}",
            argument=self.name,
            shape=x.shape,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Arguments:
    """Checked arguments: the state, wrenches by name, and the rows of the batch (None for one state)."""

    state: list[np.ndarray]
    external: dict[str, np.ndarray]
    batch: int | None


def checked_arguments(
    owner: str, state: Sequence[tuple[Expected, Any]], external: Mapping[str, Any] | None = None
) -> Arguments:
    """Every argument checked, alone and against the others."""
    named = {expected.name: expected.checked(owner, value) for expected, value in state}
    wrenches = {
        name: Expected(f"external[{name!r}]", WRENCH).checked(owner, w)
        for name, w in (external or {}).items()
    }
    sizes = {name: len(x) for name, x in named.items() if x.ndim == 2}
    sizes |= {f"external[{name!r}]": len(w) for name, w in wrenches.items() if w.ndim == 2}
    if len(set(sizes.values())) > 1:
        lengths = ", ".join(f"{name} has {size}" for name, size in sizes.items())
        raise InputError(f"{owner}: batches differ in length: {lengths} rows", **sizes)
    return Arguments(list(named.values()), wrenches, next(iter(sizes.values()), None))


def evaluate(f: Callable[..., Any], x: Arguments, loaded: bool, by_column: bool = True) -> Any:
    """f(*state) or f(*state, wrenches), for one state; for a batch by columns at once, or row by row."""
    with np.errstate(all="ignore"):
        if x.batch is None:
            return f(*x.state, x.external) if loaded else f(*x.state)
        batch = x.batch
        if not by_column:
            results = [evaluate(f, _row(x, k), loaded) for k in range(batch)]
            return _stacked(results) if results else _nothing(evaluate(f, _nowhere(x), loaded))
        state = [_column(v, batch) for v in x.state]
        loads = {name: _column(w, batch) for name, w in x.external.items()}
        return _to_rows(f(*state, loads) if loaded else f(*state), batch)


def _row(x: Arguments, k: int) -> Arguments:
    """State number k of a batch."""

    def own(v: np.ndarray) -> np.ndarray:
        return v[k] if v.ndim == 2 else v

    return Arguments([own(v) for v in x.state], {name: own(w) for name, w in x.external.items()}, None)


def _nowhere(x: Arguments) -> Arguments:
    """A state of zeros, to see what shape a result has."""
    state, external = ([np.zeros(v.shape[-1]) for v in some] for some in (x.state, x.external.values()))
    return Arguments(state, dict(zip(x.external, external, strict=True)), None)


def _nothing(one: Any) -> Any:
    """The result of a batch without states, from that of one state."""
    if isinstance(one, dict):
        return {name: _nothing(x) for name, x in one.items()}
    if isinstance(one, tuple):
        return _like(one, map(_nothing, one))
    return np.zeros((0, *np.shape(one)))


def _stacked(results: list[Any]) -> Any:
    """Results of single states as one result with the batch in front."""
    first = results[0]
    if isinstance(first, dict):
        return {name: _stacked([one[name] for one in results]) for name in first}
    if isinstance(first, tuple):
        return _like(first, (_stacked(list(part)) for part in zip(*results, strict=True)))
    return np.stack([np.asarray(x, dtype=float) for x in results])


def _like(one: tuple[Any, ...], parts: Iterable[Any]) -> Any:
    """A tuple, or a named one, of the parts."""
    return type(one)(*parts) if hasattr(one, "_fields") else tuple(parts)


def _column(x: np.ndarray, batch: int) -> np.ndarray:
    return columns(np.broadcast_to(x, (batch, x.shape[-1])))


def _to_rows(result: Any, batch: int) -> Any:
    if isinstance(result, dict):
        return {name: _to_rows(x, batch) for name, x in result.items()}
    if isinstance(result, tuple):
        return _like(result, (_to_rows(x, batch) for x in result))
    return rows(result, batch)
