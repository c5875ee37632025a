"""A run as one page of HTML, complete in itself."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kinpair.errors import InputError
from kinpair.simulation.events.events import Event
from kinpair.simulation.storage.blocks import blocks
from kinpair.simulation.storage.targets import GENERATOR, PAGE, target
from kinpair.simulation.units import units

if TYPE_CHECKING:
    from kinpair.simulation.result import Result

STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
td, th { padding: .15rem .7rem; text-align: right; border-bottom: 1px solid #8884; font-weight: normal; }
th { border-bottom: 2px solid #8888; } td:first-child, th:first-child { text-align: left; }
.trouble { color: #b5341c; font-weight: 600; } .curves { background: #fff; } svg { max-width: 100%; height: auto; }
"""


def write_report(run: Result, path: str | os.PathLike[str], *, row: int = 0) -> Path:
    """Write the page."""
    file = target(path, PAGE)
    text = page(run, row)
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as reason:
        raise InputError(f"{file}: cannot be written ({reason.strerror})", path=str(file)) from None
    return file


def page(run: Result, row: int = 0) -> str:
    """HTML: summary, curves, the ends of every curve, the options."""
    title = f"Motion of {run.mechanism.name}"
    kind = "" if run.status.ok else ' class="trouble"'
    body = [
        f"<h1>{escape(title)}</h1>",
        f"<p{kind}>{escape(run.status.message)}.</p>",
        f"<p>{escape(run.summary)}</p>",
        f'<div class="curves">{_curves(run, row)}</div>',
        "<h2>Beginning and end</h2>",
        _table(("", "unit", "start", "end", "least", "largest"), _ends(run, row)),
        "<h2>What was asked for</h2>",
        _table(("option", "value"), ((key, _shown(x)) for key, x in run.options.items() if x is not None)),
    ]
    about = f'<meta charset="utf-8">\n{GENERATOR}\n<title>{escape(title)}</title>'
    head = f'<!doctype html>\n<html lang="en">\n<head>\n{about}'
    return "\n".join([head, f"<style>{STYLE}</style>\n</head>\n<body>", *body, "</body>\n</html>\n"])


def _curves(run: Result, row: int) -> str:
    with TemporaryDirectory() as folder:
        text = run.plot(Path(folder) / "run.svg", row=row).read_text("utf-8")
    return text[text.index("<svg") :]


def _ends(run: Result, row: int) -> Iterable[Sequence[str]]:
    m, unit = run.mechanism, units(run.mechanism.model)
    for name, entries in (("q", m.q_names), ("qd", m.v_names), ("tau", m.v_names)):
        array = getattr(run, name)
        x = array[row] if array.ndim == 3 else array
        if not len(x):
            continue
        least = np.min([part.min(axis=0) for (part,) in blocks(x, axis=-2)], axis=0)
        most = np.max([part.max(axis=0) for (part,) in blocks(x, axis=-2)], axis=0)
        for k, entry in enumerate(entries):
            found = (x[0, k], x[-1, k], least[k], most[k])
            yield f"{name} {entry}", unit[name][k], *(f"{v:.6g}" for v in found)


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


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    cells = "".join(f"<th>{escape(x)}</th>" for x in headings)
    lines = ["".join(f"<td>{escape(x)}</td>" for x in row) for row in rows]
    return "\n".join(["<table>", f"<tr>{cells}</tr>", *(f"<tr>{line}</tr>" for line in lines), "</table>"])
