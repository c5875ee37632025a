"""The journal of a sweep: a line of JSON a finished case, written at once and never changed.

The first line says which study it is. A line that a crash has torn is cut off when the journal is opened again. Numbers
are written with all their digits; NaN and Infinity as Python writes them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from time import monotonic
from typing import Any, TypeAlias, final

from kinpair.errors import InputError, StorageError
from kinpair.sweep.cases import Scalar
from kinpair.sweep.outcome import Outcome

FILE = "journal.jsonl"
MARK = "kinpair sweep"
VERSION = 1
Finished: TypeAlias = tuple[str, Mapping[str, Scalar], Outcome]  # key, inputs, outcome
SYNC = 1.0  # seconds between two requests to the disk itself


@final
class Memory:
    """A journal that is kept nowhere."""

    def __init__(self) -> None:
        self.done: dict[str, Outcome] = {}

    def add(self, cases: Iterable[Finished]) -> None:
        """Remember cases."""
        self.done |= {key: outcome for key, _, outcome in cases}

    def close(self) -> None:
        """Nothing more will come."""


@final
class Journal:
    """`done` has what was there and what was added, by key of the case."""

    def __init__(self, folder: str | os.PathLike[str], study: str, name: str, *, resume: bool) -> None:
        self.path = Path(folder) / FILE
        self.done: dict[str, Outcome] = {}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as reason:
            raise StorageError(
                f"{folder}: cannot be written ({reason.strerror}); give another folder"
            ) from None
        try:
            _lock(self._file, self.path)
            self._size = self._read(study, name, resume)
        except BaseException:
            os.close(self._file)
            raise
        self._synced = monotonic()

    def _read(self, study: str, name: str, resume: bool) -> int:
        """Take over what is there; the length of it in bytes."""
        text = self.path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        if not whole:
            os.ftruncate(self._file, 0)
            self._size = 0
            self._write(_line({MARK: VERSION, "study": study, "name": name}))
            return self._size
        first, *lines = whole.splitlines()
        self._check(_entry(first), study)
        for line in lines:
            entry = _entry(line)
            if isinstance(entry.get("key"), str):
                self.done[entry["key"]] = Outcome(entry.get("found", {}), entry.get("error", ""))
        if not resume and self.done:
            raise InputError(
                f"{self.path}: holds {len(self.done)} finished cases; resume to keep them and finish the rest, or "
                "give another folder",
                path=str(self.path),
            )
        os.ftruncate(self._file, len(whole))
        return len(whole)

    def _check(self, head: Mapping[str, Any], study: str) -> None:
        if head.get(MARK) != VERSION:
            raise InputError(
                f"{self.path}: is no journal of a sweep; give another folder", path=str(self.path)
            )
        if head.get("study") != study:
            raise InputError(
                f"{self.path}: belongs to another study ({head.get('name')}): mechanism, settings, functions or what "
                "is recorded differ; give another folder",
                path=str(self.path),
            )

    def add(self, cases: Iterable[Finished]) -> None:
        """Write cases down; on return they are with the operating system, a second later on the disk."""
        lines: list[bytes] = []
        for key, inputs, outcome in cases:
            self.done[key] = outcome
            told = {"error": outcome.error} if outcome.error else {"found": outcome.found}
            lines.append(_line({"key": key, "inputs": inputs, **told}))
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
        """Nothing more will come."""
        os.fsync(self._file)
        os.close(self._file)


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _entry(line: bytes) -> dict[str, Any]:
    """What a line says; nothing if it is damaged."""
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _lock(file: int, path: Path) -> None:
    """One sweep at a time writes here; the lock ends with the process."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise StorageError(
            f"{path}: another sweep is writing here; wait for it, or give another folder"
        ) from None
