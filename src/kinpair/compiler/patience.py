"""A line on a terminal when something takes longer than a second."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from threading import Timer
from time import perf_counter

PATIENCE = 1.0  # seconds


@contextmanager
def patience(what: str) -> Generator[None]:
    """Say what is going on if it takes longer than a second, and how long it took; on terminals only."""
    if not sys.stderr.isatty():
        yield
        return
    start = perf_counter()
    timer = Timer(PATIENCE, lambda: print(f"kinpair: {what} ...", end="", file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        took = perf_counter() - start
        if took > PATIENCE:
            print(f" {took:.1f} s", file=sys.stderr)
