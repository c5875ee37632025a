"""How much to do before the next look."""

from __future__ import annotations

from time import perf_counter

PAUSE = 0.1  # seconds between two looks
FIRST_STEPS = 200
LEAP = 50  # how much longer the next chunk may be


class Pace:
    """How many steps to take in a chunk, so that it takes about as long as a pause."""

    def __init__(self, motions: int = 1) -> None:
        self.amount = max(1, FIRST_STEPS // motions)
        self._start = perf_counter()

    def begin(self) -> int:
        """How many this time."""
        self._start = perf_counter()
        return self.amount

    def end(self, done: int) -> None:
        """So many were done."""
        took = max(perf_counter() - self._start, 1e-9)
        self.amount = int(min(max(1.0, done * PAUSE / took), LEAP * max(1, done)))
