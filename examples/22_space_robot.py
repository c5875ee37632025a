"""The space robot of Zhao et al. 2023, corrected beside as printed; pictures of it (docs/figures.md)."""

import sys
from pathlib import Path

import numpy as np
from matplotlib import style
from matplotlib.figure import Figure

import kinpair as kp

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "build/figures")
MARK = {"color": "#222222", "marker": "o", "linestyle": "", "markerfacecolor": "none", "zorder": 5}
BARS = {"linewidth": 2.4, "markersize": 4}
METHODS = ("rosenberg-extended", "udwadia-kalaba")
PARTS = (("q", "angles [rad]", 1e-9), ("qd", "rates [rad/s]", 1e-10))  # with the differences the source finds
START, RATES = [np.pi / 36, -np.pi / 6, -np.pi / 6], [0.1, -0.1, -0.1]
INERTIA = 260.42  # of the body, kg m²
REFERENCE = {  # θ, ψ, θ̇, ψ̇ every 10 s of the corrected motion, integrated apart from this library; ψ₁ = ψ₂
    10: (2.0691491850336, 0.2272198116416, 0.2443693188947, 0.1663524672388),
    20: (3.5963719016039, 0.1580090431415, 0.0515001731718, -0.1736576895073),
    30: (4.7956031453049, -0.4799649562614, 0.2204846150097, 0.1145130358045),
    40: (6.9766013651515, 0.6419784566038, 0.1422669486443, -0.0327950521348),
    50: (7.8019061754419, -0.6210322449398, 0.1305931689505, -0.0519004569987),
    60: (9.939392894144, 0.419154899067, 0.228292119884, 0.131249831573),
}
PRINTED_END = (9.572900147136, -0.293492486675, 0.236865611511, 0.151226690810)
FIRST = {  # accelerations at the start: θ̈, ψ̈
    "corrected": (0.0236096808569, 0.0363329725555),
    "as printed": (0.0182368312158, 0.0268736478667),
}

robot = kp.example("space-robot")
models = {"corrected": robot, "as printed": kp.example("space-robot-printed")}


def moved(model, solver=METHODS[0], **options):
    """60 s, with nothing to hold the constraint but its accelerations, as in the source."""
    options = {"rtol": 1e-13, "atol": 1e-13} | options
    return kp.simulate(model, START, RATES, duration=60.0, solver=solver, hold="none", output=0.1, **options)


def state(run):
    """θ, ψ₁, θ̇, ψ̇₁ over time (n, 4)."""
    return np.column_stack([run.q[:, :2], run.qd[:, :2]])


runs = {(name, solver): moved(model, solver) for name, model in models.items() for solver in METHODS}
ours = {name: runs[name, METHODS[0]] for name in models}
coarse = {name: moved(model, integrator="dopri5", rtol=1e-3, atol=1e-6) for name, model in models.items()}
time = ours["corrected"].time
momentum = {name: robot.momentum(run.q, run.qd)[:, 2] for name, run in ours.items()}
energy = {name: robot.energy(run.q, run.qd).kinetic for name, run in ours.items()}


def finish(figure, axes, title):
    """Time below the lowest panels, one legend below them, and a title above."""
    for axis in axes[-1]:
        axis.set_xlabel("time [s]")
    figure.suptitle(title)
    figure.align_ylabels()
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))


def accelerations():
    figure = Figure(figsize=(8, 3.2))
    axes = figure.subplots(1, 2, squeeze=False)
    for name, run in ours.items():
        qdd = models[name].forward_dynamics(run.q, run.qd, np.zeros(3), solver=METHODS[0])
        for axis, values, first in zip(axes[0], qdd.T[:2], FIRST[name], strict=True):
            axis.plot(time, values, label=name)
            axis.plot(0, first, clip_on=False, **MARK)
    axes[0][0].set(title="body", ylabel="θ̈ [rad/s²]")
    axes[0][1].set(title="arms, both alike", ylabel="ψ̈ [rad/s²]")
    axes[0][0].plot([], [], label="reference", **MARK)
    finish(figure, axes, "Space robot: accelerations")
    return figure


def motion():
    figure = Figure(figsize=(8, 5.2))
    axes = figure.subplots(2, 2, sharex=True)
    titles = ("angle of the body", "angle of the arms, both alike", "rate of the body", "rate of the arms")
    labels = ("θ [rad]", "ψ [rad]", "θ̇ [rad/s]", "ψ̇ [rad/s]")
    for k, axis in enumerate(axes.ravel()):
        for name, run in ours.items():
            axis.plot(time, state(run)[:, k], label=name)
        points = [*((t, x[k]) for t, x in REFERENCE.items()), (60, PRINTED_END[k])]
        axis.plot(*np.transpose(points), label="reference", clip_on=False, **MARK)
        axis.set(title=titles[k], ylabel=labels[k])
    finish(figure, axes, "Space robot: angles and rates")
    return figure


