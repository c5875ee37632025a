"""Saha's planar arm: torques of a cycloidal motion, and a free fall; pictures of them (docs/figures.md)."""

import sys
from pathlib import Path

import numpy as np
from matplotlib import style
from matplotlib.figure import Figure

import kinpair as kp

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "build/figures")
MARK = {"color": "#222222", "marker": "o", "linestyle": "", "markerfacecolor": "none", "zorder": 5}
TORQUES = {  # time: torques, by two formulations apart from this library
    0.0: (4.34583, 1.54998, 0.32373),
    2.5: (3.982914426246, 1.274541631561, 0.221226314113),
    5.0: (-1.286948067067, -1.227730440660, 0.013027877809),
    7.5: (-1.869508480881, 0.818789239436, -0.213141935143),
    10.0: (-1.89333, 0.90252, -0.32373),
}
FALL = {  # time: angles, integrated apart from this library
    1.0: (-2.254069438, -1.101286931, -0.167747284),
    3.0: (-0.853981342, 0.237917852, 0.824508310),
}

arm = kp.example("planar-3r")
still = np.zeros(3)


def torques(time):
    """Torques (n, 3) while every joint turns from 0 to π in 10 s."""
    q, qd, qdd, _ = kp.motion.cycloid(still, np.full(3, np.pi), 10.0).at(time)
    return arm.inverse_dynamics(q, qd, qdd)


def draw_torques(file):
    time = np.linspace(0, 10, 501)
    figure = Figure(figsize=(8, 5.6))
    axes = figure.subplots(3, sharex=True)
    for axis, tau, points, joint in zip(
        axes, torques(time).T, zip(*TORQUES.values(), strict=True), (1, 2, 3), strict=True
    ):
        axis.plot(time, tau, label="kinpair")
        axis.plot(list(TORQUES), points, label="reference", clip_on=False, **MARK)
        axis.set(title=f"joint {joint}", ylabel="torque [N m]")
    axes[-1].set_xlabel("time [s]")
    figure.suptitle("Planar arm: torques of the cycloidal motion, 0 to π in 10 s")
    figure.align_ylabels()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.savefig(file)


def draw_fall(file, run):
    figure = Figure(figsize=(8, 5.2))
    above, below = figure.subplots(2, sharex=True)
    above.plot(run.time, run.q, label=("joint 1", "joint 2", "joint 3"))
    above.plot(
        np.repeat(list(FALL), 3), np.ravel(list(FALL.values())), label="reference", clip_on=False, **MARK
    )
    for name, energy in {**run.energy._asdict(), "sum": sum(run.energy)}.items():
        below.plot(run.time, energy, label=name)
    above.set(title="angles", ylabel="angle [rad]")
    below.set(
        title=f"energy; the sum stays zero to {run.balance.error:.0e} J",
        ylabel="energy [J]",
        xlabel="time [s]",
    )
    for axis in (above, below):
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.suptitle("Planar arm: free fall from rest, stretched out level")
    figure.align_ylabels()
    figure.savefig(file)


off = np.abs(torques(list(TORQUES)) - list(TORQUES.values())).max()
print(f"torques at {list(TORQUES)} s: {off:.0e} N m from the reference")
seen = torques(np.linspace(0, 10, 2001))
print("least and largest torque [N m]:", seen.min(axis=0).round(6), seen.max(axis=0).round(6))
print("                     reference: [-1.897254 -1.311806 -0.324331] [4.385284 1.566953 0.330456]")

fall = kp.simulate(arm, still, still, duration=3.0, rtol=1e-13, atol=1e-13, output=0.005)
fallen = [fall.q[np.searchsorted(fall.time, time - 1e-9)] for time in FALL]
print("angles after 1 and 3 s [rad]:", *(x.round(9) for x in fallen))
print(
    f"off by {np.abs(np.subtract(fallen, list(FALL.values()))).max():.0e} rad, energy by {fall.balance.error:.0e} J"
)

FOLDER.mkdir(parents=True, exist_ok=True)
with style.context(Path(__file__).with_name("figures.mplstyle")):
    draw_torques(FOLDER / "planar-arm-torques.png")
    draw_fall(FOLDER / "planar-arm-fall.png", fall)
