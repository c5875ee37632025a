"""`kinpair gait`: a walking machine in balance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from cyclopts import Parameter

import kinpair
from kinpair.cli import arguments
from kinpair.cli.arguments import File, Flag
from kinpair.cli.output import Out, check_outputs, number_table, print_json
from kinpair.cli.screen import Screen
from kinpair.compiler.patience import patience

if TYPE_CHECKING:
    from kinpair.motion import Gait

Number = Annotated[float | None, Parameter(metavar="NUMBER", show_default=False)]


def gait(
    file: File = "biped",
    /,
    *,
    speed: Number = None,
    step: Number = None,
    double: Number = None,
    slope: Annotated[float, Parameter(metavar="DEGREES")] = 0.0,
    arms: Number = None,
    friction: Annotated[float, Parameter(metavar="NUMBER")] = 0.6,
    roles: Annotated[str | None, Parameter(metavar="FILE", show_default=False)] = None,
    plot: Out = None,
    save: Out = None,
    json: Flag = False,
) -> None:
    """Let a biped walk: legs as people move them, trunk and arms such that its feet can stand on the ground.

    Prints how it walks, how far the zero-moment point stays inside the feet, what friction it takes, and what no foot
    could give. Roles of joints that are not named as those of the bundled biped are guessed and printed.

    Parameters
    ----------
    file
        A description (.urdf, .xml, .toml), or the name of a bundled example.
    speed
        How fast it walks [m/s]; default: 0.8 for the bundled biped, else by the length of the legs.
    step
        Length of a step [m]; default: by the speed.
    double
        Part of a step with both feet on the ground; default: 0.2, or 0.3 where roles are guessed.
    slope
        By how much the ground falls forward [degrees].
    arms
        Part of the moment about the vertical that arms take by swinging; 0: they hang still; default: 0.5.
    friction
        What the ground offers.
    roles
        A TOML file whose table [gait] names joints by role, such as left_knee = "l_leg_kny"; others are guessed.
    plot
        Draw stick figures, footprints, efforts and phase portraits (.png, .svg, .pdf).
    save
        Write samples of two steps to an HDF5 file (.h5).
    json
        Print one JSON document with all samples.
    """
    from kinpair.walking.gait_file import GAIT, save_gait, target

    check_outputs(file, plot=plot)
    if save is not None:
        target(save, GAIT)
    with patience(f"gait of {file}", lines=True):
        m = arguments.mechanism(file)
        if not any(joint.kind == "free" for joint in m.model.description.joints):
            m = arguments.mechanism(file, base="free")
        x = kinpair.motion.gait(
            m,
            speed=speed,
            step=step,
            double=double,
            slope=float(np.deg2rad(slope)),
            arms=arms,
            friction=friction,
            roles=roles,
        )
    written = {"picture": plot, "samples": save}
    if plot is not None:
        x.plot(plot)
    if save is not None:
        save_gait(x, save)
    if json:
        print_json(_document(x))
    else:
        _show(x, {what: str(path) for what, path in written.items() if path is not None})


def _document(x: Gait) -> dict[str, Any]:
    m = x.mechanism
    return {
        "name": m.name,
        "q_names": m.q_names,
        "v_names": m.v_names,
        **x.samples,
        "figures": x.figures(),
        "feasible": x.feasible,
        "excesses": list(x.support.excesses),
    }


def _show(x: Gait, written: dict[str, str]) -> None:
    screen, names = Screen(), x.mechanism.v_names[6:]
    found = x.samples
    table = {
        "from [deg]": np.rad2deg(found["q"][:, 7:].min(0)),
        "to [deg]": np.rad2deg(found["q"][:, 7:].max(0)),
        "largest effort [N m]": np.abs(found["effort"][:, 6:]).max(0),
        "power [W]": np.abs(found["power"][:, 6:]).max(0),
    }
    screen.print(number_table("", names, table, screen.width))
    print()
    print(x)
    for what, path in written.items():
        print(f"{what}: {path}")
