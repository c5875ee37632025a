"""FILE of a command line: a description, or the name of a bundled example."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from kinpair import DescriptionWarning, InputError, Mechanism, System, example, examples, load
from kinpair.description.fields import counted
from kinpair.errors import listed, nearest
from kinpair.loading import Base

File = Annotated[str, Parameter(metavar="FILE")]
Described = Annotated[
    str,
    Parameter(
        metavar="FILE",
        help="A description (.urdf, .xml, .toml, .csv), or the name of a bundled example.",
    ),
]
Root = Annotated[Base, Parameter(help='"free" lets the root link float.')]
Snap = Annotated[
    float,
    Parameter(help="Make rotations within this distance of quarter turns exact; 1e-5 mends 1.5708 for π/2."),
]
Flag = Annotated[bool, Parameter(negative="", show_default=False)]


def mechanism(file: str, *, base: Base = "fixed", strict: bool = False, snap: float = 0.0) -> Mechanism:
    """The mechanism in the file, or the bundled example of that name; warnings stay in its `warnings`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        return _loaded(file, base=base, strict=strict, snap=snap)


def notes_on(mechanism: Mechanism, file: str) -> list[str]:
    """Return the first warning about a description, and how to see the others."""
    first, others = mechanism.warnings[:1], len(mechanism.warnings) - 1
    more = [f"{counted(others, 'more warning')} about the description: kinpair check {file}"]
    return [*(f"warning: {sentence}" for sentence in first), *more * (others > 0)]


def subject(file: str, *, base: Base = "fixed", snap: float = 0.0) -> Mechanism | System:
    """The same, or a bundled example that is given by its energy."""
    if file in examples() and file not in examples(systems=False) and not Path(file).exists():
        return example(file) if base == "fixed" else example(file, base=base)
    return mechanism(file, base=base, snap=snap)


def _loaded(file: str, **options: Any) -> Mechanism:
    known = examples()
    if Path(file).exists() and not (Path(file).is_dir() and file in known):
        return load(file, **options)
    if file in examples(systems=False):
        return example(file, **options)
    if file in known:
        raise InputError(
            f"{file} is given by its energy, without bodies, and this command takes a mechanism; in Python: "
            f"kinpair.example({file!r})",
            file=file,
        )
    raise InputError(
        f"no file {file!r}, and no bundled example of that name; {nearest(file, known)}"
        f"Examples: {listed(known)}",
        file=file,
    )
