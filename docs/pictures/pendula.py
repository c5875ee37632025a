"""Draws pendula.png: `python docs/pictures/pendula.py`."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.special import jn_zeros

import kinpair as kp

LENGTH, g = 2.0, 9.81
COUNTS = (1, 2, 3, 4, 6, 8, 12, 16)
MODES = 4


def chain(n: int) -> kp.Mechanism:
    """n equal masses on threads, together as long as the chain."""
    b, before, part = kp.Builder(f"{n} pendula"), "ground", LENGTH / n
    for k in range(n):
        b.link(f"mass{k}", mass=1.0, com=[0, 0, -part])
        b.joint(f"hinge{k}", "revolute", before, f"mass{k}", xyz=[0, 0, -part if k else 0], axis="y")
        before = f"mass{k}"
    return kp.build(b)


def shape(model: kp.LinearModel, mode: int) -> tuple[np.ndarray, np.ndarray]:
    """Sideways displacement of the masses over their height, the largest one."""
    angles = np.cumsum(model.modes[mode].displacement.real)
    aside = np.concatenate([[0.0], np.cumsum(angles)])
    return aside / np.abs(aside).max(), np.linspace(0.0, -LENGTH, len(aside))


models = {n: kp.linearise(chain(n), np.zeros(n)) for n in COUNTS}
limits = jn_zeros(0, MODES) / 2 * np.sqrt(g / LENGTH)
figure = Figure(figsize=(10.4, 4.2), layout="constrained")
figure.suptitle("Equal pendula, one below the other, and the hanging chain they tend to", fontsize=12)
left, right = figure.subplots(1, 2)
colours = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728")
for k, (limit, colour) in enumerate(zip(limits, colours, strict=True)):
    counts = [n for n in COUNTS if n > k]
    left.plot(counts, [models[n].modes[k].frequency for n in counts], "o-", color=colour, markersize=4)
    left.axhline(limit, color=colour, linewidth=0.8, linestyle="--")
    right.plot(
        *shape(models[COUNTS[-1]], k),
        color=colour,
        label=f"mode {k + 1}: {models[COUNTS[-1]].modes[k].frequency:.3f} rad/s",
    )
left.set_xscale("log", base=2)
left.set_xticks(COUNTS, map(str, COUNTS), fontsize=8)
left.set(
    xlabel="pendula in 2 m",
    ylabel="frequency [rad/s]",
    title="lowest frequencies; dashed: zeros of $J_0(2\\omega\\sqrt{L/g})$",
)
right.set(xlabel="sideways", ylabel="height [m]", title="shapes of 16 pendula")
right.legend(frameon=False, fontsize=8)
for axis in (left, right):
    axis.title.set_fontsize(10)
figure.savefig(Path(__file__).with_name("pendula.png"), dpi=150)
