"""Commands on runs: `kinpair view`, `report` and `resume` of stored ones, `sweep` for many."""

from __future__ import annotations

import sys
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np
from cyclopts import Parameter

import kinpair
from kinpair.cli import arguments
from kinpair.cli.arguments import File, Flag, Root, Snap
from kinpair.cli.output import INTERRUPTED, Out, Wanted, check_outputs, show, table, texts
from kinpair.cli.screen import Screen
from kinpair.description.fields import counted
from kinpair.errors import ClusterWarning, KinpairError, MissingExtraError, installs

if TYPE_CHECKING:
    from kinpair import Table


RUN = (".h5", ".hdf5")


def view(
    file: File,
    /,
    *others: Annotated[Path, Parameter(metavar="RUN.h5")],
    base: Root = "fixed",
    snap: Snap = 0.0,
    port: int = 8080,
    host: str = "127.0.0.1",
    no_browser: Flag = False,
) -> None:
    """Show a mechanism in the browser and move it with sliders, or play stored runs. Ctrl-C stops the server.

    The mechanism is read again whenever its file is saved; errors appear in the page. Only this machine can open
    the page; --host changes that.

    Parameters
    ----------
    file
        A description (.urdf, .xml, .toml, .csv), the name of a bundled example, or a run (.h5).
    others
        More runs to show together with the first.
    port
        Port of the page; if it is in use, the next free port is used and printed.
    host
        Address to serve at; 0.0.0.0 admits other machines.
    no_browser
        Print the URL; do not open a browser.
    """
    from kinpair.viewer.page import Page, follow

    say = Screen().say
    options: dict[str, Any] = {"host": host, "port": port, "browser": not no_browser, "say": say}
    if file.lower().endswith(RUN):
        from kinpair import load_run
        from kinpair.runs.report import recording_of

        runs = [load_run(path) for path in (file, *others)]
        Page(runs[0].mechanism, recordings=[recording_of(run) for run in runs], **options).wait()
        return
    load = partial(arguments.mechanism, file, base=base, snap=snap)
    page = Page(load(), **options)
    if Path(file).exists():
        follow(page, file, load)
    page.wait()


def report(
    file: Annotated[Path, Parameter(metavar="RUN.h5")],
    /,
    *,
    out: Annotated[Path | None, Parameter(metavar="PATH", show_default=False)] = None,
    row: int = 0,
) -> None:
    """Write a report of a stored run (.html) with animation, curves, tables and settings.

    The page needs no other file and no network.

    Parameters
    ----------
    file
        Run file (.h5), see kinpair simulate --save.
    out
        Page to write. Default: the name of the run with the suffix .html.
    row
        Index of the run in a batch.
    """
    from kinpair import load_run

    page = load_run(file).report(out or file.with_suffix(".html"), row=row)
    Screen().say(f"page: {page} ({page.stat().st_size / 2**20:.2f} MB)")


def resume(
    file: Annotated[Path, Parameter(metavar="FILE")],
    /,
    *,
    plot: Out = None,
    report: Out = None,
    json: Flag = False,
) -> None:
    """Continue a run that was interrupted, killed, or stopped by a full disk.

    With fixed steps the result equals that of an uninterrupted run bit for bit.

    Parameters
    ----------
    file
        Run file (.h5) written by kinpair simulate --save or by kinpair.simulate(..., save=) in Python.
    plot
        Draw coordinates, rates, efforts and energies (.png, .svg, .pdf).
    report
        Write a page (.html) with a summary and curves.
    json
        Print one JSON document.
    """
    from kinpair.runs.resume import resumed

    check_outputs(file, plot=plot, report=report)
    before = kinpair.load_run(file).status
    notes = [f"{file}: this run is already complete"] if before.finished else []
    show(resumed(file).run, Wanted(plot, report, json, file, notes))


StudyPath: TypeAlias = Annotated[Path, Parameter(metavar="STUDY.toml")]
Count: TypeAlias = Annotated[int | None, Parameter(metavar="N", show_default=False)]
Address: TypeAlias = Annotated[str | None, Parameter(metavar="ADDRESS", show_default=False)]
Folder: TypeAlias = Annotated[Path | None, Parameter(metavar="DIR", show_default=False)]
ERRORS = 5  # shown


def sweep(
    study: StudyPath,
    /,
    *,
    resume: Flag = False,
    retry: Flag = False,
    workers: Count = None,
    cluster: Address = None,
    out: Folder = None,
) -> None:
    """Run the simulations of a study file, which lists what varies and what is recorded.

    Each finished case is written to a journal at once. At the end, table.parquet is written next to it if pyarrow
    is installed.

    Parameters
    ----------
    study
        Study file, see docs/sweep.md.
    resume
        Continue a stopped sweep: compute only the missing cases.
    retry
        With --resume: compute failed cases again.
    workers
        Number of processes on this machine; 0: only this process. Default: number of cores.
    cluster
        Compute on the workers of this Dask scheduler, such as tcp://10.0.0.1:8786.
    out
        Folder for journal and table. Default: the name of the study with the suffix .sweep.
    """
    from kinpair.sweeps.study_file import read_study
    from kinpair.sweeps.sweep import Options, driven

    plan = read_study(study)
    folder = out if out is not None else Path(f"{study.stem}.sweep")
    with warnings.catch_warnings():
        warnings.simplefilter("always", ClusterWarning)
        warnings.showwarning = _warned
        parquet = _has_pyarrow()
        options = Options(folder, resume, retry, workers, cluster, plan.units or {}, None, parquet)
        results = driven(plan.study, plan.over, plan.samples, plan.seed, options)
    _show(results, folder, parquet)
    if results.missing:
        raise SystemExit(INTERRUPTED)
    if failed := int(results.failed.sum()):
        raise KinpairError(
            f"{failed} of {counted(len(results), 'case')} failed; compute them again with --resume --retry"
        )


def _has_pyarrow() -> bool:
    from kinpair.sweeps.sweep import pyarrow

    try:
        return bool(pyarrow())
    except MissingExtraError:
        return False


def _warned(message: Warning | str, *where: object, **more: object) -> None:
    print(f"kinpair: {message}", file=sys.stderr, flush=True)


def _show(results: Table, folder: Path, parquet: bool) -> None:
    screen = Screen()
    screen.heading(f"{results.name}: {results.summary}")
    rows = [
        (name, results.units[name], *texts([np.nanmin(x), np.nanmax(x)]))
        for name, x in results.columns.items()
        if x.dtype.kind in "fi" and np.isfinite(x).any()
    ]
    screen.print(table(("column", "unit", "lowest", "highest"), rows, names=2))
    for k in np.flatnonzero(results.failed)[:ERRORS]:
        inputs = ", ".join(f"{name} = {results[name][k]}" for name in results.inputs)
        screen.say(f"failed: {inputs}: {results.errors[k]}")
    file = folder / ("table.parquet" if parquet else "journal.jsonl")
    kept = len(kinpair.open_sweep(folder if parquet else file))
    beside = (
        f", in addition to {counted(kept - len(results), 'case')} of earlier sweeps"
        if kept > len(results)
        else ""
    )
    screen.say(f"{'table' if parquet else 'journal'}: {file}{beside}")
    if not parquet:
        screen.say(f"no table.parquet: it needs pyarrow; {installs('cluster')}")
    if results.missing:
        screen.say("interrupted; continue with the same command and --resume")
