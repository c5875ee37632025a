"""A comparison of formulations as tables, as a picture and as a page."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, TypeAlias

from kinpair.analysis.compare import Comparison, Row
from kinpair.viewer.curves import WIDE, blank_figure, write_figure
from kinpair.viewer.looks import COLOURS
from kinpair.viewer.still import html_paragraph, html_table

TITLES = {
    "inverse_dynamics": "Inverse dynamics",
    "forward_dynamics": "Forward dynamics",
    "mass_matrix": "Mass matrix H",
    "coriolis_matrix": "Coriolis matrix C",
    "bias_forces": "Bias forces",
    "gravity_forces": "Gravity forces",
    "reactions": "Reactions",
    "inverse_dynamics_derivatives": "Derivatives of the inverse dynamics",
    "forward_dynamics_derivatives": "Derivatives of the forward dynamics",
}
NOTHING = "-"
Cell: TypeAlias = "Callable[[Row], str]"


@dataclass(frozen=True, slots=True)
class Part:
    """A table of one quantity: a heading, a table, and lines below it."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[str, ...]


def _scaled(field: str, factor: float, digits: int) -> Cell:
    def cell(row: Row) -> str:
        seconds = getattr(row, field)
        return NOTHING if seconds is None else f"{seconds * factor:.{digits}f}"

    return cell


def _counted(field: str) -> Cell:
    return lambda row: str(getattr(row, field))


def _error(row: Row) -> str:
    size = f"{row.error:.0e}" if row.error else "0"
    return size if row.agrees else f"{size} !"


CELLS: dict[str, Cell] = {
    "method": lambda row: row.method,
    "error": _error,
    "skew": lambda row: NOTHING if row.skewness is None else f"{row.skewness:.0e}",
    "mult": _counted("multiplications"),
    "add": _counted("additions"),
    "other": _counted("others"),
    "one [ns]": _scaled("one", 1e9, 0),
    "batch [ns]": _scaled("batch", 1e9, 1),
    "compile [ms]": _scaled("compile", 1e3, 0),
}


def head(comparison: Comparison) -> str:
    """Heading: which mechanism, in which states, on which machine."""
    c = comparison
    opened = f"; {c.constraints} of its constraints beyond the joints left open" if c.constraints else ""
    stopped = "" if c.complete else f"; {c.status}"
    return (
        f"{c.mechanism}: {c.nv} degree{'s' * (c.nv > 1)} of freedom, {c.states} random "
        f"state{'s' * (c.states > 1)} (seed {c.seed}), processor {c.machine}{opened}{stopped}"
    )


LEGEND = (
    "error: worst relative error against the default formulation run without the compiler",
    "mult, add, other: operations after folding and sharing; divisions count as multiplications",
    "one: a call of the method for one state; batch: a state in a batch of 1024; compile: for both, no cache",
    "springs, dampers and friction are left out",
)


def parts(comparison: Comparison) -> Iterator[Part]:
    """A part a quantity; a column that is empty for all is left out."""
    for quantity in comparison.quantities:
        rows = comparison.of(quantity)
        complete = [row for row in rows if not row.reason]
        columns = {heading: [cell(row) for row in complete] for heading, cell in CELLS.items()}
        used = {h: cells for h, cells in columns.items() if any(cell != NOTHING for cell in cells)}
        yield Part(
            TITLES.get(quantity, quantity),
            tuple(used),
            tuple(zip(*used.values(), strict=True)),
            (*_verdicts(comparison, quantity), *_refusals(rows)),
        )


NOTES = {
    "coriolis_matrix": "compared is C qd, with the bias forces of no gravity: C itself may differ; "
    "skew: how far dH/dt - 2C is from skew-symmetric",
}


def _verdicts(comparison: Comparison, quantity: str) -> Iterator[str]:
    best = {
        "cheapest": comparison.cheapest.get(quantity),
        "fastest in a batch": comparison.fastest.get(quantity),
    }
    named = ", ".join(f"{what}: {method}" for what, method in best.items() if method)
    if named:
        yield named
    if quantity in NOTES:
        yield NOTES[quantity]
    apart = [row.method for row in comparison.of(quantity) if row.agrees is False]
    if apart:
        yield f"! beyond what rounding explains: {', '.join(apart)}"


def _refusals(rows: Sequence[Row]) -> Iterator[str]:
    """A line a reason, with all that have it."""
    reasons = dict.fromkeys(row.reason for row in rows if row.reason)
    return (_refusal(reason, [row.method for row in rows if row.reason == reason]) for reason in reasons)


def _refusal(reason: str, methods: Sequence[str]) -> str:
    named = len(methods) == 1 and repr(methods[0]) in reason
    return reason if named else f"{', '.join(methods)}: {reason}"


def text(comparison: Comparison) -> str:
    """All of it in lines."""
    blocks = ["\n".join([part.title, *_aligned(part), *part.lines]) for part in parts(comparison)]
    return "\n\n".join(["\n".join([head(comparison), *LEGEND]), *blocks])


