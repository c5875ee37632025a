"""Numbers of a command line: in order, as name=value pairs, or from a JSON file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

from kinpair import DescriptionError, InputError
from kinpair.description.fields import angle
from kinpair.description.place import Place
from kinpair.description.text import read_text
from kinpair.description.warning_list import WarningList
from kinpair.errors import listed, nearest

Numbers = Annotated[
    list[str] | None,
    Parameter(consume_multiple=(1, None), negative="", metavar="NUMBERS", show_default=False),
]


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """An option that takes numbers: what each of them is called, and what they are when none is given."""

    name: str
    entries: Sequence[str]
    default: np.ndarray

    def read(self, words: Sequence[str] | None) -> np.ndarray:
        """The numbers (n,)."""
        stated = self.stated(words)
        return stated if isinstance(stated, np.ndarray) else self.filled(stated)

    def stated(self, words: Sequence[str] | None) -> np.ndarray | dict[str, float]:
        """The numbers as they were given: all of them (n,), or some by name."""
        if words is None:
            return {}
        numbers = (
            _from_file(words[0][1:])
            if len(words) == 1 and words[0].startswith("@")
            else _split(self.name, words)
        )
        return self._paired(numbers) if isinstance(numbers, Mapping) else self._counted(numbers)

    def filled(self, named: Mapping[str, float]) -> np.ndarray:
        """The default (n,) with the named entries in it."""
        out = self.default.copy()
        for name, value in named.items():
            out[self.entries.index(name)] = value
        return out

    def _counted(self, values: Sequence[Any]) -> np.ndarray:
        n = len(self.entries)
        if len(values) != n:
            count = "1 number" if len(values) == 1 else f"{len(values)} numbers"
            raise InputError(
                f"{self.name} has {count}; expected {n}: {listed(self.entries, 12) or 'nothing moves'}",
                option=self.name,
            )
        return np.array([self._number(x, f"entry {k}") for k, x in enumerate(values, 1)], dtype=float)

    def _paired(self, values: Mapping[str, Any]) -> dict[str, float]:
        for name in values:
            if name not in self.entries:
                raise InputError(
                    f"{self.name} has no entry {name!r}; {nearest(name, self.entries)}"
                    f"Entries: {listed(self.entries)}",
                    option=self.name,
                )
        return {name: self._number(x, name) for name, x in values.items()}

    def _number(self, value: Any, key: str) -> float:
        try:
            return angle(_float(value), Place(WarningList()))
        except DescriptionError:
            raise InputError(
                f"{self.name}: {key} is {value!r}; give a finite number, or a fraction of pi such as pi/2",
                option=self.name,
            ) from None


def _float(value: Any) -> Any:
    """The number in a text; any other text is left to be read as a fraction of pi."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value.strip()


def _split(option: str, words: Sequence[str]) -> list[str] | dict[str, str]:
    """Pieces between commas and blanks; a dict if they are name=value pairs. A name may hold blanks."""
    pieces = [
        part.strip()
        for word in words
        if word.strip(" ,")
        for piece in word.strip().removesuffix(",").split(",")
        for part in ([piece] if piece.count("=") == 1 else piece.split() or [""])
    ]
    pairs = [piece.partition("=") for piece in pieces if "=" in piece]
    return _by_name(option, pieces, [(name.strip(), value) for name, _, value in pairs]) if pairs else pieces


def _by_name(option: str, pieces: list[str], pairs: list[tuple[str, str]]) -> dict[str, str]:
    bare = next((piece for piece in pieces if "=" not in piece), None)
    if bare is not None:
        raise InputError(f"{option}: {bare!r} has no name; give all by name=value, or none", option=option)
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            f"{option}: {twice!r} is given {names.count(twice)} times; give it once", option=option
        )
    return dict(pairs)


def _from_file(path: str) -> list[Any] | dict[str, Any]:
    text = read_text(path)
    try:
        stated = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as reason:
        raise InputError(f"{path}: is not JSON: {reason}", path=path) from None
    if not isinstance(stated, (list, dict)):
        raise InputError(
            f"{path}: holds {stated!r}; give a list of numbers, or names with numbers", path=path
        )
    return stated
