"""The lines of a journal: what is in them, and reading them.

The first line says which study it is, and what was asked for; a later sweep that asks for something else adds a line
that says so. All others are finished cases, but for lines that list damaged lines already reported. Each line ends with
its checksum. A line that does not have it was edited or is damaged; it is left out and reported, and its case is
computed again. Journals of version 1 have no checksums.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any
from warnings import warn
from zlib import crc32

from kinpair.errors import InputError, StorageError, StorageWarning, caller_level, listed
from kinpair.sweeps.cases import Cases, Scalar
from kinpair.sweeps.outcome import Outcome

FILE = "journal.jsonl"
MARK = "kinpair sweep"
VERSION = 2
WITHOUT_CHECKSUMS = 1  # version of earlier journals, which can be read
CHECKED = re.compile(rb'(.*),"checksum":"([0-9a-f]{8})"\}', re.DOTALL)


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

    `done_before` cases of the plan were there before it, `new` came after it; `size`: bytes of whole lines; `damaged`:
    lines that are not what was written, by number, and what can be read of their case.
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
    damaged: dict[int, str] = field(default_factory=dict[int, str])

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
    """Return what a journal holds; None: nothing yet. InputError: it is no journal; StorageError: line 1 is damaged."""
    text = path.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    if not whole:
        return None
    first, *lines = whole.splitlines()
    head = _parsed(first)
    version = head.get(MARK)
    if version not in (WITHOUT_CHECKSUMS, VERSION):
        raise InputError(f"{path}: is not the journal of a sweep; give another folder", path=str(path))
    checked = version != WITHOUT_CHECKSUMS
    if not _is_whole(first, checked):
        raise StorageError(
            f"{path}: line 1, which says what was studied, is not what was written: edited or damaged; use a copy "
            "from before, or give another folder",
            path=str(path),
            line=1,
        )
    contents = Contents(str(head.get("study")), str(head.get("name")), Plan(), len(whole))
    contents.turn(_plan(head) or Plan(), 0)
    for number, line in enumerate(lines, start=2):
        if not (_is_whole(line, checked) and _read(_parsed(line), contents)):
            contents.damaged[number] = _label(number, _parsed(line))
    return contents


def _read(entry: Mapping[str, Any], contents: Contents) -> bool:
    """Take over what a line says; False if it says nothing."""
    match entry:
        case {"plan": dict()} if (plan := _plan(entry)) is not None:
            contents.turn(plan, int(entry.get("done_before", 0)))
        case {"key": str(key)} if all(isinstance(entry.get(x, {}), dict) for x in ("inputs", "values")):
            outcome = Outcome(entry.get("values", {}), str(entry.get("error", "")))
            contents.add(key, entry.get("inputs", {}), outcome)
        case {"reported_damage": list(numbers)}:
            for number in numbers:
                contents.damaged.pop(number, None)
        case _:
            return False
    return True


def _label(number: int, entry: Mapping[str, Any]) -> str:
    """Return the number of a line, and the inputs of its case if they can be read."""
    inputs = entry.get("inputs")
    case = ", ".join(f"{name} = {x}" for name, x in inputs.items()) if isinstance(inputs, dict) else ""
    return f"{number} ({case})" if case else str(number)


def report_damage(path: Path, contents: Contents, one_line: str, several: str) -> None:
    """Warn of lines that are not what was written, and say what happens to the case of one line or of several."""
    if contents.damaged:
        one = len(contents.damaged) == 1
        warn(
            f"{path}: {'line' if one else 'lines'} {listed(contents.damaged.values(), 5)} {'is' if one else 'are'} not "
            f"what was written: edited or damaged; {one_line if one else several}",
            StorageWarning,
            stacklevel=caller_level(),
        )


def _is_whole(line: bytes, checked: bool) -> bool:
    """True if a line has its checksum; `checked`: every line must have one."""
    match = CHECKED.fullmatch(line)
    return not checked if match is None else crc32(match[1]) == int(match[2], 16)


def _plan(entry: Mapping[str, Any]) -> Plan | None:
    """Return the plan of a line; None if it makes no sense."""
    entries: dict[str, Any] = {**asdict(Plan()), **entry.get("plan", {})}
    try:
        entries |= {name: tuple(entries[name]) for name in ("inputs", "grid")}
        return Plan(**entries)
    except TypeError:
        return None


def _parsed(line: bytes) -> dict[str, Any]:
    """Return what a line says; nothing if it cannot be read."""
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


def reported_line(numbers: Iterable[int]) -> bytes:
    """Return a line that lists the numbers of damaged lines that were reported."""
    return _line({"reported_damage": list(numbers)})


def case_line(key: str, inputs: Mapping[str, Scalar], outcome: Outcome) -> bytes:
    """A finished case: its numbers, its error, or both."""
    content = {"values": outcome.values, "error": outcome.error}
    kept = {name: x for name, x in content.items() if x or (name == "values" and not outcome.error)}
    return _line({"key": key, "inputs": inputs, **kept})


def _line(entry: Mapping[str, Any]) -> bytes:
    body = json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode()[:-1]
    return b'%b,"checksum":"%08x"}\n' % (body, crc32(body))
