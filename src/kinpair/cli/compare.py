"""`kinpair compare`: every formulation next to the others."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, TypeAlias

from cyclopts import Parameter
from rich.table import Table

import kinpair
from kinpair import Comparison
from kinpair.analysis.compare import STATES, USUAL
from kinpair.analysis.comparison_views import LEGEND, Part, head, parts
from kinpair.cli import arguments
from kinpair.cli.arguments import Described, Flag, Root, Snap
from kinpair.cli.output import GAP, table
from kinpair.cli.screen import Screen
from kinpair.errors import InputError

Names: TypeAlias = Annotated[
    list[str] | None,
    Parameter(consume_multiple=(1, None), negative="", metavar="NAME...", show_default=False),
]
INTERRUPTED = 130
Out: TypeAlias = Annotated[Path | None, Parameter(metavar="PATH", show_default=False)]


def compare(
    file: Described,
    /,
    *,
    quantity: Names = None,
    states: int = STATES,
    seed: int = 0,
    force: Flag = False,
    no_time: Flag = False,
    base: Root = "fixed",
    snap: Snap = 0.0,
    html: Out = None,
    json: Out = None,
) -> None:
    """Compare all formulations on a mechanism: results, operation counts and times.

    Ctrl-C writes the files with the rows that are finished.

    Parameters
    ----------
    quantity
        Quantities to compare, such as inverse_dynamics mass_matrix. Default: five quantities.
    states
        Number of random states for the comparison.
    seed
        Seed of the random states.
    force
        Include formulations that are left out because they are slow.
    no_time
        Compare results and operation counts only; compile and time nothing.
    html
        Write a page with charts (.html).
    json
        Write all digits to a JSON file.
    """
    mechanism = arguments.mechanism(file, base=base, snap=snap)
    _check_files({"page": (html, (".html", ".htm")), "JSON document": (json, (".json",))})
    comparison = kinpair.compare(
        mechanism, quantities=quantity or USUAL, states=states, seed=seed, force=force, time=not no_time
    )
    _show(comparison)
    screen = Screen()
    if html is not None:
        screen.say(f"page: {comparison.to_html(html)}")
    if json is not None:
        comparison.to_json(json)
        screen.say(f"json: {json}")
    if not comparison.complete:
        screen.say(f"interrupted: {comparison.status}; --quantity selects fewer quantities")
        raise SystemExit(INTERRUPTED)


def _check_files(outputs: Mapping[str, tuple[Path | None, tuple[str, ...]]]) -> None:
    """Check the files before the work: no description given by mistake is overwritten, and the folders exist."""
    for what, (path, endings) in outputs.items():
        if path is None:
            continue
        if path.suffix.lower() not in endings:
            raise InputError(
                f"{path}: a {what} needs a file name that ends in {' or '.join(endings)}", path=path
            )
        if not path.parent.is_dir():
            raise InputError(f"{path}: cannot be written ({os.strerror(errno.ENOENT)})", path=path)


def _show(comparison: Comparison) -> None:
    screen = Screen()
    screen.heading(head(comparison))
    for line in LEGEND:
        screen.say(line)
    for part in parts(comparison):
        screen.say()
        screen.heading(part.title)
        if part.rows:
            screen.print(_fitting(part, screen.width))
        for line in part.lines:
            screen.say(line)


def _fitting(part: Part, width: int) -> Table:
    """The table with its units below the headings where they do not fit next to them; names are never folded."""
    widest = [max(map(len, column)) + GAP for column in zip(part.headings, *part.rows, strict=True)]
    narrow = sum(widest) - GAP > width
    headings = [heading.replace(" [", "\n[") for heading in part.headings] if narrow else part.headings
    fitting = table(headings, part.rows)
    fitting.columns[0].no_wrap = True
    return fitting
