"""Memory for the samples of a run: all of them side by side, or given back piece by piece; and samples some at a
time, which may be in a file and more than fit into the memory."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kinpair.compiler.machine_code import address

NUMBERS = 1 << 18  # of an array at a time


def blocks(*arrays: np.ndarray, axis: int = -1) -> Iterator[tuple[np.ndarray, ...]]:
    """Yield the samples of all arrays, part by part along an axis counted from the end.

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
    """Largest of all numbers, NaN left out; 0 where none is above."""
    return max(
        (float(np.fmax.reduce(part, axis=None, initial=0.0)) for (part,) in blocks(x, axis=axis)), default=0.0
    )


OWN = (
    {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_ANONYMOUS") else {}
)  # else it is kept


class Room:
    """Memory for all samples of a run, given out piece by piece; what is joined later lies side by side already."""

    def __init__(self, lead: tuple[int, ...], samples: int, ny: int, nw: int) -> None:
        self.Y, self.W = (np.empty((*lead, samples + 1, n)) for n in (ny, nw))
        self.used = 0

    def next(self, samples: int) -> tuple[np.ndarray, np.ndarray]:
        """Return memory for a number of samples."""
        here = slice(self.used, self.used + samples)
        return self.Y[..., here, :], self.W[..., here, :]

    def take(self, samples: int) -> None:
        """Note the number of samples written."""
        self.used += samples


class Pages:
    """Memory (rows, width) that can be given back piece by piece."""

    def __init__(self, rows: int, width: int) -> None:
        self._memory = mmap.mmap(-1, max(1, rows * width * 8), **OWN)
        self._row = width * 8
        self.array = np.frombuffer(self._memory, dtype=float, count=rows * width).reshape(rows, width)

    def release(self, start: int, stop: int) -> None:
        """Rows that are not read again, nor those before them."""
        size = mmap.PAGESIZE
        begin, end = start * self._row // size * size, stop * self._row // size * size
        if end > begin and hasattr(mmap, "MADV_DONTNEED"):
            self._memory.madvise(mmap.MADV_DONTNEED, begin, end - begin)


def joined(pieces: Sequence[np.ndarray]) -> np.ndarray:
    """Pieces (..., n, k) as one array: where they lie side by side, without a copy."""
    first, total = pieces[0], sum(x.shape[-2] for x in pieces)
    base = first.base
    if base is None or any(x.base is not base for x in pieces) or base.shape[:-2] != first.shape[:-2]:
        return np.concatenate(pieces, axis=-2)
    return base[..., :total, :] if address(first) == address(base) else np.concatenate(pieces, axis=-2)
