"""The Stanford arm with data of Paul and of Saha: efforts of a cycloidal motion, and a free fall; pictures of them."""

import sys
from pathlib import Path

import numpy as np
from matplotlib import style
from matplotlib.figure import Figure

import kinpair as kp

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "build/figures")
MARK = {"color": "#222222", "marker": "o", "linestyle": "", "markerfacecolor": "none", "zorder": 5}
TIMES = (0.0, 2.5, 5.0, 7.5, 10.0)
UNITS = {2: ("force [N]", 1), 5: ("torque [mN m]", 1e3)}  # of joints 3 and 6
THIRD = np.pi / 3
SOURCES = {  # example: whose data, start, end, efforts at TIMES by two formulations apart from this library
    "stanford-arm": (
        "data of Paul 1981, corrected",
        (0, np.pi / 2, 0.5, 0, 0, 0),
        (THIRD, THIRD, 0.8, THIRD, THIRD, THIRD),
        (
            (0, -7.20182511, 0, 0, 0, 0),
            (
                0.119166723621,
                -8.963457155372,
                3.065161960989,
                -0.236653425471,
                -0.252258546544,
                0.000043381613,
            ),
            (
                0.037056330717,
                -16.004601936303,
                16.351179903873,
                -1.046798586722,
                -1.340056274864,
                -0.000010071146,
            ),
            (
                -0.148804060414,
                -21.548536083054,
                28.994524453176,
                -1.078047407899,
                -1.928266974961,
                -0.000035316337,
            ),
            (0, -22.571101148488, 31.73535, -0.959072197500, -1.974057464179, 0),
        ),
    ),
    "stanford-arm-saha": (
        "data attributed to Saha",
        (0, np.pi / 2, 0, 0, 0, 0),
        (THIRD, np.pi / 2 + THIRD, 0.1, THIRD, THIRD, THIRD),
        (
            (0, 14.67576, 0, 0, 1.33416, 0),
            (
                0.106815464790,
                15.245338895271,
                5.723222506398,
                -0.012290871168,
                1.312263240571,
                0.000287942172,
            ),
            (
                -0.071373892389,
                14.887214735527,
                29.782582433177,
                -0.285952540668,
                0.539216691990,
                0.000000258756,
            ),
            (
                -0.049383943521,
                10.736393453758,
                48.666697615593,
                -0.508438982899,
                -0.624280625397,
                -0.000422748984,
            ),
            (0, 9.49608, 51.823826187865, -0.50031, -0.83385, 0),
        ),
    ),
}


def efforts(name, time):
    """Torques, and for joint 3 the force, of the cycloidal motion in 10 s (n, 6)."""
    _, start, end, _ = SOURCES[name]
    q, qd, qdd, _ = kp.motion.cycloid(start, end, 10.0).at(time)
    return kp.example(name).inverse_dynamics(q, qd, qdd)


def draw_efforts(name, file):
    time = np.linspace(0, 10, 501)
    whose, _, _, points = SOURCES[name]
    figure = Figure(figsize=(8, 6))
    axes = figure.subplots(3, 2, sharex=True).T.ravel()
    for k, (axis, tau, at) in enumerate(zip(axes, efforts(name, time).T, np.transpose(points), strict=True)):
        unit, scale = UNITS.get(k, ("torque [N m]", 1))
        axis.plot(time, scale * tau, label="kinpair")
        axis.plot(TIMES, scale * at, label="reference", clip_on=False, **MARK)
        axis.set(title=f"joint {k + 1}", ylabel=unit)
    axes[2].set_xlabel("time [s]")
    axes[5].set_xlabel("time [s]")
    figure.suptitle(f"Stanford arm, {whose}: efforts of the cycloidal motion")
    figure.align_ylabels()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.savefig(file)


def draw_fall(run, file):
    figure = Figure(figsize=(8, 6.2))
    turns, slide, energies = figure.subplots(3, sharex=True, height_ratios=(1.5, 1, 1))
    for joint in (1, 2, 4, 5, 6):
        turns.plot(run.time, run.q[:, joint - 1] - run.q[0, joint - 1], label=f"joint {joint}")
    slide.plot(run.time, run.q[:, 2], label="joint 3")
    gained = {name: energy - energy[0] for name, energy in run.energy._asdict().items()}
    for name, energy in {**gained, "sum": sum(gained.values())}.items():
        energies.plot(run.time, energy, label=name)
    turns.set(title="angles, from the start", ylabel="angle [rad]")
    slide.set(title="joint 3 slides out, there is no stop", ylabel="reach [m]")
    energies.set(
        title=f"energy since the start; the sum stays zero to {run.balance.error:.0e} J", ylabel="energy [J]"
    )
    energies.set_xlabel("time [s]")
    for axis in (turns, slide, energies):
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.suptitle("Stanford arm, data attributed to Saha: free fall from rest")
    figure.align_ylabels()
    figure.savefig(file)


for name, (whose, _, _, points) in SOURCES.items():
    off = np.abs(efforts(name, TIMES) - points).max()
    print(f"{name}, {whose}: efforts at {TIMES} s are {off:.0e} from the reference")

arm, start = kp.example("stanford-arm-saha"), SOURCES["stanford-arm-saha"][1]
fall, again = (
    kp.simulate(arm, start, np.zeros(6), duration=1.0, rtol=tolerance, atol=tolerance, output=0.0025)
    for tolerance in (1e-13, 1e-11)
)
print("after 1 s of fall:", dict(zip(arm.q_names, fall.q[-1].round(8).tolist(), strict=True)))
print(
    f"energy kept to {fall.balance.error:.0e} J;",
    f"with tolerances of 1e-11 the motion is {np.abs(fall.q - again.q).max():.0e} off",
)

FOLDER.mkdir(parents=True, exist_ok=True)
with style.context(Path(__file__).with_name("figures.mplstyle")):
    for name in SOURCES:
        draw_efforts(name, FOLDER / f"{name}-efforts.png")
    draw_fall(fall, FOLDER / "stanford-arm-saha-fall.png")
