"""Draws omni-equations.png: `python docs/pictures/omni_equations.py`."""

from pathlib import Path

from matplotlib.figure import Figure

import kinpair as kp

SHOWN = {
    *("\\alpha_{1}", "Y_{1}", "Y_{2}", "Y_{3}", "A_{14}", "A_{15}", "A_{16}", "A_{11}", "b_{1}", "D_{1}"),
    *(
        "R_{1,11}",
        "R_{1,12}",
        "R_{1,14}",
        "R_{1,16}",
        "R_{2,12}",
        "R_{3,11}",
        "R_{3,14}",
        "R_{3,36}",
        "R_{4,11}",
    ),
}
found = kp.equations(kp.example("omni-robot"), "shared", solver="rosenberg-extended")
rows = [row for row in found.rows() if row[0] in SHOWN]
figure = Figure(figsize=(6.2, 0.4 * len(rows)))
for k, (left, right) in enumerate(rows):
    height = 1 - (k + 0.6) / len(rows)
    figure.text(0.13, height, f"${left}$", ha="right", va="center", fontsize=13, math_fontfamily="cm")
    figure.text(
        0.14, height, f"$= {' '.join(right)}$", ha="left", va="center", fontsize=13, math_fontfamily="cm"
    )
figure.savefig(Path(__file__).with_name("omni-equations.png"), dpi=110)
