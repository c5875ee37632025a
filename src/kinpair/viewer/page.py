"""The 3-D page: a mechanism in the browser, moved by sliders, played in time, read again when its file changes.

A page that follows a file: read again when it is saved, with the message in the page where it does not parse.
"""

from __future__ import annotations

import os
import sys
import threading
import time as clock
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import nullcontext, redirect_stdout, suppress
from io import StringIO
from math import ceil, floor, log10
from pathlib import Path
from typing import Any

import numpy as np

from kinpair.errors import InputError, KinpairError, MissingExtraError, installs
from kinpair.viewer.movement import FEW, Handle, Movement, grouped
from kinpair.viewer.page_nodes import Nodes, Text, add_ground
from kinpair.viewer.page_player import Player
from kinpair.viewer.raster import around, directions
from kinpair.viewer.recording import Recording
from kinpair.viewer.report_page import page
from kinpair.viewer.scene import Drawn, Scene, link_poses, scene_of, start_of
from kinpair.viewer.still import live_html, plane_of

HOST, PORT = "127.0.0.1", 8080
LAYERS = {
    "joints": "joints",
    "loops": "loop closures and rods",
    "springs": "springs and ropes",
    "actuators": "actuators",
}
STEPS = 400  # of a slider
ASPECT = 0.9  # width by height of the part of the page that the panel does not cover
LAST_PORT = 65535
WARNING = "#b5341c"
HEIGHT = 520  # of the page in a notebook [pixels]


class Page:
    """A page that shows a mechanism; `url` is what to open. `show(q)` moves it, `close()` ends it."""

    def __init__(
        self,
        mechanism: Drawn,
        *,
        recordings: Sequence[Recording] = (),
        host: str = HOST,
        port: int = PORT,
        browser: bool = True,
        say: Callable[[str], None] = print,
    ) -> None:
        self._say = say
        self._lock = threading.RLock()
        self._server = _server(host, port)
        self._server.gui.set_panel_label("kinpair")
        self._server.gui.configure_theme(show_share_button=False, show_logo=False, control_width="large")
        taken = self._server.get_port() != port
        self.url = f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{self._server.get_port()}"
        self._error = Text(self._server.gui, colour=WARNING, order=0.0)
        self._folder = self._server.gui.add_folder("mechanism", order=3.0, expand_by_default=not recordings)
        self._mount(mechanism)
        self.player = Player(self._server, recordings, self._nodes, self._lock) if recordings else None
        if taken:
            say(f"port {port} is taken; this page has {self._server.get_port()}")
        for sentence in self.scene.warnings:
            say(sentence)
        self._open(browser)

    def _open(self, browser: bool) -> None:
        opened = False
        if browser:
            with suppress(webbrowser.Error):
                opened = webbrowser.open(self.url)
        self._say(f"shown at {self.url}" if opened else f"open {self.url} in a browser")

    def _mount(self, mechanism: Drawn) -> None:
        """Mount a mechanism on the page, in the place of what was there."""
        scene = scene_of(mechanism)
        self.mechanism, self.scene = mechanism, scene
        self.movement = Movement(mechanism, scene.size)
        with self._server.atomic():
            self._nodes = Nodes(self._server, scene, "/mechanism")
            self._ground = add_ground(self._server, scene)
            self._camera(scene)
            self._controls = self._add_controls()
        self._place()

    def _camera(self, scene: Scene) -> None:
        axes = directions("corner", scene.up, plane_of(self.mechanism))
        placed = scene.placed(link_poses(self.mechanism, start_of(self.mechanism)))
        seen = around(np.concatenate([x.points for x, _ in placed] or [scene.centre[None]]), axes, ASPECT)
        camera = self._server.initial_camera
        camera.fov = seen.opening
        camera.position, camera.look_at = seen.eye, seen.target
        camera.up = scene.up
        camera.near = 0.01 * scene.size
        camera.far = 100.0 * scene.size
        for client in self._server.get_clients().values():
            client.camera.up_direction = scene.up

    def _add_controls(self) -> list[Any]:
        gui, controls = self._server.gui, []
        with self._folder:
            free, every = len(self.movement.handles), self.mechanism.model.nq
            free_ones = f" · {free} of {every} coordinates are free"
            controls.append(Text(gui, free_ones, strong=self.scene.name))
            if self.movement.handles:
                back = gui.add_button("back to the start")
                back.on_click(lambda _: self.show(Movement(self.mechanism, self.scene.size).q))
                controls.append(back)
            controls += self._add_sliders()
            shown = gui.add_folder("show", expand_by_default=free <= FEW)
            controls.append(shown)
        with shown:
            self._add_boxes()
        return controls

    def _add_boxes(self) -> None:
        """Add boxes that show and hide axes, layers and the mass centre."""
        axes = self._server.gui.add_checkbox("axes of the links", False)
        axes.on_update(lambda _: self._nodes.show_axes(axes.value))
        for layer, label in LAYERS.items():
            if layer in self._nodes.layers:
                self._layer(layer, label)
        if self.mechanism.model.carried and self.mechanism.model.moving:
            self._mass_centre()

    def _add_sliders(self) -> list[Any]:
        """Add sliders of all handles, in a folder for each group; return what to remove with the mechanism."""
        groups = grouped(self.mechanism.model, self.movement.handles)
        sliders: dict[Handle, Any] = {}
        folders: list[Any] = []
        for k, group in enumerate(groups):
            folder = (
                self._server.gui.add_folder(group.name, expand_by_default=not k)
                if group.name
                else nullcontext()
            )
            with folder:
                own = {
                    x: self._slider(x, label) for x, label in zip(group.handles, group.labels, strict=True)
                }
            sliders |= own
            folders += [folder] if group.name else own.values()
        self._sliders = [sliders[handle] for handle in self.movement.handles]
        return folders

    def _slider(self, handle: Handle, label: str) -> Any:
        step = 10.0 ** floor(log10(handle.range / STEPS))
        low, high = floor(handle.low / step) * step, ceil(handle.high / step) * step
        value = round(min(max(self.movement.value(handle), low), high), 6) + 0.0
        slider = self._server.gui.add_slider(
            label, min=low, max=high, step=step, initial_value=value, hint=f"{handle.name} [{handle.unit}]"
        )
        slider.on_update(lambda event: self._dragged(handle, slider) if event.client is not None else None)
        return slider

    def _dragged(self, handle: Handle, slider: Any) -> None:
        with self._lock:
            if self.movement.move(handle, float(slider.value)):
                self._tell("")
            else:
                self._tell(f"{handle.name} cannot go to {slider.value:.4g}: no loop can be closed there")
            self._place()

    def _layer(self, layer: str, label: str) -> None:
        box = self._server.gui.add_checkbox(label, True)
        box.on_update(lambda _: self._nodes.show(layer, box.value))

    def _mass_centre(self) -> None:
        self._centre = self._server.scene.add_icosphere(
            "/centre of mass", radius=0.02 * self.scene.size, color=(200, 40, 160), visible=False
        )
        box = self._server.gui.add_checkbox("centre of mass", False)

        def change(_: Any) -> None:
            self._centre.visible = box.value
            self._place()

        box.on_update(change)

    def _place(self) -> None:
        with self._lock, self._server.atomic():
            self._nodes.place(link_poses(self.mechanism, self.movement.q))
            if getattr(self, "_centre", None) is not None and self._centre.visible:
                with suppress(KinpairError):
                    self._centre.position = self.mechanism.centre_of_mass(self.movement.q)

    def _tell(self, sentence: str) -> None:
        """A sentence in the panel; none hides it."""
        self._error.show(f"⚠ {sentence}" if sentence else "")

    @property
    def q(self) -> np.ndarray:
        """The position that is shown (nq,)."""
        return self.movement.q.copy()

    def show(self, q: Any) -> None:
        """Show a position (nq,)."""
        with self._lock:
            self.movement.q = np.array(q, dtype=float)
            for handle, slider in zip(self.movement.handles, self._sliders, strict=True):
                slider.value = min(max(self.movement.value(handle), handle.low), handle.high)
            self._place()

    def replace(self, mechanism: Drawn) -> None:
        """Show another mechanism in this page; coordinates of the same name stay where they are, if the loops
        allow it."""
        with self._lock:
            before = dict(zip(self.mechanism.model.q_names, self.movement.q.tolist(), strict=True))
            for control in self._controls:
                control.remove()
            self._nodes.remove()
            self._mount(mechanism)
            for handle, slider in zip(self.movement.handles, self._sliders, strict=True):
                name = mechanism.model.q_names[handle.entry]
                if handle.angle is None and name in before:
                    self.movement.move(handle, min(max(before[name], handle.low), handle.high))
                    slider.value = min(max(self.movement.value(handle), handle.low), handle.high)
            self._place()
            self._tell("")

    def trouble(self, sentence: str) -> None:
        """Say in the page what is wrong; what is shown stays."""
        self._tell(sentence)

    def wait(self) -> None:
        """Wait until Ctrl-C."""
        try:
            while True:
                clock.sleep(0.2)
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """End the page."""
        if self.player is not None:
            self.player.stop()
        with redirect_stdout(StringIO()):
            self._server.stop()

    def _repr_html_(self) -> str:
        """Show the page itself while the notebook runs, and the scene without sliders once the notebook is exported."""
        still = Recording(self.mechanism, np.zeros(1), self.q[None], self.scene.name)
        shown = still if self.player is None else self.player.recordings[0]
        return live_html(self.url, page(shown, self.scene.name, [], []), HEIGHT)


