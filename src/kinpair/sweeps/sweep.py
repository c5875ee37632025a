"""Sweeps: the missing cases are computed, written down as they come, and put into a table with a row for each."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, final

import numpy as np

from kinpair.compiler.patience import Progress
from kinpair.description.fields import counted
from kinpair.description.files import file_path
from kinpair.errors import InputError, KinpairError, MissingExtraError, StorageError, installs
from kinpair.sweeps.cases import Cases, Outcome, cases_of
from kinpair.sweeps.journal import FILE as JOURNAL
from kinpair.sweeps.journal import Contents, Journal, Memory, plan_of, read_journal, report_damage
from kinpair.sweeps.study import Study
from kinpair.sweeps.work import Function, Subject, answers, case_key
from kinpair.sweeps.worker_pool import pool_of

FILE = "table.parquet"
META = b"kinpair sweep"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A row a finished case. `table["max q.elbow"]` is a column (n,), of recorded vectors (n, m).

    `inputs` and `outputs` are the names of the columns, `units` their units. `errors` (n,) says why a case has NaN
    instead of numbers, or which result is not a number; it is "" where all is well. `missing` cases were not computed;
    `grid` names the axes if all combinations were asked for.
    """

    name: str
    columns: Mapping[str, np.ndarray]
    errors: np.ndarray
    inputs: tuple[str, ...]
    units: Mapping[str, str]
    grid: tuple[str, ...] = ()
    missing: int = 0

    def __len__(self) -> int:
        return len(self.errors)

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    def __repr__(self) -> str:
        return f"<Table of {self.name!r}: {self.summary}>"

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of what was recorded."""
        return tuple(name for name in self.columns if name not in self.inputs)

    @property
    def failed(self) -> np.ndarray:
        """Rows that have an error (n,)."""
        return self.errors != ""

    @property
    def summary(self) -> str:
        """Number of cases, how many of them failed, how many are missing."""
        failed = int(self.failed.sum())
        parts = [
            counted(len(self), "case"),
            f"{failed} failed" if failed else "",
            f"{self.missing} missing" if self.missing else "",
        ]
        return ", ".join(filter(None, parts))

    def to_pandas(self) -> Any:
        """A DataFrame; units are in its `attrs`. Vectors are arrays in the cells."""
        try:
            import pandas
        except ImportError:
            raise MissingExtraError(f"a data frame needs pandas; {installs('data')}", extra="data") from None
        cells = {name: x if x.ndim == 1 else list(x) for name, x in self.columns.items()}
        frame = pandas.DataFrame({**cells, "error": self.errors})
        frame.attrs = {"name": self.name, "units": dict(self.units)}
        return frame

    def to_xarray(self) -> Any:
        """A Dataset: an axis an input if all combinations were asked for, else one axis `case`, inputs along it."""
        try:
            import xarray
        except ImportError:
            raise MissingExtraError(f"a data set needs xarray; {installs('data')}", extra="data") from None
        recorded = {name: self.columns[name] for name in self.outputs} | {"error": self.errors}
        if self.grid:
            axes = {name: np.array(list(dict.fromkeys(self.columns[name].tolist()))) for name in self.grid}
            place = tuple(_places(self.columns[name], axis) for name, axis in axes.items())
            shape = tuple(map(len, axes.values()))
            recorded = {name: _spread(x, shape, place) for name, x in recorded.items()}
            lead, along = self.grid, {name: (name, x) for name, x in axes.items()}
        else:
            lead, along = ("case",), {name: ("case", self.columns[name]) for name in self.inputs}
        data = {name: (_dims(lead, x), x, self._unit(name)) for name, x in recorded.items()}
        coords = {name: (*column, self._unit(name)) for name, column in along.items()}
        return xarray.Dataset(data, coords, {"name": self.name})

    def _unit(self, name: str) -> dict[str, str]:
        return {"units": self.units[name]} if self.units.get(name) else {}

    def to_parquet(self, path: str | os.PathLike[str], *, journal: int | None = None) -> Path:
        """Write one Parquet table: complete, or not at all. `journal`: bytes of the journal that it is made of."""
        pa, parquet = pyarrow()
        arrays = [pa.array(x if x.ndim == 1 else list(x)) for x in self.columns.values()]
        fields = [
            pa.field(name, array.type, metadata={"unit": self.units.get(name, "")})
            for name, array in zip(self.columns, arrays, strict=True)
        ]
        fields.append(pa.field("error", pa.string()))
        arrays.append(pa.array(self.errors.tolist(), pa.string()))
        about = {"name": self.name, "inputs": self.inputs, "grid": self.grid, "missing": self.missing}
        about |= {"journal": journal}
        schema = pa.schema(fields, metadata={META: json.dumps(about)})
        target = Path(path)
        draft = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            parquet.write_table(pa.Table.from_arrays(arrays, schema=schema), draft, write_page_checksum=True)
            draft.replace(target)
        except OSError as reason:
            draft.unlink(missing_ok=True)
            why = reason.strerror or str(reason)
            raise StorageError(f"{target}: cannot be written ({why})", path=str(target)) from None
        return target


def open_sweep(path: str | os.PathLike[str]) -> Table:
    """All finished cases in a folder of a sweep, or in a Parquet file or a journal written by one.

    Of a folder the table is read, unless the journal has grown since it was made: a sweep is at work, or was killed.
    """
    place = file_path(path, "open_sweep", "; give the folder of a sweep, its table or its journal")
    file, journal = (place / FILE, place / JOURNAL) if place.is_dir() else (place, place)
    if place.is_dir() and not file.exists() and not journal.exists():
        raise InputError(f"{place}: no sweep is here: neither {FILE} nor {JOURNAL}", path=str(place))
    if place.suffix == Path(JOURNAL).suffix or not file.exists():
        return _in_journal(journal)
    contents, size = _in_table(file)
    grown = place.is_dir() and size is not None and journal.exists() and journal.stat().st_size != size
    return _in_journal(journal) if grown else contents


def _in_journal(file: Path) -> Table:
    try:
        contents = read_journal(file)
    except StorageError:
        raise
    except OSError as reason:
        raise InputError(f"{file}: cannot be read ({reason.strerror})", path=str(file)) from None
    if contents is None:
        raise InputError(f"{file}: is empty; a sweep writes it as it goes", path=str(file))
    report_damage(
        file,
        contents,
        "its case is left out; resume the sweep to compute it again",
        "their cases are left out; resume the sweep to compute them again",
    )
    return table_in(contents)


def _in_table(file: Path) -> tuple[Table, int | None]:
    """The table, and the size of the journal that it is made of, if it is of one."""
    _, parquet = pyarrow()
    try:
        contents = parquet.read_table(file, page_checksum_verification=True)
    except FileNotFoundError:
        raise InputError(f"{file}: no such file", path=str(file)) from None
    except (OSError, ValueError) as reason:
        raise InputError(f"{file}: is not a Parquet table ({reason})", path=str(file)) from None
    about = json.loads((contents.schema.metadata or {}).get(META, b"{}"))
    if not about:
        raise InputError(f"{file}: is not the table of a sweep", path=str(file))
    columns = {name: _column(contents[name].to_pylist()) for name in contents.column_names if name != "error"}
    units = {
        f.name: (f.metadata or {}).get(b"unit", b"").decode() for f in contents.schema if f.name != "error"
    }
    errors = np.array(contents["error"].to_pylist(), dtype=object)
    inputs, grid = tuple(about["inputs"]), tuple(about["grid"])
    table = Table(about["name"], columns, errors, inputs, units, grid, about["missing"])
    return table, about.get("journal")


def table_of(
    name: str, cases: Cases, keys: Sequence[str], done: Mapping[str, Outcome], units: Mapping[str, str]
) -> Table:
    """The finished cases, in the order in which they were asked for."""
    rows = [i for i, key in enumerate(keys) if key in done]
    inputs = {x: np.array([cases.rows[i][k] for i in rows]) for k, x in enumerate(cases.names)}
    return _table(name, inputs, [done[keys[i]] for i in rows], units, cases.grid, len(cases) - len(rows))


def table_in(journal: Contents, first: Sequence[str] = ()) -> Table:
    """All cases of a journal: those of the keys `first`, then the others in the order of their inputs."""
    ordered = sorted(journal.done, key=lambda key: _place(journal.inputs[key]))
    keys = [key for key in dict.fromkeys([*first, *ordered]) if key in journal.done]
    every = [journal.inputs[key] for key in keys]
    names = dict.fromkeys([*journal.plan.inputs, *(name for inputs in every for name in inputs)])
    inputs = {name: _values([row.get(name) for row in every]) for name in names}
    alone = len(keys) + journal.missing == journal.plan.cases  # no cases of another plan
    outcomes = [journal.done[key] for key in keys]
    grid = journal.plan.grid if alone else ()
    return _table(journal.name, inputs, outcomes, journal.units, grid, journal.missing)


def _table(
    name: str,
    inputs: Mapping[str, np.ndarray],
    outcomes: Sequence[Outcome],
    units: Mapping[str, str],
    grid: tuple[str, ...],
    missing: int,
) -> Table:
    names = dict.fromkeys(name for outcome in outcomes for name in outcome.values)
    columns = {**inputs, **{x: _column([outcome.values.get(x) for outcome in outcomes]) for x in names}}
    errors = np.array([outcome.error for outcome in outcomes], dtype=object)
    return Table(name, columns, errors, tuple(inputs), {x: units.get(x, "") for x in columns}, grid, missing)


def _place(inputs: Mapping[str, Any]) -> list[tuple[str, bool, Any]]:
    """Numbers before texts."""
    return [(name, isinstance(x, str), x) for name, x in inputs.items()]


def _values(cells: Sequence[Any]) -> np.ndarray:
    """Values of an input; of cases that do not have it, NaN or an empty text."""
    empty = "" if any(isinstance(x, str) for x in cells) else np.nan
    return np.array([empty if x is None else x for x in cells])


def pyarrow() -> tuple[Any, Any]:
    """The library that writes tables."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError(
            f"a sweep kept in a folder needs pyarrow; {installs('cluster')}, or give no out=",
            extra="cluster",
        ) from None
    return pyarrow, pyarrow.parquet


