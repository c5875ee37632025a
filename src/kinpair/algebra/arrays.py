"""Building arrays whose entries may be numbers, symbols, or whole columns of a batch.

One equation serves all three:

* numbers (float or complex): the array is an ordinary NumPy array;
* symbols: the array has dtype object and running the equation records it;
* columns: each entry is itself an array of shape (batch,), dtype object, and the equation is
  evaluated for the whole batch at once.

Only the building of an array has to know; `+`, `*`, `@`, `np.sin` and friends do not care.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

Scalar: TypeAlias = Any
Vector: TypeAlias = np.ndarray
Matrix: TypeAlias = np.ndarray


def array(entries: Sequence[Any]) -> np.ndarray:
    """A vector from scalars, or a matrix from rows of scalars."""
    rows = isinstance(entries[0], (list, tuple))
    flat: list[Any] = [x for row in entries for x in row] if rows else list(entries)
    if any(isinstance(x, np.ndarray) for x in flat):
        result = np.empty(len(flat), dtype=object)
        for k, x in enumerate(flat):
            result[k] = unboxed(x)
    else:
        result = np.array(flat)
    return result.reshape(len(entries), -1) if rows else result


def same_objects(values: Sequence[Any]) -> tuple[np.ndarray, list[int]]:
    """Number each value by the object it is, in the order of first appearance (n,); and the places of first appearance.

    Equal parts of long mechanisms share their data: whoever works by object takes time for the different ones alone.
    """
    numbers = np.fromiter(map(id, values), dtype=np.int64, count=len(values))
    if not len(numbers) or (numbers == numbers[0]).all():
        return np.zeros(len(numbers), np.int64), [0] * bool(len(numbers))
    _, first, which = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank[which.reshape(-1)], first[order].tolist()


def single(x: Scalar) -> Any:
    """A scalar as a result: the column of a batch as an array without axes, so that it is not taken for a vector."""
    if not isinstance(x, np.ndarray):
        return x
    result = np.empty((), dtype=object)
    result[()] = x
    return result


def is_boxed(x: Any) -> bool:
    """True if x is an object array without axes, which has a single entry."""
    return isinstance(x, np.ndarray) and x.dtype == object and x.ndim == 0


def unboxed(x: Any) -> Any:
    """Return the entry of an object array without axes, and anything else unchanged."""
    return x.view(np.ndarray)[()] if is_boxed(x) else x


def zeros(*shape: int) -> np.ndarray:
    """Zeros to add to: never written into."""
    return np.zeros(shape)


def is_nothing(x: Any) -> bool:
    """True if this entry is the plain number zero, known now and for every state. Never true of a column."""
    return (isinstance(x, (float, int)) and x == 0) or getattr(x, "value", None) == 0.0


def columns(batch: np.ndarray) -> np.ndarray:
    """(batch, n) → object array (n,) whose entries are the columns."""
    result = np.empty(batch.shape[1], dtype=object)
    for k in range(batch.shape[1]):
        result[k] = np.ascontiguousarray(batch[:, k])
    return result


def rows(entries: np.ndarray, batch: int) -> np.ndarray:
    """Inverse of `columns` for a result of any shape: (...) of columns → (batch, ...) of floats."""
    entries = np.asarray(entries, dtype=object)
    result = np.empty((batch, entries.size))
    for k, x in enumerate(entries.reshape(-1)):
        result[:, k] = x
    return result.reshape(batch, *entries.shape)


def assemble(shape: tuple[int, int], blocks: Sequence[tuple[slice, slice, Matrix]]) -> Matrix:
    """A matrix of zeros with the given blocks in place; its dtype is what the blocks need."""
    kind = np.result_type(float, *(b.dtype for _, _, b in blocks)) if blocks else np.dtype(float)
    result = np.zeros(shape, dtype=kind)
    for where_row, where_column, block in blocks:
        result[where_row, where_column] = block
    return result


def symmetric(S: Matrix) -> Matrix:
    """The upper half of S mirrored: symmetric to the last bit, and nobody needs the lower half."""
    return np.triu(S) + np.triu(S, 1).T


def congruence(B: Matrix, M: Matrix) -> Matrix:
    """Bᵀ M B of a symmetric M."""
    return symmetric(B.T @ (M @ B))
