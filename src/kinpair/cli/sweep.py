"""`kinpair sweep`: many runs from a study file."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import numpy as np
from cyclopts import Parameter

import kinpair
from kinpair.cli.arguments import Flag
from kinpair.cli.output import INTERRUPTED, table, texts
from kinpair.cli.screen import Screen
from kinpair.description.fields import counted
from kinpair.errors import ClusterWarning, KinpairError, MissingExtraError, installs

if TYPE_CHECKING:
    from kinpair import Table

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