def conserved():
    figure = Figure(figsize=(8, 5.2))
    axes = figure.subplots(2, 2, sharex=True, sharey="row", height_ratios=(1.5, 1))
    for (above, below), (name, run) in zip(axes.T, ours.items(), strict=True):
        body = INERTIA * run.qd[:, 0]
        above.plot(time, body, label="body")
        above.plot(time, momentum[name] - body, label="arms")
        above.plot(time, momentum[name], label="both")
        above.set(title=f"{name}: momentum")
        below.plot(time, energy[name], color="#333333", linestyle="-")
        below.set(title=f"{name}: energy")
    axes[0][0].set_ylabel("angular momentum\n[kg m²/s]")
    axes[1][0].set_ylabel("kinetic energy [J]")
    finish(figure, axes, "Space robot: momentum goes from the body to the arms and back")
    return figure


def differences():
    figure = Figure(figsize=(8, 5.4))
    axes = figure.subplots(2, 2, sharex=True, sharey=True)
    for row, name in zip(axes, models, strict=True):
        for axis, (part, unit, claim) in zip(row, PARTS, strict=True):
            lines = {
                "Runge–Kutta 5(4) at 1e-3, 1e-6": coarse[name],
                "the two methods": runs[name, METHODS[1]],
            }
            for (label, run), colour in zip(lines.items(), ("#d1571b", "#333333"), strict=True):
                off = np.abs(getattr(run, part) - getattr(ours[name], part)).max(axis=1)[1:]
                axis.semilogy(time[1:], np.maximum(off, 1e-17), "-", color=colour, linewidth=1.3, label=label)
            axis.axhline(claim, linestyle=(0, (2, 1.5)), label="the two methods, by the source")
            axis.set(title=f"{name}: {unit}", ylim=(1e-17, 1), yticks=10.0 ** np.arange(-16, 1, 4))
        row[0].set_ylabel("largest difference")
    finish(figure, axes, "Space robot: what the choice of the method changes, and what the integrator does")
    return figure


def drawn(axis, q, colour, label):
    """Body and arms in one position."""
    tips, shoulders = ([place(q[None], arm, at)[0] for arm in ("arm1", "arm2")] for at in (8.0, 0.0))
    axis.plot(*np.transpose([tips[0], *shoulders, tips[1]]), "o-", color=colour, label=label, **BARS)


def place(q, arm, distance):
    """Path of the point of an arm at this distance from its shoulder (n, 2)."""
    rotation, position = robot.pose(q, arm)
    return (position + rotation @ np.array([distance, 0.0, 0.0]))[:, :2]


def paths():
    figure = Figure(figsize=(8, 4.7))
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    for axis, (name, run) in zip(axes, ours.items(), strict=True):
        for arm in ("arm1", "arm2"):
            axis.plot(*place(run.q, arm, 8.0).T, label=f"tip of {arm.replace('arm', 'arm ')}")
        drawn(axis, run.q[0], "#999999", "at the start")
        drawn(axis, run.q[-1], "#333333", "after 60 s")
        axis.set(title=name, xlabel="x [m]", aspect="equal")
    axes[0].set_ylabel("y [m]")
    figure.suptitle("Space robot: paths of the tips")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


ends = {"corrected": REFERENCE[60], "as printed": PRINTED_END}
for name, run in ours.items():
    end, other = state(run)[-1], runs[name, METHODS[1]]
    apart = np.abs(run.q - other.q).max(), np.abs(run.qd - other.qd).max()
    print(f"{name}: θ, ψ, θ̇, ψ̇ after 60 s {end.round(12).tolist()}")
    print(f"  off the reference by {np.abs(end - ends[name]).max():.0e}")
    print(f"  momentum {momentum[name][0]:.9f} kg m²/s, kept to {np.ptp(momentum[name]):.0e}")
    print(f"  energy {energy[name].min():.5f} to {energy[name].max():.5f} J")
    print("  the two methods differ by {:.0e} rad, {:.0e} rad/s; by the source 1e-09, 1e-10".format(*apart))
    print(f"  tolerances of 1e-3 and 1e-6 cost {np.abs(coarse[name].q - run.q).max():.0e} rad")

FOLDER.mkdir(parents=True, exist_ok=True)
with style.context(Path(__file__).with_name("figures.mplstyle")):
    for draw in (accelerations, motion, conserved, differences, paths):
        draw().savefig(FOLDER / f"space-robot-{draw.__name__}.png")
