"""Draws load-friction.png: `python docs/pictures/load_friction.py`."""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

BOXES = {  # name: centre, what it says, colour
    "motion": (
        (2.1, 3.0),
        "motion equation (6.4)\n$(J^TMJ)\\ddot Y + J^Tq^c = J^T(q^e_0 + Q^f\\varphi)$",
        "#8ab6e8",
    ),
    "reaction": (
        (2.1, 0.8),
        "reaction equation (6.5)\n$N g + Q^TM^{-1}(q^e_0 + Q^f\\varphi) = \\hat K$",
        "#8ab6e8",
    ),
    "law": ((7.1, 0.8), "friction law\n$\\varphi = -\\mu\\,N(g)\\,s/|s|$", "#b5341c"),
    "integrator": ((7.1, 3.0), "integration\n$\\ddot Y \\to \\dot Y, Y$", "#1b7a4b"),
}
ARROWS = (  # from, to, label, where the label is, bend
    ("reaction", "law", "reactions $g$", (4.95, 1.3), -0.15),
    ("law", "reaction", "friction $\\varphi$", (4.95, 0.28), -0.15),
    ("law", "motion", "friction $\\varphi$", (3.75, 2.02), 0.0),
    ("motion", "integrator", "$\\ddot Y$", (5.0, 3.15), 0.0),
    ("integrator", "law", "sliding $s = G\\dot Y$", (7.95, 1.9), 0.0),
    ("integrator", "reaction", "$Y, \\dot Y$", (5.75, 2.0), 0.0),
)
WIDE, HIGH = 3.7, 0.95


def box(axes: Axes, centre: tuple[float, float], text: str, colour: str) -> FancyBboxPatch:
    x, y = centre
    wide = WIDE if len(text) > 45 else 2.4
    corner = (x - wide / 2, y - HIGH / 2)
    patch = FancyBboxPatch(
        corner, wide, HIGH, "round,pad=0.02,rounding_size=0.1", fc=colour, ec="#444444", alpha=0.25
    )
    axes.add_patch(patch)
    axes.text(x, y, text, ha="center", va="center", fontsize=9.5)
    return patch


figure = Figure(figsize=(7.6, 3.4), layout="constrained")
axes = figure.subplots()
patches = {name: box(axes, *row) for name, row in BOXES.items()}
for start, end, label, where, bend in ARROWS:
    a, b = BOXES[start][0], BOXES[end][0]
    axes.add_patch(
        FancyArrowPatch(
            a, b, patchA=patches[start], patchB=patches[end], arrowstyle="-|>", mutation_scale=13,
            connectionstyle=f"arc3,rad={bend}", color="#444444", shrinkA=3, shrinkB=3,
        )
    )  # fmt: skip
    axes.text(*where, label, ha="center", va="center", fontsize=9)
axes.set(xlim=(0, 9.2), ylim=(0.1, 3.7))
axes.set_aspect("equal")
axes.axis("off")
figure.savefig(Path(__file__).with_name("load-friction.png"), dpi=130)
