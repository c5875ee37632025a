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
    """Write a stored run as one page (.html): animation and curves on one slider, tables, how it was made.

    The page is complete in itself: it opens from disk, without a network.

    Parameters
    ----------
    file
        A run that was saved (.h5), see kinpair simulate --save.
    out
        The page; default: the name of the run with the ending .html.
    row
        Of a batch, which run.
    """
    from kinpair import load_run

    page = load_run(file).report(out or file.with_suffix(".html"), row=row)
    Screen().say(f"page: {page} ({page.stat().st_size / 2**20:.2f} MB)")
