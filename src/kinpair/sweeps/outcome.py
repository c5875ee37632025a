"""What became of a case: numbers by name, or an error in words."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kinpair.errors import InputError

Value: TypeAlias = float | list[float]


class StoppedError(Exception):
    """A case that came to no end, and why: all of the sentence is for the reader."""


class Outcome(NamedTuple):
    """Numbers, or vectors of numbers, by name; and why there are none, or not all of them."""

    values: Mapping[str, Value] = {}
    error: str = ""


def tried(call: Callable[[], Outcome]) -> Outcome:
    """What the call gives; what it raises becomes a sentence."""
    try:
        return call()
    except StoppedError as stopped:
        return Outcome({}, str(stopped))
    except (Exception, SystemExit) as problem:
        return Outcome({}, _sentence(problem))


def unsound(values: Mapping[str, Value], called: str) -> str:
    """Which of the numbers that a function returned is not a number; empty if all are."""
    for name, value in values.items():
        wrong = np.ravel(value)[~np.isfinite(np.ravel(value))]
        if len(wrong):
            return f"{called} returned {wrong[0]:g} {'in' if isinstance(value, list) else 'for'} {name!r}"
    return ""


def _sentence(problem: BaseException) -> str:
    kind = type(problem).__name__
    steps = traceback.extract_tb(problem.__traceback__)
    where = f" ({Path(steps[-1].filename).name}:{steps[-1].lineno})" if steps else ""
    return f"{kind}: {problem}{where}"


def numbers(result: Any, called: str, taken: Iterable[str] = ()) -> dict[str, Value]:
    """What a function returned: a dict of numbers and vectors, or one number, which is called like the function."""
    if result is None:
        raise InputError(f"{called} returned None; give a dict of numbers")
    table = result if isinstance(result, Mapping) else {called: result}
    values: dict[str, Value] = {}
    for name, value in table.items():
        if name in taken:
            raise InputError(
                f"{called} returned {name!r}, which is the name of an input; give it another", name=name
            )
        try:
            array = np.asarray(value, dtype=float) if value is not None else None
        except (TypeError, ValueError):
            array = None
        if not isinstance(name, str) or array is None or array.ndim > 1:
            raise InputError(
                f"{called} returned {name!r}: {value!r}; give numbers or vectors of numbers by name"
            )
        values[name] = array.tolist()
    return values
