"""Write a mechanism to a file of another format."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from warnings import warn

from kinpair.description.builder import Builder
from kinpair.description.parts import Description
from kinpair.description.toml_writer import to_toml
from kinpair.description.writing.mjcf import to_mjcf
from kinpair.description.writing.plain import Report
from kinpair.description.writing.sdf import to_sdf
from kinpair.description.writing.urdf import to_urdf
from kinpair.errors import DescriptionWarning, InputError, caller_level, expect, listed
from kinpair.mechanism import Mechanism

_WRITERS: dict[str, tuple[str, Callable[[Description, Report, Path], str]]] = {
    ".urdf": ("URDF", to_urdf),
    ".sdf": ("SDF", to_sdf),
    ".xml": ("MJCF", to_mjcf),
    ".toml": ("TOML", lambda description, report, folder: to_toml(description)),
}


def write(what: Mechanism | Description | Builder, path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Write a mechanism as URDF (.urdf), SDF (.sdf), MJCF (.xml) or TOML (.toml), by the ending of the name.

    Returns a sentence for each kind of part that the format cannot represent, with the names of the parts; they are
    a DescriptionWarning, too. Reading the file gives the same dynamics without these parts. A joint that the format
    does not have raises DescriptionError, and nothing is written.
    """
    expect("write", what, Mechanism, Description, Builder)
    file = Path(path)
    if file.suffix.lower() not in _WRITERS:
        raise InputError(f"{file}: kinpair writes {listed(_WRITERS)}", path=str(file))
    description = what.model.description if isinstance(what, Mechanism) else what
    if isinstance(description, Builder):
        description = description.description()
    name, writer = _WRITERS[file.suffix.lower()]
    report = Report(name)
    text = writer(description, report, file.absolute().parent)
    file.write_text(text, encoding="utf-8", newline="\n")
    sentences = report.sentences()
    if sentences:
        warn(f"{file}: {'; '.join(sentences)}", DescriptionWarning, stacklevel=caller_level())
    return sentences
