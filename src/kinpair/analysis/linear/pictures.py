"""A linear model as pictures: eigenvalues, participation in modes, frequency responses, and modes of the mechanism."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from kinpair.analysis.linear.modes import Mode
from kinpair.errors import InputError
from kinpair.viewer.curves import WIDE, blank_figure, figure_of, write_figure
from kinpair.viewer.looks import Panel, distinct, plain
from kinpair.viewer.recording import Recording
from kinpair.viewer.report_page import page
from kinpair.viewer.still import picture

STATES = 5  # in one picture
WIDTH, MODE_HEIGHT, DPI = 420, 360, 150
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
    figure = blank_figure(columns * WIDTH / DPI, rows * (MODE_HEIGHT / DPI + 0.3), f"{mechanism.name}: modes")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for axis, q, title in zip(axes, swings, titles, strict=False):
        image = picture(mechanism, None, q, overlay=True, width=WIDTH, height=MODE_HEIGHT).axes[0].images[0]
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


DECADES = 2.0  # on either side of the eigenvalues
POINTS = 600
HEIGHT, LINE = 4.2, 0.22  # inches: of the picture, and of a state in it
LEAST_SHARE = 0.005  # participation that is written
GROWS, STAYS = "#c0392b", "#1f77b4"
FilePath = str | os.PathLike[str] | None


def response(
    name: str,
    omega: np.ndarray,
    gain: Mapping[str, np.ndarray],
    phase: Mapping[str, np.ndarray],
    path: FilePath,
) -> Any:
    """Draw gains [dB] and phases [deg] by name over the frequency [rad/s]."""
    looks = distinct(gain)
    panels = [[Panel("", "gain [dB]", gain, looks)], [Panel("", "phase [deg]", phase, looks)]]
    figure = figure_of(omega, panels, title=f"{name}: frequency response", abscissa="frequency [rad/s]")
    for axis in figure.axes:
        axis.set_xscale("log")
    return _written(figure, path)


def step(
    name: str, time: np.ndarray, responses: Mapping[str, np.ndarray], units: Sequence[str], path: FilePath
) -> Any:
    """Draw step responses by name over time [s], responses of one unit in one panel."""
    looks, by_unit = distinct(responses), dict[str, dict[str, np.ndarray]]()
    for (key, y), unit in zip(responses.items(), units, strict=True):
        by_unit.setdefault(unit, {})[key] = y
    panels = [[Panel("", f"output{unit}", curves, looks)] for unit, curves in by_unit.items()]
    return _written(figure_of(time, panels, title=f"{name}: step response"), path)


def frequencies(eigenvalues: np.ndarray, dt: float | None) -> np.ndarray:
    """Two decades beyond the slowest and the fastest eigenvalue; with a sample time up to half of its frequency."""
    values = eigenvalues if dt is None else np.log(eigenvalues[eigenvalues != 0.0] + 0j) / dt
    sizes = np.abs(values[values != 0.0])
    low, high = (sizes.min(), sizes.max()) if sizes.size else (1.0, 1.0)
    start, stop = np.log10(low) - DECADES, np.log10(high) + DECADES
    if dt is not None:
        stop = np.log10(np.pi / dt)
        start = min(start, stop - DECADES)
    return np.logspace(start, stop, POINTS)


def gains(A: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Gains from where feedback changes little to where it decides: decades about |A|² / |c A b|."""
    size = max(float(np.abs(A).sum(1).max(initial=0.0)), 1e-300)
    felt = [abs(float((c @ np.linalg.matrix_power(A, k) @ b)[0, 0])) / size ** (k + 1) for k in range(len(A))]
    middle = np.log10(1.0 / max(max(felt, default=1.0), 1e-300))
    return np.logspace(middle - 2 * DECADES, middle + DECADES, POINTS)


def spectrum(name: str, modes: Sequence[Mode], states: Sequence[str], zeros: int, path: FilePath) -> Any:
    """Eigenvalues on the left, on the right the participation of the states; `zeros`: eigenvalues that are zero."""
    figure = blank_figure(WIDE, max(HEIGHT, 1.0 + LINE * len(states)), f"{name}: modes")
    left, right = figure.subplots(1, 2)
    _plane(left, modes, zeros)
    _shares(right, modes, states)
    return _written(figure, path)


