"""The ratios as bars, with what is demanded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from benchmarks.batches import Row
from benchmarks.results import Results

COLOURS = {"Pinocchio": "#3b7dd8", "MuJoCo": "#e08b2d", "CasADi": "#7a9a58"}
TITLES = {  # a user's words, and below them the field's
    "inverse dynamics": "torques for a motion\ninverse dynamics, 4096 states a call",
    "forward dynamics": "motion from torques\nforward dynamics, 4096 states a call",
    "mass matrix": "inertia felt by the joints\nmass matrix, 1024 states a call",
    "∂τ/∂(q, q̇)": "how torques change with the state\n∂τ/∂(q, q̇), 1024 states a call",
    "one state": "torques for a motion, in a control loop\ninverse dynamics, one state a call",
}
HEIGHT = 0.26
TICKS = (0.3, 1, 3, 10, 30, 100, 300)


def draw(results: Results, path: Path) -> None:
    """A panel a quantity, a group of bars a robot."""
    rows = [*results.batches, *results.singles]
    quantities = list(dict.fromkeys(row.quantity for row in rows))
    robots = list(dict.fromkeys(row.robot for row in rows))
    figure = Figure(figsize=(3.1 * len(quantities), 1.6 + 0.62 * len(robots)), layout="constrained")
    axes = figure.subplots(1, len(quantities), sharey=True, squeeze=False)[0]
    for axis, quantity in zip(axes, quantities, strict=True):
        _panel(axis, [row for row in rows if row.quantity == quantity], robots)
        axis.set_title(TITLES.get(quantity, f"{quantity}, batch"), fontsize=10, loc="left")
    axes[0].set_yticks(range(len(robots)), robots)
    axes[0].invert_yaxis()
    _legend(figure, results)
    figure.suptitle(f"How many times faster than others, one core of {results.machine}", fontsize=12)
    figure.savefig(path, dpi=130)


def _panel(axis: Any, rows: Sequence[Row], robots: Sequence[str]) -> None:
    for row in rows:
        for k, (peer, colour) in enumerate(COLOURS.items()):
            if peer in row.peers:
                _bar(axis, row, peer, colour, robots.index(row.robot) + (k - 1) * HEIGHT)
    axis.set_xscale("log")
    axis.set_xlim(0.25, 300)
    axis.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
    axis.minorticks_off()
    axis.axvline(1, color="#444444", linewidth=1)
    axis.grid(axis="x", alpha=0.3, linewidth=0.6)
    axis.set_axisbelow(True)
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.tick_params(axis="y", length=0)


def _bar(axis: Any, row: Row, peer: str, colour: str, y: float) -> None:
    """The ratio of the first instruction set as a bar, of others as a dot, the demand as an upright line."""
    first, *others = [row.ratio(peer, name) for name in row.ours]
    axis.barh(y, first - 1, left=1, height=0.9 * HEIGHT, color=colour)
    axis.plot(others, [y] * len(others), "o", markersize=3.6, color="white", markeredgecolor="#333333")
    if demanded := row.targets.get(peer):
        colour = "#111111" if first >= demanded else "#d01515"
        axis.plot([demanded] * 2, [y - HEIGHT / 2, y + HEIGHT / 2], color=colour, linewidth=2.2)


def _legend(figure: Figure, results: Results) -> None:
    first, *others = results.instructions
    handles: list[Any] = [Patch(color=colour, label=f"{peer}") for peer, colour in COLOURS.items()]
    handles += [
        Line2D(
            [], [], marker="o", linestyle="", color="white", markeredgecolor="#333333", label=f"with {name}"
        )
        for name in others
    ]
    handles += [
        Line2D([], [], marker="|", linestyle="", markersize=10, markeredgewidth=2.2, color=c, label=label)
        for c, label in (("#111111", f"demanded ({first}), met"), ("#d01515", "demanded, not met"))
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)
