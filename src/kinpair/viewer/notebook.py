"""Displays of notebooks: a still picture, a page in a frame, tables of HTML, and a mechanism in them."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Sequence
from functools import partial
from html import escape
from io import BytesIO
from operator import attrgetter
from uuid import uuid4

from kinpair.constraints.rows import mobility as constraints
from kinpair.errors import KinpairError
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
from kinpair.viewer.scene import Drawn, start_of

WIDTH, HEIGHT, DPI = 360, 270, 150
LIVE = """<div id="{name}">{kept}</div>
<script>
(() => {{
  const box = document.getElementById("{name}"), url = {url};
  if (!box || !document.getElementById("jupyter-config-data")) return;  // exported: there is no server any more
  fetch(url, {{ mode: "no-cors" }}).then(() => {{
    const live = document.createElement("iframe");
    live.src = url; live.width = "100%"; live.height = "{height}"; live.style.border = "0";
    box.replaceChildren(live);
  }}).catch(() => {{}});
}})();
</script>"""


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


def still_html(mechanism: Drawn) -> str:
    """An image of a mechanism at its start; nothing where it cannot be drawn, or matplotlib is missing."""
    from kinpair.viewer.still import picture

    image = BytesIO()
    try:
        picture(mechanism, None, start_of(mechanism)[None], width=WIDTH, height=HEIGHT).savefig(
            image, dpi=DPI
        )
    except KinpairError:
        return ""
    text = b64encode(image.getvalue()).decode()
    return f'<img width="{WIDTH}" height="{HEIGHT}" src="data:image/png;base64,{text}" alt="the mechanism">'


class Frame:
    """A page inside a notebook: needs no server and no network, so it also shows behind a proxy."""

    def __init__(self, page: str, height: int = 720) -> None:
        self.page, self.height = page, height

    def _repr_html_(self) -> str:
        return self.html()

    def html(self) -> str:
        """Return the frame as HTML."""
        source = escape(self.page, quote=True)
        return f'<iframe srcdoc="{source}" width="100%" height="{self.height}" style="border:0"></iframe>'

    def __repr__(self) -> str:
        return f"<Frame with a page of {len(self.page) / 2**20:.1f} MB; a notebook shows it>"


def live_html(url: str, page: str, height: int) -> str:
    """Return HTML that shows a served page where the notebook runs and reaches it, and a page complete in itself
    elsewhere."""
    text = json.dumps(url).replace("<", "\\u003c")
    name = f"kinpair-{uuid4().hex}"
    return LIVE.format(name=name, kept=Frame(page, height).html(), url=text, height=height)
