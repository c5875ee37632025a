"""Playing motions in a page: a time slider, a play button, speed, trails, curves on the same time.

Lamps of joints with dry friction, marked points and marked areas, in a page of viser.
"""

from __future__ import annotations

import threading
import time as clock
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinpair.viewer.looks import COLOURS, Panel, equal_to, multiples
from kinpair.viewer.page_nodes import Nodes, Text, rgb
from kinpair.viewer.recording import AREA, POINT, SLIDES, STICKS, Recording, at, dot, flat, lamps
from kinpair.viewer.scene import scene_of

FRICTION = "friction: red sticks, green slides"


class Marks:
    """Marks of a recording; `place(k)` shows it as it is at sample k."""

    def __init__(self, server: Any, recording: Recording, nodes: Nodes) -> None:
        self._server, self._recording, self._scene = server, recording, nodes.scene
        self._shown: dict[str, bool] = {}
        every = lamps(recording.mechanism, nodes.scene, recording.sticks)
        self._lamps = {name: self._lamp(nodes.node(x.link), name, x) for name, x in every.items()}
        self._dots = {name: self._dot(name) for name in recording.points}
        self._corners: dict[str, np.ndarray] = {}
        self.boxes = {name: self._box(name) for name in self._names()}

    def _names(self) -> list[str]:
        friction = [FRICTION] if self._lamps else []
        return [*friction, *self._dots, *self._recording.areas]

    def _box(self, name: str) -> Any:
        return self._server.gui.add_checkbox(name, True)

    def _lamp(self, parent: str, name: str, lamp: Any) -> tuple[Any, Any]:
        """Make a lamp that is lit while the joint slides, and one while it sticks."""
        return tuple(
            self._server.scene.add_mesh_simple(
                f"{parent}/friction {word}",
                vertices=lamp.surface.points.astype(np.float32),
                faces=lamp.surface.faces.astype(np.uint32),
                color=rgb(colour),
                visible=False,
            )
            for word, colour in (("slides", SLIDES), ("sticks", STICKS))
        )

    def _dot(self, name: str) -> Any:
        surface = dot(self._scene)
        return self._server.scene.add_mesh_simple(
            f"/marks/{name}",
            vertices=surface.points.astype(np.float32),
            faces=surface.faces.astype(np.uint32),
            color=rgb(POINT),
        )

    def place(self, k: int) -> None:
        """Place everything as it is at sample k."""
        for name, both in self._lamps.items():
            on = bool(self.boxes[FRICTION].value)
            sticks = bool(self._recording.sticks[name][k])
            for mesh, lit in zip(both, (not sticks, sticks), strict=True):
                if mesh.visible != (on and lit):
                    mesh.visible = on and lit
        for name, mesh in self._dots.items():
            mesh.position = self._recording.points[name][k]
            mesh.visible = bool(self.boxes[name].value) and bool(np.isfinite(mesh.position).all())
        for name, areas in self._recording.areas.items():
            self._area(name, areas[k], bool(self.boxes[name].value))

    def _area(self, name: str, corners: np.ndarray, shown: bool) -> None:
        before = self._corners.get(name)
        if before is corners and self._shown.get(name) == shown:
            return
        self._corners[name], self._shown[name] = corners, shown
        triangles = flat(corners, self._scene)
        self._server.scene.add_mesh_simple(
            f"/marks/{name}",
            vertices=triangles.astype(np.float32),
            faces=np.arange(len(triangles)).reshape(-1, 3).astype(np.uint32),
            color=rgb(AREA),
            opacity=AREA[3],
            side="double",
            visible=shown and len(triangles) > 0,
        )


RATE = 50.0  # pictures a second
PLOT_RATE = 8.0
POINTS = 500  # of a curve in the panel
SPEEDS = ("0.1×", "0.25×", "0.5×", "1×", "2×", "5×")
TINTS = ((0.85, 0.35, 0.2, 0.45), (0.2, 0.6, 0.35, 0.45), (0.5, 0.35, 0.7, 0.45))  # of further runs


