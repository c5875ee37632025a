"""`kinpair nominal`: a motion in, everything that it takes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from cyclopts import Parameter

import kinpair
from kinpair.cli import arguments
from kinpair.cli.arguments import Described, Flag, Numbers, Root, Snap, motion_of, start_of
from kinpair.cli.dynamics import Names, chosen_actuators
from kinpair.cli.output import Out, check_outputs, number_table, print_json
from kinpair.cli.screen import Screen
from kinpair.compiler.patience import patience
from kinpair.model.units import units

if TYPE_CHECKING:
    from kinpair.motion.nominal import Nominal


def nominal(
    file: Described,
    /,
    *,
    to: Numbers = None,
    by: Numbers = None,
    frame: Annotated[str | None, Parameter(metavar="NAME", show_default=False)] = None,
    q: Numbers = None,
    duration: Annotated[float, Parameter(metavar="SECONDS")] = 2.0,
    law: Annotated[str, Parameter(metavar="NAME")] = "septic",
    fastest: Flag = False,
    criterion: Annotated[str, Parameter(metavar="NAME")] = "rates",
    actuators: Names = None,
    samples: Annotated[int, Parameter(metavar="NUMBER")] = 1001,
    no_passive: Flag = False,
    base: Root = "fixed",
    snap: Snap = 0.0,
    plot: Out = None,
    json: Flag = False,
) -> None:
    """Compute efforts, power, energy and reactions along a motion, and check them against the limits of the file.

    The motion moves joints from --q to the coordinates --to. With --frame it moves a frame from its pose at --q
    along a straight line by the displacement --by, without rotation. Numbers are given as for kinpair dynamics.

    Parameters
    ----------
    to
        Final coordinates; coordinates without a value are constant.
    by
        Displacement of the frame x,y,z [m], in world axes.
    frame
        Link or frame to move.
    q
        Initial coordinates. Default: the start of the description.
    duration
        Duration of the motion [s].
    law
        Motion law: cycloid, linear, cubic, quintic, septic or nonic.
    fastest
        Use the shortest duration that the limits of the file allow.
    criterion
        Quantity to minimise with redundant joints: rates, energy or limits.
    actuators
        Actuated joints of a closed mechanism, or all. Default: joints with an actuator or actuated = true in the
        file.
    samples
        Number of samples.
    no_passive
        Leave out springs, dampers and friction of the joints.
    plot
        Draw rates, efforts, power and energy (.png, .svg, .pdf).
    json
        Print one JSON document with all samples.
    """
    check_outputs(file, plot=plot)
    with patience(f"motion of {file}", lines=True):
        m = arguments.mechanism(file, base=base, snap=snap)
        start = start_of(m, q)
        wanted = motion_of("nominal", m, start, to, by, frame, duration, law)
        options: dict[str, Any] = {
            "passive": not no_passive,
            "actuators": chosen_actuators(m, actuators),
        }
        options |= {"start": start, "criterion": criterion}
        if fastest:
            wanted = kinpair.motion.fastest(m, wanted, **options)
        x = kinpair.motion.nominal(m, wanted, samples=samples, **options)
    if plot is not None:
        x.plot(plot)
    if json:
        print_json(_document(x))
    else:
        _show(x, None if plot is None else str(plot))


def _document(x: Nominal) -> dict[str, Any]:
    m = x.mechanism
    return {
        "name": m.name,
        "duration": x.motion.duration,
        "smoothness": x.motion.smoothness,
        "q_names": m.q_names,
        "v_names": m.v_names,
        "time": x.time,
        "q": x.q,
        "qd": x.qd,
        "qdd": x.qdd,
        "effort": x.effort,
        "power": x.power,
        "kinetic": x.energy.kinetic,
        "potential": x.energy.potential,
        "reactions": x.reactions,
        "work": x.work,
        "gain": x.gain,
        "loss": x.loss,
        "feasible": x.feasibility.feasible,
        "excesses": [e._asdict() for e in x.feasibility.excesses],
    }


def _show(x: Nominal, picture: str | None) -> None:
    m, screen = x.mechanism, Screen()
    unit = units(m.model)["q"]
    names = [f"{name} [{u}]" for name, u in zip(m.v_names, unit, strict=False)] if m.nq == m.nv else m.v_names
    largest = {
        "largest rate": np.abs(x.qd).max(0),
        "effort": np.abs(x.effort).max(0),
        "power [W]": np.abs(x.power).max(0),
        "work [J]": x.work,
    }
    screen.print(number_table("", names, largest, screen.width))
    for line in str(x).splitlines():
        screen.say(line)
    if picture is not None:
        screen.say(f"picture: {picture}")
