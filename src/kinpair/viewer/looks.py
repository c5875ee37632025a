"""Looks of pictures: colours and dashes, texts in fonts that have their characters, panels of curves as data."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterable, Mapping, Sequence
from colorsys import hls_to_rgb
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from math import gcd
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from kinpair.errors import PictureWarning, caller_level

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
MANY, FEW = 10, 6  # curves that one panel can have at most, and those of a small multiple
SAME = 1e-9  # difference of equal curves, as a part of the largest value
ROOM = 0.05  # above and below the curves of small multiples, as a part of their range
LONGEST = 90  # characters of a title
ASCII = 127
NO_FONTS = ("Last Resort", "LastResort")  # draws a box for every character
KNOWN = (  # families that are tried first, the most usual ones for Chinese, Japanese and Korean
    "Noto Sans CJK",
    "Noto Sans SC",
    "Source Han Sans",
    "WenQuanYi",
    "Microsoft YaHei",
    "PingFang",
    "Hiragino Sans",
    "Yu Gothic",
    "SimHei",
    "Malgun Gothic",
    "Droid Sans Fallback",
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


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One pair of axes: its title, its quantity with unit, and its curves (n,) by name.

    `looks`: colour and dashes of each curve; without them the curves are one thing computed by several methods.
    `labels`: names for the legend, where they differ. `own_legend`: in this panel, not below the figure.
    `time`: of these curves, where it is not that of the figure. `bars`: by name of a curve, intervals of time that are
    marked by a bar in its colour at the foot of the panel. `behind`: by name of a curve, a reference (n,) that is drawn
    broad and pale behind it. `limits`: lowest and highest value of the ordinate; by default those of the curves.
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
    behind: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    limits: tuple[float, float] | None = None


def multiples(panel: Panel) -> list[Panel]:
    """Return the panel itself, or small multiples of it with the same ordinate where it has more than ten curves."""
    names = list(panel.curves)
    if len(names) <= MANY or panel.looks is None:
        return [panel]
    count = -(-len(names) // FEW)
    parts = [names[len(names) * k // count : len(names) * (k + 1) // count] for k in range(count)]
    return [
        replace(
            panel,
            title=f"{panel.title}: {part[0]} … {part[-1]}",
            curves={name: panel.curves[name] for name in part},
            bars={name: x for name, x in panel.bars.items() if name in part},
            behind={name: x for name, x in panel.behind.items() if name in part},
            limits=_range(panel),
        )
        for part in parts
    ]


def _range(panel: Panel) -> tuple[float, float] | None:
    """Return the lowest and highest value of all curves, with some room; None where there is no number."""
    every = np.concatenate([np.ravel(x) for x in (*panel.curves.values(), *panel.behind.values())])
    finite = every[np.isfinite(every)]
    if not len(finite):
        return None
    low, high = float(finite.min()), float(finite.max())
    room = ROOM * (high - low) or ROOM * abs(high) or 1.0
    return low - room, high + room


def equal_curves(panel: Panel) -> list[list[str]]:
    """Find curves that coincide, group by group; none where curves are one quantity computed by several methods."""
    if panel.looks is None:
        return []
    groups: list[list[str]] = []
    for name, values in panel.curves.items():
        group = next((x for x in groups if _equal(panel.curves[x[0]], values)), None)
        if group is None:
            groups.append([name])
        else:
            group.append(name)
    return [group for group in groups if len(group) > 1]


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    known = np.isfinite(a)
    if np.shape(a) != np.shape(b) or (known != np.isfinite(b)).any() or not known.any():
        return False
    size = max(float(np.abs(a[known]).max()), float(np.abs(b[known]).max()))
    return bool(np.abs(a[known] - b[known]).max() <= SAME * size)


def equal_to(panel: Panel) -> dict[str, str]:
    """Name of a curve → the first curve that it is equal to."""
    return {name: group[0] for group in equal_curves(panel) for name in group[1:]}


def plain(text: str, longest: int = LONGEST) -> str:
    """Return a name on one line, without mathematics, its middle left out where it is longer than `longest`."""
    line, half = " ".join(text.split()), longest // 2
    line = line if len(line) <= longest else f"{line[:half]}…{line[-half:]}"
    return line.replace("$", r"\$")


@contextmanager
def missing_allowed() -> Generator[None]:
    """Measure or draw texts without matplotlib's warning for each missing character: `choose_fonts` reports them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph .* missing", UserWarning)
        yield


def choose_fonts(figure: Any) -> None:
    """Add fonts to the texts of a figure that have characters which their font does not have.

    Characters that no installed font has are reported in one PictureWarning.
    """
    from matplotlib.text import Text

    foreign = [x for x in figure.findobj(Text) if any(ord(c) > ASCII for c in x.get_text())]
    without: set[str] = set()
    for text in foreign:
        family = text.get_fontfamily()
        missing = frozenset(c for c in text.get_text() if ord(c) > ASCII) - _drawn_by(tuple(family))
        fonts, left = _fonts_for(missing) if missing else ((), missing)
        without |= left
        if fonts and fonts[-1] not in family:
            text.set_fontfamily([*family, *fonts])
    reported = getattr(figure, "characters_reported", frozenset[str]())
    if without - reported:
        figure.characters_reported = reported | without
        warnings.warn(
            f"no installed font has the characters {' '.join(sorted(without)[:12])}, so the picture shows boxes; "
            "install a font that has them, for Chinese, Japanese and Korean: apt-get install fonts-noto-cjk, or "
            "Noto Sans CJK from notofonts.github.io",
            PictureWarning,
            stacklevel=caller_level(),
        )


@cache
def _drawn_by(family: tuple[str, ...]) -> frozenset[str]:
    """Return the characters of the first font of a family list."""
    from matplotlib.font_manager import FontProperties, findfont

    return _characters(findfont(FontProperties(family=list(family))))


@cache
def _characters(file: str) -> frozenset[str]:
    from matplotlib.font_manager import get_font

    return frozenset(map(chr, get_font(file).get_charmap()))


@cache
def _fonts_for(characters: frozenset[str]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the families that together have the characters, and the characters that no installed font has."""
    left, families = characters, list[str]()
    for family, file in _installed():
        if not left:
            break
        if own := left & _characters(file):
            families.append(family)
            left -= own
    return tuple(families), left


def _installed() -> Iterable[tuple[str, str]]:
    """Return the family and file of every installed font, the usual ones for foreign scripts first; also of those that
    were installed after matplotlib listed them."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    listed = {Path(x.fname).name for x in fontManager.ttflist}
    for file in findSystemFonts():
        if Path(file).name not in listed:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _add(fontManager, file)
    upright = [x for x in fontManager.ttflist if x.style == "normal" and not x.name.startswith(NO_FONTS)]
    ranks = {
        x.name: next((k for k, y in enumerate(KNOWN) if x.name.startswith(y)), len(KNOWN)) for x in upright
    }
    return [
        (x.name, x.fname) for x in sorted(upright, key=lambda x: (ranks[x.name], x.name, x.weight != 400))
    ]


def _add(fonts: Any, file: str) -> None:
    try:
        fonts.addfont(file)
    except (OSError, RuntimeError):  # a file that is no font matplotlib reads
        return
