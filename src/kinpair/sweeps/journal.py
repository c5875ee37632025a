"""The journal of a sweep: a line of JSON a finished case, written at once and never changed; see `journal_text.py`.

Each line has a checksum. A line that a crash has torn is cut off when the journal is opened again; one that was edited
or is damaged is reported, and its case is computed again. Numbers are written with all their digits; NaN
and Infinity as Python writes them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import TypeAlias, final

from kinpair.description.fields import counted
from kinpair.errors import InputError, StorageError
from kinpair.runs.targets import locked
from kinpair.sweeps.cases import Scalar
from kinpair.sweeps.journal_text import (
    FILE,
    Contents,
    Plan,
    case_line,
    head_line,
    plan_line,
    read_journal,
    report_damage,
    reported_line,
)
from kinpair.sweeps.outcome import Outcome

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
        """Bytes."""
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
        """Nothing more will come."""
        os.fsync(self._file)
        os.close(self._file)
