"""Commands on stored runs and pages: `kinpair view`, `report` and `resume`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

import kinpair
from kinpair.cli import arguments
from kinpair.cli.arguments import File, Flag, Root, Snap
from kinpair.cli.output import Out, Wanted, check_outputs, show
from kinpair.cli.screen import Screen

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
