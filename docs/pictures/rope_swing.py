"""A rope of 1000 universal joints swings for 10 s: `python docs/pictures/rope_swing.py` draws the picture and the
animation of docs/long_mechanisms.md."""

from pathlib import Path
from time import process_time

import numpy as np
from matplotlib.figure import Figure

import kinpair as kp

HERE = Path(__file__).parent
LINKS, LENGTH, DT = 1_000, 10.0, 2.5e-4
SHOWN = 20  # shapes of the picture


def rope(n=LINKS):
    """A rope of 10 m and 1 kg on universal joints."""
    return kp.build(kp.Builder("rope").chain("rope", n=n, length=LENGTH, mass=1.0, joint="universal"))


def swing(mechanism, duration):
    """The rope, held taut and aside, is let go with a turn about the vertical."""
    q, qd = np.zeros(mechanism.nq), np.zeros(mechanism.nv)
    q[0], qd[1] = 1.0, 0.4
    return kp.simulate(mechanism, q, qd, duration=duration, integrator="rk4", dt=DT, output=0.02)


def shapes(mechanism, q):
    """Joints and end of the rope at positions (samples, nq): points (samples, links + 1, 3)."""
    poses = list(mechanism.poses(q).values())
    joints = np.stack([pose.position for pose in poses], axis=1)
    end = joints[:, -1] + poses[-1].rotation @ np.array([0.0, 0.0, -LENGTH / len(poses)])
    return np.concatenate([joints, end[:, None]], axis=1)


def draw(run, points, path):
    """Shapes in two views, and the error of the energy."""
    figure = Figure(figsize=(10.0, 4.2), layout="constrained")
    axes = figure.subplots(1, 3, width_ratios=(1, 1, 1.2))
    chosen = np.linspace(0, len(points) - 1, SHOWN).astype(int)
    for panel, (i, j), label in zip(axes, ((0, 2), (1, 2)), ("xz", "yz"), strict=False):
        for k in chosen:
            colour = (0.15 + 0.7 * k / len(points), 0.35, 0.75 - 0.6 * k / len(points))
            panel.plot(points[k, :, i], points[k, :, j], color=colour, linewidth=0.9)
        panel.set(
            aspect="equal",
            xlabel=f"{label[0]} [m]",
            ylabel="z [m]",
            title=f"{SHOWN} moments, {label[0]} and z",
        )
    energy = run.energy.kinetic + run.energy.potential
    axes[2].plot(run.time, (energy - energy[0]) / np.ptp(run.energy.potential))
    axes[2].set(xlabel="time [s]", title="change of energy / energy that moved")
    axes[2].grid(alpha=0.3)
    figure.savefig(path, dpi=130)


def animate(run, points, path, step=5):
    """The rope from the side, as a GIF."""
    from matplotlib.animation import FuncAnimation, PillowWriter
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = Figure(figsize=(4.0, 4.0), layout="constrained")
    FigureCanvasAgg(figure)
    panel = figure.subplots()
    panel.set(
        aspect="equal",
        xlim=(-LENGTH, LENGTH),
        ylim=(-1.05 * LENGTH, 0.6 * LENGTH),
        xlabel="y [m]",
        ylabel="z [m]",
    )
    (line,) = panel.plot([], [], color="#2f6db5", linewidth=1.2)

    def frame(k):
        line.set_data(points[k, :, 1], points[k, :, 2])
        panel.set_title(f"t = {run.time[k]:.1f} s")
        return (line,)

    film = FuncAnimation(figure, frame, frames=range(0, len(points), step))
    film.save(path, writer=PillowWriter(fps=10))


def main():
    mechanism = rope()
    start = process_time()
    run = swing(mechanism, 10.0)
    seconds = process_time() - start
    energy = run.energy.kinetic + run.energy.potential
    drift = np.abs(energy - energy[0]).max() / np.ptp(run.energy.potential)
    print(f"{seconds:.1f} s of CPU for 10 s of motion, energy off by {drift:.1e} of what moved; {run.status}")
    points = shapes(mechanism, np.ascontiguousarray(run.q))
    draw(run, points, HERE / "long-rope-swing.png")
    animate(run, points, HERE / "long-rope-swing.gif")


if __name__ == "__main__":
    main()
