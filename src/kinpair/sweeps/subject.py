"""What a sweep does with a case, whatever it is: a simulation of a mechanism, or a function of the user."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, final

from kinpair.errors import InputError, listed, nearest
from kinpair.runs.judgement import whole_runs
from kinpair.sweeps.cases import Cases, Row
from kinpair.sweeps.fingerprint import fingerprint
from kinpair.sweeps.outcome import Outcome, numbers, tried, unsound


class Subject(Protocol):
    """What is computed for each case; it travels to other processes."""

    @property
    def name(self) -> str:
        """For messages and bars."""
        ...

    @property
    def fingerprint(self) -> str:
        """Two subjects with the same one give the same numbers."""
        ...

    @property
    def own(self) -> tuple[Any, ...]:
        """Functions and objects of the user in it."""
        ...

    def checked(self, cases: Cases) -> Cases:
        """The cases with values as they are computed; InputError for an unknown name or a wrong value."""
        ...

    def units(self, names: Sequence[str]) -> Mapping[str, str]:
        """Units of these inputs and of the columns, as far as known."""
        ...

    def run(self, names: Sequence[str], rows: Sequence[Row]) -> list[Outcome]:
        """What becomes of these cases; none stops the others."""
        ...


@final
class Function:
    """A Python function case(**inputs) → a number, or a dict of numbers and vectors."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    @property
    def name(self) -> str:
        """Its own."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    @property
    def fingerprint(self) -> str:
        """Of its code."""
        return fingerprint(self.name, self.function)

    @property
    def own(self) -> tuple[Any, ...]:
        """The function."""
        return (self.function,)

    def checked(self, cases: Cases) -> Cases:
        """Every input is an argument, and every argument without a default is an input."""
        known = inspect.signature(self.function).parameters.values()
        open_ended = any(p.kind is p.VAR_KEYWORD for p in known)
        arguments = [p for p in known if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        names = [p.name for p in arguments]
        for name in cases.names:
            if name not in names and not open_ended:
                raise InputError(
                    f"{self.name} has no argument {name!r}; {nearest(name, names)}Arguments: {listed(names)}",
                    input=name,
                )
        for p in arguments:
            if p.default is p.empty and p.name not in cases.names:
                raise InputError(f"{self.name} needs {p.name!r}, and over does not have it", input=p.name)
        return cases

    def units(self, names: Sequence[str]) -> Mapping[str, str]:
        """Nobody knows."""
        return {}

    def run(self, names: Sequence[str], rows: Sequence[Row]) -> list[Outcome]:
        """One call a case."""
        return [tried(lambda row=row: self._one(dict(zip(names, row, strict=True)))) for row in rows]

    def _one(self, inputs: dict[str, Any]) -> Outcome:
        with whole_runs():
            result = self.function(**inputs)
        values = numbers(result, self.name, inputs)
        return Outcome(values, unsound(values, self.name))
