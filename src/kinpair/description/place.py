"""Place of a value, and the checking of a table of keys against a schema."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from reprlib import repr as shown
from typing import Any, TypeAlias, cast

import numpy as np

from kinpair.description.warning_list import WarningList, at
from kinpair.errors import DescriptionError, listed, nearest


@dataclass(frozen=True, slots=True)
class Place:
    """Place of a value: file and line, part, key; and the list that collects warnings about it."""

    warnings: WarningList
    where: str = ""
    part: str = ""
    key: str = ""

    def at(self, key: str) -> Place:
        """The value of `key` here."""
        return replace(self, key=key)

    def entry(self, i: int) -> Place:
        """Entry number i, counted from 0, of the list that stands here."""
        return replace(self, key=f"entry {i + 1} of {self.key}")

    def inside(self) -> Place:
        """The table that stands here, as a part of its own."""
        return replace(self, part=", ".join(filter(None, (self.part, self.key))), key="")

    def says(self, trouble: str) -> str:
        """A sentence that starts with this place."""
        part = f"{self.part}: " if self.part else ""
        key = f"{self.key} " if self.key else ""
        return f"{at(self.where)}{part}{key}{trouble}"

    def error(self, trouble: str) -> DescriptionError:
        """Make an error: what is wrong here and the remedy."""
        return DescriptionError(self.says(trouble), where=self.where, part=self.part, key=self.key)

    def warn(self, trouble: str) -> None:
        """Warn of a likely slip and how it was read."""
        self.warnings.add(self.says(trouble), where=self.where, part=self.part, key=self.key)


Read: TypeAlias = Callable[[object, Place], Any]


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a table: its reader, its unit and meaning, and what to give if it may not be missing."""

    read: Read
    note: str = ""
    needs: str = ""


Schema: TypeAlias = Mapping[str, Key]
Tables: TypeAlias = Sequence[Mapping[str, object]]


def checked(values: Mapping[str, object], schema: Schema, place: Place) -> dict[str, Any]:
    """The values by key, each read as its key says; no unknown key, no missing one."""
    known(values, schema, place)
    for key, rule in schema.items():
        if rule.needs and key not in values:
            raise place.at(key).error(f"is missing; give {rule.needs}")
    return {key: schema[key].read(value, place.at(key)) for key, value in values.items()}


def known(keys: Iterable[str], schema: Schema, place: Place, word: str = "key") -> None:
    """Refuse a key that is not in the schema."""
    for key in keys:
        if key not in schema:
            unknown = f"unknown {word} {key!r}; {nearest(key, schema)}"
            raise place.error(f"{unknown}{word.capitalize()}s: {listed(schema, 40)}")


def items(value: object) -> Sequence[object] | None:
    """The entries of a list, tuple or array; None if it is none of them."""
    plain = cast("object", value.tolist()) if isinstance(value, np.ndarray) else value
    return cast("Sequence[object]", plain) if isinstance(plain, (list, tuple)) else None


def table(value: object, place: Place) -> Mapping[str, object]:
    """Keys with values."""
    if not isinstance(value, Mapping):
        raise place.error(f"is {shown(value)}; give a table of keys and values")
    return cast("Mapping[str, object]", value)


def tables(value: object, place: Place) -> Tables:
    """A list of tables, as [[key]] makes it."""
    entries = items(value)
    if entries is None or not all(isinstance(x, Mapping) for x in entries):
        raise place.error(f"is {shown(value)}; write [[{place.key}]] above the keys of each {place.key}")
    return cast("Tables", entries)


def numbered(word: str, every: Tables, lines: Sequence[int], place: Place) -> list[Place]:
    """The places of several tables in a file: line, if each has one, and name or number."""
    wheres = [f"{place.where}:{line}" for line in lines]
    if len(lines) != len(every):
        wheres = [place.where] * len(every)
    parts = [f"{word} {_called(keys.get('name'), i)}" for i, keys in enumerate(every)]
    return [replace(place, where=w, part=part) for w, part in zip(wheres, parts, strict=True)]


def _called(name: object, i: int) -> str:
    return repr(name) if name and isinstance(name, str) else str(i + 1)