def _server(host: str, port: int) -> Any:
    if not isinstance(port, int) or not 0 < port <= LAST_PORT:  # type: ignore[redundant-expr]
        raise InputError(f"port is {port!r}; give a whole number from 1 to {LAST_PORT}", port=port)
    try:
        import viser
    except ImportError:
        raise MissingExtraError(f"the 3-D page needs viser; {installs('view')}", extra="view") from None
    with redirect_stdout(StringIO()):  # its banner; the page says by itself where it is
        return viser.ViserServer(host=host, port=port, verbose=False)


def stays_open(wait: bool | None) -> bool:
    """True if a call waits until Ctrl-C. By default in a script, and not where a person goes on typing."""
    if wait is not None:
        return wait
    return not (hasattr(sys, "ps1") or sys.flags.interactive or "ipykernel" in sys.modules)


EVERY = 0.25  # s between looks


def follow(page: Page, path: str | os.PathLike[str], load: Callable[[], Drawn]) -> threading.Event:
    """Look at a file and show what `load` makes of it whenever it has changed; setting the event ends that."""
    ended = threading.Event()
    file = Path(path)

    def look() -> None:
        before = _changed(file)
        while not ended.wait(EVERY):
            now = _changed(file)
            if now is None or now == before:
                continue
            before = now
            try:
                page.replace(load())
            except KinpairError as reason:
                page.trouble(str(reason))

    threading.Thread(target=look, daemon=True, name="kinpair file").start()
    return ended


def _changed(file: Path) -> tuple[int, int] | None:
    """Time of its change and its length; None while an editor is replacing it."""
    try:
        about = file.stat()
    except OSError:
        return None
    return about.st_mtime_ns, about.st_size
