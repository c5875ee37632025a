"""`kinpair compare`: every formulation beside the others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

from cyclopts import Parameter

import kinpair
from kinpair import Comparison
from kinpair.analysis.compare import STATES, USUAL
from kinpair.analysis.comparison_table import LEGEND, head, parts
from kinpair.cli import source
from kinpair.cli.screen import Screen, table
from kinpair.cli.source import File, Flag
from kinpair.loading import Base

Names: TypeAlias = Annotated[
    list[str] | None,
    Parameter(consume_multiple=(1, None), negative="", metavar="NAME...", show_default=False),
]
Out: TypeAlias = Annotated[Path | None, Parameter(metavar="PATH", show_default=False)]


def compare(
    file: File,
    /,
    *,
    quantity: Names = None,
    states: int = STATES,
    seed: int = 0,
    force: Flag = False,
    no_time: Flag = False,
    base: Base = "fixed",
    html: Out = None,
    json: Out = None,
) -> None:
    """Every formulation on a mechanism: do they agree, what do they cost, how fast are they?

    Parameters
    ----------
    file
        A description (.urdf, .xml, .toml, .csv), or the name of a bundled example.
    quantity
        What to compare, such as inverse_dynamics mass_matrix; default: five of them.
    states
        Number of random states in which the numbers are compared.
    seed
        Of the random states.
    force
        Also formulations that are refused because they take long.
    no_time
        Compile nothing and time nothing: only numbers and operations.
    base
        "free" lets the root link float.
    html
        Write a page with charts.
    json
        Write all digits as JSON.
    """
    mechanism = source.mechanism(file, base=base)
    found = kinpair.compare(
        mechanism, quantities=quantity or USUAL, states=states, seed=seed, force=force, time=not no_time
    )
    _show(found)
    screen = Screen()
    if html is not None:
        screen.say(f"page: {found.to_html(html)}")
    if json is not None:
        found.to_json(json)
        screen.say(f"json: {json}")


def _show(found: Comparison) -> None:
    screen = Screen()
    screen.heading(head(found))
    for line in LEGEND:
        screen.say(line)
    for part in parts(found):
        screen.say()
        screen.heading(part.title)
        if part.rows:
            screen.print(table(part.headings, part.rows))
        for line in part.lines:
            screen.say(line)
