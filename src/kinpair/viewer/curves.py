"""Curves over time or another quantity, as a figure or in a file.

Legends outside the axes, in as many columns as there is room for.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from kinpair.errors import InputError, MissingExtraError, installs, listed
from kinpair.viewer.looks import (
    AGREEMENT,
    Look,
    Panel,
    choose_fonts,
    distinct,
    equal_curves,
    missing_allowed,
    multiples,
    plain,
)

LONGEST = 48  # characters of a name in a legend
GAP = 34.0  # points from the lower edge of the axes to their legend: numbers and abscissa are between
LEGEND_SIZE = 9.0  # points


def below_figure(figure: Any, lines: Mapping[str, Any]) -> None:
    """Draw one legend below all axes; the figure grows by its height."""
    columns = max(1, len(lines))
    legend = _in_columns(figure, lines, columns)
    while columns > 1 and _extent(figure, legend).width > figure.bbox.width:
        legend.remove()
        rows = math.ceil(len(lines) / (columns - 1))
        columns = math.ceil(len(lines) / rows)
        legend = _in_columns(figure, lines, columns)
    figure.set_figheight(figure.get_figheight() + _extent(figure, legend).height / figure.dpi)


def _extent(figure: Any, legend: Any) -> Any:
    """Return the box of a legend [pixels]."""
    choose_fonts(figure)
    with missing_allowed():
        return legend.get_window_extent()


def _in_columns(figure: Any, lines: Mapping[str, Any], columns: int) -> Any:
    handles = list(lines.values())
    return figure.legend(
        handles,
        shortened(lines),
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        fontsize=LEGEND_SIZE,
    )


def below_axes(axis: Any, lines: Mapping[str, Any]) -> None:
    """A legend below one pair of axes; the layout makes room for it."""
    from matplotlib.transforms import ScaledTranslation

    figure = axis.get_figure()
    down = ScaledTranslation(0.0, -GAP / 72.0, figure.dpi_scale_trans)
    axis.legend(
        list(lines.values()),
        shortened(lines),
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=axis.transAxes + down,
        ncols=max(1, len(lines)),
        frameon=False,
        fontsize=LEGEND_SIZE,
        borderaxespad=0.0,
    )


def shortened(names: Iterable[str]) -> list[str]:
    """Names with their middle left out where they are too long for a legend."""
    return [plain(x, LONGEST) for x in names]


WIDE, NARROW = 10.4, 6.4  # inches: a figure with panels side by side, and one without
DPI = 150
BAR = 0.05  # height of a bar, as a part of a panel
ACROSS = 3  # small multiples side by side
CHARACTERS = 13.5  # characters of a title that fit into an inch
TICKS = 6  # numbers of the abscissa where panels are narrow
SMALL = 7.0  # points: names of equal curves
BEHIND: Look = {"color": "#888888", "linewidth": 2.5, "alpha": 0.4, "zorder": 0}


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
    """Return the figure: rows of panels over one axis; the panels of a row share its width. A panel with more than ten
    curves is drawn as small multiples, in rows of their own."""
    rows = _with_multiples(rows)
    width = WIDE if max(map(len, rows)) > 1 else NARROW
    figure = _figure_class()(figsize=(width, 0.8 + 2.2 * len(rows)), layout="constrained")
    figure.suptitle(plain(title), fontsize=12)
    axes = _axes(figure, [len(row) for row in rows], plain(abscissa))
    shared: dict[str, Any] = {}
    panels = [panel for row in rows for panel in row]
    columns = [len(row) for row in rows for _ in row]
    for axis, panel, count in zip(axes, panels, columns, strict=True):
        lines = _draw(axis, time, panel)
        _head(axis, panel, int(CHARACTERS * width / count), 10 if count < ACROSS else 9)
        if panel.own_legend:
            below_axes(axis, lines)
        else:
            shared |= lines
    figure.align_ylabels()
    below_figure(figure, {name: shared[name] for name in _names(panels) if name in shared})
    return figure


def _with_multiples(rows: Sequence[Sequence[Panel]]) -> list[Sequence[Panel]]:
    """Return rows in which panels of many curves are replaced by rows of small multiples."""
    result: list[Sequence[Panel]] = []
    for row in rows:
        parts = [multiples(panel) for panel in row]
        few = [x[0] for x in parts if len(x) == 1]
        result += [few] if few else []
        for many in (x for x in parts if len(x) > 1):
            lines = math.ceil(len(many) / ACROSS)
            result += [many[len(many) * k // lines : len(many) * (k + 1) // lines] for k in range(lines)]
    return result


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
        raise MissingExtraError(f"pictures need matplotlib; {installs('view')}", extra="view") from None

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


def _axes(figure: Any, counts: Sequence[int], abscissa: str) -> list[Any]:
    """Add axes row by row; the abscissa has no numbers and no name where the row below has the same ones."""
    cells = math.lcm(*counts)
    grid = figure.add_gridspec(len(counts), cells)
    axes: list[Any] = []
    for row, count in enumerate(counts):
        wide = cells // count
        for k in range(count):
            place = grid[row, k * wide : (k + 1) * wide]
            axis = figure.add_subplot(place, sharex=axes[0] if axes else None)
            last = row + 1 == len(counts) or counts[row + 1] != count
            axis.tick_params(labelbottom=last)
            axis.set_xlabel(abscissa if last else "")
            if max(counts) >= ACROSS:
                axis.locator_params(axis="x", nbins=TICKS)
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
    for values in panel.behind.values():
        axis.plot(time if panel.time is None else panel.time, values, **BEHIND)
    if panel.limits is not None:
        axis.set_ylim(*panel.limits)
    axis.set_ylabel(plain(panel.quantity))
    axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.grid(alpha=0.25, linewidth=0.6)
    axis.spines[["top", "right"]].set_visible(False)
    axis.margins(x=0.01)
    return lines


def _head(axis: Any, panel: Panel, longest: int, size: float) -> None:
    """Write the title, and below it the names of curves that coincide, since only the last of them is seen."""
    groups = [" = ".join(panel.labels.get(name, name) for name in x) for x in equal_curves(panel)]
    axis.set_title(
        plain(panel.title, longest), fontsize=size, loc="left", pad=6.0 + 1.3 * SMALL * len(groups)
    )
    if groups:
        text = "\n".join(plain(f"equal: {x}", longest) for x in groups)
        place = {"xycoords": "axes fraction", "xytext": (0.0, 4.0), "textcoords": "offset points"}
        note = axis.annotate(text, (0.0, 1.0), fontsize=SMALL, color="#555555", va="bottom", **place)
        note.set_in_layout(False)  # the title makes room for it


def _looks(panel: Panel) -> Mapping[str, Look]:
    if panel.looks is not None:
        return panel.looks
    if 1 < len(panel.curves) <= len(AGREEMENT):
        return dict(zip(panel.curves, AGREEMENT, strict=False))
    return distinct(panel.curves)
