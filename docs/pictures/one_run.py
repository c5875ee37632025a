"""Draw one run with phases: state, phases, rows, problem, step, events.

python docs/pictures/one_run.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

BOXES = {  # name: place, words, where in the source
    "state": ((0.0, 1.0), "state y\nq, q̇, phases, closed", "simulation/layout.py"),
    "phases": ((1.35, 1.0), "phases\nslides · at rest · carried\nopen · closed", "simulation/phases.py"),
    "rows": (
        (2.7, 1.0),
        "rows\nrates at rest masked,\nloops and drives",
        "quantities/solution.py",
    ),
    "step": ((4.05, 1.0), "step\ncompiled, no inequality\nin a stage", "simulation/steppers"),
    "guards": (
        (4.05, 0.0),
        "guards\nlevels, directions, gaps,\npushes; roots compiled",
        "modes/guards.py",
    ),
    "impact": ((2.7, 0.0), "impact\nnormals with e, friction\nby impulses", "driver/impacts.py"),
    "problem": (
        (1.35, 0.0),
        "one problem\nx in sets,\n−c in their normal cones",
        "solve/problem.py",
    ),
    "events": ((0.0, 0.0), "new phases\nand events in the log", "driver/sticking.py"),
}
ARROWS = [
    ("state", "phases", ""),
    ("phases", "rows", ""),
    ("rows", "step", "q̈"),
    ("step", "guards", "each step"),
    ("guards", "impact", "a sign\nchanges"),
    ("impact", "problem", "q̇⁺"),
    ("problem", "events", "x, c"),
    ("events", "state", "go on"),
]
WIDTH, HEIGHT = 0.92, 0.52


def draw(axes: Axes) -> None:
    """Draw the boxes and the arrows between them."""
    for (x, y), words, source in (box for box in BOXES.values()):
        axes.add_patch(
            plt.Rectangle((x - WIDTH / 2, y - HEIGHT / 2), WIDTH, HEIGHT, fc="#eef3f8", ec="#33658a", lw=1.2)
        )
        title, _, rest = words.partition("\n")
        axes.text(x, y + 0.15, title, ha="center", va="center", weight="bold", size=9)
        axes.text(x, y - 0.01, rest, ha="center", va="center", size=7)
        axes.text(x, y - 0.21, source, ha="center", va="center", size=6, family="monospace", color="#555555")
    for start, end, words in ARROWS:
        (a, b), (c, d) = BOXES[start][0], BOXES[end][0]
        across = (c > a) - (c < a)
        begin = (a + across * WIDTH / 2, b) if across else (a, b + (HEIGHT / 2 if d > b else -HEIGHT / 2))
        stop = (c - across * WIDTH / 2, d) if across else (c, d + (HEIGHT / 2 if d < b else -HEIGHT / 2))
        axes.annotate("", stop, begin, arrowprops={"arrowstyle": "-|>", "color": "#33658a", "lw": 1.4})
        place = (0.5 * (begin[0] + stop[0]), 0.5 * (begin[1] + stop[1]))
        aside = (0.0, 0.03) if across else (0.06, -0.03)
        axes.text(
            place[0] + aside[0],
            place[1] + aside[1],
            words,
            ha="center" if across else "left",
            va="bottom",
            size=6,
        )
    axes.annotate(
        "", (0.48, 0.74), (3.57, 0.26), arrowprops={"arrowstyle": "-|>", "color": "#bbbbbb", "ls": "--"}
    )
    axes.text(2.2, 0.56, "no sign changes: next step", ha="center", size=6, color="#777777")
    axes.set(xlim=(-0.5, 4.55), ylim=(-0.32, 1.32), aspect="equal")
    axes.axis("off")


if __name__ == "__main__":
    figure, axes = plt.subplots(figsize=(9.6, 3.6))
    draw(axes)
    figure.savefig(Path(__file__).with_name("one-run.png"), dpi=130, bbox_inches="tight")
