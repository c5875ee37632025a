"""A comparison of formulations as bars: what each costs in operations and in time."""

from __future__ import annotations

import os
from typing import Any

from kinpair.analysis.comparison import Comparison, Row
from kinpair.viewer.curves import WIDE, blank_figure, write_figure
from kinpair.viewer.looks import COLOURS

LINE = 0.26  # inches of a bar
PARTS = (("multiplications", COLOURS[0]), ("additions", COLOURS[1]), ("others", "#9a9a9a"))


def picture(comparison: Comparison, path: str | os.PathLike[str] | None) -> Any:
    """A row of panels for each quantity: operations by kind, and time of a state in a batch where it was measured."""
    quantities = [x for x in comparison.quantities if any(row.operations for row in comparison.of(x))]
    rows = {x: [row for row in comparison.of(x) if row.operations] for x in quantities}
    height = 0.9 + sum(0.9 + LINE * len(x) for x in rows.values())
    figure = blank_figure(WIDE, height, f"{comparison.mechanism}: what each formulation costs")
    shares = [0.9 + LINE * len(x) for x in rows.values()]
    axes = figure.subplots(len(rows), 2, squeeze=False, height_ratios=shares)
    for (left, right), (quantity, own) in zip(axes, rows.items(), strict=True):
        _operations(left, own)
        _times(right, own)
        left.set_title(f"{quantity}: operations", fontsize=10, loc="left")
        right.set_title("time of a state in a batch", fontsize=10, loc="left")
        left.set_xlabel("operations [1]")
        right.set_xlabel("time [µs]")
        for axis in (left, right):
            axis.invert_yaxis()
            axis.grid(axis="x", alpha=0.25, linewidth=0.6)
            axis.set_axisbelow(True)
            axis.spines[["top", "right", "left"]].set_visible(False)
            axis.tick_params(axis="y", length=0)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=9)
    if path is not None:
        write_figure(figure, path)
    return figure


def _operations(axis: Any, rows: list[Row]) -> None:
    names = [row.method for row in rows]
    left = [0.0] * len(rows)
    for part, colour in PARTS:
        widths = [float(getattr(row, part) or 0) for row in rows]
        axis.barh(names, widths, left=left, color=colour, height=0.7, label=part)
        left = [a + b for a, b in zip(left, widths, strict=True)]


def _times(axis: Any, rows: list[Row]) -> None:
    times = [1e6 * (row.batch or 0.0) for row in rows]
    axis.barh([row.method for row in rows], times, color=COLOURS[2], height=0.7)
    for k, row in enumerate(rows):
        if row.batch is None:
            axis.text(0.0, k, " not measured", fontsize=8, va="center", color="#777777")
    axis.tick_params(labelleft=False)
    axis.locator_params(axis="x", nbins=5)
