"""The zero-moment point in the support polygon: as a picture, and as marks on the ground of a scene."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from kinpair.motion.polygon import plane_axes
from kinpair.viewer.curves import NARROW, blank_figure, write_figure
from kinpair.viewer.looks import COLOURS

POINT, AREA = "zero-moment point", "support polygon"
SHOWN = 40  # polygons in a picture, at most


def marks_of(support: Any, every: slice = slice(None)) -> dict[str, Any]:
    """Points and areas of a recording with these samples, in the world."""
    axes, origin = plane_axes(support.ground.normal), np.asarray(support.ground.point)
    kept: dict[bytes, np.ndarray] = {}  # the same array for the same polygon
    areas = tuple(
        kept.setdefault(corners.tobytes(), origin + corners @ axes.T) for corners in support.polygons[every]
    )
    return {"points": {POINT: support.zmp[every]}, "areas": {AREA: areas}}


def picture(support: Any, path: str | os.PathLike[str] | None, title: str) -> Any:
    """The point in the polygons seen from above, and its margin over time."""
    figure = blank_figure(NARROW, 6.2, title or "zero-moment point in the support polygon")
    above, over = figure.subplots(2, 1, height_ratios=(2.4, 1.0))
    _above(above, support)
    _margin(over, support)
    for axis in (above, over):
        axis.grid(alpha=0.25, linewidth=0.6)
        axis.spines[["top", "right"]].set_visible(False)
    if path is not None:
        write_figure(figure, path)
    return figure


def _above(axis: Any, support: Any) -> None:
    distinct = list({x.tobytes(): x for x in support.polygons}.values())
    for corners in distinct[:: max(1, len(distinct) // SHOWN)]:
        closed = np.concatenate([corners, corners[:1]])
        axis.fill(closed[:, 0], closed[:, 1], color=COLOURS[0], alpha=min(0.18, 1.5 / len(distinct) + 0.03))
        axis.plot(closed[:, 0], closed[:, 1], color=COLOURS[0], linewidth=0.8, alpha=0.6)
    flat = (support.zmp - np.asarray(support.ground.point)) @ plane_axes(support.ground.normal)
    axis.plot(flat[:, 0], flat[:, 1], color="#222222", linewidth=1.8)
    outside = support.margin < 0.0
    axis.plot(flat[outside, 0], flat[outside, 1], ".", color=COLOURS[3], markersize=4)
    for k, mark, word in ((0, "o", "start"), (-1, "s", "end")):
        axis.plot(flat[k, 0], flat[k, 1], mark, color="#222222", markersize=5)
        axis.annotate(word, flat[k], (6, 6), textcoords="offset points", fontsize=8)
    axis.set_aspect("equal", adjustable="datalim")
    axis.set_title("from above; red where it is outside", fontsize=10, loc="left")
    axis.set_xlabel("forward [m]")
    axis.set_ylabel("left [m]")


def _margin(axis: Any, support: Any) -> None:
    axis.plot(support.time, 1e3 * support.margin, color=COLOURS[0], linewidth=1.4)
    axis.axhline(0.0, color=COLOURS[3], linewidth=0.8)
    axis.set_title("distance to the border, negative outside", fontsize=10, loc="left")
    axis.set_xlabel("time [s]")
    axis.set_ylabel("[mm]")
    axis.margins(x=0.01)
