"""A motion as one page of HTML, complete in itself: the scene and the curves on one time, drawn by `report.js`."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from kinpair.spatial.rotation import to_quaternion
from kinpair.viewer.looks import COLOURS, Panel, equal_to, multiples
from kinpair.viewer.raster import around, directions, grid_step, level_axes
from kinpair.viewer.recording import AREA, POINT, Recording, at, dot, flat, lamps, lit, reached
from kinpair.viewer.scene import COIL_WIDTH, Scene, scene_of
from kinpair.viewer.still import plane_of
from kinpair.viewer.surfaces import Surface, axes_along, coil, cylinder, shared_out

FRAMES, RATE = (
    900,
    30.0,
)  # samples of the animation: so many at most, and a second; the page draws between them
SEEN = 60  # samples by which the view is chosen
ASPECT, LENS = 1.1, 0.54  # of the scene: width by height, angle between its upper and lower edge [rad]
NEAREST = 0.8  # distance of the viewer at least, as a part of the size of the mechanism
TRIANGLES = 60_000  # of all meshes together
SPEEDS = (0.1, 0.25, 0.5, 1, 2, 5)
DASHES = {"--": "6 4", ":": "2 3", "-.": "6 3 2 3"}
CONTROLS = """<div id="bar"><button id="play">play</button>
<input id="time" type="range" aria-label="time"><span id="now"></span>
<select id="speed" aria-label="speed">{speeds}</select></div>
<div id="said"></div>
<div id="stage"><canvas id="scene"></canvas><div id="panels"></div></div>"""


def page(
    recording: Recording, title: str, before: Sequence[str], after: Sequence[str], head: str = ""
) -> str:
    """The page: HTML `before` and `after` the animation, and in its `head`."""
    data, notes = page_data(recording)
    speeds = "".join(f'<option value="{x}"{" selected" * (x == 1)}>{x}×</option>' for x in SPEEDS)
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    parts = [
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{head}<title>{escape(title)}</title>',
        f"<style>{_file('report.css')}</style>\n</head>\n<body>",
        *before,
        CONTROLS.format(speeds=speeds),
        *(f"<p>{escape(note)}</p>" for note in notes),
        *after,
        f'<script type="application/json" id="data">{text}</script>',
        f"<script>{_file('report.js')}</script>\n</body>\n</html>\n",
    ]
    return "\n".join(parts)


def page_data(recording: Recording) -> tuple[dict[str, Any], list[str]]:
    """Data that the script of the page reads, and sentences about what was left out."""
    scene = scene_of(recording.mechanism)
    frames = _frames(recording.time)
    pieces, simplified = _pieces(scene)
    lamps_ = _lamps(recording, scene, frames)
    dots = list(recording.points)
    corners = reached(recording, scene, frames[:: max(1, len(frames) // SEEN)])
    low, high = corners.min(axis=0), corners.max(axis=0)
    axes = directions("corner", scene.up, plane_of(recording.mechanism))
    camera = around(corners, axes, ASPECT, LENS)
    data = {
        "name": recording.name,
        "time": _floats(recording.time[frames]),
        "names": [*scene.links, *(x.name for x in scene.connectors), *dots],
        "nodes": len(scene.links) + len(scene.connectors) + len(dots),
        "motion": _floats(_motion(recording, scene, frames)),
        "pieces": [*pieces, *lamps_, *_dots(recording, scene, frames)],
        "areas": [_area(x, scene, frames) for x in recording.areas.values()],
        "grid": _floats(_grid(scene, (low + high) / 2, max(scene.size, float((high - low).max())))),
        "up": scene.up.tolist(),
        "target": camera.target.tolist(),
        "distance": max(camera.distance, NEAREST * scene.size),
        "lens": LENS,
        "aspect": ASPECT,
        "reach": max(0.6 * scene.size, float(np.sqrt(((high - low) ** 2).sum()))),
        "towards": axes[2].tolist(),
        "size": scene.size,
        "panels": [_panel(recording.panel_time, x) for panel in recording.panels for x in multiples(panel)],
        "notes": [[time, text] for time, text in recording.notes],
    }
    return data, [*simplified, *scene.warnings]


def _frames(time: np.ndarray) -> np.ndarray:
    """Numbers of the samples that the animation has: the first, the last, and what lies between at an even rate."""
    wanted = int(min(FRAMES, max(2.0, np.ptp(time) * RATE + 1)))
    near = np.searchsorted(time, np.linspace(time[0], time[-1], wanted))
    return np.unique(np.clip(near, 0, len(time) - 1))


def _motion(recording: Recording, scene: Scene, frames: np.ndarray) -> np.ndarray:
    """Position, quaternion and length along z of every link and connector at every frame (frames, nodes, 8)."""
    poses = recording.poses()
    rows: list[list[float]] = []
    for k in frames:
        here = at(poses, int(k))
        for name in scene.links:
            rows.append([*here[name].a, *to_quaternion(here[name].R), 1.0])
        for connector in scene.connectors:
            start, end = connector.ends(here)
            along = end - start
            rows.append([*start, *to_quaternion(axes_along(along)), float(np.sqrt(along @ along))])
        for points in recording.points.values():
            rows.append([*np.nan_to_num(points[k]), 0.0, 0.0, 0.0, 1.0, 1.0])
    return np.array(rows)


def _lamps(recording: Recording, scene: Scene, frames: np.ndarray) -> list[dict[str, Any]]:
    """Two lamps a joint with dry friction, each shown at its frames."""
    every = lamps(recording.mechanism, scene, recording.sticks)
    nodes = {name: k for k, name in enumerate(scene.links)}
    pieces: list[dict[str, Any]] = []
    for name, lamp in every.items():
        for sticks in (False, True):
            shown = recording.sticks[name][frames] == sticks
            own = lit(lamp, sticks)
            packed = _packed(own.surface, nodes[own.link], own.colour, False)
            shown_text = _text(shown.astype("<u1").tobytes())
            pieces.append({**packed, "shown": shown_text, "lamp": name, "sticks": sticks})
    return pieces


def _dots(recording: Recording, scene: Scene, frames: np.ndarray) -> list[dict[str, Any]]:
    first = len(scene.links) + len(scene.connectors)
    pieces: list[dict[str, Any]] = []
    for k, points in enumerate(recording.points.values()):
        shown = np.isfinite(points[frames]).all(axis=1)
        packed = _packed(dot(scene), first + k, POINT, False)
        pieces.append({**packed, "shown": _text(shown.astype("<u1").tobytes())})
    return pieces


def _area(areas: Sequence[np.ndarray], scene: Scene, frames: np.ndarray) -> dict[str, Any]:
    """Forms of an area as triangles, and the number of the form at each frame."""
    forms: list[np.ndarray] = []
    which: list[int] = []
    for k in frames:
        triangles = flat(areas[int(k)], scene)
        if not forms or triangles.shape != forms[-1].shape or (triangles != forms[-1]).any():
            forms.append(triangles)
        which.append(len(forms) - 1)
    return {
        "colour": AREA,
        "forms": [_floats(x) for x in forms],
        "which": _text(np.array(which, dtype="<u2").tobytes()),
    }


def _pieces(scene: Scene) -> tuple[list[dict[str, Any]], list[str]]:
    """Surfaces with 16 bits a coordinate; meshes with fewer triangles, if there are too many."""
    every = scene.merged()
    before = sum(len(x.surface.faces) for x in every)
    surfaces = shared_out([x.surface for x in every], TRIANGLES)
    after = sum(len(x.faces) for x in surfaces)
    nodes = {name: k for k, name in enumerate(scene.links)}
    pieces = [
        _packed(surface, nodes[x.link], x.colour, surface is not x.surface or x.is_mesh)
        for x, surface in zip(every, surfaces, strict=True)
        if len(surface.faces)
    ]
    for k, x in enumerate(scene.connectors):
        unit = coil(1.0, COIL_WIDTH * scene.size) if x.kind == "spring" else cylinder(x.radius, 1.0)
        lowest = np.array([0.0, 0.0, 0.0 if x.kind == "spring" else -0.5])
        pieces.append(_packed(Surface(unit.points - lowest, unit.faces), len(nodes) + k, x.colour, False))
    fewer = f"The meshes are simplified for this page: {after:,} triangles of {before:,}.".replace(",", " ")
    return pieces, [fewer] if after < before else []


def _packed(surface: Surface, node: int, colour: Sequence[float], flat: bool) -> dict[str, Any]:
    low, span = surface.points.min(axis=0), np.ptp(surface.points, axis=0)
    steps = np.rint((surface.points - low) / np.where(span > 0.0, span, 1.0) * 65535).astype("<u2")
    wide = len(surface.points) > 65535
    return {
        "node": node,
        "points": _text(steps.tobytes()),
        "faces": _text(surface.faces.astype("<u4" if wide else "<u2").tobytes()),
        "wide": wide,
        "low": low.tolist(),
        "span": span.tolist(),
        "colour": [round(float(x), 4) for x in colour],
        "flat": flat,
    }


def _grid(scene: Scene, centre: np.ndarray, size: float) -> np.ndarray:
    """Lines on the floor (2k, 3), from end to end, below the middle of a motion of this size."""
    first, second = level_axes(scene.up)
    step = grid_step(size)
    middle = centre - (centre @ scene.up - scene.floor) * scene.up
    half = 15 * step
    lines = [
        (middle + s * half * a + k * step * b).tolist()
        for a, b in ((first, second), (second, first))
        for k in range(-15, 16)
        for s in (-1.0, 1.0)
    ]
    return np.array(lines)


def _panel(time: np.ndarray, panel: Panel) -> dict[str, Any]:
    looks, same = panel.looks or {}, equal_to(panel)
    curves = [
        {
            "name": panel.labels.get(name, name) + (f" (= {same[name]})" if name in same else ""),
            "values": _floats(values),
            "colour": _colour(looks.get(name, {}).get("color", COLOURS[k % len(COLOURS)])),
            "dash": DASHES.get(looks.get(name, {}).get("linestyle", "-"), ""),
        }
        for k, (name, values) in enumerate(panel.curves.items())
    ]
    own = time if panel.time is None else panel.time
    bars = [[list(panel.curves).index(name), [list(x) for x in spans]] for name, spans in panel.bars.items()]
    return {
        "title": panel.title,
        "quantity": panel.quantity,
        "time": _floats(own),
        "curves": curves,
        "bars": bars,
        "limits": panel.limits,
    }


def _colour(colour: Any) -> str:
    if isinstance(colour, str):
        return colour
    return "#" + "".join(f"{int(255 * x + 0.5):02x}" for x in colour[:3])


def _floats(values: Any) -> str:
    return _text(np.ascontiguousarray(values, dtype="<f4").tobytes())


def _text(raw: bytes) -> str:
    return b64encode(raw).decode()


def _file(name: str) -> str:
    return (files("kinpair") / "viewer" / name).read_text("utf-8")
