"""Pictures of cycles, of their branches over a parameter, and of gaits played back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from kinpair.motion.gait_pictures import prints
from kinpair.viewer import report_page
from kinpair.viewer.curves import blank_figure, write_figure
from kinpair.viewer.looks import COLOURS, Panel, distinct, plain
from kinpair.viewer.recording import Recording

BLACK, GREY = "#222222", "#8a8a8a"


def portrait(names: Sequence[str], states: np.ndarray, steps: int, title: str, path: Any) -> Any:
    """Rates over coordinates; jumps of events dotted."""
    n = len(names)
    figure = blank_figure(5.2 * n, 4.2, title)
    axes = figure.subplots(1, n, squeeze=False)[0]
    parts = states.reshape(steps, -1, 2 * n)
    for k, (axis, name) in enumerate(zip(axes, names, strict=True)):
        for i, part in enumerate(parts):
            colour = COLOURS[i % len(COLOURS)]
            axis.plot(part[:, k], part[:, n + k], color=colour, linewidth=1.6, label=f"step {i + 1}")
            after = parts[(i + 1) % steps][0]
            axis.plot(
                [part[-1, k], after[k]], [part[-1, n + k], after[n + k]], ":", color=colour, linewidth=1.2
            )
        axis.plot(parts[:, 0, k], parts[:, 0, n + k], "o", color="#222222", markersize=4)
        axis.set_title(plain(name), fontsize=10, loc="left")
        axis.set_xlabel("angle [rad]")
        axis.set_ylabel("rate [rad/s]")
        axis.grid(alpha=0.25, linewidth=0.6)
        axis.spines[["top", "right"]].set_visible(False)
    return _written(figure, path)


def branches(every: Sequence[Any], title: str, path: str | os.PathLike[str] | None) -> Any:
    """Times of steps, and sizes of multipliers, over the parameter."""
    of = every[0].cycles[0].of
    figure = blank_figure(9.6, 4.2, title or f"{of.mechanism.name}: gaits over {of.parameter}")
    left, right = figure.subplots(1, 2)
    for k, branch in enumerate(every):
        steps = len(branch.cycles[0].times)
        times = np.array([x.times for x in branch.cycles])
        colour, word = COLOURS[k % len(COLOURS)], f"{steps} step{'s' if steps > 1 else ''}"
        stable = np.array([x.stable for x in branch.cycles])
        for i in range(steps):
            label = word if i == 0 else None
            left.plot(branch.values, times[:, i], ":", color=colour, linewidth=1.2)
            shown = np.where(stable, times[:, i], np.nan)
            left.plot(branch.values, shown, color=colour, linewidth=1.8, label=label)
        size = np.abs(branch.multipliers[:, :2])
        right.plot(branch.values, size, color=colour, linewidth=1.4)
        if branch.doubling is not None:
            p = branch.doubling.value
            left.plot([p] * steps, branch.doubling.times, "o", color="#222222", markersize=4)
            left.annotate(
                f"{p:.5g}", (p, branch.doubling.times.max()), (6, 6), textcoords="offset points", fontsize=8
            )
            right.plot([p], [1.0], "o", color="#222222", markersize=4)
    right.axhline(1.0, color="#8a8a8a", linewidth=0.8)
    right.set_ylim(bottom=0.0)
    left.legend(fontsize=8, frameon=False)
    texts = ((left, "time of a step", "[s]"), (right, "the two largest multipliers", "absolute value [1]"))
    for axis, words, quantity in texts:
        axis.set_xlabel(plain(of.parameter) + (" [rad]" if of.parameter == "slope" else ""))
        axis.set_title(words, fontsize=10, loc="left")
        axis.set_ylabel(quantity)
        axis.grid(alpha=0.25, linewidth=0.6)
        axis.spines[["top", "right"]].set_visible(False)
    return _written(figure, path)


def _written(figure: Any, path: Any) -> Any:
    if path is not None:
        write_figure(figure, path)
    return figure


def picture(x: Any, title: str, path: Any) -> Any:
    """All in one figure."""
    steps = len(x.runs) // 2
    feet = "on contacts" if x.on_contacts else "feet fixed"
    figure = blank_figure(11.0, 6.4, title or f"{x.gait.mechanism.name}: {steps} steps played back, {feet}")
    grid = figure.add_gridspec(2, 3, height_ratios=(0.6, 1.0))
    footprints(figure.add_subplot(grid[0, :]), x)
    away, margins, loads = (figure.add_subplot(grid[1, k]) for k in range(3))
    for k in range(len(x.support)):
        _run(x, k, away, margins, loads)
    margins.axhline(0.0, color=GREY, linewidth=0.8)
    loads.axhline(0.0, color=GREY, linewidth=0.8)
    words = {
        "mass centre off its gait": "[mm]",
        "margin of the zero-moment point": "[mm]",
        "load of a foot": "[N]",
    }
    for axis, (text, unit) in zip((away, margins, loads), words.items(), strict=True):
        axis.set_title(text, fontsize=10, loc="left")
        axis.set_xlabel("time [s]")
        axis.set_ylabel(unit)
        plain(axis)
    away.legend(fontsize=8, frameon=False)
    if path is not None:
        write_figure(figure, path)
    return figure


def _run(x: Any, k: int, away: Any, margins: Any, loads: Any) -> None:
    step, gait = k // 2, x.gait
    time, s = x.runs[k].time + step * gait.step_time, x.support[k]
    known = s.time + step * gait.step_time
    mirrored = -1.0 if step % 2 else 1.0
    for axis, sign, word, colour in ((0, 1.0, "forward", COLOURS[0]), (1, mirrored, "left", COLOURS[3])):
        label = word if k == 0 else None
        away.plot(time, 1e3 * sign * x.off(k)[:, axis], color=colour, linewidth=1.6, label=label)
    margins.plot(known, 1e3 * s.margin, color=BLACK, linewidth=1.6)
    for name, w in s.wrenches.items():
        left = (name == "left-sole") != (step % 2 == 1)
        loads.plot(known, w[:, 5], color=COLOURS[3 if left else 0], linewidth=1.6)
    if k % 2:
        for axis in (away, margins, loads):
            axis.axvspan(time[0], time[-1], color=BLACK, alpha=0.06, linewidth=0)


def page(x: Any) -> str:
    """Return all steps as one page of HTML, complete in itself."""
    time, q = x.walked()
    step = x.gait.step_time
    known = np.concatenate([s.time + (k // 2) * step for k, s in enumerate(x.support)])
    loads = {
        foot: np.concatenate([_load(x, k, foot) for k in range(len(x.support))]) for foot in ("left", "right")
    }
    margin = np.concatenate([s.margin for s in x.support])
    panels = (
        Panel("load of the feet", "[N]", loads, distinct(loads)),
        Panel("margin of the zero-moment point", "[m]", {"margin": margin}),
    )
    name = x.gait.mechanism.name
    after = [f"<p>{escape(line)}</p>" for line in str(x).splitlines()]
    recording = Recording(x.phases[0].mechanism, time, q, name, known, panels)
    return report_page.page(recording, f"{name} walks", [f"<h1>{escape(name)} walks</h1>"], after)


def _load(x: Any, k: int, foot: str) -> Any:
    """Return the load of a foot of the world during a run [N]; zero where it is in the air."""
    s, mirrored = x.support[k], (k // 2) % 2 == 1
    side = foot if not mirrored else {"left": "right", "right": "left"}[foot]
    w = s.wrenches.get(f"{side}-sole")
    return np.zeros(len(s.time)) if w is None else w[:, 5]


def footprints(axis: Any, x: Any) -> None:
    """The zero-moment point in the footprints, and that of the gait."""
    gait, steps = x.gait, len(x.runs) // 2
    prints(axis, gait, steps)
    time = np.linspace(0.0, steps * gait.step_time, 301 * steps)
    nominal = gait.support_at(time).zmp
    axis.plot(nominal[:, 0], nominal[:, 1], ":", color=GREY, linewidth=1.4, label="of the gait")
    for k in range(len(x.support)):
        step, at = k // 2, x.support[k].zmp
        side = -1.0 if step % 2 else 1.0
        label = "zero-moment point" if k == 0 else None
        axis.plot(
            at[:, 0] + step * gait.numbers.step, side * at[:, 1], color=BLACK, linewidth=1.8, label=label
        )
    axis.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