def _aligned(part: Part) -> list[str]:
    """The first column to the left, numbers to the right."""
    if not part.rows:
        return []
    cells: Sequence[Sequence[str]] = [part.headings, *part.rows]
    widths = [max(len(row[k]) for row in cells) for k in range(len(part.headings))]
    first, *others = zip(*cells, strict=True)
    columns = [[x.ljust(widths[0]) for x in first]]
    columns += [[x.rjust(w) for x in column] for column, w in zip(others, widths[1:], strict=True)]
    lines = ["  ".join(row) for row in zip(*columns, strict=True)]
    return [lines[0], "  ".join("-" * w for w in widths), *lines[1:]]


INCHES = 0.26  # inches of a bar
PARTS = (("multiplications", COLOURS[0]), ("additions", COLOURS[1]), ("others", "#9a9a9a"))


def picture(comparison: Comparison, path: str | os.PathLike[str] | None) -> Any:
    """A row of panels for each quantity: operations by kind, and time of a state in a batch where it was measured."""
    quantities = [x for x in comparison.quantities if any(row.operations for row in comparison.of(x))]
    rows = {x: [row for row in comparison.of(x) if row.operations] for x in quantities}
    height = 0.9 + sum(0.9 + INCHES * len(x) for x in rows.values())
    figure = blank_figure(WIDE, height, f"{comparison.mechanism}: what each formulation costs")
    shares = [0.9 + INCHES * len(x) for x in rows.values()]
    axes = figure.subplots(len(rows), 2, squeeze=False, height_ratios=shares)
    for (left, right), (quantity, own) in zip(axes, rows.items(), strict=True):
        _operations(left, own)
        _time_bars(right, own)
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


def _time_bars(axis: Any, rows: list[Row]) -> None:
    times = [1e6 * (row.batch or 0.0) for row in rows]
    axis.barh([row.method for row in rows], times, color=COLOURS[2], height=0.7)
    for k, row in enumerate(rows):
        if row.batch is None:
            axis.text(0.0, k, " not measured", fontsize=8, va="center", color="#777777")
    axis.tick_params(labelleft=False)
    axis.locator_params(axis="x", nbins=5)


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


Lengths: TypeAlias = "Callable[[Row], Sequence[float | None]]"

PANELS: dict[str, tuple[Lengths, float, str]] = {  # title → lengths, scale, format of their sum
    "operations: ×, +, other": (
        lambda row: (row.multiplications, row.additions, row.others),
        1.0,
        "{:.0f}",
    ),
    "a state in a batch [ns]": (lambda row: (row.batch,), 1e9, "{:.1f}"),
    "one state, a call [ns]": (lambda row: (row.one,), 1e9, "{:.0f}"),
    "compiling [ms]": (lambda row: (row.compile,), 1e3, "{:.0f}"),
}
STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1260px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
td, th { padding: .15rem .7rem; text-align: right; border-bottom: 1px solid #8884; font-weight: normal; }
th { border-bottom: 2px solid #8888; } td:first-child, th:first-child { text-align: left; }
svg { display: block; max-width: 100%; height: auto; margin: .6rem 0; font-size: 12px; }
svg text { fill: currentColor; } .name { text-anchor: end; } .title { font-weight: 600; }
.part0 { fill: #3d7cc9; } .part1 { fill: #8ab6e8; } .part2 { fill: #9a9a9a; }
.legend, .note { opacity: .75; margin: .2rem 0; }
"""


def page(comparison: Comparison) -> str:
    """HTML: a chart, a table and the verdicts a quantity."""
    title = f"Formulations of {comparison.mechanism}"
    body = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(head(comparison))}</p>",
        *(f'<p class="legend">{escape(line)}</p>' for line in LEGEND),
        *(
            line
            for quantity, part in zip(comparison.quantities, parts(comparison), strict=True)
            for line in _section(part, [row for row in comparison.of(quantity) if not row.reason])
        ),
    ]
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>",
            *body,
            "</body>\n</html>\n",
        ]
    )


def fragment(comparison: Comparison) -> str:
    """HTML for a notebook: a table and the verdicts a quantity."""
    tables = (
        f"<h4>{escape(part.title)}</h4>\n{html_table(part.headings, part.rows) if part.rows else ''}"
        f"{''.join(map(html_paragraph, part.lines))}"
        for part in parts(comparison)
    )
    return "\n".join([html_paragraph(head(comparison)), *tables])


def _section(part: Part, rows: Sequence[Row]) -> Iterator[str]:
    yield f"<h2>{escape(part.title)}</h2>"
    if rows:
        yield chart([row.method for row in rows], list(_panels(rows)))
        yield html_table(part.headings, part.rows)
    yield from (f'<p class="note">{escape(line)}</p>' for line in part.lines)


def _panels(rows: Sequence[Row]) -> Iterator[Panel]:
    """Draw what was measured; behind each bar its figure, and how many times the least it is."""
    for title, (lengths, scale, form) in PANELS.items():
        every = [[x * scale for x in lengths(row) if x is not None] for row in rows]
        if any(every):
            totals = [sum(parts) for parts in every]
            least = min(totals)
            labels = [f"{form.format(t)}{_times(t, least)}" for t in totals]
            yield Panel(title, list(zip(every, labels, strict=True)))


def _times(total: float, least: float) -> str:
    return f" · {total / least:.1f}×" if total > least > 0 else ""
