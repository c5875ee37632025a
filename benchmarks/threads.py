"""Two threads against one on a large batch. This needs two idle cores."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256

import numpy as np

from benchmarks.robots import random_states, robot
from benchmarks.timing import race, wall_time

BATCH = 65_536
IDLE = 1.9  # times faster is the control on a machine with two idle cores
BLOCK = bytes(8_000_000)  # hashing it takes about as long as a batch
CASES = (
    ("Panda", "inverse dynamics"),
    ("Panda", "forward dynamics"),
    ("G1", "inverse dynamics"),
    ("G1", "forward dynamics"),
)


@dataclass(frozen=True, slots=True)
class Shared:
    """Nanoseconds a state by number of threads."""

    robot: str
    quantity: str
    one: float
    two: float
    control: float
    """How many times faster two threads hash two blocks of bytes at that moment."""

    @property
    def ratio(self) -> float:
        """How many times faster two are."""
        return self.one / self.two

    @property
    def judged(self) -> bool:
        """Was there a second core to be had?"""
        return self.control >= IDLE


def rows(turns: int) -> Iterator[Shared]:
    """A row a case, by the wall clock."""
    for label, quantity in CASES:
        mechanism = robot(label).load()
        s = random_states(mechanism, BATCH)
        f = getattr(mechanism, quantity.replace(" ", "_"))
        out = np.empty((BATCH, mechanism.nv))
        calls = {n: partial(f, s.q, s.qd, s.x, passive=False, out=out, threads=n) for n in (1, 2)}
        for call in calls.values():
            call()
        best = race(calls | {"alone": _hash, "both": _hash_both}, 2 * turns, wall_time)
        one, two = (best[n] / BATCH * 1e9 for n in (1, 2))
        yield Shared(label, quantity, one, two, 2 * best["alone"] / best["both"])


def _hash() -> None:
    sha256(BLOCK)


def _hash_both() -> None:
    other = _pool().submit(_hash)
    _hash()
    other.result()


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1)
