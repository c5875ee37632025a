"""Output of a command: tables for a person, JSON for a program, and the files of a run."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np
from cyclopts import Parameter
from rich.box import SIMPLE_HEAD
from rich.table import Table

from kinpair import InputError, KinpairError, StorageError
from kinpair.cli.screen import Screen

if TYPE_CHECKING:
    from kinpair import Result

DIGITS = (5, 4, 3)  # as many as the width allows
GAP = 2  # blanks between columns
ROUNDING = 1e-12  # what is smaller than this beside the largest of its kind is rounding, and shown as 0


def texts(values: Any, digits: int = DIGITS[0]) -> list[str]:
    """Numbers for reading."""
    x = np.asarray(values, dtype=float).ravel()
    largest = np.abs(x[np.isfinite(x)]).max(initial=1.0)
    return [f"{v:.{digits}g}" if not abs(v) < ROUNDING * largest else "0" for v in x.tolist()]


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], names: int = 1) -> Table:
    """The first `names` columns hold names and may fold; the others hold numbers, set to the right."""
    out = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for k, heading in enumerate(headings):
        if k < names:
            out.add_column(heading, overflow="fold")
        else:
            out.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        out.add_row(*row)
    return out


def number_table(
    first: str, names: Sequence[str], columns: Mapping[str, Any], width: int, *, missing: str = "nan"
) -> Table:
    """A row a name, a column a quantity (n,); with as many digits as the width allows. NaN is called `missing`."""
    tries = [_columns_of_text(first, names, columns, digits, missing) for digits in DIGITS]
    chosen = next((text for text in tries if _width(text) <= width), tries[-1])
    headings, *rows = zip(*chosen, strict=True)
    return table(headings, rows)


def _columns_of_text(
    first: str, names: Sequence[str], columns: Mapping[str, Any], digits: int, missing: str
) -> list[list[str]]:
    words = {
        heading: [missing if x == "nan" else x for x in texts(c, digits)] for heading, c in columns.items()
    }
    return [[first, *names], *([heading, *own] for heading, own in words.items())]


def _width(columns: Sequence[Sequence[str]]) -> int:
    return sum(GAP + max(map(len, column)) for column in columns) - GAP


def matrix_tables(names: Sequence[str], matrix: np.ndarray, width: int) -> Iterator[Table]:
    """A square matrix with numbered columns, in as many tables as the width asks for."""
    n = len(names)
    labels = [f"{k} {name}" for k, name in enumerate(names)]
    cells = np.array(texts(matrix), dtype=object).reshape(n, n)
    room = width - max((len(label) for label in labels), default=0)
    widths = [GAP + max(map(len, (str(j), *cells[:, j]))) for j in range(n)]
    for span in _spans(widths, room):
        yield table(("", *map(str, span)), ((labels[i], *cells[i, span]) for i in range(n)))


def _spans(widths: Sequence[int], room: int) -> Iterator[range]:
    """Runs of neighbouring columns that fit into the room; at least one column each."""
    start, used = 0, 0
    for j, width in enumerate(widths):
        if used + width > room and j > start:
            yield range(start, j)
            start, used = j, 0
        used += width
    if widths:
        yield range(start, len(widths))


def print_json(document: Mapping[str, Any]) -> None:
    """The document on standard output; rows of numbers stay on one line."""
    body = ",\n".join(f"  {json.dumps(key)}: {_text(value)}" for key, value in document.items())
    print(f"{{\n{body}\n}}")


def _text(value: Any) -> str:
    return json.dumps(plain(value), allow_nan=False, ensure_ascii=False)


def plain(value: Any) -> Any:
    """Lists, dicts, numbers, texts and null."""
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(x) for key, x in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(x) for x in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


INTERRUPTED = 130  # exit code after Ctrl-C, as shells have it
ARGUMENT = re.compile(r"\b(limits|integrator|dt|hold)=(?:'([\w-]+)'|(\d[\d.e+-]*\d|\d))")  # of kp.simulate
Out: TypeAlias = Annotated[Path | None, Parameter(metavar="PATH", show_default=False)]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Files to write in addition to what is shown; `file`: where the samples are, if they are in one."""

    plot: Path | None = None
    report: Path | None = None
    json: bool = False
    file: Path | None = None
    notes: Sequence[str] = field(default_factory=list[str])


