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
    """Compute a walking gait of a biped and check its balance.

    Leg motions are those of people; trunk and arms balance the robot. Prints the gait, the distance of the
    zero-moment point from the edges of the feet, the friction coefficient required, and forces that no foot can
    supply. If joints have other names than those of the bundled biped, their roles are guessed and printed.

    Parameters
    ----------
    file
        A description (.urdf, .xml, .toml), or the name of a bundled example.
    speed
        Walking speed [m/s]. Default: 0.8 for the bundled biped, else from the leg length.
    step
        Step length [m]. Default: from the speed.
    double
        Fraction of a step with both feet on the ground. Default: 0.2, or 0.3 if roles are guessed.
    slope
        Slope of the ground, positive downhill [degrees].
    arms
        Fraction of the vertical moment that is balanced by swinging arms; 0: arms at rest. Default: 0.5.
    friction
        Friction coefficient of the ground.
    roles
        TOML file whose table [gait] gives the joint of each role, such as left_knee = "l_leg_kny"; missing roles
        are guessed.
    plot
        Draw stick figures, footprints, efforts and phase portraits (.png, .svg, .pdf).
    save
        Write samples of two steps to an HDF5 file (.h5).
    json
        Print one JSON document with all samples.
    """
    from kinpair.walking.replay import GAIT, save_gait, target

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