def locus(
    title: str,
    values: np.ndarray,
    eigenvalues: Sequence[np.ndarray],
    quantity: str,
    path: FilePath,
    logarithmic: bool,
) -> Any:
    """Eigenvalues (any) in the complex plane as a parameter (n,) takes its values, by colour, and their real parts over
    it."""
    figure = blank_figure(WIDE, HEIGHT, title)
    left, right = figure.subplots(1, 2)
    numbers = np.concatenate([np.full(len(x), v) for v, x in zip(values, eigenvalues, strict=True)])
    every = np.concatenate([np.asarray(x) for x in eigenvalues])
    across, up = np.real(every), np.imag(every)
    scale = "log" if logarithmic else "linear"
    dots = left.scatter(across, up, c=numbers, s=7, cmap="viridis", norm=scale)
    for x, mark in ((eigenvalues[0], "x"), (eigenvalues[-1], "o")):
        left.plot(np.real(x), np.imag(x), mark, color="#444444", fillstyle="none", markersize=7)
    left.axvline(0.0, color="#bbbbbb", linewidth=0.8, zorder=0)
    left.set_xlabel("real part [1/s]")
    left.set_ylabel("imaginary part [rad/s]")
    left.set_title("eigenvalues: × first, ○ last", fontsize=10, loc="left")
    figure.colorbar(dots, ax=left, label=quantity)
    grows = across > 0.0
    for some, colour in ((grows, GROWS), (~grows, STAYS)):
        right.plot(numbers[some], across[some], ".", color=colour, markersize=3)
    right.axhline(0.0, color="#bbbbbb", linewidth=0.8, zorder=0)
    right.set_xscale(scale)
    right.set_xlabel(quantity)
    right.set_ylabel("real part [1/s]")
    right.set_title("real parts; red ones grow", fontsize=10, loc="left")
    return _written(figure, path)


def _plane(axis: Any, modes: Sequence[Mode], zeros: int) -> None:
    axis.axvline(0.0, color="#bbbbbb", linewidth=0.8)
    axis.axhline(0.0, color="#bbbbbb", linewidth=0.8)
    for n, mode in enumerate(modes):
        x = mode.eigenvalue
        colour = GROWS if x.real > 0.0 else STAYS
        axis.plot([x.real, x.real], [x.imag, -x.imag], "x", color=colour, markersize=8)
        axis.annotate(str(n + 1), (x.real, x.imag), textcoords="offset points", xytext=(6, 4), fontsize=8)
    if zeros:
        axis.plot([0.0], [0.0], "o", color="#888888", fillstyle="none", markersize=8)
    axis.set_title("eigenvalues", fontsize=10, loc="left")
    axis.set_xlabel("real part [1/s]")
    axis.set_ylabel("imaginary part [rad/s]")
    axis.margins(0.12)


def _shares(axis: Any, modes: Sequence[Mode], states: Sequence[str]) -> None:
    shares = np.array([[mode.participation[name] for mode in modes] for name in states])
    shares = shares.reshape(len(states), len(modes))
    axis.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
    size = min(8.0, 120.0 / max(1, len(modes)))  # points: four characters fit into a column
    for (i, j), share in np.ndenumerate(shares):
        if share >= LEAST_SHARE:
            colour = "white" if share > 0.6 else "#222222"
            axis.text(j, i, f"{share:.2f}", fontsize=size, ha="center", va="center", color=colour)
    axis.set_yticks(range(len(states)), [plain(x) for x in states], fontsize=8)
    axis.set_xticks(range(len(modes)), [str(n + 1) for n in range(len(modes))], fontsize=8)
    axis.set_title("participation [1]; below 0.005 is left empty", fontsize=10, loc="left")
    axis.set_xlabel("mode")


def _written(figure: Any, path: FilePath) -> Any:
    if path is not None:
        write_figure(figure, path)
    return figure
