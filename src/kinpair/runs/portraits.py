"""Pictures of a run that are no curves over time: phase portraits; and where energy came from and went to."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from itertools import cycle
from typing import Any

import numpy as np

from kinpair.errors import InputError, listed, nearest
from kinpair.model.units import units
from kinpair.runs.pictures import POINTS
from kinpair.runs.record import Record, lead_of
from kinpair.runs.targets import PICTURE, target
from kinpair.simulation.monitors.verdict import Energies, start_of
from kinpair.viewer.curves import WIDE, blank_figure, write_figure
from kinpair.viewer.labels import plain
from kinpair.viewer.looks import COLOURS

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
    """Without those that are nothing; small ones together."""
    kept = {name: x for name, x in parts.items() if x.max(initial=0.0) > SMALL * moved}
    rest = [x for name, x in parts.items() if name not in kept]
    if rest and (together := np.sum(rest, axis=0)).max(initial=0.0) > 1e-3 * SMALL * moved:
        kept["others"] = together
    return kept


def _plain(axis: Any) -> None:
    axis.grid(alpha=0.25, linewidth=0.6)
    axis.spines[["top", "right"]].set_visible(False)
