"""A scene and its texts in a page of viser."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from kinpair.description.parts import Numbers
from kinpair.spatial.rotation import to_quaternion
from kinpair.viewer.raster import grid_step
from kinpair.viewer.scene import Poses, Scene
from kinpair.viewer.surfaces import Connector, axes_along, coil, cylinder

STYLE = "font-size:0.875em;padding:0 0.75em 0.5em;overflow-wrap:anywhere;white-space:pre-line"


class Text:
    """A paragraph in the panel, hidden while it is empty. `strong` is written in bold before the words."""

    def __init__(
        self,
        gui: Any,
        words: str = "",
        *,
        strong: str = "",
        colour: str = "inherit",
        order: float | None = None,
    ) -> None:
        self._strong, self._colour = strong, colour
        self._element = gui.add_html("", order=order, visible=False)
        self.show(words)

    def show(self, words: str) -> None:
        """Replace the words."""
        content = f"<b>{escaped(self._strong)}</b>{escaped(words)}"
        self._element.content = f'<div style="{STYLE};color:{self._colour}">{content}</div>'
        self._element.visible = bool(self._strong or words)

    def remove(self) -> None:
        """Take the paragraph out of the panel."""
        self._element.remove()


def escaped(text: str) -> str:
    """Escape text: HTML that shows exactly this text and has no element, attribute or entity of its own."""
    return escape(text, quote=True)


UNIT = 1.0  # length of the surface of a connector before it is stretched


class Nodes:
    """Nodes that a scene put into a page, to be moved, hidden and removed."""

    def __init__(self, server: Any, scene: Scene, root: str, tint: Numbers = ()) -> None:
        self.scene, self.root, self._server = scene, root, server
        self.layers: dict[str, list[Any]] = {}
        self._links = {
            name: server.scene.add_frame(
                f"{root}/{k} {_plain(name)}",
                show_axes=False,
                axes_length=0.12 * scene.size,
                axes_radius=0.004 * scene.size,
            )
            for k, name in enumerate(scene.links)
        }
        for k, piece in enumerate(scene.merged()):
            colour = tint or piece.colour
            mesh = server.scene.add_mesh_simple(
                f"{self._links[piece.link].name}/{k}",
                vertices=piece.surface.points.astype(np.float32),
                faces=piece.surface.faces.astype(np.uint32),
                color=rgb(colour),
                opacity=None if colour[3] > 0.99 else colour[3],
                side="double",
            )
            self.layers.setdefault(piece.layer, []).append(mesh)
        self._connectors = [(x, self._connector(x, tint)) for x in scene.connectors]

    def _connector(self, connector: Connector, tint: Numbers) -> Any:
        spring = connector.kind == "spring"
        surface = coil(UNIT, 0.022 * self.scene.size) if spring else cylinder(connector.radius, UNIT)
        low = 0.0 if spring else -UNIT / 2
        mesh = self._server.scene.add_mesh_simple(
            f"{self.root}/between {_plain(connector.name)}",
            vertices=(surface.points - np.array([0.0, 0.0, low])).astype(np.float32),
            faces=surface.faces.astype(np.uint32),
            color=rgb(tint or connector.colour),
            side="double",
        )
        self.layers.setdefault(connector.layer, []).append(mesh)
        return mesh

    def node(self, link: str) -> str:
        """The name of the node of a link; of one that carries nothing, of the whole."""
        return self._links[link].name if link in self._links else self.root

    def place(self, poses: Poses) -> None:
        """Move everything to where the poses say."""
        for name, node in self._links.items():
            node.position = poses[name].a
            node.wxyz = wxyz(poses[name].R)
        for connector, mesh in self._connectors:
            start, end = connector.ends(poses)
            along = end - start
            length = max(float(np.sqrt(along @ along)), 1e-9)
            mesh.position, mesh.wxyz = start, wxyz(axes_along(along))
            mesh.scale = (1.0, 1.0, length / UNIT)

    def show_axes(self, shown: bool) -> None:
        """Axes of the links."""
        for node in self._links.values():
            node.show_axes = shown

    def show(self, layer: str, shown: bool) -> None:
        """Show a layer or hide it."""
        for mesh in self.layers.get(layer, ()):
            mesh.visible = shown

    def remove(self) -> None:
        """Take everything away."""
        for _, mesh in self._connectors:
            mesh.remove()
        for node in self._links.values():
            node.remove()


def add_ground(server: Any, scene: Scene) -> Any:
    """A grid on the floor, and a camera that sees the mechanism."""
    server.scene.set_up_direction(tuple(scene.up))
    R = axes_along(scene.up)
    step = grid_step(scene.size)
    middle = scene.centre - (scene.centre @ scene.up - scene.floor) * scene.up
    return server.scene.add_grid(
        "/ground",
        width=40 * step,
        height=40 * step,
        plane="xy",
        cell_size=step,
        section_size=5 * step,
        cell_color=(225, 225, 225),
        section_color=(200, 200, 200),
        wxyz=wxyz(R),
        position=tuple(middle),
    )


def wxyz(R: np.ndarray) -> np.ndarray:
    """Scalar first, as the page has it."""
    x, y, z, w = to_quaternion(R)
    return np.array([w, x, y, z])


def rgb(colour: Numbers) -> tuple[int, int, int]:
    """A colour as the page has it."""
    r, g, b = (int(255 * x + 0.5) for x in colour[:3])
    return r, g, b


def _plain(name: str) -> str:
    """A name for a node: slashes make a tree."""
    return name.replace("/", "-")
