"""Draws coupler-curve.png: `python docs/pictures/coupler_curve.py`."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinpair as kp

TRACED = {"tip of the output": (0.0, 0.0), "middle of the coupler": (0.05, 0.0), "beside it": (0.05, -0.06)}

linkage = kp.example("four-bar")


def turn() -> np.ndarray:
    """Coordinates of a whole turn of the crank: each position is the guess for the next (361, nq)."""
    found = [linkage.start()]
    for angle in np.radians(np.arange(1, 361)):
        found.append(linkage.assemble([angle, *found[-1][1:]], fixed=["crank"]))
    return np.array(found)


def traced(q: np.ndarray, point: tuple[float, float]) -> np.ndarray:
    """Path of a point of the coupler in the plane (n, 2)."""
    rotation, position = linkage.pose(q, "coupler")
    return (position + rotation @ np.array([*point, 0.0]))[:, :2]


q = turn()
figure = Figure(figsize=(6.4, 4.0), layout="constrained")
axes = figure.subplots()
for (name, point), colour in zip(TRACED.items(), ("#1b7a4b", "#8ab6e8", "#b5341c"), strict=True):
    axes.plot(*traced(q, point).T, color=colour, linewidth=2.0, label=name)
elbow, crank_tip, corner = (traced(q, point)[60] for point in ((0.0, 0.0), (0.1, 0.0), TRACED["beside it"]))
axes.fill(*np.array([elbow, crank_tip, corner]).T, color="#444444", alpha=0.15)
axes.plot(
    *np.array([(0.0, 0.0), crank_tip, elbow, (0.15, 0.0)]).T, color="#444444", linewidth=3.0, marker="o"
)
axes.set(xlabel="x [m]", ylabel="y [m]", title="Coupler curves of a four-bar linkage, one turn of the crank")
axes.set_aspect("equal")
axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
axes.grid(alpha=0.25, linewidth=0.6)
axes.spines[["top", "right"]].set_visible(False)
figure.legend(loc="outside lower center", ncols=3, frameon=False)
figure.savefig(Path(__file__).with_name("coupler-curve.png"), dpi=130)
