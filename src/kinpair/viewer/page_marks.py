"""Lamps of joints with dry friction, marked points and marked areas, in a page of viser."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinpair.viewer.lamps import AREA, POINT, SLIDES, STICKS, dot, flat, lamps
from kinpair.viewer.page_nodes import Nodes, rgb
from kinpair.viewer.recording import Recording

FRICTION = "friction: red sticks, green slides"


class Marks:
    """What a recording marks; `place(k)` shows it as it is at sample k."""

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
        """One that is lit while the joint slides, one while it sticks."""
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
        """Everything as it is at sample k."""
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
