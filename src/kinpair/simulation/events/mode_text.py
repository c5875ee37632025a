"""A mode as text, for a file: names of limits and conditions, and conditions that began as TOML.

A condition with a Python function cannot be written; its name is, and it is looked for among those given again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kinpair.description.conditions import Condition
from kinpair.description.doubts import Doubts
from kinpair.description.parts import Description
from kinpair.description.toml_reader import parse_toml
from kinpair.description.toml_writer import to_toml
from kinpair.errors import DescriptionError, InputError
from kinpair.simulation.events.events import Change, Event
from kinpair.simulation.events.limits import Limit
from kinpair.simulation.events.modes import Mode


def written(mode: Mode) -> str:
    """What `Known.mode` reads."""
    return json.dumps(
        {
            "held": [limit.label for limit in mode.held],
            "remove": sorted(mode.remove),
            "add": [[condition.name, _toml(condition)] for condition in mode.add],
        }
    )


def _toml(condition: Condition) -> str:
    """Empty where it holds a function."""
    try:
        return to_toml(Description("", (), (), conditions=(condition,)))
    except DescriptionError:
        return ""


@dataclass(frozen=True, slots=True)
class Known:
    """What modes can be made of: limits, and conditions of the events given."""

    where: str
    limits: tuple[Limit, ...]
    conditions: tuple[Condition, ...]

    @classmethod
    def of(cls, where: str, limits: Sequence[Limit], events: Iterable[Event]) -> Known:
        """`where` is said in messages."""
        changes = (event.action for event in events if isinstance(event.action, Change))
        return cls(where, tuple(limits), tuple(x for change in changes for x in change.add))

    def mode(self, text: str) -> Mode:
        """The one that was written."""
        said: dict[str, Any] = json.loads(text)
        by_label = {limit.label: limit for limit in self.limits}
        add = tuple(self._condition(name, toml) for name, toml in said["add"])
        return Mode(add, frozenset(said["remove"]), tuple(by_label[label] for label in said["held"]))

    def _condition(self, name: str, toml: str) -> Condition:
        """One of those given, if it says the same."""
        given = next((x for x in self.conditions if x.name == name and _toml(x) == toml), None)
        if given is not None:
            return given
        if not toml:
            raise InputError(
                f"{self.where}: condition {name!r}, which an event began, holds a Python function, and the file does "
                f"not hold it; give the event again with action=kinpair.Change(add=[...]) that has it",
                condition=name,
            )
        return parse_toml(toml, source=self.where, doubts=Doubts()).conditions[0]
