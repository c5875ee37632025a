"""`kinpair transfer`: an arm carries an open vessel, by three strategies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from cyclopts import Parameter

import kinpair
from kinpair import FramePose
from kinpair.cli import arguments
from kinpair.cli.arguments import File, Flag, Numbers, Option
from kinpair.cli.output import Out, check_outputs, print_json
from kinpair.cli.screen import Screen
from kinpair.viewer.curves import write_figure

if TYPE_CHECKING:
    from kinpair.motion.vessel import Tank, Transfer

AXES = ("x", "y", "z")
Metres = Annotated[float, Parameter(metavar="METRES")]


def transfer(
    file: File,
    /,
    *,
    frame: Annotated[str, Parameter(metavar="NAME")] = "vessel",
    by: Numbers = None,
    q: Numbers = None,
    duration: Annotated[float, Parameter(metavar="SECONDS")] = 2.0,
    law: Annotated[str, Parameter(metavar="NAME")] = "septic",
    radius: Metres = 0.05,
    fill: Metres = 0.10,
    height: Metres = 0.13,
    damping: float = 0.0,
    settle: Annotated[float, Parameter(metavar="SECONDS")] = 1.0,
    plot: Out = None,
    json: Flag = False,
) -> None:
    """Carry an open vessel along a straight line: tilted, upright, and upright with a motion law that damps
    sloshing.

    The origin of the frame is the centre of the vessel's bottom; its z axis is the axis of the vessel, vertical
    at the start. For each strategy the command prints the largest tilt, the first sloshing mode, the wave height
    at the wall and the distance left to the edge.

    Parameters
    ----------
    file
        A description (.urdf, .xml, .toml, .csv), or the name of a bundled example, such as vessel-arm.
    frame
        Frame of the vessel.
    by
        Displacement x,y,z [m]; default: 0,1,0.
    q
        Initial coordinates. Default: the start of the description.
    duration
        Duration of the motion [s].
    law
        Motion law: septic or nonic for a tilted vessel.
    radius
        Radius of the vessel [m].
    fill
        Height of the liquid [m].
    height
        Height of the wall [m].
    damping
        Damping ratio of the waves.
    settle
        Observed time after the motion [s].
    plot
        Draw tilt, modes and waves (.png, .svg, .pdf).
    json
        Print one JSON document with all samples.
    """
    from kinpair.motion.vessel import WAYS, pictured  # planning is imported by the commands that plan

    check_outputs(file, plot=plot)
    m = arguments.mechanism(file)
    start = Option("--q", m.q_names, m.start()).read(q)
    move = Option("--by", AXES, np.array([0.0, 1.0, 0.0])).read(by)
    tank = kinpair.motion.Tank(radius=radius, fill=fill, height=height, damping=damping)
    pose = m.pose(start, frame)
    path = kinpair.motion.line(pose, FramePose(pose.rotation, pose.position + move), duration, law=law)
    found = {
        way: kinpair.motion.vessel(m, path, frame=frame, tank=tank, way=way, settle=settle, start=start)
        for way in WAYS
    }
    if plot is not None:
        write_figure(
            pictured(found, f"{m.name}: {fill:g} m of liquid in a vessel of radius {radius:g} m"), plot
        )
    if json:
        print_json({"name": m.name, "tank": _tank(tank), **{way: _document(x) for way, x in found.items()}})
        return
    screen = Screen()
    screen.say(
        f"{m.name}: {tank.mass:.4g} kg of liquid, first mode {tank.frequencies()[0]:.4g} rad/s with "
        f"{tank.masses[0]:.3g} kg {tank.heights[0]:.3g} m above the bottom"
    )
    for x in found.values():
        screen.say(str(x))
    if plot is not None:
        screen.say(f"picture: {plot}")


def _tank(tank: Tank) -> dict[str, Any]:
    return {
        "mass": tank.mass,
        "frequencies": tank.frequencies(),
        "masses": tank.masses,
        "heights": tank.heights,
        "freeboard": tank.freeboard,
    }


def _document(x: Transfer) -> dict[str, Any]:
    return {
        "time": x.waves.time,
        "tilt": x.tilt,
        "displacement": x.waves.displacement,
        "wall": x.waves.wall,
        "peak": x.peak,
        "wave": x.wave,
        "margin": x.margin,
        "spills": x.spills,
    }
