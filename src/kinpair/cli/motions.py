"""Commands on motions: `kinpair nominal`, `transfer` and `gait`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from cyclopts import Parameter

import kinpair
from kinpair import FramePose
from kinpair.cli import arguments
from kinpair.cli.arguments import Described, File, Flag, Numbers, Option, Root, Snap, motion_of, start_of
from kinpair.cli.dynamics import Names, chosen_actuators
from kinpair.cli.output import Out, check_outputs, number_table, print_json
from kinpair.cli.screen import Screen
from kinpair.compiler.patience import patience
from kinpair.model.units import units
from kinpair.viewer.curves import write_figure

if TYPE_CHECKING:
    from kinpair.motion import Gait
    from kinpair.motion.nominal import Nominal
    from kinpair.motion.vessel import Tank, Transfer


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
        print_json(_nominal_document(x))
    else:
        _show_nominal(x, None if plot is None else str(plot))


def _nominal_document(x: Nominal) -> dict[str, Any]:
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


def _show_nominal(x: Nominal, picture: str | None) -> None:
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
        print_json(
            {"name": m.name, "tank": _tank(tank), **{way: _transfer_document(x) for way, x in found.items()}}
        )
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


def _transfer_document(x: Transfer) -> dict[str, Any]:
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
        print_json(_gait_document(x))
    else:
        _show_gait(x, {what: str(path) for what, path in written.items() if path is not None})


def _gait_document(x: Gait) -> dict[str, Any]:
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


def _show_gait(x: Gait, written: dict[str, str]) -> None:
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