class Player:
    """Recordings on one time; the first moves the mechanism of the page, the others are shown with it, paler."""

    def __init__(self, server: Any, recordings: Sequence[Recording], nodes: Nodes, lock: Any) -> None:
        self._server, self._lock = server, lock
        self.recordings = tuple(recordings)
        others = [
            Nodes(server, scene_of(x.mechanism), f"/run {k + 2}", TINTS[k % len(TINTS)])
            for k, x in enumerate(recordings[1:])
        ]
        self._nodes = [nodes, *others]
        self._poses = [x.poses() for x in recordings]
        self.end = max(float(x.time[-1]) for x in recordings)
        self.start = min(float(x.time[0]) for x in recordings)
        self.playing = False
        self._ended = threading.Event()
        self._plotted = 0.0
        self._trails: list[Any] = []
        self._arrows: dict[str, np.ndarray] = {}
        self._add_controls()
        self._thread = threading.Thread(target=self._run, daemon=True, name="kinpair player")
        self._thread.start()

    def _add_controls(self) -> None:
        gui = self._server.gui
        with gui.add_folder("motion", order=1.0):
            self.button = gui.add_button("play")
            self.button.on_click(lambda _: self.toggle())
            span = max(self.end - self.start, 1e-9)
            self.slider = gui.add_slider(
                "time [s]", min=self.start, max=self.start + span, step=span / 1000, initial_value=self.start
            )
            self.slider.on_update(
                lambda event: self.go(float(self.slider.value)) if event.client is not None else None
            )
            self.speed = gui.add_dropdown("speed", SPEEDS, initial_value="1×")
            self.repeat = gui.add_checkbox("again from the start", True)
            first = self.recordings[0]
            places = [x.name for x in first.mechanism.model.description.links if x.name in self._poses[0]]
            self.trail = gui.add_dropdown("trail of", ("none", *places), initial_value="none")
            self.trail.on_update(lambda _: self._draw_trail())
            self.note = Text(gui)
            self.marks = Marks(self._server, first, self._nodes[0])
            self.arrows = {name: self._arrow_box(name) for name in first.arrows}
        for box in self.marks.boxes.values():
            box.on_update(lambda _: self.go(float(self.slider.value)))
        self._panel = None
        self._panels = {f"{x.title} {x.quantity}": x for panel in first.panels for x in multiples(panel)}
        titles = list(self._panels)
        if titles:
            with gui.add_folder("curves", order=2.0):
                self.chosen = gui.add_dropdown("quantity", titles, initial_value=titles[0])
                self.chosen.on_update(lambda _: self._choose())
                self._choose()
        self.go(self.start)

    def _arrow_box(self, name: str) -> Any:
        box = self._server.gui.add_checkbox(name, False)
        box.on_update(lambda _: self.go(float(self.slider.value)))
        return box

    def _choose(self) -> None:
        """Draw the curves of the chosen panel."""
        if self._panel is not None:
            self._panel.remove()
        first = self.recordings[0]
        panel = self._panels[self.chosen.value]
        time = first.panel_time if panel.time is None else panel.time
        every = max(1, len(time) // POINTS)
        self._curve_time = time[::every]
        self._curves = [np.asarray(values)[::every] for values in panel.curves.values()]
        self._panel = self._server.gui.add_uplot(
            (self._curve_time, *self._curves, self._marker(float(self.slider.value))),
            (
                {"label": "time [s]"},
                *_series(panel),
                {"label": "now", "stroke": "#111", "width": 2, "spanGaps": True},
            ),
            scales={"x": {"time": False}},
            title=f"{panel.title} {panel.quantity}",
            aspect=1.5,
        )

    def _marker(self, time: float) -> np.ndarray:
        """A line across the panel at a time: two points above each other would need two times, so it is a steep one."""
        values = np.full(len(self._curve_time), np.nan)
        low = min((np.nanmin(x) for x in self._curves), default=0.0)
        high = max((np.nanmax(x) for x in self._curves), default=1.0)
        k = int(np.clip(np.searchsorted(self._curve_time, time), 0, len(values) - 1))
        values[k] = high
        values[max(k - 1, 0)] = low
        return values

    def toggle(self) -> None:
        """Play, or pause."""
        self.playing = not self.playing
        self.button.label = "pause" if self.playing else "play"

    def go(self, time: float) -> None:
        """Show everything as it is at a time."""
        with self._lock, self._server.atomic():
            for recording, nodes, poses in zip(self.recordings, self._nodes, self._poses, strict=True):
                nodes.place(at(poses, recording.at(time)))
            self._draw_arrows(time)
            first = self.recordings[0]
            self.marks.place(first.at(time))
            said = [f"{t:.3f} s: {text}" for t, text in first.notes if t <= time]
            self.note.show(said[-1] if said else "")
            if self._panel is not None and clock.monotonic() - self._plotted > 1.0 / PLOT_RATE:
                self._plotted = clock.monotonic()
                self._panel.data = (self._curve_time, *self._curves, self._marker(time))

    def _draw_arrows(self, time: float) -> None:
        first = self.recordings[0]
        k = first.at(time)
        for j, (name, box) in enumerate(self.arrows.items()):
            if not box.value and name not in self._arrows:
                continue
            if name not in self._arrows:
                self._arrows[name] = first.arrows[name]()
            points = self._arrows[name][k]
            colour = tuple(int(COLOURS[j % len(COLOURS)][i : i + 2], 16) for i in (1, 3, 5))
            size = self._nodes[0].scene.size
            self._server.scene.add_arrows(
                f"/arrows/{name}",
                points=points.astype(np.float32),
                colors=colour,
                shaft_radius=0.004 * size,
                head_radius=0.01 * size,
                head_length=0.03 * size,
                visible=bool(box.value),
            )

    def _draw_trail(self) -> None:
        name = self.trail.value
        for line in self._trails:
            line.remove()
        self._trails = []
        for k, (recording, poses) in enumerate(zip(self.recordings, self._poses, strict=True)):
            link = next((x for x in recording.mechanism.model.description.links if x.name == name), None)
            if link is None:
                continue
            path = poses[name].a + np.einsum("nij,j->ni", poses[name].R, np.array(link.com))
            every = max(1, len(path) // 2000)
            pairs = np.stack([path[:-1:every], path[1::every][: len(path[:-1:every])]], axis=1)
            self._trails.append(
                self._server.scene.add_line_segments(
                    f"/trails/{k}",
                    points=pairs.astype(np.float32),
                    colors=(230, 120, 20),
                    thickness=0.005 * self._nodes[0].scene.size,
                )
            )

    def _run(self) -> None:
        before = clock.monotonic()
        while not self._ended.wait(1.0 / RATE):
            now = clock.monotonic()
            if self.playing:
                time = float(self.slider.value) + (now - before) * float(self.speed.value.rstrip("×"))
                if time > self.end:
                    time = self.start if self.repeat.value else self.end
                    if not self.repeat.value:
                        self.toggle()
                self.slider.value = time
                self.go(time)
            before = now

    def stop(self) -> None:
        """End the thread that plays."""
        self._ended.set()


def _series(panel: Panel) -> list[dict[str, Any]]:
    colours = [COLOURS[k % len(COLOURS)] for k in range(len(panel.curves))]
    same = {name: f" (= {other})" for name, other in equal_to(panel).items()}
    return [
        {"label": panel.labels.get(name, name) + same.get(name, ""), "stroke": colour, "width": 2}
        for name, colour in zip(panel.curves, colours, strict=True)
    ]
