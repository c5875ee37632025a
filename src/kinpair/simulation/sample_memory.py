"""Memory for the samples of a run: all of them side by side, or given back piece by piece."""

from __future__ import annotations

import mmap
from collections.abc import Sequence

import numpy as np

from kinpair.compiler.machine_code import address

OWN = (
    {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_ANONYMOUS") else {}
)  # else it is kept


class Room:
    """Memory for all samples of a run, given out piece by piece; what is joined later lies side by side already."""

    def __init__(self, lead: tuple[int, ...], samples: int, ny: int, nw: int) -> None:
        self.Y, self.W = (np.empty((*lead, samples + 1, n)) for n in (ny, nw))
        self.used = 0

    def next(self, samples: int) -> tuple[np.ndarray, np.ndarray]:
        """For so many samples."""
        here = slice(self.used, self.used + samples)
        return self.Y[..., here, :], self.W[..., here, :]

    def take(self, samples: int) -> None:
        """So many were written."""
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
