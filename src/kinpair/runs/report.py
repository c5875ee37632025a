"""A run as one page of HTML, complete in itself."""

from __future__ import annotations

import os
import platform
import sys
from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kinpair.errors import InputError, MissingExtraError
from kinpair.notebook import html_paragraph, html_table
from kinpair.runs.pictures import plot
from kinpair.runs.record import Record, lead_of
from kinpair.runs.recording import recording_of
from kinpair.runs.summary import summary
from kinpair.runs.targets import GENERATOR, PAGE, target
from kinpair.runs.vectors import vectors_of
from kinpair.simulation.events.events import Event
from kinpair.simulation.sample_memory import blocks
from kinpair.viewer.report_page import page as animated_page

if TYPE_CHECKING:
    from kinpair.motion.support import Support

ENDS = ("", "unit", "start", "end", "least", "largest")
DPI = 72  # of a picture in a notebook
POINTS = 1500  # of a curve in a page


def write_report(
    run: Record, path: str | os.PathLike[str], *, row: int = 0, support: Support | None = None
) -> Path:
    """Write the page."""
    file = target(path, PAGE)
    text = page(run, row, support)
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as reason:
        raise InputError(f"{file}: cannot be written ({reason.strerror})", path=str(file)) from None
    return file


def page(run: Record, row: int = 0, support: Support | None = None) -> str:
    """HTML: summary, animation and curves on one time, the ends of every curve, the mechanism, how it was made."""
    title = f"Motion of {run.mechanism.name}"
    kind = "" if run.status.ok else ' class="trouble"'
    before = [
        f"<h1>{escape(title)}</h1>",
        f"<p{kind}>{escape(run.status.message)}.</p>",
        f"<p>{escape(summary(run))}</p>",
    ]
    after = [
        "<h2>Beginning and end</h2>",
        html_table(ENDS, _ends(run, row)),
        "<h2>The mechanism</h2>",
        run.mechanism.tables_html(),
        "<h2>How it was made</h2>",
        html_table(("option", "value"), _made(run)),
    ]
    recording = recording_of(run, row, points=POINTS, loads=True, support=support)
    return animated_page(recording, title, before, after, f"{GENERATOR}\n")


def _made(run: Record) -> Iterable[tuple[str, str]]:
    """Options of the run, versions, and the command."""
    yield from ((key, _shown(x)) for key, x in run.options.items() if x is not None)
    yield "kinpair", version("kinpair")
    yield "Python, NumPy", f"{platform.python_version()}, {np.__version__}"
    yield "command", " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])


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


def _ends(run: Record, row: int) -> Iterable[Sequence[str]]:
    for name, entries in vectors_of(run.mechanism, run.options, passive=run.passive).items():
        array = getattr(run, name)
        x = array[lead_of(run, row)]
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
    if isinstance(value, list | tuple) and any(np.ndim(x) for x in cast(Sequence[Any], value)):
        return "; ".join(_shown(x) for x in cast(Sequence[Any], value))  # such as a table (times, values)
    with np.printoptions(precision=6, threshold=24):
        return str(np.asarray(value)) if np.ndim(value) else str(value)
