"""Time as an argument of compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinpair.algebra.choice import holds_symbols
from kinpair.errors import InputError

BEGINNING = np.zeros(1)  # the time that most calls have


def at_time(time: Any) -> np.ndarray:
    """Time as a vector of one number, or a column of them."""
    if type(time) is float and not time:
        return BEGINNING
    if holds_symbols(time):
        return np.array([time]).reshape(1)
    try:
        x = np.asarray(time, dtype=float)
    except (TypeError, ValueError):
        x = np.array(np.nan)
    if x.ndim == 0 and not np.isfinite(x):
        raise InputError(f"time is {time!r}; give a number of seconds", argument="time")
    return x.reshape(1) if x.ndim == 0 else x.reshape(-1, 1)
