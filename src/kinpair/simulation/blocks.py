"""Samples some at a time: they may be in a file, and more than fit into the memory."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Any

import numpy as np

NUMBERS = 1 << 18  # of an array at a time


def blocks(*arrays: np.ndarray, axis: int = -1) -> Iterator[tuple[np.ndarray, ...]]:
    """The same samples of all arrays, part by part along an axis counted from the end.

    What a part took of the memory, where the arrays are read from a file, is given back behind it; of arrays that are
    one part it is little.
    """
    samples, most = arrays[0].shape[axis], max(1, *(x.size for x in arrays))
    if most <= NUMBERS:
        if samples:
            yield tuple(map(np.asarray, arrays))
        return
    step = max(1, NUMBERS * samples // most)
    rest = (slice(None),) * (-1 - axis)
    for start in range(0, samples, step):
        try:
            yield tuple(np.asarray(x[(..., slice(start, start + step), *rest)]) for x in arrays)
        finally:
            for x in arrays:
                release(x)


def release(x: np.ndarray) -> None:
    """Give back the memory of an array that is read from a file where it is looked at."""
    base: Any = x
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        base.madvise(mmap.MADV_DONTNEED)


def largest(x: np.ndarray, axis: int = -1) -> float:
    """Of all numbers, NaN left out; 0 where none is above."""
    return max(
        (float(np.fmax.reduce(part, axis=None, initial=0.0)) for (part,) in blocks(x, axis=axis)), default=0.0
    )
