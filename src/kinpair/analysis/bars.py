"""Bars beside each other as SVG, drawn by hand: no library, no script, text that can be searched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

NAMES, PANEL, BAR, GAP = 150, 270, 150, 10  # widths: names, a panel, its longest bar, beside a text
LINE, HEIGHT, TOP = 24, 14, 30  # height of a row, of a bar, of the titles


@dataclass(frozen=True, slots=True)
class Panel:
    """A title, and for each row the lengths of its stacked parts and what is written behind them."""

    title: str
    rows: Sequence[tuple[Sequence[float], str]]


def chart(names: Sequence[str], panels: Sequence[Panel]) -> str:
    """The panels side by side, a row a name; bars of a panel start at zero and share one scale."""
    width, height = NAMES + PANEL * len(panels), TOP + LINE * len(names)
    drawn = [*_names(names), *(x for k, p in enumerate(panels) for x in _panel(p, NAMES + k * PANEL))]
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>', *drawn, "</svg>"])


def _names(names: Sequence[str]) -> Iterator[str]:
    for k, name in enumerate(names):
        yield _text(NAMES - GAP, k, name, "name")


def _panel(panel: Panel, left: float) -> Iterator[str]:
    longest = max((sum(parts) for parts, _ in panel.rows), default=0.0) or 1.0
    yield f'<text class="title" x="{left}" y="{TOP - 14}">{escape(panel.title)}</text>'
    for k, (parts, label) in enumerate(panel.rows):
        x = float(left)
        for kind, part in enumerate(parts):
            width = BAR * part / longest
            yield (
                f'<rect class="part{kind}" x="{x:.1f}" y="{TOP + LINE * k + (LINE - HEIGHT) / 2:.1f}" '
                f'width="{width:.1f}" height="{HEIGHT}"/>'
            )
            x += width
        yield _text(x + GAP / 2, k, label, "value")


def _text(x: float, row: int, words: str, kind: str) -> str:
    y = TOP + LINE * row + LINE / 2 + 4
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(words)}</text>'
