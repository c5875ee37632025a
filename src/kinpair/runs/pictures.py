"""Pictures of a run: curves over time, friction, phase portraits, energy by source and sink."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import cycle
from typing import Any

import numpy as np

from kinpair.errors import InputError, KinpairError, listed, nearest
from kinpair.forces.states import sticking_groups
from kinpair.model.units import units
from kinpair.runs.record import Record, Rubbed, lead_of, vectors_of
from kinpair.runs.targets import PICTURE, target
from kinpair.simulation.monitors.verdict import Energies, start_of
from kinpair.simulation.sample_memory import blocks
from kinpair.viewer.curves import WIDE, blank_figure, figure_of, write_figure
from kinpair.viewer.looks import COLOURS, GREYS, Look, Panel, distinct, plain

TITLE = "friction; bars: sticks"
FEWEST, MOST, SHARED = 60, 300, 1200  # states at which efforts are solved for; joints share them


def friction_panels(
    run: Record, lead: tuple[int, ...], looks: Mapping[str, Look], labels: Mapping[str, str]
) -> list[Panel]:
    """Return one panel for each unit, curves looking as those of the rates; none without dry friction, and bars
    alone where its effort is not known from a state."""
    if not run.friction or not len(run.time):
        return []
    unit = dict(zip(run.mechanism.v_names, units(run.mechanism.model)["tau"], strict=True))
    held = _by_rate(run)
    count = min(max(FEWEST, min(MOST, SHARED // len(run.friction))), len(run.time))
    chosen = np.unique(np.linspace(0, len(run.time) - 1, count).astype(int))
    time, efforts = np.asarray(run.time)[chosen], _efforts(run, lead, chosen)
    panels: list[Panel] = []
    for own in dict.fromkeys(unit[name] for name in held):
        names = [name for name in held if unit[name] == own]
        curves = {name: efforts.get(name, np.full(len(time), np.nan)) for name in names}
        bars = {name: spans(np.asarray(run.time), held[name].sticks[lead]) for name in names}
        panels.append(Panel(TITLE, f"effort [{own}]", curves, looks, labels, time=time, bars=bars))
    return panels


def _by_rate(run: Record) -> dict[str, Rubbed]:
    """Friction by name of the rate; rates that slide together share it."""
    names, groups = run.mechanism.v_names, sticking_groups(run.mechanism.model, passive=run.passive)
    return {names[k]: run.friction[group.name] for group in groups for k in group.rates}


def spans(time: np.ndarray, holds: np.ndarray) -> list[tuple[float, float]]:
    """Intervals of time at whose samples something holds; a single sample is an interval up to the next."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], holds.astype(int), [0]])))
    last = len(time) - 1
    return [(float(time[a]), float(time[min(b, last)])) for a, b in edges.reshape(-1, 2)]


def _efforts(run: Record, lead: tuple[int, ...], chosen: np.ndarray) -> dict[str, np.ndarray]:
    """Friction at the chosen samples by name of the rate; empty where a state alone does not determine it."""
    m = run.mechanism
    several = run.history is not None and len(run.history.entered) > 1  # modes
    if m.nx or run.parameters or run.external or several:
        return {}
    q, qd, tau = (np.asarray(x[lead])[chosen] for x in (run.q, run.qd, run.tau))
    held = {name: x.sticks[lead][chosen] for name, x in _by_rate(run).items()}
    rates = {name: m.v_names.index(name) for name in held}
    efforts = {name: np.zeros(len(chosen)) for name in held}
    with suppress(KinpairError):
        for k, t in enumerate(np.asarray(run.time)[chosen]):
            rate = qd[k].copy()
            for name, where in rates.items():
                rate[where] = 0.0 if held[name][k] else rate[where]
            for name, found in m.friction(q[k], rate, tau[k], time=float(t)).items():
                if name in efforts:
                    efforts[name][k] = found.effort
        return efforts
    return {}


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
    """Energies since the start: kinetic and potential energy and their sum; work and loss, if there are such."""
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
    """Samples (n, k) [and further axes] above a zero, as they are drawn: of many, the least and largest of each of
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


SIDE = 3.5  # inches of a portrait
ACROSS = 4  # portraits in a row, at most
PALE = 0.55
SMALL = 0.01  # part of all energy that moved, below which a loss is one of the others
KINETIC, POTENTIAL, WORK = "kinetic energy", "potential energy", "work"


def phase(run: Record, names: Sequence[str] | None, path: str | os.PathLike[str] | None) -> Any:
    """Rates over coordinates, a panel for each joint of one degree; every motion of a batch."""
    file = None if path is None else target(path, PICTURE)
    m, chosen = run.mechanism, _chosen(run, names)
    unit = units(m.model)
    columns = min(ACROSS, len(chosen))
    rows = math.ceil(len(chosen) / columns)
    figure = blank_figure(0.6 + SIDE * columns, 0.5 + SIDE * rows, f"{m.name}: phase portrait")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    q, qd = (x if x.ndim == 3 else x[None] for x in (run.q, run.qd))
    for axis, name in zip(axes, chosen, strict=False):
        i, j = m.q_names.index(name), m.v_names.index(name)
        for k in range(len(q)):
            _portrait(axis, np.asarray(q[k, :, i]), np.asarray(qd[k, :, j]), COLOURS[k % len(COLOURS)])
        axis.set_title(plain(name), fontsize=10, loc="left")
        axis.set_xlabel(f"coordinate [{unit['q'][i]}]")
        axis.set_ylabel(f"rate [{unit['qd'][j]}]")
        _plain(axis)
    for axis in axes[len(chosen) :]:
        axis.set_axis_off()
    if file is not None:
        write_figure(figure, file)
    return figure


def _chosen(run: Record, names: Sequence[str] | None) -> list[str]:
    m = run.mechanism
    simple = [name for name in m.v_names if name in m.q_names]
    wanted = simple if names is None else [names] if isinstance(names, str) else list(names)
    for name in wanted:
        if name not in simple:
            raise InputError(
                f"{m.name}: no coordinate {name!r} that has a rate of its own; {nearest(str(name), simple)}"
                f"Coordinates: {listed(simple) or 'none'}",
                name=name,
            )
    if not wanted:
        raise InputError(
            f"{m.name}: a phase portrait needs a joint of one degree, and this mechanism has none"
        )
    return wanted


def _portrait(axis: Any, x: np.ndarray, v: np.ndarray, colour: str) -> None:
    """A motion from its start, a circle, to its end, a square; pale at first."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgb

    points = np.stack([x, v], axis=1)
    pairs = np.stack([points[:-1], points[1:]], axis=1)
    share = PALE * (1.0 - np.linspace(0.0, 1.0, max(len(pairs), 1)))[:, None]
    colours = (1.0 - share) * np.array(to_rgb(colour)) + share
    axis.add_collection(LineCollection(list(pairs), colors=colours, linewidths=1.5, capstyle="round"))
    axis.plot(x[:1], v[:1], "o", color=colour, markersize=6, fillstyle="none")
    axis.plot(x[-1:], v[-1:], "s", color=colour, markersize=5)
    axis.autoscale_view()


