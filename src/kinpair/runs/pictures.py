"""A run as curves over time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinpair.runs.friction_panel import friction_panels
from kinpair.runs.record import Record, lead_of
from kinpair.runs.targets import PICTURE, target
from kinpair.runs.vectors import vectors_of
from kinpair.simulation.monitors.verdict import Energies, start_of
from kinpair.simulation.sample_memory import blocks
from kinpair.viewer.curves import figure_of, write_figure
from kinpair.viewer.looks import GREYS, Look, distinct
from kinpair.viewer.panels import Panel

POINTS = 20_000  # more are not seen
TITLES = {
    "q": ("coordinates", "q"),
    "qd": ("rates", "q̇"),
    "tau": ("efforts", "τ"),
    "x": ("internal states", "x"),
    "u": ("inputs", "u"),
}
ENERGY = "energy since the start"
ENERGIES = ("kinetic", "potential", "sum", "work", "loss")
FREEDOMS = {  # rate of a free or spherical joint → the coordinate in whose colour it is drawn
    "vx": "x",
    "vy": "y",
    "vz": "z",
    "wx": "qx",
    "wy": "qy",
    "wz": "qz",
}


def plot(run: Record, path: str | os.PathLike[str] | None, row: int) -> Any:
    """The curves as a figure of matplotlib, written to a file where a path is given."""
    file = None if path is None else target(path, PICTURE)
    time, panels = curves(run, row)
    figure = figure_of(time, _rows(panels), title=run.mechanism.name)
    if file is not None:
        write_figure(figure, file)
    return figure


def _rows(panels: Sequence[Panel]) -> list[list[Panel]]:
    """A row for each quantity; two by two where each has one panel and there are four."""
    rows: dict[str, list[Panel]] = {}
    for panel in panels:
        rows.setdefault(panel.title, []).append(panel)
    return list(rows.values()) if len(panels) != 4 or len(rows) != 4 else [[*panels[:2]], [*panels[2:]]]


def curves(run: Record, row: int = 0, points: int = POINTS) -> tuple[np.ndarray, list[Panel]]:
    """Times, and panels: coordinates, rates and efforts (those that are not zero) by unit, and energies; of many
    samples, so many points."""
    lead = lead_of(run, row)
    m, vectors = run.mechanism, vectors_of(run.mechanism, run.options, passive=run.passive)
    labels = _labels(m.q_names, m.v_names)
    by_freedom = distinct(labels)
    looks = {name: by_freedom[_freedom(name)] for name in (*m.q_names, *m.v_names)}
    names_in_legend = {name: labels[_freedom(name)] for name in looks}
    panels: list[Panel] = []
    for name, (title, letter) in TITLES.items():
        entries = vectors.get(name, {})
        x = drawn(getattr(run, name)[lead], points=points)
        word = "input " if name == "u" else ""
        of_joints = name not in ("x", "u")
        own_looks = looks if of_joints else distinct(f"{word}{entry}" for entry in entries)
        for unit in dict.fromkeys(entries.values()):
            own = {f"{word}{entry}": x[:, k] for k, (entry, of) in enumerate(entries.items()) if of == unit}
            if name not in ("tau", "u") or any(values.any() for values in own.values()):
                quantity = f"{letter} [{unit}]" if unit else letter
                panels.append(Panel(title, quantity, own, own_looks, names_in_legend if of_joints else {}))
    time = drawn(run.time[:, None], points=points)[:, 0]
    greys = dict[str, Look](zip(ENERGIES, GREYS, strict=True))
    panels += friction_panels(run, lead, looks, names_in_legend) + contact_panels(run, lead, points)
    return time, [*panels, Panel(ENERGY, "[J]", _energies(run, row, points), greys, own_legend=True)]


def contact_panels(run: Record, lead: tuple[int, ...], points: int) -> list[Panel]:
    """Return normal forces of pairs of geoms as a panel; none without contact."""
    contacts = run.contacts_at(lead)
    if contacts is None or not contacts.pairs:
        return []
    own = {name: drawn(pair.normal[:, None], points=points)[:, 0] for name, pair in contacts.pairs.items()}
    return [Panel("contact forces", "normal force [N]", own, distinct(own), own_legend=True)]


def _freedom(name: str) -> str:
    """The coordinate in whose colour an entry is drawn: base.x for base.vx."""
    joint, dot, part = name.rpartition(".")
    return f"{joint}{dot}{FREEDOMS.get(part, part)}" if dot else name


def _labels(q_names: Sequence[str], v_names: Sequence[str]) -> dict[str, str]:
    """Freedom → its name in the legend: base.x / vx where coordinate and rate have different names."""
    labels = {name: name for name in map(_freedom, (*q_names, *v_names))}
    rates = {_freedom(name): name.rpartition(".")[2] for name in v_names if name not in q_names}
    return labels | {name: f"{name} / {rate}" for name, rate in rates.items()}


def _energies(run: Record, row: int, points: int) -> dict[str, np.ndarray]:
    """What changed since the start: kinetic and potential energy and their sum; work and loss, if there are such."""
    every = Energies(*run.energy, run.work, run.loss)
    own = Energies(*(np.atleast_2d(x)[row] for x in every))
    T, V = start_of(own, None if run.start is None else run.start[row])[0] if len(run.time) else (0.0, 0.0)
    curves = {
        "kinetic": drawn(own.kinetic[:, None], T, points=points),
        "potential": drawn(own.potential[:, None], V, points=points),
    }
    curves["sum"] = drawn(own.kinetic[:, None], T + V, own.potential[:, None], points)
    curves |= {
        name: x for name in ("work", "loss") if (x := drawn(getattr(own, name)[:, None], points=points)).any()
    }
    return {name: x[:, 0] for name, x in curves.items()}


def drawn(
    x: np.ndarray, zero: float = 0.0, more: np.ndarray | None = None, points: int = POINTS
) -> np.ndarray:
    """Samples (n, k) [and more beside] above a zero, as they are drawn: of many, the least and largest of each of
    `points` / 2 stretches, in the order they come, so that no peak is lost; read part by part.
    """
    both = (x,) if more is None else (x, more)
    samples = len(x)
    every = 2 * -(-samples // points) if samples > points else 1
    columns: list[np.ndarray] = []
    left = np.zeros((0, x.shape[1]))
    for parts in blocks(*both, axis=-2):
        left = np.concatenate([left, sum(parts[1:], start=parts[0]) - zero])
        whole = len(left) // every * every
        columns.append(_ends(left[:whole], every))
        left = left[whole:].copy()
    return np.concatenate([np.zeros((0, x.shape[1])), *columns, _ends(left, max(1, len(left)))])


def _ends(x: np.ndarray, every: int) -> np.ndarray:
    """The least and the largest of every so many samples, in their order; a single one is itself."""
    if every == 1 or not len(x):
        return x
    stretches = x.reshape(len(x) // every, every, x.shape[1])
    least, most = stretches.min(axis=1), stretches.max(axis=1)
    first = stretches.argmin(axis=1) <= stretches.argmax(axis=1)
    pairs = np.stack([np.where(first, least, most), np.where(first, most, least)], axis=1)
    return pairs.reshape(2 * len(stretches), x.shape[1])
