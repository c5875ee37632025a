"""Times of rivals, taken in turns, so that the noise of a busy machine falls on all of them."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Name = TypeVar("Name")
TURN = 4e-3  # seconds a rival has for each turn, and at least one call: what comes first warms the caches
processor_time = (
    time.process_time
)  # of all threads; as long as one works, what the caller waits for, undisturbed
wall_time = time.perf_counter


def race(
    rivals: Mapping[Name, Callable[[], Any]], turns: int, clock: Callable[[], float] = processor_time
) -> dict[Name, float]:
    """Seconds of the fastest call of each rival."""
    best = dict.fromkeys(rivals, float("inf"))
    gc.collect()
    gc.disable()
    try:
        for _ in range(turns):
            for name, call in rivals.items():
                best[name] = min(best[name], _turn(call, clock))
    finally:
        gc.enable()
    return best


def _turn(call: Callable[[], Any], clock: Callable[[], float]) -> float:
    best, now = float("inf"), clock()
    end = now + TURN
    while now < end:
        call()
        start, now = now, clock()
        best = min(best, now - start)
    return best


def repeated(f: Callable[..., Any], *arguments: Any, times: int) -> Callable[[], None]:
    """A call that makes many: for what takes no longer than the clock."""
    turns = range(times)

    def call() -> None:
        for _ in turns:
            f(*arguments)

    return call
