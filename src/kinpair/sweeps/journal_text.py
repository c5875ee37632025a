"""The lines of a journal: what is in them, and reading them.

The first line says which study it is, and what was asked for; a later sweep that asks for something else adds a line
that says so. All others are finished cases. A line that a crash has torn, or that is damaged, is none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from kinpair.errors import InputError
from kinpair.sweeps.cases import Cases, Scalar
from kinpair.sweeps.outcome import Outcome

FILE = "journal.jsonl"
MARK = "kinpair sweep"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Plan:
    """What a sweep asks for: names of inputs, axes of a grid, how many cases and a digest of them, known units."""

    inputs: tuple[str, ...] = ()
    grid: tuple[str, ...] = ()
    cases: int = 0
    digest: str = ""
    units: Mapping[str, str] = field(default_factory=dict[str, str])


def plan_of(cases: Cases, keys: Sequence[str], units: Mapping[str, str]) -> Plan:
    """Of these cases."""
    digest = blake2b("".join(sorted(keys)).encode(), digest_size=16).hexdigest()
    return Plan(cases.names, cases.grid, len(cases), digest, dict(units))


@dataclass(slots=True)
class Contents:
    """What a journal holds: outcomes and inputs by key of the case, the last plan, the units of all plans.

    `done_before` cases of the plan were there before it, `new` came after it; `size`: bytes of whole lines.
    """

    study: str
    name: str
    plan: Plan
    size: int
    units: dict[str, str] = field(default_factory=dict[str, str])
    done_before: int = 0
    new: int = 0
    done: dict[str, Outcome] = field(default_factory=dict[str, Outcome])
    inputs: dict[str, Mapping[str, Scalar]] = field(default_factory=dict[str, Mapping[str, Scalar]])

    @property
    def missing(self) -> int:
        """Cases of the plan that are not there."""
        return max(0, self.plan.cases - self.done_before - self.new)

    def add(self, key: str, inputs: Mapping[str, Scalar], outcome: Outcome) -> None:
        """A finished case."""
        self.new += key not in self.done
        self.done[key] = outcome
        self.inputs[key] = inputs

    def turn(self, plan: Plan, done_before: int) -> None:
        """From here on another plan holds."""
        self.plan, self.done_before, self.new = plan, done_before, 0
        self.units |= plan.units


def read_journal(path: Path) -> Contents | None:
    """What a journal holds; None: nothing yet. InputError: it is none."""
    text = path.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    if not whole:
        return None
    head, *lines = map(_entry, whole.splitlines())
    if head.get(MARK) != VERSION:
        raise InputError(f"{path}: is not the journal of a sweep; give another folder", path=str(path))
    contents = Contents(str(head.get("study")), str(head.get("name")), Plan(), len(whole))
    contents.turn(_plan(head), 0)
    for entry in lines:
        if "plan" in entry:
            contents.turn(_plan(entry), int(entry.get("done_before", 0)))
        elif isinstance(entry.get("key"), str):
            outcome = Outcome(entry.get("values", {}), entry.get("error", ""))
            contents.add(entry["key"], entry.get("inputs", {}), outcome)
    return contents


def _plan(entry: Mapping[str, Any]) -> Plan:
    entries: dict[str, Any] = {**asdict(Plan()), **entry.get("plan", {})}
    entries |= {name: tuple(entries[name]) for name in ("inputs", "grid")}
    return Plan(**entries)


def _entry(line: bytes) -> dict[str, Any]:
    """What a line says; nothing if it is damaged."""
    try:
        entry = json.loads(line)
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) else {}


def head_line(study: str, name: str, plan: Plan) -> bytes:
    """The first line."""
    return _line({MARK: VERSION, "study": study, "name": name, "plan": asdict(plan)})


def plan_line(plan: Plan, done_before: int) -> bytes:
    """Another plan, `done_before` cases of which are there."""
    return _line({"plan": asdict(plan), "done_before": done_before})


def case_line(key: str, inputs: Mapping[str, Scalar], outcome: Outcome) -> bytes:
    """A finished case: its numbers, its error, or both."""
    content = {"values": outcome.values, "error": outcome.error}
    kept = {name: x for name, x in content.items() if x or (name == "values" and not outcome.error)}
    return _line({"key": key, "inputs": inputs, **kept})


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
