"""`kinpair resume`: a run goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

import kinpair
from kinpair.cli.arguments import Flag
from kinpair.cli.output import Out, Wanted, check_outputs, show


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
