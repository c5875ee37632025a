"""Curves over time or another quantity, drawn to a file."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kinpair.errors import InputError, MissingExtraError, listed

# How the first, second, ... curve of a panel looks: a thin dashed line on a broad pale one shows agreement.
STYLES: tuple[Mapping[str, Any], ...] = (
    {"color": "#8ab6e8", "linewidth": 4.5, "solid_capstyle": "round"},
    {"color": "#b5341c", "linewidth": 1.4, "dashes": (5, 3)},
    {"color": "#1b7a4b", "linewidth": 1.4, "dashes": (1, 2)},
    {"color": "#444444", "linewidth": 1.0},
)
WIDEST = 8  # names in a row of the legend


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One pair of axes: its title, its quantity with unit, and its curves (n,) by name.

    `distinct`: they are different things, each in a colour of its own, and not one thing found by several ways.
    """

    title: str
    quantity: str
    curves: Mapping[str, np.ndarray]
    distinct: bool = False


def draw_curves(
    path: str | os.PathLike[str],
    time: np.ndarray,
    panels: Sequence[Panel],
    *,
    title: str = "",
    columns: int = 2,
    abscissa: str = "time [s]",
) -> Path:
    """Draw the panels over one axis, time unless named otherwise, `columns` side by side; the file written.

    The ending of the name says what is written: png, svg, pdf.
    """
    file = Path(path)
    columns = min(columns, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure = _figure(5.2 * columns, 1.0 + 2.1 * rows)
    _check_ending(file, figure)
    axes = figure.subplots(rows, columns, sharex=True, squeeze=False).ravel()
    for axis, panel in zip(axes, panels, strict=False):
        _draw(axis, time, panel)
    _finish(figure, axes, len(panels), columns, title, abscissa)
    return _write(figure, file)


def _figure(width: float, height: float) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError(
            'pictures need matplotlib; install it with pip install "kinpair[view]"', extra="view"
        ) from None
    return Figure(figsize=(width, height), layout="constrained")


def _check_ending(file: Path, figure: Any) -> None:
    endings = sorted(figure.canvas.get_supported_filetypes())
    if file.suffix.lower().lstrip(".") not in endings:
        raise InputError(
            f"{file}: pictures named *{file.suffix or ' without an ending'} are not written; "
            f"endings: {listed(endings)}",
            path=str(file),
        )


def _draw(axis: Any, time: np.ndarray, panel: Panel) -> None:
    for (name, values), style in zip(panel.curves.items(), _styles(panel), strict=True):
        axis.plot(time, values, label=name, **style)
    axis.set_title(panel.title, fontsize=10, loc="left")
    axis.set_ylabel(panel.quantity)
    axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.grid(alpha=0.25, linewidth=0.6)
    axis.spines[["top", "right"]].set_visible(False)
    axis.margins(x=0.01)


def _styles(panel: Panel) -> list[Mapping[str, Any]]:
    """The first styles of the table; matplotlib's own cycle for distinct things, or more curves than styles."""
    count = len(panel.curves)
    return [{"linewidth": 1.3}] * count if panel.distinct or count > len(STYLES) else list(STYLES[:count])


def _finish(figure: Any, axes: Any, used: int, columns: int, title: str, abscissa: str) -> None:
    """The abscissa below the lowest panel of each column, one legend for those like the first, no empty panels."""
    for axis in axes[used:]:
        axis.set_visible(False)
    for axis in axes[max(0, used - columns) : used]:
        axis.set_xlabel(abscissa)
        axis.tick_params(labelbottom=True)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.align_ylabels()
    figure.suptitle(title, fontsize=12)
    wide = min(max(1, len(labels)), WIDEST)
    figure.legend(handles, labels, loc="outside lower center", ncols=wide, frameon=False)
    for axis in axes[:used]:
        own, names = axis.get_legend_handles_labels()
        if names != labels:
            axis.legend(own, names, fontsize=8, edgecolor="none")


def _write(figure: Any, file: Path) -> Path:
    try:
        figure.savefig(file, dpi=150)
    except OSError as reason:
        raise InputError(f"{file}: cannot be written ({reason.strerror})", path=str(file)) from None
    return file
