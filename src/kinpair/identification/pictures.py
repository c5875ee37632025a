"""Pictures of an identification: efforts and what remains, spectra, contributions of columns, correlation."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.identification.rows import design
from kinpair.viewer.curves import blank_figure, write_figure
from kinpair.viewer.labels import plain
from kinpair.viewer.looks import distinct

if TYPE_CHECKING:
    from kinpair.identification.fitted import Fitted, Prediction

MEASURED, PREDICTED, REST = "#777777", "#1f6fb4", "#c2452d"
WIDTH = 10.4  # inches


def _figure(height: float, title: str, width: float = WIDTH) -> Any:
    """A figure with fixed margins: quicker than a layout that is solved for."""
    figure = blank_figure(width, height, tight=True)
    figure.suptitle(plain(title), fontsize=11, x=0.08, ha="left", y=1.0 - 0.12 / height)
    figure.subplots_adjust(left=0.08, right=0.985, top=1.0 - 0.5 / height, bottom=0.5 / height, hspace=0.38)
    return figure


def shown(result: Fitted) -> tuple[list[Prediction], str]:
    """Predictions of what was kept for validation, or else of the fit, and which it is."""
    found = result.validation_predictions
    if found:
        return found, "validation"
    return [result.predicted(x) for x in result.runs], "fit"


def efforts(result: Fitted, path: str | os.PathLike[str] | None) -> Any:
    """Draw measured and predicted efforts and their difference, a row of axes per joint."""
    predictions, kind = shown(result)
    total = (result.validated or result.fit).total
    names = result.joints
    title = f"{result.mechanism.name}: efforts of the {kind}, relative error {total:.2%}"
    figure = _figure(0.9 + 1.35 * len(names), title)
    axes = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    start = 0.0
    for p in predictions:
        time = p.time - p.time[0] + start
        start = float(time[-1]) + 0.5
        for j, axis in enumerate(axes):
            kept = p.kept[:, j]
            pairs = (
                (p.measured[:, j], MEASURED, 2.2, "measured"),
                (p.predicted[:, j], PREDICTED, 0.9, "predicted"),
                ((p.measured - p.predicted)[:, j], REST, 0.7, "difference"),
            )
            for y, colour, wide, label in pairs:
                axis.plot(time, np.where(kept, y, np.nan), color=colour, linewidth=wide, label=label)
    for name, axis in zip(names, axes, strict=True):
        axis.set_title(name, fontsize=9, loc="left", pad=3)
        axis.set_ylabel("N m", fontsize=8)
        axis.grid(alpha=0.25, linewidth=0.6)
        axis.spines[["top", "right"]].set_visible(False)
        axis.margins(x=0.01)
    axes[-1].set_xlabel("time [s], runs one after the other" if len(predictions) > 1 else "time [s]")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles[:3], labels[:3], loc="upper right", ncols=3, frameon=False, fontsize=9)
    if path is not None:
        write_figure(figure, path)
    return figure


def spectra(result: Fitted) -> Any:
    """Draw amplitude spectra of the residuals of all joints."""
    predictions, _ = shown(result)
    p = max(predictions, key=lambda x: len(x.time))
    rate = 1.0 / float(np.median(np.diff(p.time)))
    window = np.hanning(len(p.time))
    figure = _figure(3.2, "Residuals by frequency")
    axis = figure.subplots()
    f = np.fft.rfftfreq(len(p.time), 1.0 / rate)
    looks = distinct(result.joints)
    for j, name in enumerate(result.joints):
        r = np.where(p.kept[:, j], (p.measured - p.predicted)[:, j], 0.0)
        axis.semilogy(
            f[1:], 2.0 * np.abs(np.fft.rfft(r * window))[1:] / window.sum() + 1e-12, label=name, **looks[name]
        )
    axis.set_xlabel("frequency [Hz]")
    axis.set_ylabel("N m")
    axis.grid(alpha=0.25, linewidth=0.6)
    axis.legend(fontsize=8, ncols=2, frameon=False)
    return figure


def contribution_table(result: Fitted) -> tuple[list[str], np.ndarray]:
    """RMS effort of each group of columns by joint (groups, joints), and names of the groups."""
    layout = result.layout
    groups: dict[str, list[int]] = {}
    for k, x in enumerate(layout.parameters):
        name = "inertia and gravity" if x.group == "inertial" else x.group
        if x.group == "friction" and x.term is not None:
            name = x.term.name
        groups.setdefault({"motor": "coupled motors", "rotor": "rotor inertia"}.get(name, name), []).append(k)
    values = np.zeros((len(groups), len(layout.rows)))
    count = np.zeros(len(layout.rows))
    for run in result.runs:
        D = design(layout, run, result.theta)
        count += run.keep.sum(0)
        for g, columns in enumerate(groups.values()):
            effort = D[:, :, columns] @ result.theta[columns]
            values[g] += (np.where(run.keep, effort, 0.0) ** 2).sum(0)
    return list(groups), np.sqrt(values / np.maximum(count, 1))


def contributions(result: Fitted) -> Any:
    """Draw the share of each group of columns in the efforts of each joint, as bars."""
    names, values = contribution_table(result)
    figure = _figure(3.6, "Efforts by group of columns (RMS)")
    axis = figure.subplots()
    looks, x = distinct(names), np.arange(len(result.joints))
    width = 0.8 / len(names)
    for g, name in enumerate(names):
        axis.bar(
            x + (g - (len(names) - 1) / 2) * width, values[g], width, color=looks[name]["color"], label=name
        )
    axis.set_xticks(x, result.joints, fontsize=8, rotation=20 if len(result.joints) > 4 else 0)
    axis.set_yscale("log")
    axis.set_ylabel("N m")
    axis.legend(fontsize=8, ncols=4, frameon=False, loc="upper right")
    axis.spines[["top", "right"]].set_visible(False)
    return figure


def correlation(result: Fitted) -> Any:
    """Draw the correlation matrix of the base parameters."""
    C = result.covariance.correlation
    figure = _figure(5.4, "Correlation of base parameters", 6.8)
    axis = figure.subplots()
    image = axis.imshow(C, vmin=-1, vmax=1, cmap="RdBu_r")
    figure.colorbar(image, ax=axis, shrink=0.8)
    groups = [result.layout.parameters[k].group for k in result.base.independent]
    edges = [k for k in range(1, len(groups)) if groups[k] != groups[k - 1]]
    for k in edges:
        axis.axhline(k - 0.5, color="#000000", linewidth=0.5)
        axis.axvline(k - 0.5, color="#000000", linewidth=0.5)
    starts = [0, *edges]
    axis.set_yticks(starts, [groups[k] for k in starts], fontsize=8)
    axis.set_xlabel("number of the base parameter")
    return figure
