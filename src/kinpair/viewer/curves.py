"""Curves over time or another quantity, as a figure or in a file."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from kinpair.errors import InputError, MissingExtraError, listed
from kinpair.viewer.labels import choose_fonts, missing_allowed, plain
from kinpair.viewer.legends import below_axes, below_figure
from kinpair.viewer.looks import AGREEMENT, Look, distinct

WIDE, NARROW = 10.4, 6.4  # inches: a figure with panels side by side, and one without
DPI = 150
BAR = 0.05  # height of a bar, as a part of a panel


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One pair of axes: its title, its quantity with unit, and its curves (n,) by name.

    `looks`: colour and dashes of each curve; without them the curves are one thing computed in several ways.
    `labels`: names for the legend, where they differ. `own_legend`: beside this panel, not below the figure.
    `time`: of these curves, where it is not that of the figure. `bars`: by name of a curve, intervals of time that are
    marked by a bar in its colour at the foot of the panel.
    """

    title: str
    quantity: str
    curves: Mapping[str, np.ndarray]
    looks: Mapping[str, Look] | None = None
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    own_legend: bool = False
    time: np.ndarray | None = None
    bars: Mapping[str, Sequence[tuple[float, float]]] = field(
        default_factory=dict[str, Sequence[tuple[float, float]]]
    )


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
    rows = [panels[k : k + columns] for k in range(0, len(panels), columns)]
    return write_figure(figure_of(time, rows, title=title, abscissa=abscissa), path)


def figure_of(
    time: np.ndarray, rows: Sequence[Sequence[Panel]], *, title: str = "", abscissa: str = "time [s]"
) -> Any:
    """The figure: rows of panels over one axis; the panels of a row share its width."""
    width = WIDE if max(map(len, rows)) > 1 else NARROW
    figure = _figure_class()(figsize=(width, 0.8 + 2.2 * len(rows)), layout="constrained")
    figure.suptitle(plain(title), fontsize=12)
    axes = _axes(figure, [len(row) for row in rows])
    shared: dict[str, Any] = {}
    panels = [panel for row in rows for panel in row]
    for axis, panel in zip(axes, panels, strict=True):
        lines = _draw(axis, time, panel)
        if panel.own_legend:
            below_axes(axis, lines)
        else:
            shared |= lines
    for axis in axes[-len(rows[-1]) :]:
        axis.set_xlabel(plain(abscissa))
    figure.align_ylabels()
    below_figure(figure, {name: shared[name] for name in _names(panels) if name in shared})
    return figure


def blank_figure(width: float, height: float, title: str = "", *, tight: bool = False) -> Any:
    """A figure without axes, in inches; `tight`: whoever adds axes says where."""
    figure = _figure_class()(figsize=(width, height), layout=None if tight else "constrained")
    if tight:
        return figure
    figure.suptitle(plain(title), fontsize=12)
    return figure


def _names(panels: Sequence[Panel]) -> list[str]:
    """Names for the legend of the figure, in the order of the looks."""
    every = ((panel, name) for panel in panels for name in panel.looks or panel.curves)
    return list(dict.fromkeys(panel.labels.get(name, name) for panel, name in every))


def write_figure(figure: Any, path: str | os.PathLike[str]) -> Path:
    """Write it; the ending of the name says what is written."""
    file = Path(path)
    _check_ending(file, figure)
    choose_fonts(figure)
    try:
        figure.savefig(file, dpi=DPI)
    except OSError as reason:
        raise InputError(f"{file}: cannot be written ({reason.strerror})", path=str(file)) from None
    return file


def _figure_class() -> Any:
    """Matplotlib's figure without its window manager, and shown by notebooks all the same."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError(
            'pictures need matplotlib; install it with pip install "kinpair[view]"', extra="view"
        ) from None

    class Picture(Figure):
        def draw(self, renderer: Any) -> None:
            choose_fonts(self)
            with missing_allowed():
                super().draw(renderer)

        def _repr_png_(self) -> bytes:
            image = BytesIO()
            self.savefig(image, format="png")
            return image.getvalue()

    return Picture


def _check_ending(file: Path, figure: Any) -> None:
    endings = sorted(figure.canvas.get_supported_filetypes())
    if file.suffix.lower().lstrip(".") not in endings:
        raise InputError(
            f"{file}: pictures named *{file.suffix or ' without an ending'} are not written; "
            f"endings: {listed(endings)}",
            path=str(file),
        )


def _axes(figure: Any, counts: Sequence[int]) -> list[Any]:
    """Axes row by row; numbers of the abscissa are left out where the row below has the same ones."""
    cells = math.lcm(*counts)
    grid = figure.add_gridspec(len(counts), cells)
    axes: list[Any] = []
    for row, count in enumerate(counts):
        wide = cells // count
        for k in range(count):
            place = grid[row, k * wide : (k + 1) * wide]
            axis = figure.add_subplot(place, sharex=axes[0] if axes else None)
            axis.tick_params(labelbottom=row + 1 == len(counts) or counts[row + 1] != count)
            axes.append(axis)
    return axes


def _draw(axis: Any, time: np.ndarray, panel: Panel) -> dict[str, Any]:
    """Draw one panel; its lines by their names in a legend."""
    looks = _looks(panel)
    lines = {
        panel.labels.get(name, name): axis.plot(
            time if panel.time is None else panel.time, values, label=name, **looks[name]
        )[0]
        for name, values in panel.curves.items()
    }
    for k, (name, spans) in enumerate(panel.bars.items()):
        for start, end in spans:
            foot = (0.01 + BAR * k, 0.01 + BAR * (k + 0.8))
            axis.axvspan(start, end, *foot, color=looks[name]["color"], alpha=0.55, linewidth=0)
    axis.set_title(plain(panel.title), fontsize=10, loc="left")
    axis.set_ylabel(plain(panel.quantity))
    axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.grid(alpha=0.25, linewidth=0.6)
    axis.spines[["top", "right"]].set_visible(False)
    axis.margins(x=0.01)
    return lines


def _looks(panel: Panel) -> Mapping[str, Look]:
    if panel.looks is not None:
        return panel.looks
    if 1 < len(panel.curves) <= len(AGREEMENT):
        return dict(zip(panel.curves, AGREEMENT, strict=False))
    return distinct(panel.curves)
