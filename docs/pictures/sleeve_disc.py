"""Draws sleeve-disc.png: `python docs/pictures/sleeve_disc.py`."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

import kinpair as kp

mpl.use("Agg")
from matplotlib import pyplot as plt

RADIUS, MU, STATIC, LOAD = 0.02, 0.2, 0.3, 2.0 * 9.81
TIME = 3.5
b = kp.Builder("collar on a rod").link("collar", mass=2.0, inertia=(8e-4,) * 3)
bearing = {"law": "bearing", "mu": MU, "mu_static": STATIC, "radius": RADIUS, "length": 0.1}
m = kp.build(b.joint("rod", "cylindrical", "ground", "collar", axis="x", friction=bearing))


def pull(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """A force that turns and grows, then falls again."""
    size = 7.5 * np.sin(np.pi * t / TIME) ** 2
    return np.array([RADIUS * size * np.cos(3.0 * t), size * np.sin(3.0 * t)])


run = kp.simulate(m, [0, 0], [0, 0], duration=TIME, torque=pull, output=0.005)
rates = np.where(run.friction["rod"].sticks[:, None], 0.0, run.qd)
found = [m.friction(*state) for state in zip(run.q, rates, run.tau, strict=True)]
force = np.array([[x["rod.angle"].effort / RADIUS, x["rod.slide"].effort] for x in found])
sticks = run.friction["rod"].sticks

figure, axes = plt.subplots(1, 2, figsize=(10, 4.6))
turn = np.linspace(0.0, 2.0 * np.pi, 200)
for level, style, label in ((STATIC * LOAD, "-", "μₛN"), (MU * LOAD, "--", "μN")):
    axes[0].plot(level * np.cos(turn), level * np.sin(turn), color="0.55", linestyle=style, label=label)
for where, colour, label in ((sticks, "tab:red", "sticks"), (~sticks, "tab:green", "slides")):
    own = np.where(where[:, None], force, np.nan)
    axes[0].plot(*own.T, color=colour, label=label, linewidth=2)
    s = np.where(where[:, None], rates * [RADIUS, 1.0], np.nan)
    axes[1].plot(run.time, np.linalg.norm(s, axis=1), color=colour, linewidth=2)
axes[0].set_aspect("equal")
axes[0].set_xlabel("friction across, f₁ [N]")
axes[0].set_ylabel("friction along, f₂ [N]")
axes[0].legend(loc="upper left", fontsize=8, framealpha=0.9)
for event in run.events:
    axes[1].axvline(event.time, color="0.8", zorder=0)
    axes[1].text(
        event.time, 0.97, f" {event.name}", transform=axes[1].get_xaxis_transform(), va="top", fontsize=8
    )
axes[1].set_xlabel("time [s]")
axes[1].set_ylabel("speed of sliding |s| [m/s]")
figure.tight_layout()
figure.savefig(Path(__file__).with_name("sleeve-disc.png"), dpi=110)
