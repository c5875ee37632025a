"""`kinpair report`: a stored run as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from kinpair.cli.screen import Screen


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
