"""Waiting for another process or thread."""

from __future__ import annotations

import time
from collections.abc import Callable

HANGS = 600.0  # seconds after which what a test waits for counts as hanging; no result depends on it


def wait_until(true: Callable[[], object], what: str) -> None:
    end = time.monotonic() + HANGS
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.01)
