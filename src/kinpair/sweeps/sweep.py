"""Sweeps: the missing cases are computed, written down as they come, and put into a table."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kinpair.compiler.patience import Progress
from kinpair.errors import InputError, KinpairError
from kinpair.sweeps.cases import Cases, Outcome, cases_of
from kinpair.sweeps.journal import Journal, Memory, plan_of
from kinpair.sweeps.study import Study
from kinpair.sweeps.table import FILE, Table, pyarrow, table_in, table_of
from kinpair.sweeps.work import Function, Subject, answers, case_key
from kinpair.sweeps.worker_pool import pool_of


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a sweep, see `kp.sweep`."""

    out: str | os.PathLike[str] | None
    resume: bool
    retry: bool
    workers: int | None
    cluster: Any
    units: Mapping[str, str]
    progress: bool | Callable[[float], Any] | None
    parquet: bool = True
    """True if a table is written next to the journal."""


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
        result = table()
        if isinstance(journal, Journal) and options.parquet:
            kept = result if len(result) == len(journal.done) else table_in(journal.contents, first=keys)
            kept.to_parquet(journal.path.with_name(FILE), journal=journal.size)
        return result
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
    if options.parquet:
        pyarrow()  # missing, it had better be missed before the work than after it
    return Journal(options.out, mark, name, plan_of(cases, keys, units), keys, resume=options.resume)


def _compute(
    subject: Subject, cases: Cases, keys: Sequence[str], journal: Journal | Memory, options: Options
) -> None:
    """Compute what the journal does not have; Ctrl-C ends it."""
    wanted = [i for i, key in enumerate(keys) if _open(journal.done.get(key), options.retry)]
    if not wanted:
        return
    pool = pool_of(options.workers, options.cluster)
    finished = len(keys) - len(wanted)
    try:
        with Progress(f"sweep of {subject.name}", options.progress) as report:
            for chunk, outcomes in answers(pool, subject, cases, wanted):
                some = zip(chunk, outcomes, strict=True)
                journal.add((keys[i], dict(zip(cases.names, cases.rows[i], strict=True)), x) for i, x in some)
                finished += len(chunk)
                report(finished / len(keys))
    except KeyboardInterrupt:
        pass
    finally:
        pool.close()


def _open(outcome: Outcome | None, retry: bool) -> bool:
    return outcome is None or (retry and bool(outcome.error))


def sweep(
    study: Study | Callable[..., Any],
    over: Mapping[Any, Any],
    *,
    samples: int | None = None,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    retry: bool = False,
    workers: int | None = None,
    cluster: Any = None,
    units: Mapping[str, str] | None = None,
    progress: bool | Callable[[float], Any] | None = None,
) -> Table:
    """Every case of `over`, as a `Table` of inputs and recorded numbers; see docs/sweep.md.

    * `study`: a `Study`, or a function case(**inputs) → a number, or a dict of numbers and vectors;
    * `over`: input → list of values or `Grid`, all combinations of which are taken; or `LatinHypercube`, `Uniform`,
      `Normal`, drawn together `samples` times with `seed`. Inputs with commas between vary together;
    * `out`: a folder for the journal, which grows with each finished case, and for table.parquet. `resume` computes
      what the journal does not have; `retry` also what failed;
    * `workers`: processes on this machine, a core each by default, 0 for none but this; `cluster`: a Dask client, or
      the address of a scheduler;
    * `units` of columns that the study does not know.

    A case that fails is recorded with its error. Ctrl-C ends the sweep: the table has what was finished.
    """

    options = Options(out, resume, retry, workers, cluster, units or {}, progress)
    return driven(study, over, samples, seed, options)
