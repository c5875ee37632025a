"""Running an equation on what the user handed over: one state, or a batch of them.

A single state runs on floats. A batch runs once, on columns: entry k of each vector is the array of
that coordinate over the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinpair.algebra.arrays import columns, rows
from kinpair.errors import InputError, listed


@dataclass(frozen=True, slots=True)
class Expected:
    """An argument of a call: its name and what each of its numbers is."""

    name: str
    entries: Sequence[str]

    def checked(self, owner: str, value: Any) -> np.ndarray:
        """The value as floats of shape (n,) or (batch, n)."""
        n = len(self.entries)
        try:
            x = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise InputError(
                f"{owner}: {self.name} is not an array of numbers (it is {type(value).__name__}); "
                f"expected shape ({n},) or (batch, {n})",
                argument=self.name,
            ) from None
        if x.ndim not in (1, 2) or x.shape[-1] != n:
            raise InputError(
                f"{owner}: {self.name} has shape {x.shape}; expected ({n},) or (batch, {n}): "
                f"{listed(self.entries, 12) or 'nothing moves'}",
                argument=self.name,
                shape=x.shape,
            )
        return x


def evaluate(
    owner: str,
    f: Callable[..., Any],
    state: Sequence[tuple[Expected, Any]],
    external: Mapping[str, Any] | None = None,
) -> Any:
    """f(*state) or f(*state, external), for one state or row by row for a batch."""
    named = [(expected.name, expected.checked(owner, value)) for expected, value in state]
    wrench = ("nx", "ny", "nz", "fx", "fy", "fz")
    applied = [
        (f"external[{name!r}]", Expected(f"external[{name!r}]", wrench).checked(owner, w))
        for name, w in (external or {}).items()
    ]
    batch = _batch_size(owner, named + applied)
    given = [x for _, x in named]
    loads = dict(zip(external or {}, (x for _, x in applied), strict=True))
    with np.errstate(all="ignore"):
        if batch is None:
            return _call(f, given, loads, external)
        given = [_column(x, batch) for x in given]
        loads = {name: _column(x, batch) for name, x in loads.items()}
        return _to_rows(_call(f, given, loads, external), batch)


def _call(f: Callable[..., Any], given: Sequence[Any], loads: Mapping[str, Any], external: Any) -> Any:
    return f(*given) if external is None else f(*given, loads)


def _batch_size(owner: str, named: Sequence[tuple[str, np.ndarray]]) -> int | None:
    sizes = {name: len(x) for name, x in named if x.ndim == 2}
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{name} has {size}" for name, size in sizes.items())
        raise InputError(f"{owner}: batches differ in length: {found} rows", **sizes)
    return next(iter(sizes.values()), None)


def _column(x: np.ndarray, batch: int) -> np.ndarray:
    return columns(np.broadcast_to(x, (batch, x.shape[-1])))


def _to_rows(result: Any, batch: int) -> Any:
    if isinstance(result, dict):
        return {name: rows(x, batch) for name, x in result.items()}
    if isinstance(result, tuple):
        return tuple(rows(x, batch) for x in result)
    return rows(result, batch)
