"""The omni robot of Zhao et al. 2023: its motion, its path, and what the choice of a method changes; pictures."""

import sys
from pathlib import Path

import numpy as np
from matplotlib import style
from matplotlib.figure import Figure

import kinpair as kp

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "build/figures")
MARK = {"color": "#222222", "marker": "o", "linestyle": "", "markerfacecolor": "none", "zorder": 5}
METHODS = ("rosenberg-extended", "udwadia-kalaba")
MM = np.array([1, 1, 1, 1e3, 1e3, 1])  # the source measures in millimetres
RATES = np.array([1, 1, 2, -0.02 / 3, -0.02 / np.sqrt(3), -2 / 3])  # the wheels roll
PRINTED_RATES = np.array([1, 1, 2, -6.667e-3, -11.547e-3, -0.667])  # rounded, and the wheels slip a little
DRIVE = 1e-6 * np.array([0.25, 0, 0, 0, 0, 0])
ENDS = {  # coordinates and rates after 60 s, integrated apart from this library
    "exact start": (
        *(83.0286224688, 80.9911511204, 80.3302264108, -172.6108756231, 288.3948429083, -39.7014012244),
        *(0.7933170505, 1.9464835778, 1.3051993717, 13.3385241204, 0.3656888778, -0.6741666667),
    ),
    "printed start": (
        *(83.0123123528, 81.0084805362, 80.3292071111, -172.1236646985, 288.2714663713, -39.7214012244),
        *(0.7867920273, 1.9410903728, 1.3171175999, 13.3393113261, 0.3377323355, -0.6745),
    ),
}
FIRST = (0.34554843675702, -0.34494067813633, 1.4224137931e-4, -0.79203485405466, 0.45977011494253, -1.25e-4)
COLUMNS = {  # of a picture: unit, coordinates, their names
    "wheels": ("rad", slice(0, 3), ["1", "2", "3"]),
    "base": ("mm", slice(3, 5), ["x", "y"]),
    "heading": ("rad", slice(5, 6), ["heading"]),
}
TURNING = [0, 1, 2, 5]  # coordinates that are angles
PERIOD, RADIUS = 91.106186954, 193.333333  # of the circle it coasts on: s, mm

robot = kp.example("omni-robot")


def moved(rates=RATES, solver=METHODS[0], duration=60.0, drive=DRIVE, **options):
    """Nothing holds the constraints but their accelerations, as in the source."""
    options = {"rtol": 1e-13, "atol": 1e-15, "output": duration / 600} | options
    start = robot.start()
    return kp.simulate(
        robot, start, rates, duration=duration, torque=drive, solver=solver, hold="none", **options
    )


run, printed = moved(), moved(PRINTED_RATES)
idle, coast = moved(drive=None), moved(duration=PERIOD, drive=None)
others = {
    "printed start, rounded": printed,
    "Runge–Kutta 5(4) at 1e-3, 1e-6": moved(integrator="dopri5", rtol=1e-3, atol=1e-6 / np.tile(MM, 2)),
    "the two methods": moved(solver=METHODS[1]),
}
q, qd = MM * run.q, MM * run.qd
qdd = MM * robot.forward_dynamics(run.q, run.qd, np.broadcast_to(DRIVE, run.qd.shape), solver=METHODS[0])


def motion():
    figure = Figure(figsize=(9, 6.4))
    axes = figure.subplots(3, 3, sharex=True)
    end = np.reshape(ENDS["exact start"], (2, 6))
    rows = ((q, 60, end[0], ""), (qd, 60, end[1], "/s"), (qdd, 0, np.array(FIRST), "/s²"))
    for row, (values, time, reference, per_time) in zip(axes, rows, strict=True):
        for axis, (unit, part, names) in zip(row, COLUMNS.values(), strict=True):
            axis.plot(run.time, values[:, part], label=names)
            axis.plot(np.full(len(names), time), reference[part], clip_on=False, **MARK)
            axis.set_ylabel(f"[{unit}{per_time}]", labelpad=3)
    axes[2][2].set(ylim=(-2e-4, 0), yticks=(-2e-4, -1e-4, 0), yticklabels=("−2e-4", "−1e-4", "0"))
    for axis, title in zip(axes[0], COLUMNS, strict=True):
        axis.set_title(title)
    for row, word in zip(axes, ("position", "rate", "acceleration"), strict=True):
        row[0].set_ylabel(f"{word} {row[0].get_ylabel()}")
    for axis in axes[2]:
        axis.set_xlabel("time [s]")
        axis.legend(
            loc="upper center", bbox_to_anchor=(0.5, -0.3), ncols=3, columnspacing=1.0, handlelength=1.8
        )
    figure.suptitle("Omni robot: positions, rates and accelerations; circles are reference values")
    figure.align_ylabels()
    return figure


