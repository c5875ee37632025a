"""Draws two-link-equations.png: `python docs/pictures/two_link_equations.py`."""

from pathlib import Path

from matplotlib.figure import Figure

import kinpair as kp
from kinpair.spatial.inertia import rod

arm = kp.build(
    kp.Builder("two-link", gravity=[0, -9.81, 0])
    .link("upper", mass=1.0, com=[0.5, 0, 0], inertia=rod(1.0, 1.0, "x"))
    .link("lower", mass=0.8, com=[0.4, 0, 0], inertia=rod(0.8, 0.8, "x"))
    .joint("shoulder", "revolute", "ground", "upper", axis="z")
    .joint("elbow", "revolute", "upper", "lower", xyz=[1.0, 0, 0], axis="z")
)
rows = kp.equations(arm).rows()
figure = Figure(figsize=(5.6, 0.34 * len(rows)))
for k, (left, right) in enumerate(rows):
    height = 1 - (k + 0.6) / len(rows)
    figure.text(0.13, height, f"${left}$", ha="right", va="center", fontsize=13, math_fontfamily="cm")
    figure.text(
        0.14, height, f"$= {' '.join(right)}$", ha="left", va="center", fontsize=13, math_fontfamily="cm"
    )
figure.savefig(Path(__file__).with_name("two-link-equations.png"), dpi=130)
