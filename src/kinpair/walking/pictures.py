"""Pictures of cycles: phase portraits, and branches over a parameter."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinpair.viewer.curves import blank_figure, write_figure
from kinpair.viewer.looks import COLOURS, plain


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
