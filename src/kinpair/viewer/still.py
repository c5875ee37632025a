"""Still pictures of a mechanism, without a browser: one state, several side by side, or one over the other.

A stick figure has rods between joints, and joints by their kind. Displays of notebooks: a still picture, a page in a
frame, tables of HTML.
"""

from __future__ import annotations

import json
import os
import warnings
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from io import BytesIO
from operator import attrgetter
from typing import Any
from uuid import uuid4

import numpy as np

from kinpair.constraints.rows import mobility as constraints
from kinpair.description.parts import GROUND, Numbers
from kinpair.errors import InputError, KinpairError, PictureWarning, caller_level, offered
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
from kinpair.spatial.pose import Pose
from kinpair.viewer.curves import blank_figure, write_figure
from kinpair.viewer.links import BONE, MANY, MARKER, Around, Sizes, bones, is_long
from kinpair.viewer.looks import plain
from kinpair.viewer.markers import joint_marker, loop_markers
from kinpair.viewer.raster import Camera, Canvas, around, directions, draw, ground
from kinpair.viewer.scene import Drawn, Poses, Scene, link_colours, link_poses, scene_of, start_of
from kinpair.viewer.surfaces import Surface, joined


def stick_scene(mechanism: Drawn) -> Scene:
    """The scene of a mechanism with rods in the place of its bodies."""
    full = scene_of(mechanism)
    description = mechanism.model.description
    if is_long(description):
        return full
    around = Around.of(description)
    sizes = Sizes(full.size, full.centre, 0.7 * BONE * full.size, 0.7 * MARKER * full.size)
    colours = link_colours(description)
    pieces = [
        piece.in_colour(colours[link.name])
        for link in description.links
        for piece in bones(around, link, sizes)
    ]
    for joint in description.joints:
        pieces += joint_marker(joint, sizes)
    for constraint in description.constraints:
        pieces += loop_markers(constraint, sizes)
    return replace(full, pieces=tuple(pieces)) if pieces else full


SMOOTH = 2  # pixels computed for one that is shown, in each direction
DPI = 150
TITLE = 0.3
STYLES = {"solid": scene_of, "stick": stick_scene}
PALE = 0.72  # how near to white the first of several states in one picture is


def picture(
    mechanism: Drawn,
    path: str | os.PathLike[str] | None,
    states: np.ndarray,
    *,
    view: str | tuple[float, float] = "corner",
    style: str = "solid",
    overlay: bool = False,
    labels: bool = False,
    width: int = 800,
    height: int = 600,
    titles: Sequence[str] = (),
) -> Any:
    """The figure of the states (n, nq), written to a file where a path is given; see `Mechanism.picture`."""
    if style not in STYLES:
        raise InputError(f"style is {style!r}; {offered(str(style), 'styles', STYLES)}", style=style)
    scene = STYLES[style](mechanism)
    for sentence in scene.warnings:
        warnings.warn(sentence, PictureWarning, stacklevel=caller_level())
    poses = [link_poses(mechanism, q) for q in states]
    axes = directions(view, scene.up, plane_of(mechanism))
    if overlay:
        shown = [
            [(x, _paler(colour, k, len(poses))) for k, p in enumerate(poses) for x, colour in scene.placed(p)]
        ]
    else:
        shown = [scene.placed(p) for p in poses]
    camera = around(np.concatenate([s.points for x in shown for s, _ in x]), axes, width / height)
    room = TITLE if titles else 0.0  # inches above the pictures
    figure = blank_figure(width * len(shown) / DPI, height / DPI + room, tight=True)
    share = height / DPI / (height / DPI + room)
    for k, things in enumerate(shown):
        axis = figure.add_axes((k / len(shown), 0.0, 1.0 / len(shown), share))
        axis.imshow(image_of(scene, camera, things, width, height), interpolation="antialiased")
        axis.set_axis_off()
        if titles:
            axis.set_title(titles[k], fontsize=10)
        if labels:
            _write_names(axis, mechanism, camera, poses[-1 if overlay else k], width, height)
    if path is not None:
        write_figure(figure, path)
    return figure


def image_of(
    scene: Scene, camera: Camera, things: list[tuple[Surface, Numbers]], width: int, height: int
) -> np.ndarray:
    """Draw things in the world with their colours, on the ground of the scene, as bytes (height, width, 3)."""
    things = _merged(things) if len(things) > MANY else things
    behind = ground(camera, things, scene.up, scene.floor, scene.size, (height, width))
    canvas = Canvas.on(np.repeat(np.repeat(behind, SMOOTH, axis=0), SMOOTH, axis=1))
    draw(canvas, camera, things)
    small = canvas.colour.reshape(height, SMOOTH, width, SMOOTH, 3).mean(axis=(1, 3))
    return np.clip(255.0 * small + 0.5, 0, 255).astype(np.uint8)


def _merged(things: list[tuple[Surface, Numbers]]) -> list[tuple[Surface, Numbers]]:
    """One surface for all that has the same colour."""
    groups: dict[Numbers, list[Surface]] = {}
    for surface, colour in things:
        groups.setdefault(colour, []).append(surface)
    return [(joined(*surfaces), colour) for colour, surfaces in groups.items()]


def _paler(colour: Numbers, k: int, count: int) -> Numbers:
    """The colour of state k of several in one picture: the last as it is, earlier ones paler."""
    share = 0.0 if count < 2 else PALE * (1.0 - k / (count - 1))
    return (*((1.0 - share) * x + share for x in colour[:3]), colour[3])


def _write_names(axis: Any, mechanism: Drawn, camera: Camera, poses: Poses, width: int, height: int) -> None:
    """Names of the links at their mass centres."""
    for link in mechanism.model.description.links:
        pose = poses[link.name]
        right, upwards, _ = camera.seen((pose.R @ np.array(link.com) + pose.a)[None])[0]
        x, y = (width + height * right) / 2, (height - height * upwards) / 2
        box = {"boxstyle": "round,pad=0.2", "fc": "white", "ec": "none", "alpha": 0.7}
        axis.text(x, y, plain(link.name), fontsize=7, ha="center", va="center", bbox=box)


def plane_of(mechanism: Drawn) -> np.ndarray | None:
    """The normal of the plane in which all of it moves (3,); None where it moves in space."""
    model = mechanism.model
    poses = {**link_poses(mechanism, start_of(mechanism)), GROUND: Pose(np.eye(3), np.zeros(3))}
    turning, sliding = [], []
    for joint in model.description.joints:
        if joint.kind == "fixed":
            continue
        R = poses[joint.parent].R @ joint.origin.pose().R
        axis = R @ np.array(joint.axis, dtype=float)
        axis = axis / np.sqrt(axis @ axis)
        if joint.kind in ("revolute", "planar"):
            turning.append(axis)
        elif joint.kind == "prismatic":
            sliding.append(axis)
        else:
            return None
    if not turning:
        return None
    normal = turning[0]
    level = all(abs(abs(x @ normal) - 1.0) < 1e-6 for x in turning)
    flat = all(abs(x @ normal) < 1e-6 for x in sliding)
    return normal if level and flat else None


WIDTH, HEIGHT, NOTEBOOK_DPI = 360, 270, 150
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
    image = BytesIO()
    try:
        picture(mechanism, None, start_of(mechanism)[None], width=WIDTH, height=HEIGHT).savefig(
            image, dpi=NOTEBOOK_DPI
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