def _column(cells: Sequence[Any]) -> np.ndarray:
    """Numbers (n,), or vectors (n, m), the shorter ones filled up with NaN; nothing is NaN."""
    longest = max((len(cast("list[float]", x)) for x in cells if isinstance(x, list)), default=-1)
    if longest < 0:
        return np.array([np.nan if x is None else x for x in cells])
    filled = [x if isinstance(x, list) else [] if x is None else [x] for x in cells]
    return np.array([x + [np.nan] * (max(1, longest) - len(x)) for x in filled], dtype=float)


def _places(column: np.ndarray, axis: np.ndarray) -> list[int]:
    number = {x: k for k, x in enumerate(axis.tolist())}
    return [number[x] for x in column.tolist()]


def _spread(x: np.ndarray, shape: tuple[int, ...], place: tuple[list[int], ...]) -> np.ndarray:
    """A column over the axes of a grid; what is missing is NaN or empty."""
    empty = "" if x.dtype == object else np.nan
    out = np.full((*shape, *x.shape[1:]), empty, dtype=x.dtype if x.dtype == object else float)
    out[place] = x
    return out


def _dims(lead: tuple[str, ...], x: np.ndarray) -> tuple[str, ...]:
    return (*lead, *(("sample",) if x.ndim > len(lead) else ()))


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
