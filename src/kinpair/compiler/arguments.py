"""Arguments of a kernel: arrays for one state or rows of a batch, checked and explained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from kinpair.compiler.program import Shape
from kinpair.errors import InputError, listed


@dataclass(frozen=True, slots=True, eq=False)
class Arguments:
    """Arrays ready for the machine code; `rows` is None for a single state.

    `strides` has the bytes from row to row, 0 for an array that serves every row.
    """

    arrays: list[np.ndarray]
    strides: list[int]
    rows: int | None


def checked(
    name: str, shapes: Mapping[str, Shape], arguments: Sequence[Any], dtype: np.dtype[Any]
) -> Arguments:
    """The arguments as arrays of the right type, each of its shape, or with a leading axis of rows."""
    if len(arguments) != len(shapes):
        wanted = listed(f"{key} {_shape(shape)}" for key, shape in shapes.items())
        raise InputError(f"{name} takes {len(shapes)} arguments ({wanted}), and got {len(arguments)}")
    arrays = [_numbers(name, key, x, dtype) for key, x in zip(shapes, arguments, strict=True)]
    rows: dict[str, int] = {}
    strides: list[int] = []
    for (key, shape), array in zip(shapes.items(), arrays, strict=True):
        stated = array.shape
        if stated == shape:
            strides.append(0)
            continue
        if stated[1:] != shape or not stated:
            raise InputError(
                f"{name}: {key} has shape {_shape(stated)}; it takes {_shape(shape)}, "
                f"or {_shape(('batch', *shape))} for a batch",
                argument=key,
                shape=stated,
            )
        rows[key] = stated[0]
        strides.append(array.strides[0])
    if len(set(rows.values())) > 1:
        counts = listed(f"{key} {n}" for key, n in rows.items())
        raise InputError(
            f"{name}: the arguments of a batch have different numbers of rows: {counts}", rows=rows
        )
    return Arguments(arrays, strides, next(iter(rows.values()), None))


def _numbers(name: str, key: str, x: Any, dtype: np.dtype[Any]) -> np.ndarray:
    if type(x) is np.ndarray and x.dtype == dtype and x.flags.c_contiguous:
        return x
    array = np.asarray(x)
    if not np.can_cast(array.dtype, dtype, "same_kind"):
        raise InputError(f"{name}: {key} holds {array.dtype}; it takes real numbers ({dtype})", argument=key)
    return np.ascontiguousarray(array, dtype=dtype) if array.ndim else np.asarray(array, dtype=dtype)


def checked_out(
    name: str, shapes: Mapping[str, Shape], out: Sequence[Any], rows: int | None, dtype: np.dtype[Any]
) -> list[np.ndarray]:
    """Arrays to write into: exactly the shape and type of the result."""
    if len(out) != len(shapes):
        raise InputError(f"{name}: out= takes {len(shapes)} arrays ({listed(shapes)}), and got {len(out)}")
    for (key, shape), array in zip(shapes.items(), out, strict=True):
        wanted = shape if rows is None else (rows, *shape)
        if not isinstance(array, np.ndarray) or array.shape != wanted or array.dtype != dtype:
            kind = (
                f"{array.dtype} {_shape(array.shape)}"
                if isinstance(array, np.ndarray)
                else type(array).__name__
            )
            raise InputError(
                f"{name}: out= for {key} is {kind}; it must be an array {dtype} {_shape(wanted)}"
            )
        if not array.flags.writeable:
            raise InputError(f"{name}: out= for {key} is read-only")
        if any(step == 0 and n > 1 for step, n in zip(array.strides, array.shape, strict=True)):
            raise InputError(f"{name}: out= for {key} overlaps itself; give it memory of its own")
    for (one, a), (other, b) in combinations(zip(shapes, out, strict=True), 2):
        if np.shares_memory(a, b):
            raise InputError(f"{name}: out= for {one} and {other} overlap; give each memory of its own")
    return list(out)


def whole_threads(name: str, threads: Any) -> int:
    """Check the number of threads, a whole number from 1 on."""
    if isinstance(threads, (int, np.integer)) and not isinstance(threads, bool) and threads >= 1:
        return int(threads)
    raise InputError(f"{name}: threads={threads!r}; it must be a whole number, at least 1")


def _shape(shape: Sequence[Any]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