def energy(run: Record, path: str | os.PathLike[str] | None, row: int) -> Any:
    """Energy since the start: where it went to above the axis, where it came from below it. Both are equal if the
    energy adds up."""
    file = None if path is None else target(path, PICTURE)
    time, went, came = flows(run, row)
    figure = blank_figure(WIDE, 4.6, f"{run.mechanism.name}: energy by where it went and where it came from")
    axis = figure.subplots()
    colours = cycle(COLOURS)
    for parts, sign in ((went, 1.0), (came, -1.0)):
        base = np.zeros(len(time))
        for name, values in parts.items():
            top = base + sign * values
            word = f"{name} ({'from' if sign < 0.0 else 'to'})"
            axis.fill_between(
                time, base, top, color=next(colours), alpha=0.75, linewidth=0, label=plain(word)
            )
            base = top
        axis.plot(time, base, color="#222222", linewidth=1.0)
    axis.axhline(0.0, color="#222222", linewidth=0.8)
    axis.set_ylabel("came from  |  went to  [J]")
    axis.set_xlabel("time [s]")
    axis.yaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
    axis.margins(x=0.01)
    axis.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), reverse=True)
    _plain(axis)
    if file is not None:
        write_figure(figure, file)
    return figure


def flows(
    run: Record, row: int = 0, points: int = POINTS
) -> tuple[np.ndarray, dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Times (n,) [s], and by name (n,) [J] since the start: where energy went to, and where it came from.

    Losses by name, small ones together; kinetic and potential energy as they grew or shrank; supplies by name, and the
    work of drives and applied wrenches. A supply that took energy back is where it went to.
    """
    lead = lead_of(run, row)
    every = slice(None, None, max(1, -(-len(run.time) // points)))

    def pick(x: np.ndarray) -> np.ndarray:
        return np.asarray(x[lead])[every]

    time = np.asarray(run.time)[every]
    both = Energies(*run.energy, run.work, run.loss)
    own = Energies(*(np.atleast_2d(x)[row] for x in both))
    T, V = start_of(own, None if run.start is None else run.start[row])[0] if len(run.time) else (0.0, 0.0)
    stored = {KINETIC: pick(run.energy.kinetic) - T, POTENTIAL: pick(run.energy.potential) - V}
    losses, supplies = ({name: pick(x) for name, x in y.items()} for y in (run.losses, run.supplied))
    losses["dampers and others"] = pick(run.loss) - sum(losses.values(), np.zeros(len(time)))
    supplies[WORK] = pick(run.work) - sum(supplies.values(), np.zeros(len(time)))
    signed = {**losses, **stored, **{name: -x for name, x in supplies.items()}}
    went = {name: np.maximum(x, 0.0) for name, x in signed.items()}
    came = {name: np.maximum(-x, 0.0) for name, x in signed.items()}
    moved = max((float(np.sum(list(x.values()), axis=0).max(initial=0.0)) for x in (went, came)), default=0.0)
    return time, _large(went, moved), _large(came, moved)


def _large(parts: dict[str, np.ndarray], moved: float) -> dict[str, np.ndarray]:
    """Leave out curves that are zero; small ones together."""
    kept = {name: x for name, x in parts.items() if x.max(initial=0.0) > SMALL * moved}
    rest = [x for name, x in parts.items() if name not in kept]
    if rest and (together := np.sum(rest, axis=0)).max(initial=0.0) > 1e-3 * SMALL * moved:
        kept["others"] = together
    return kept


def _plain(axis: Any) -> None:
    axis.grid(alpha=0.25, linewidth=0.6)
    axis.spines[["top", "right"]].set_visible(False)
