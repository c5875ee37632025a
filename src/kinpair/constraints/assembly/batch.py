"""States of a batch, one by one, and results in arrays that a caller gives; time as an argument of compiled code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
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


OFTEN = 200  # calls of a millisecond; to compile takes some tenths of a second


def state_of(x: Any, k: int) -> np.ndarray:
    """State number k of an argument, which may serve every state."""
    whole = np.asarray(x, dtype=float)
    return whole[k] if whole.ndim == 2 else whole


def states_of(arguments: tuple[Any, ...], where: np.ndarray, qdd: np.ndarray) -> tuple[Any, ...]:
    """The arguments of some states of a batch; all of them, as they are, of one state."""
    if np.ndim(qdd) == 1:
        return arguments
    whole = (np.asarray(x, dtype=float) for x in arguments)
    every = [x[where] if x.ndim == 2 else x for x in whole]
    return (np.broadcast_to(every[0], (int(where.sum()), every[0].shape[-1])), *every[1:])


def named(row: int | None) -> str:
    """Name the state of a batch that a message is about."""
    return "" if row is None else f" (state {row} of the batch)"


def copied(result: np.ndarray, out: Any) -> Any:
    """The result in the array given for it, which must be of its shape."""
    if not isinstance(out, np.ndarray) or out.shape != result.shape or out.dtype != result.dtype:
        kind = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise InputError(f"out= is {kind}; it must be an array {result.dtype} {result.shape}", argument="out")
    out[...] = result
    return out


def each_state(
    one: Callable[..., np.ndarray], states: Sequence[np.ndarray], found: np.ndarray, again: np.ndarray
) -> np.ndarray:
    """`found` with one(k, *state) in the states that are to be solved again; NaN where these hold no numbers."""
    if not again.any():
        return found
    result = np.array(found)
    for k in np.flatnonzero(again).tolist():
        own = [x[k] for x in states]
        result[k] = one(k, *own) if all(np.isfinite(x).all() for x in own) else np.nan
    return result


class Often:
    """Counter of calls of one state that came so often that compiling code for them pays."""

    def __init__(self) -> None:
        self._calls = Counter[Any]()

    def __call__(self, kind: Any) -> bool:
        """Counts the call."""
        self._calls[kind] += 1
        return self._calls[kind] > OFTEN
