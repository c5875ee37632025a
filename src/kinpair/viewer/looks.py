"""Colours and dashes of curves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from colorsys import hls_to_rgb
from math import gcd
from typing import Any, TypeAlias

Look: TypeAlias = Mapping[str, Any]
# How the first, second, ... curve of a panel looks: a thin dashed line on a broad pale one shows agreement.
AGREEMENT: tuple[Look, ...] = (
    {"color": "#8ab6e8", "linewidth": 4.5, "solid_capstyle": "round"},
    {"color": "#b5341c", "linewidth": 1.4, "dashes": (5, 3)},
    {"color": "#1b7a4b", "linewidth": 1.4, "dashes": (1, 2)},
    {"color": "#444444", "linewidth": 1.0},
)
COLOURS = (
    "#1f77b4",
    "#ff7f0e",
    "#2ca02c",
    "#d62728",
    "#9467bd",
    "#8c564b",
    "#e377c2",
    "#bcbd22",
    "#17becf",
)
LINK_COLOURS = (  # of links that have none of their own
    (0.27, 0.51, 0.71),
    (0.87, 0.56, 0.25),
    (0.42, 0.64, 0.42),
    (0.75, 0.38, 0.36),
    (0.55, 0.47, 0.68),
    (0.83, 0.71, 0.36),
    (0.38, 0.64, 0.67),
)
LINES = ("-", "--", ":")
LIGHTNESS = (0.42, 0.55, 0.34)
SATURATION = 0.7
GOLDEN = 0.382  # of the circle of hues, about, from one of many curves to the next
GREYS: tuple[Look, ...] = (  # the third is broad and pale, so that another on top of it is seen
    {"color": "#222222", "linewidth": 1.3},
    {"color": "#222222", "linewidth": 1.3, "linestyle": "--"},
    {"color": "#c4c4c4", "linewidth": 4.5, "solid_capstyle": "round", "zorder": 1.5},
    {"color": "#222222", "linewidth": 1.6, "linestyle": ":"},
    {"color": "#8a8a8a", "linewidth": 1.4, "linestyle": "-."},
)


def distinct(names: Iterable[str]) -> dict[str, Look]:
    """A look for each name, no two alike: known colours for a few, hues and dashes in turn for many."""
    every = list(dict.fromkeys(names))
    if len(every) <= len(COLOURS):
        looks = [{"color": colour, "linewidth": 1.4} for colour in COLOURS]
    else:
        looks = [_of_many(k, len(every)) for k in range(len(every))]
    return dict(zip(every, looks, strict=False))


def _of_many(k: int, count: int) -> Look:
    step = next(x for x in range(max(1, round(GOLDEN * count)), 2 * count) if gcd(x, count) == 1)
    colour = hls_to_rgb(step * k % count / count, LIGHTNESS[k % len(LIGHTNESS)], SATURATION)
    return {"color": colour, "linewidth": 1.3, "linestyle": LINES[k % len(LINES)]}
