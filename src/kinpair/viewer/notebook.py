"""Displays of a notebook: tables of HTML, and a mechanism in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from html import escape
from operator import attrgetter

from kinpair.constraints.rows import mobility as constraints
from kinpair.model.model import Model
from kinpair.model.table import (
    BRAKE_HEADINGS,
    HEADINGS,
    SPRING_HEADINGS,
    brake_cells,
    brakes_of,
    head,
    shortened,
    spring_cells,
    table_rows,
)


def html_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows of text under their headings."""
    lines = [_line("th", headings), *(_line("td", row) for row in rows)]
    return "\n".join(["<table>", *lines, "</table>"])


def html_paragraph(text: str) -> str:
    """A text as it is, line by line."""
    return f"<p>{escape(text).replace(chr(10), '<br>')}</p>"


def mechanism_html(model: Model, freedom: str = "") -> str:
    """Name and sizes, bodies, springs and constraints of a model; `freedom` says how constraints let it move."""
    springs = shortened(model.description.springs, spring_cells)
    brakes = shortened(brakes_of(model), partial(brake_cells, model))
    rows = shortened(constraints.entries(model), attrgetter("cells"))
    parts = [
        html_paragraph(head(model, " without constraints" if rows else "")),
        html_table(HEADINGS, table_rows(model)),
        html_table(SPRING_HEADINGS, springs) if springs else "",
        html_table(BRAKE_HEADINGS, brakes) if brakes else "",
        html_table(constraints.HEADINGS, rows) if rows else "",
        html_paragraph(freedom) if freedom else "",
    ]
    return "\n".join(filter(None, parts))


def _line(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
