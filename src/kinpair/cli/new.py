"""`kinpair new`: a commented file to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

import kinpair
from kinpair import InputError
from kinpair.cli.screen import Screen

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
