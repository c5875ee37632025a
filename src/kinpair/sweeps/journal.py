"""The journal of a sweep: a line of JSON a finished case, written at once and never changed.

The lines of a journal: what is in them, and reading them.

The first line says which study it is, and what was asked for; a later sweep that asks for something else adds a line
that says so. All others are finished cases, but for lines that list damaged lines already reported. Each line ends with
its checksum. A line that does not have it was edited or is damaged; it is left out and reported, and its case is
computed again. Journals of version 1 have no checksums.

The journal of a sweep: a line of JSON a finished case, written at once and never changed; see `journal_text.py`.

Each line has a checksum. A line that a crash has torn is cut off when the journal is opened again; one that was edited
or is damaged is reported, and its case is computed again. Numbers are written with all their digits; NaN
and Infinity as Python writes them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from time import monotonic
from typing import Any, TypeAlias, final
from warnings import warn
from zlib import crc32

from kinpair.description.fields import counted
from kinpair.errors import InputError, StorageError, StorageWarning, caller_level, listed
from kinpair.runs.targets import locked
from kinpair.sweeps.cases import Cases, Outcome, Scalar

FILE = "journal.jsonl"
MARK = "kinpair sweep"
VERSION = 2
WITHOUT_CHECKSUMS = 1  # version of earlier journals, which can be read
CHECKED = re.compile(rb'(.*),"checksum":"([0-9a-f]{8})"\}', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Plan:
    """Plan of a sweep: names of inputs, axes of a grid, how many cases and a digest of them, known units."""

    inputs: tuple[str, ...] = ()
    grid: tuple[str, ...] = ()
    cases: int = 0
    digest: str = ""
    units: Mapping[str, str] = field(default_factory=dict[str, str])


def plan_of(cases: Cases, keys: Sequence[str], units: Mapping[str, str]) -> Plan:
    """Plan of these cases."""
    digest = blake2b("".join(sorted(keys)).encode(), digest_size=16).hexdigest()
    return Plan(cases.names, cases.grid, len(cases), digest, dict(units))


@dataclass(slots=True)
class Contents:
    """Contents of a journal: outcomes and inputs by key of the case, the last plan, the units of all plans.

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
        """Switch to another plan."""
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


Finished: TypeAlias = tuple[str, Mapping[str, Scalar], Outcome]  # key, inputs, outcome
SYNC = 1.0  # seconds between two requests to the disk itself


@final
class Memory:
    """A journal that is kept nowhere."""

    def __init__(self) -> None:
        self.done: dict[str, Outcome] = {}

    def add(self, cases: Iterable[Finished]) -> None:
        """Store cases in memory."""
        self.done |= {key: outcome for key, _, outcome in cases}

    def close(self) -> None:
        """Close the journal in memory."""


@final
class Journal:
    """`contents` has what was there and what was added; `done` the outcomes, by key of the case."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        study: str,
        name: str,
        plan: Plan,
        keys: Sequence[str],
        *,
        resume: bool,
    ) -> None:
        self.path = Path(folder) / FILE
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as reason:
            raise StorageError(
                f"{folder}: cannot be written ({reason.strerror}); give another folder"
            ) from None
        try:
            if not locked(self._file):
                raise StorageError(
                    f"{self.path}: another sweep is writing here; wait for it, or give another folder"
                )
            self.contents = self._opened(study, name, plan, keys, resume)
        except BaseException:
            os.close(self._file)
            raise
        self._synced = monotonic()

    @property
    def done(self) -> Mapping[str, Outcome]:
        """Outcomes by key."""
        return self.contents.done

    @property
    def size(self) -> int:
        """Size of the journal [bytes]."""
        return self._size

    def _opened(self, study: str, name: str, plan: Plan, keys: Sequence[str], resume: bool) -> Contents:
        """Take over what is there, and say what is asked for now."""
        contents = read_journal(self.path)
        if contents is None:
            os.ftruncate(self._file, 0)
            self._size = 0
            self._write(head_line(study, name, plan))
            contents = Contents(study, name, plan, self._size)
            contents.turn(plan, 0)
            return contents
        self._check(contents, study, resume)
        os.ftruncate(self._file, contents.size)
        self._size = contents.size
        if contents.damaged:
            report_damage(self.path, contents, "its case is computed again", "their cases are computed again")
            self._write(reported_line(contents.damaged))
        if plan != contents.plan:
            done_before = sum(key in contents.done for key in keys)
            self._write(plan_line(plan, done_before))
            contents.turn(plan, done_before)
        return contents

    def _check(self, contents: Contents, study: str, resume: bool) -> None:
        if contents.study != study:
            raise InputError(
                f"{self.path}: belongs to another study ({contents.name}): mechanism, settings, functions or what "
                "is recorded differ; give another folder",
                path=str(self.path),
            )
        if not resume and contents.done:
            raise InputError(
                f"{self.path}: holds {counted(len(contents.done), 'finished case')}; resume to keep them and finish "
                "the rest, or give another folder",
                path=str(self.path),
            )

    def add(self, cases: Iterable[Finished]) -> None:
        """Write cases down; on return they are with the operating system, a second later on the disk."""
        lines: list[bytes] = []
        for key, inputs, outcome in cases:
            self.contents.add(key, inputs, outcome)
            lines.append(case_line(key, inputs, outcome))
        self._write(b"".join(lines))
        if monotonic() - self._synced > SYNC:
            os.fsync(self._file)
            self._synced = monotonic()

    def _write(self, text: bytes) -> None:
        """All of it, or none."""
        left = memoryview(text)
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError as reason:
            os.ftruncate(self._file, self._size)
            raise StorageError(
                f"{self.path}: cannot be written ({reason.strerror}); what it holds is safe: make room and resume",
                path=str(self.path),
            ) from None
        self._size += len(text)

    def close(self) -> None:
        """Close the journal in memory."""
        os.fsync(self._file)
        os.close(self._file)