def paths():
    figure = Figure(figsize=(8.6, 4.5))
    plane, apart = figure.subplots(1, 2, width_ratios=(1.25, 1))
    straight = q[0, 3:5] + np.outer([0, 20], qd[0, 3:5])
    plane.plot(*q[:, 3:5].T, label="driven, 60 s")
    plane.plot(*(1e3 * coast.q[:, 3:5].T), label=f"coasting, {PERIOD:.1f} s")
    plane.plot(*straight.T, label="coasting by Hamel’s mistake, 20 s")
    for k in (0, 200, 400, 600):
        base(plane, q[k, 3:])
    plane.set(title="the base every 20 s, wheel 1 filled", xlabel="x [mm]", ylabel="y [mm]", aspect="equal")
    plane.set(xlim=(-430, 90), ylim=(-260, 350), xticks=range(-400, 1, 100))
    plane.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16))
    lines = {"driven from coasting": idle, "printed start from exact start": printed}
    for (name, other), look in zip(lines.items(), ({}, {"color": "#1b7a4b"}), strict=True):
        apart.plot(run.time, 1e3 * np.linalg.norm((other.q - run.q)[:, 3:5], axis=1), label=name, **look)
    apart.set(title="how far apart", xlabel="time [s]", ylabel="distance [mm]")
    apart.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16))
    figure.suptitle("Omni robot: paths of its middle")
    return figure


def base(axis, place):
    """The three wheels around the middle, the driven one filled."""
    azimuth = place[2] + np.radians([60, 180, -60])
    wheels = place[:2, None] + 40 * np.array([np.cos(azimuth), np.sin(azimuth)])
    for wheel, fill in zip(wheels.T, ("#2a6fbb", "white", "white"), strict=True):
        axis.plot(*np.transpose([place[:2], wheel]), color="#888888", linestyle="-", linewidth=1.2)
        axis.plot(*wheel, marker="o", markersize=5, color="#555555", markerfacecolor=fill)


def differences():
    figure = Figure(figsize=(8, 3.6))
    axes = figure.subplots(1, 2, sharey=True)
    for axis, part, unit in zip(axes, ("q", "qd"), ("angles [rad]", "rates [rad/s]"), strict=True):
        for name, other in others.items():
            off = np.abs(getattr(other, part) - getattr(run, part))[1:, TURNING].max(axis=1)
            axis.semilogy(run.time[1:], np.maximum(off, 1e-17), linestyle="-", linewidth=1.3, label=name)
        axis.set(title=unit, xlabel="time [s]", ylim=(1e-17, 1), yticks=10.0 ** np.arange(-16, 1, 4))
    axes[0].set_ylabel("largest difference")
    figure.suptitle("Omni robot: what the choice of the method changes, and what else does")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


for name, found in {"exact start": run, "printed start": printed}.items():
    end = np.concatenate([MM * found.q[-1], MM * found.qd[-1]])
    slip = 1e3 * np.abs(robot.constraint_matrix(found.q[-1]) @ found.qd[-1]).max()
    print(f"{name}: x, y after 60 s {end[3:5].round(10).tolist()} mm")
    print(f"  off the reference by {np.abs(end - ENDS[name]).max():.0e}; the wheels slip at {slip:.7f} mm/s")
middle = 1e3 * coast.q[:-1, 3:5].mean(axis=0)
radius = np.linalg.norm(1e3 * coast.q[:, 3:5] - middle, axis=1)
print(f"coasting: a circle of {radius.mean():.6f} mm (reference {RADIUS}), round to {np.ptp(radius):.0e} mm")
for name, other in others.items():
    off = np.abs(MM * (other.q - run.q)).max(axis=0)
    print(f"{name}: changes angles by {off[TURNING].max():.0e} rad and the path by {off[3:5].max():.0e} mm")

FOLDER.mkdir(parents=True, exist_ok=True)
with style.context(Path(__file__).with_name("figures.mplstyle")):
    for draw in (motion, paths, differences):
        draw().savefig(FOLDER / f"omni-robot-{draw.__name__}.png")
