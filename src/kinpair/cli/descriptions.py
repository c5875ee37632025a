"""Commands on descriptions: `kinpair new`, `convert`, `examples` and `check`."""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path
from typing import Annotated

import numpy as np
from cyclopts import Parameter

import kinpair
from kinpair import DescriptionWarning, InputError, KinpairError, LimitWarning, Mechanism
from kinpair.cli import arguments
from kinpair.cli.arguments import Described, Root, Snap
from kinpair.cli.output import table
from kinpair.cli.screen import Screen
from kinpair.description.fields import counted

STARTER = """# {name}: an arm of two links in the plane x-z. Edit and save the file, then run
#     kinpair view {file}         shows the arm in the browser; reads this file again when it is saved
#     kinpair check {file}        lists warnings with remedies
#     kinpair simulate {file} --q shoulder=1 --duration 5 --report {stem}.html
# Lengths are in metres, masses in kilograms, angles in radians ("pi/2" is allowed). Every key: docs/toml.md

name = "{name}"
gravity = [0, 0, -9.81]

# A link is a rigid body. By default, the origin of its frame is at its joint.
[[link]]
name = "upper"
mass = 2.0
com = [0, 0, -0.25]                  # mass centre in the link frame
inertia = [0.042, 0.042, 0.001]      # about the mass centre: xx, yy, zz
visual = [{{ cylinder = [0.03, 0.5], xyz = [0, 0, -0.25] }}]

[[link]]
name = "lower"
mass = 1.0
com = [0, 0, -0.2]
inertia = [0.0135, 0.0135, 0.0003]
visual = [{{ cylinder = [0.025, 0.4], xyz = [0, 0, -0.2], colour = [0.87, 0.56, 0.25] }}]

# A joint moves its child in its parent. Kinds: revolute, prismatic, helical, cylindrical, universal, spherical,
# planar, free, fixed.
[[joint]]
name = "shoulder"
kind = "revolute"
parent = "ground"
child = "upper"
axis = "y"
damping = 0.05                       # N m s/rad

[[joint]]
name = "elbow"
kind = "revolute"
parent = "upper"
child = "lower"
xyz = [0, 0, -0.5]                   # place on the parent
axis = "y"
lower = -2.5
upper = 2.5

# A named frame, for poses, Jacobians and targets.
[[frame]]
name = "tip"
link = "lower"
xyz = [0, 0, -0.4]
"""


def new(
    file: Annotated[Path, Parameter(metavar="FILE.toml")],
    /,
    *,
    like: Annotated[str | None, Parameter(metavar="NAME", show_default=False)] = None,
) -> None:
    """Write a commented TOML file of an arm as a starting point. Existing files are never replaced.

    Parameters
    ----------
    file
        Name of the new file (.toml).
    like
        Copy this bundled example instead; kinpair examples lists them.
    """
    if file.suffix.lower() != ".toml":
        raise InputError(f"{file}: a new mechanism needs a file name that ends in .toml", path=str(file))
    names = {"name": file.stem, "file": file, "stem": file.stem}
    text = STARTER.format(**names) if like is None else kinpair.example_text(like)
    try:
        with file.open("x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        raise InputError(f"{file}: exists already; give another name", path=str(file)) from None
    except OSError as reason:
        raise InputError(f"{file}: cannot be written ({reason.strerror})", path=str(file)) from None
    screen = Screen()
    screen.say(f"written: {file}")
    screen.say(f"next: kinpair view {file}")


New = Annotated[str, Parameter(help="File to write: .urdf, .sdf, .xml (MJCF) or .toml.")]


def convert(file: Described, new: New, /, *, base: Root = "fixed", snap: Snap = 0.0) -> None:
    """Write a description in another format: URDF, SDF, MJCF (.xml) or TOML.

    Parts that the format cannot represent are left out and listed by name.
    """
    from kinpair.description.writing.write import write

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


WARNED = 1  # exit code where there are warnings
ADVICE = (  # words of a warning: what to do
    (
        "not simulated, although",
        "The motion differs from that of other simulators where these parts act. Stop joints at their "
        "limits with --limits stop; replace these parts by springs, loops or rolling constraints.",
    ),
    (
        "outside its package",
        "Write package:// followed by a path inside the package, or move the mesh into the package.",
    ),
    (
        "mesh",
        "Only pictures need the mesh. Put the file there, or give the folder of its package to kp.load: "
        "packages={name: folder}.",
    ),
    (
        "without mass|<inertial> without|has mass or inertia",
        "Add mass and inertia to the link, or attach it by a fixed joint.",
    ),
    (
        "inertia",
        "No rigid body has this inertia. Check the unit (kg m²), the reference point (mass centre) and the "
        "signs of the products of inertia.",
    ),
    ("look like degrees|not degrees", 'Write angles in radians; TOML files also take "pi/2".'),
    (
        "limit|autolimits|leaves no room",
        "Write lower and upper of the joint, or make the joint continuous if it has no limits.",
    ),
    ("mimics", "Correct the name of the joint that is mimicked."),
    (
        "has no meaning|unknown|not taken|left out",
        "It has no effect here. Correct the name, or remove it from the file.",
    ),
    ("negative", "A negative value adds energy. Write a positive value."),
    ("friction|damping", "Check the value and its unit."),
    ("gear ratio", "Write the gear ratio: motor turns per joint turn."),
)
OTHERWISE = "Check this part of the file; kp.load(..., strict=True) rejects files with warnings."


def check(file: Described, /, *, base: Root = "fixed", snap: Snap = 0.0) -> None:
    """List warnings with remedies, loop closure and mobility.

    Exit code: 0 without warnings, 1 with warnings, 2 if the file cannot be read.
    """
    mechanism = arguments.mechanism(file, base=base, snap=snap)
    screen = Screen()
    about = f"{len(mechanism.model.moving)} bodies, {mechanism.nv} rates, {mechanism.mass:.6g} kg"
    screen.heading(f"{mechanism.name}: {about}")
    for sentence in mechanism.warnings:
        screen.say(f"- {sentence}")
        screen.say(f"    → {advice(sentence)}")
    troubles = _troubles(mechanism)
    for sentence in troubles:
        screen.say(f"- {sentence}")
    count = len(mechanism.warnings) + len(troubles)
    screen.say(counted(count, "warning") if count else "no warnings")
    if count:
        sys.stdout.flush()
        raise SystemExit(WARNED)


def advice(sentence: str) -> str:
    """Return the remedy for a warning."""
    return next((text for words, text in ADVICE if re.search(words, sentence)), OTHERWISE)


def _troubles(mechanism: Mechanism) -> list[str]:
    """Find what shows only when the mechanism is assembled and moves: a start that fails or is outside the limits, and
    keyframes outside them."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LimitWarning)
            q = mechanism.start()
        mechanism.forward_dynamics(q, np.zeros(mechanism.nv), np.zeros(mechanism.nv))
        states = {"the start": q, **{f"keyframe {name!r}": x.q for name, x in mechanism.keyframes.items()}}
        texts = [mechanism.start_warning(x, what=what) for what, x in states.items()]
    except KinpairError as reason:
        return [str(reason)]
    return [text for text in texts if text]
