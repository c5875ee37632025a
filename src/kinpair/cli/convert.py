"""`kinpair convert`: a description in another format."""

from __future__ import annotations

import warnings
from typing import Annotated

from cyclopts import Parameter

from kinpair import DescriptionWarning, InputError
from kinpair.cli import arguments
from kinpair.cli.arguments import Described, Root, Snap
from kinpair.cli.screen import Screen
from kinpair.description.writing.write import write

New = Annotated[str, Parameter(help="File to write: .urdf, .sdf, .xml (MJCF) or .toml.")]


def convert(file: Described, new: New, /, *, base: Root = "fixed", snap: Snap = 0.0) -> None:
    """Write a description in another format: URDF, SDF, MJCF (.xml) or TOML.

    Parts that the format cannot represent are left out and listed by name.
    """
    mechanism = arguments.mechanism(file, base=base, snap=snap)
    screen = Screen()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DescriptionWarning)
            sentences = write(mechanism, new)
    except OSError as reason:
        raise InputError(f"{new}: cannot be written ({reason.strerror})", path=new) from None
    for sentence in sentences:
        screen.say(f"- {sentence}")
    screen.say(f"written: {new}")
