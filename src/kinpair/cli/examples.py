"""`kinpair examples`: the bundled mechanisms."""

from __future__ import annotations

import sys
from typing import Annotated

from cyclopts import Parameter

import kinpair
from kinpair.cli.output import table
from kinpair.cli.screen import Screen


def examples(name: Annotated[str | None, Parameter(metavar="NAME", show_default=False)] = None, /) -> None:
    """List the bundled examples, or print the TOML file of one of them.

    Parameters
    ----------
    name
        Example to print: kinpair examples stanford-arm > my.toml
    """
    if name is not None:
        sys.stdout.write(kinpair.example_text(name))
        return
    screen = Screen()
    screen.print(table(("example", "description"), kinpair.examples().items(), names=2))
    screen.say(
        "\nkinpair info NAME describes an example; kinpair examples NAME > my.toml makes a copy to edit"
    )