def check_outputs(
    read: str | Path, *, save: Path | None = None, plot: Path | None = None, report: Path | None = None
) -> list[str]:
    """Check before the work: each file may be written, and none is the one that is read; what will be replaced, in
    words."""
    from kinpair.runs.files.stored import read_file
    from kinpair.runs.targets import PAGE, PICTURE, RUN, target

    wanted = {"--save": (save, RUN), "--plot": (plot, PICTURE), "--report": (report, PAGE)}
    for option, (path, kind) in wanted.items():
        if path is None:
            continue
        if path.exists() and Path(read).exists() and path.samefile(read):
            raise InputError(f"{option}: {path} is the input file; give another name", path=str(path))
        target(path, kind)
    if save is None or not save.is_file() or not save.stat().st_size:
        return []
    try:
        what = f"run of {read_file(save).about['name']}"
    except StorageError:
        what = "damaged run"
    return [f"{save}: the existing {what} is replaced"]


def show(run: Result, wanted: Wanted) -> None:
    """Print the result; a run that did not reach its end is reported as an error after it; exit 130 after Ctrl-C."""
    written = {"run": wanted.file}
    if wanted.plot is not None:
        run.plot(wanted.plot)
        written["picture"] = wanted.plot
    if wanted.report is not None:
        written["page"] = run.report(wanted.report)
    files = {what: str(path) for what, path in written.items() if path is not None}
    if wanted.json:
        print_json({**document(run, samples=wanted.file is None), "notes": wanted.notes, "files": files})
    else:
        _tell(run, wanted.notes, files)
    ended(run)


def ended(run: Result) -> None:
    """A run that did not reach its end is reported as an error; exit 130 after Ctrl-C."""
    if run.status.name == "interrupted":
        print(f"kinpair: {as_options(str(run.status))}", file=sys.stderr)
        raise SystemExit(INTERRUPTED)
    if not run.status.ok:
        raise KinpairError(as_options(str(run.status)))


def as_options(text: str) -> str:
    """Return a message of a run with its arguments of Python as options of the shell."""
    return ARGUMENT.sub(lambda x: f"--{x[1]} {x[2] or x[3]}", text)


def document(run: Result, *, samples: bool) -> dict[str, Any]:
    """Describe how the run went, where it ended, and the samples, if they are wanted."""
    m, s = run.mechanism, run.status
    names = ("time", "q", "qd", "tau", "work", "loss")
    every = {name: getattr(run, name) for name in names} | run.energy._asdict()
    return {
        "name": m.name,
        "q_names": m.q_names,
        "v_names": m.v_names,
        "status": {"name": s.name, "time": s.time, "message": s.message},
        "summary": run.summary,
        "integrator": run.integrator,
        "steps": run.steps,
        "rejected": run.rejected,
        "end": {name: x[-1] for name, x in every.items()} if len(run.time) else None,
        "samples": every if samples else len(run.time),
    }


def _tell(run: Result, notes: Sequence[str], files: dict[str, str]) -> None:
    screen, m = Screen(), run.mechanism
    screen.heading(f"{m.name}: motion over {_lasted(run):g} s")
    screen.say(as_options(run.summary))
    for note in notes:
        screen.say(note)
    if len(run.time):
        screen.say()
        rates = {"qd start": run.qd[0], "qd end": run.qd[-1], "tau end": run.tau[-1]}
        positions = {"q start": run.q[0], "q end": run.q[-1]}
        if m.q_names == m.v_names:
            screen.print(number_table("", m.q_names, {**positions, **rates}, screen.width))
        else:
            screen.print(number_table("", m.q_names, positions, screen.width))
            screen.print(number_table("", m.v_names, rates, screen.width))
    for what, path in files.items():
        screen.say(f"{what}: {path}")


def _lasted(run: Result) -> float:
    return float(np.ptp(run.time)) if len(run.time) else 0.0
