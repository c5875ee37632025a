"""The sweep itself: what is missing is computed, written down as it comes, and put into a table at the end."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kinpair.errors import InputError, KinpairError
from kinpair.simulation.progress import Progress
from kinpair.sweep.cases import Cases, cases_of
from kinpair.sweep.crew import crew_of
from kinpair.sweep.fingerprint import case_key
from kinpair.sweep.journal import Journal, Memory
from kinpair.sweep.journal_text import plan_of
from kinpair.sweep.outcome import Outcome
from kinpair.sweep.study import Study
from kinpair.sweep.subject import Function, Subject
from kinpair.sweep.table import FILE, Table, pyarrow, table_in, table_of
from kinpair.sweep.work import answers


@dataclass(frozen=True, slots=True)
class Options:
    """How a sweep is done, see `kp.sweep`."""

    out: str | os.PathLike[str] | None
    resume: bool
    retry: bool
    workers: int | None
    cluster: Any
    units: Mapping[str, str]
    progress: bool | Callable[[float], Any] | None


def driven(
    study: Study | Callable[..., Any],
    over: Mapping[Any, Any],
    samples: int | None,
    seed: int,
    options: Options,
) -> Table:
    """The table of all cases, or of those finished before Ctrl-C."""
    subject = _subject(study)
    cases = subject.checked(cases_of(over, samples, seed))
    mark = subject.fingerprint
    keys = [case_key(mark, cases.names, row) for row in cases.rows]
    units = {**subject.units(cases.names), **options.units}
    journal = _journal(mark, subject.name, cases, keys, units, options)

    def table() -> Table:
        return table_of(subject.name, cases, keys, journal.done, units)

    try:
        _compute(subject, cases, keys, journal, options)
        found = table()
        if isinstance(journal, Journal):
            kept = found if len(found) == len(journal.done) else table_in(journal.contents, first=keys)
            kept.to_parquet(journal.path.with_name(FILE), journal=journal.size)
        return found
    except KinpairError as broken:
        broken.parts["table"] = table()
        raise
    finally:
        journal.close()


def _subject(study: Any) -> Subject:
    if isinstance(study, Study):
        return study
    if callable(study):
        return Function(study)
    raise InputError(f"sweep takes a Study or a function, not {type(study).__name__}")


def _journal(
    mark: str, name: str, cases: Cases, keys: Sequence[str], units: Mapping[str, str], options: Options
) -> Journal | Memory:
    if options.out is None:
        if options.resume:
            raise InputError("resume needs out=, the folder of the sweep to finish")
        return Memory()
    pyarrow()  # missing, it had better be missed before the work than after it
    return Journal(options.out, mark, name, plan_of(cases, keys, units), keys, resume=options.resume)


def _compute(
    subject: Subject, cases: Cases, keys: Sequence[str], journal: Journal | Memory, options: Options
) -> None:
    """Compute what the journal does not have; Ctrl-C ends it."""
    wanted = [i for i, key in enumerate(keys) if _open(journal.done.get(key), options.retry)]
    if not wanted:
        return
    crew = crew_of(options.workers, options.cluster)
    finished = len(keys) - len(wanted)
    try:
        with Progress(f"sweep of {subject.name}", options.progress) as told:
            for chunk, outcomes in answers(crew, subject, cases, wanted):
                some = zip(chunk, outcomes, strict=True)
                journal.add((keys[i], dict(zip(cases.names, cases.rows[i], strict=True)), x) for i, x in some)
                finished += len(chunk)
                told(finished / len(keys))
    except KeyboardInterrupt:
        pass
    finally:
        crew.close()


def _open(found: Outcome | None, retry: bool) -> bool:
    return found is None or (retry and bool(found.error))
