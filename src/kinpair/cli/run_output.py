"""What is shown of a run: a paragraph and a table, or one JSON document; and the files that were asked for."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np
from cyclopts import Parameter

from kinpair import InputError, KinpairError, StorageError
from kinpair.cli.machine import print_json
from kinpair.cli.screen import Screen
from kinpair.cli.tables import number_table

if TYPE_CHECKING:
    from kinpair import Result

INTERRUPTED = 130  # exit code after Ctrl-C, as shells have it
ARGUMENT = re.compile(r"\b(limits|integrator|dt|hold)=(?:'([\w-]+)'|(\d[\d.e+-]*\d|\d))")  # of kp.simulate
Out: TypeAlias = Annotated[Path | None, Parameter(metavar="PATH", show_default=False)]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Files to write beside what is shown; `file`: where the samples are, if they are in one."""

    plot: Path | None = None
    report: Path | None = None
    json: bool = False
    file: Path | None = None
    notes: Sequence[str] = field(default_factory=list[str])


def check_outputs(
    read: str | Path, *, save: Path | None = None, plot: Path | None = None, report: Path | None = None
) -> list[str]:
    """Before the work: each file may be written, and none is the one that is read; what will be replaced, in words."""
    from kinpair.runs.files.stored import read_file
    from kinpair.runs.targets import PAGE, PICTURE, RUN, target

    wanted = {"--save": (save, RUN), "--plot": (plot, PICTURE), "--report": (report, PAGE)}
    for option, (path, kind) in wanted.items():
        if path is None:
            continue
        if path.exists() and Path(read).exists() and path.samefile(read):
            raise InputError(f"{option}: {path} is the file that is read; give another name", path=str(path))
        target(path, kind)
    if save is None or not save.is_file() or not save.stat().st_size:
        return []
    try:
        what = f"run of {read_file(save).about['name']}"
    except StorageError:
        what = "damaged run"
    return [f"{save}: the {what} that was there is replaced"]


def show(run: Result, wanted: Wanted) -> None:
    """Tell everything; a run that did not reach its end is told as an error, after that; exit 130 after Ctrl-C."""
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
    """A run that did not reach its end is told as an error; exit 130 after Ctrl-C."""
    if run.status.name == "interrupted":
        print(f"kinpair: {as_options(str(run.status))}", file=sys.stderr)
        raise SystemExit(INTERRUPTED)
    if not run.status.ok:
        raise KinpairError(as_options(str(run.status)))


def as_options(text: str) -> str:
    """Return a message of a run with its arguments of Python as options of the shell."""
    return ARGUMENT.sub(lambda x: f"--{x[1]} {x[2] or x[3]}", text)


def document(run: Result, *, samples: bool) -> dict[str, Any]:
    """How the run went, where it ended, and the samples, if they are wanted."""
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
