"""Legends outside the axes, in as many columns as there is room for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from kinpair.viewer.labels import choose_fonts, missing_allowed, plain

LONGEST = 48  # characters of a name in a legend
GAP = 34.0  # points from the lower edge of the axes to their legend: numbers and abscissa are between
SMALL = 9.0  # points


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
        fontsize=SMALL,
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
        fontsize=SMALL,
        borderaxespad=0.0,
    )


def shortened(names: Iterable[str]) -> list[str]:
    """Names with their middle left out where they are too long for a legend."""
    return [plain(x, LONGEST) for x in names]
