"""Factor of a number of the description that changes: a function of time, or an input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kinpair.description.formula import function_of
from kinpair.description.parts import Level
from kinpair.description.place import Place


@dataclass(frozen=True, slots=True)
class Signal:
    """`function` of t [s], or the input named; `text` distinguishes it from another one of the same model."""

    text: str
    function: Callable[[Any], Any] | None = None
    input: str = ""


def signal_of(level: float | Level, place: Place) -> tuple[float, Signal | None]:
    """Return the number that a level has in the model, and its signal; None of a level that does not change."""
    if not isinstance(level, Level):
        return float(level), None
    if level.input:
        return float(level.scale), Signal(f"input {level.input}", input=level.input)
    return float(level.scale), Signal(str(level.formula), function_of(level.formula, ("t",), place))
