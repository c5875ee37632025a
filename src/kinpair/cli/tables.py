"""Tables for a person: names beside numbers, as wide as the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table

DIGITS = (5, 4, 3)  # as many as the width allows
GAP = 2  # blanks between columns
ROUNDING = 1e-12  # what is smaller than this beside the largest of its kind is rounding, and shown as 0


def texts(values: Any, digits: int = DIGITS[0]) -> list[str]:
    """Numbers for reading."""
    x = np.asarray(values, dtype=float).ravel()
    largest = np.abs(x[np.isfinite(x)]).max(initial=1.0)
    return [f"{v:.{digits}g}" if not abs(v) < ROUNDING * largest else "0" for v in x.tolist()]


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], names: int = 1) -> Table:
    """The first `names` columns hold names and may fold; the others hold numbers, set to the right."""
    out = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for k, heading in enumerate(headings):
        if k < names:
            out.add_column(heading, overflow="fold")
        else:
            out.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        out.add_row(*row)
    return out


def number_table(
    first: str, names: Sequence[str], columns: Mapping[str, Any], width: int, *, missing: str = "nan"
) -> Table:
    """A row a name, a column a quantity (n,); with as many digits as the width allows. NaN is called `missing`."""
    tries = [_columns_of_text(first, names, columns, digits, missing) for digits in DIGITS]
    chosen = next((text for text in tries if _width(text) <= width), tries[-1])
    headings, *rows = zip(*chosen, strict=True)
    return table(headings, rows)


def _columns_of_text(
    first: str, names: Sequence[str], columns: Mapping[str, Any], digits: int, missing: str
) -> list[list[str]]:
    words = {
        heading: [missing if x == "nan" else x for x in texts(c, digits)] for heading, c in columns.items()
    }
    return [[first, *names], *([heading, *own] for heading, own in words.items())]


def _width(columns: Sequence[Sequence[str]]) -> int:
    return sum(GAP + max(map(len, column)) for column in columns) - GAP


def matrix_tables(names: Sequence[str], matrix: np.ndarray, width: int) -> Iterator[Table]:
    """A square matrix with numbered columns, in as many tables as the width asks for."""
    n = len(names)
    labels = [f"{k} {name}" for k, name in enumerate(names)]
    cells = np.array(texts(matrix), dtype=object).reshape(n, n)
    room = width - max((len(label) for label in labels), default=0)
    widths = [GAP + max(map(len, (str(j), *cells[:, j]))) for j in range(n)]
    for span in _spans(widths, room):
        yield table(("", *map(str, span)), ((labels[i], *cells[i, span]) for i in range(n)))


def _spans(widths: Sequence[int], room: int) -> Iterator[range]:
    """Runs of neighbouring columns that fit into the room; at least one column each."""
    start, used = 0, 0
    for j, width in enumerate(widths):
        if used + width > room and j > start:
            yield range(start, j)
            start, used = j, 0
        used += width
    if widths:
        yield range(start, len(widths))
