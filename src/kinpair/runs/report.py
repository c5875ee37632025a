"""A run as one page of HTML, complete in itself."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any, cast

import numpy as np

from kinpair.errors import InputError, MissingExtraError
from kinpair.notebook import html_paragraph, html_table
from kinpair.runs.pictures import plot
from kinpair.runs.record import Record
from kinpair.runs.summary import summary
from kinpair.runs.targets import GENERATOR, PAGE, target
from kinpair.runs.vectors import vectors_of
from kinpair.simulation.blocks import blocks
from kinpair.simulation.events.events import Event

ENDS = ("", "unit", "start", "end", "least", "largest")
DPI = 72  # of a picture in a notebook
STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
td, th { padding: .15rem .7rem; text-align: right; border-bottom: 1px solid #8884; font-weight: normal; }
th { border-bottom: 2px solid #8888; } td:first-child, th:first-child { text-align: left; }
.trouble { color: #b5341c; font-weight: 600; } .curves { background: #fff; } svg { max-width: 100%; height: auto; }
"""


def write_report(run: Record, path: str | os.PathLike[str], *, row: int = 0) -> Path:
    """Write the page."""
    file = target(path, PAGE)
    text = page(run, row)
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as reason:
        raise InputError(f"{file}: cannot be written ({reason.strerror})", path=str(file)) from None
    return file


def page(run: Record, row: int = 0) -> str:
    """HTML: summary, curves, the ends of every curve, the options."""
    title = f"Motion of {run.mechanism.name}"
    kind = "" if run.status.ok else ' class="trouble"'
    body = [
        f"<h1>{escape(title)}</h1>",
        f"<p{kind}>{escape(run.status.message)}.</p>",
        f"<p>{escape(summary(run))}</p>",
        f'<div class="curves">{_curves(run, row)}</div>',
        "<h2>Beginning and end</h2>",
        html_table(ENDS, _ends(run, row)),
        "<h2>What was asked for</h2>",
        html_table(
            ("option", "value"), ((key, _shown(x)) for key, x in run.options.items() if x is not None)
        ),
    ]
    about = f'<meta charset="utf-8">\n{GENERATOR}\n<title>{escape(title)}</title>'
    head = f'<!doctype html>\n<html lang="en">\n<head>\n{about}'
    return "\n".join([head, f"<style>{STYLE}</style>\n</head>\n<body>", *body, "</body>\n</html>\n"])


def fragment(run: Record) -> str:
    """HTML for a notebook: summary and picture, or a table where matplotlib is missing."""
    first = f"Shown is the first of {len(run.q)} trajectories." if run.q.ndim == 3 else ""
    try:
        image = BytesIO()
        plot(run, None, 0).savefig(image, format="png", dpi=DPI)
        shown = f'<img src="data:image/png;base64,{b64encode(image.getvalue()).decode()}" alt="curves">'
    except MissingExtraError:
        shown = html_table(ENDS, _ends(run, 0))
    return "\n".join([html_paragraph(summary(run)), html_paragraph(first) if first else "", shown])


def _curves(run: Record, row: int) -> str:
    image = StringIO()
    plot(run, None, row).savefig(image, format="svg")
    text = image.getvalue()
    return text[text.index("<svg") :]


def _ends(run: Record, row: int) -> Iterable[Sequence[str]]:
    for name, entries in vectors_of(run.mechanism, run.options, passive=run.passive).items():
        array = getattr(run, name)
        x = array[row] if array.ndim == 3 else array
        if not len(x):
            continue
        least = np.min([part.min(axis=0) for (part,) in blocks(x, axis=-2)], axis=0)
        most = np.max([part.max(axis=0) for (part,) in blocks(x, axis=-2)], axis=0)
        for k, (entry, unit) in enumerate(entries.items()):
            numbers = (x[0, k], x[-1, k], least[k], most[k])
            yield f"{name} {entry}", unit, *(f"{v:.6g}" for v in numbers)


def _shown(value: Any) -> str:
    if isinstance(value, Event):
        return value.name
    if isinstance(value, list | tuple) and any(isinstance(x, Event) for x in cast(Sequence[Any], value)):
        return ", ".join(_shown(x) for x in cast(Sequence[Any], value))
    if callable(value):
        return getattr(value, "__qualname__", type(value).__qualname__)
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_shown(x)}" for key, x in value.items())
    with np.printoptions(precision=6, threshold=24):
        return str(np.asarray(value)) if np.ndim(value) else str(value)
