"""Times of rivals, taken in turns, so that the noise of a busy machine falls on all of them."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from typing import Any

TURN = 4e-3  # seconds a rival has for each turn, and at least one call: what comes first warms the caches


def race(rivals: Mapping[str, Callable[[], Any]], turns: int) -> dict[str, float]:
    """Seconds of the fastest call of each rival."""
    best = dict.fromkeys(rivals, float("inf"))
    gc.collect()
    gc.disable()
    try:
        for _ in range(turns):
            for name, call in rivals.items():
                best[name] = min(best[name], _turn(call))
    finally:
        gc.enable()
    return best


def _turn(call: Callable[[], Any]) -> float:
    best, end = float("inf"), time.perf_counter() + TURN
    now = time.perf_counter()
    while now < end:
        call()
        start, now = now, time.perf_counter()
        best = min(best, now - start)
    return best


def repeated(f: Callable[..., Any], *arguments: Any, times: int) -> Callable[[], None]:
    """A call that makes many: for what takes no longer than the clock."""
    turns = range(times)

    def call() -> None:
        for _ in turns:
            f(*arguments)

    return call
