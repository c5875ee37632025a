"""A comparison as one page of HTML, complete in itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, TypeAlias

from kinpair.analysis.bars import Panel, chart
from kinpair.analysis.comparison_table import LEGEND, Part, head, parts
from kinpair.notebook import html_paragraph, html_table

if TYPE_CHECKING:
    from kinpair.analysis.comparison import Comparison, Row

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
    """What was measured; behind each bar its figure, and how many times the least it is."""
    for title, (lengths, scale, form) in PANELS.items():
        every = [[x * scale for x in lengths(row) if x is not None] for row in rows]
        if any(every):
            totals = [sum(parts) for parts in every]
            least = min(totals)
            labels = [f"{form.format(t)}{_times(t, least)}" for t in totals]
            yield Panel(title, list(zip(every, labels, strict=True)))


def _times(total: float, least: float) -> str:
    return f" · {total / least:.1f}×" if total > least > 0 else ""
