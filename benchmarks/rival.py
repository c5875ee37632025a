"""What every engine shows of itself to be measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

BATCH = 4096
LOOPED = 1024  # states of a Python loop, whose time is proportional


@dataclass(frozen=True, slots=True, eq=False)
class Rival:
    """A call to be timed, the states it handles, and what it found, as kinpair writes it (batch first)."""

    name: str
    call: Callable[[], Any]
    states: int
    found: Callable[[], np.ndarray]


def loop(step: Callable[..., Any], *arrays: Sequence[np.ndarray]) -> Callable[[], None]:
    """A Python loop over states whose rows are cut out beforehand."""
    rows = list(zip(*map(list, arrays), strict=True))

    def call() -> None:
        for row in rows:
            step(*row)

    return call


def relative_error(found: np.ndarray, reference: np.ndarray) -> float:
    """max|Δ| / max(1, max|reference|)."""
    return float(np.abs(found - reference).max() / max(1.0, np.abs(reference).max()))


def columns(*arrays: np.ndarray) -> Iterator[np.ndarray]:
    """(batch, n) → (n, batch), a state a contiguous column."""
    return (np.asfortranarray(x.T) for x in arrays)
