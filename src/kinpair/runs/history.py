"""Which mode was in force at each sample of a run. A mode is kept as text, as a file has it.

The text has the names of limits and constraints, and constraints that began as TOML. A constraint with a Python
function cannot be written; its name is, and it is looked for among those given again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kinpair.description.constraint_parts import ConstraintPart
from kinpair.description.parts import Description
from kinpair.description.toml_reader import parse_toml
from kinpair.description.toml_writer import to_toml
from kinpair.description.warning_list import WarningList
from kinpair.errors import DescriptionError, InputError
from kinpair.simulation.events.events import Change, Event
from kinpair.simulation.events.limits import Limit
from kinpair.simulation.modes.modes import Entry, Mode


def written(mode: Mode) -> str:
    """What `Known.mode` reads."""
    return json.dumps(
        {
            "resting": [limit.label for limit in mode.resting],
            "remove": sorted(mode.remove),
            "add": [[constraint.name, _toml(constraint)] for constraint in mode.add],
        }
    )


def _toml(constraint: ConstraintPart) -> str:
    """Empty where it holds a function."""
    try:
        return to_toml(Description("", (), (), constraints=(constraint,)))
    except DescriptionError:
        return ""


@dataclass(frozen=True, slots=True)
class Known:
    """What modes can be made of: limits, and constraints of the events given."""

    where: str
    limits: tuple[Limit, ...]
    constraints: tuple[ConstraintPart, ...]

    @classmethod
    def of(cls, where: str, limits: Sequence[Limit], events: Iterable[Event]) -> Known:
        """`where` is said in messages."""
        changes = (event.action for event in events if isinstance(event.action, Change))
        return cls(where, tuple(limits), tuple(x for change in changes for x in change.add))

    def mode(self, text: str) -> Mode:
        """The one that was written."""
        entries: dict[str, Any] = json.loads(text)
        by_label = {limit.label: limit for limit in self.limits}
        add = tuple(self._constraint(name, toml) for name, toml in entries["add"])
        return Mode(add, frozenset(entries["remove"]), tuple(by_label[label] for label in entries["resting"]))

    def _constraint(self, name: str, toml: str) -> ConstraintPart:
        """One of those given, if it says the same."""
        known = next((x for x in self.constraints if x.name == name and _toml(x) == toml), None)
        if known is not None:
            return known
        if not toml:
            raise InputError(
                f"{self.where}: constraint {name!r}, which an event began, holds a Python function, and the file does "
                f"not hold it; give the event again with action=kinpair.Change(add=[...]) that has it",
                constraint=name,
            )
        return parse_toml(toml, source=self.where, warnings=WarningList()).constraints[0]


@dataclass(frozen=True, slots=True, eq=False)
class Entered:
    """A mode as text, and where it was entered first."""

    time: float
    q: np.ndarray
    text: str


@dataclass(frozen=True, eq=False)
class History:
    """Modes as they were entered, the number of the one at each sample (..., samples), and what they are made of."""

    number: np.ndarray
    entered: tuple[Entered, ...]
    known: Known

    @cached_property
    def modes(self) -> tuple[Mode, ...]:
        """By number; InputError where one holds a function that a file does not have."""
        return tuple(self.known.mode(x.text) for x in self.entered)


def as_text(entry: Entry) -> Entered:
    """An entry as it is kept."""
    return Entered(entry.time, entry.q, written(entry.mode))


def history_of(
    name: str, entered: Sequence[Entry], limits: Sequence[Limit], numbers: Sequence[np.ndarray]
) -> History:
    """Of a run: the numbers of the modes at its samples, piece by piece."""
    constraints = tuple(x for entry in entered for x in entry.mode.add)
    number = np.concatenate(numbers, axis=-1)
    return History(number, tuple(map(as_text, entered)), Known(name, tuple(limits), constraints))
