"""Modes as pictures of the mechanism: still ones, and a page in which a mode swings."""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from kinpair.analysis.linear.modes import Mode
from kinpair.errors import InputError
from kinpair.viewer.curves import blank_figure, write_figure
from kinpair.viewer.looks import distinct
from kinpair.viewer.panels import Panel
from kinpair.viewer.recording import Recording
from kinpair.viewer.report_page import page
from kinpair.viewer.still import picture

STATES = 5  # in one picture
WIDTH, HEIGHT, DPI = 420, 360, 150
FRAMES = 40  # of a cycle
CYCLES = 3
MOST = 4  # pictures in a row


def words(number: int, mode: Mode) -> str:
    """Describe the mode, with its frequency [Hz] or its rate [1/s]."""
    x = mode.eigenvalue
    if x.imag:
        return f"mode {number + 1}: {abs(x.imag) / (2 * np.pi):.3g} Hz, damping {mode.damping:.2g}"
    return f"mode {number + 1}: {x.real:.3g} 1/s"


def stills(
    mechanism: Any, swings: Sequence[np.ndarray], titles: Sequence[str], path: str | os.PathLike[str] | None
) -> Any:
    """The mechanism through half a cycle of each mode, one over the other, side by side."""
    columns = min(MOST, len(swings))
    rows = -(-len(swings) // columns)
    figure = blank_figure(columns * WIDTH / DPI, rows * (HEIGHT / DPI + 0.3), f"{mechanism.name}: modes")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for axis, q, title in zip(axes, swings, titles, strict=False):
        image = picture(mechanism, None, q, overlay=True, width=WIDTH, height=HEIGHT).axes[0].images[0]
        axis.imshow(image.get_array(), interpolation="antialiased")
        axis.set_title(title, fontsize=9)
    for axis in axes:
        axis.set_axis_off()
    if path is not None:
        write_figure(figure, path)
    return figure


def animated(mechanism: Any, q: np.ndarray, period: float, title: str) -> str:
    """A page in which the coordinates (frames, nq) of a mode are played; period: seconds of a cycle."""
    time = np.linspace(0.0, CYCLES * period, len(q))
    own = {name: q[:, k] for k, name in enumerate(mechanism.model.q_names) if np.ptp(q[:, k]) > 0.0}
    panel = Panel("coordinates", "[rad], [m]", own, distinct(own))
    recording = Recording(mechanism, time, q, mechanism.name, time, (panel,))
    return page(recording, title, [f"<h1>{escape(title)}</h1>"], [])


def written(text: str, path: str | os.PathLike[str]) -> Path:
    """Write the file; return its path."""
    file = Path(path)
    try:
        file.write_text(text, "utf-8")
    except OSError as reason:
        raise InputError(f"{file}: cannot be written ({reason.strerror})", path=str(file)) from None
    return file
