"""Identified parameters as files, pictures and a page."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from kinpair.errors import listed
from kinpair.identification import fitted
from kinpair.identification.columns import body_numbers, laws_of
from kinpair.identification.fitted import Fitted
from kinpair.identification.signals import design
from kinpair.viewer.curves import blank_figure, write_figure
from kinpair.viewer.looks import distinct, plain
from kinpair.viewer.still import html_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinpair.description.parts import Description
    from kinpair.identification.fitted import Prediction, Score

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


STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1160px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; }
td, th { padding: .12rem .7rem; text-align: right; border-bottom: 1px solid #8884; font-weight: normal; }
th { border-bottom: 2px solid #8888; } td:first-child, th:first-child { text-align: left; white-space: normal; }
td { white-space: nowrap; } td:last-child { white-space: normal; }
img { max-width: 100%; height: auto; } .warning { color: #a03010; font-weight: 600; }
"""
DPI = 90


def summary(result: Fitted) -> str:
    """Text of a few lines: error, friction, rank, consistency, warnings."""
    lines = [
        f"{result.mechanism.name}: identified from {listed([x.name for x in result.logs], 4)}",
        f"  relative error  fit {result.fit.total:.2%}"
        + (f", validation {result.validated.total:.2%}" if result.validated else ""),
        f"  base parameters {result.base.rank} of {len(result.layout.parameters)}; "
        f"{'all bodies consistent' if result.is_consistent else 'not consistent'} "
        f"(γ = {result.gamma:g}, {result.steps} Newton steps)",
        f"  friction        {', '.join(x.name for x in result.layout.terms) or 'none'}",
        f"  stage           {result.stage}",
    ]
    if result.payload is not None:
        p = result.payload
        centre = ", ".join(f"{x:.4f}" for x in p["centre"])
        lines.append(f"  payload         {p['mass']:.4g} kg at ({centre}) m in {result.payload_frame}")
    return "\n".join(lines + [f"  warning: {x}" for x in result.warnings])


def write(result: Fitted, path: str | os.PathLike[str]) -> Path:
    """Write the page."""
    title = f"Identification of {result.mechanism.name}"
    body = [f"<h1>{escape(title)}</h1>", *_sections(result)]
    file = Path(path)
    file.write_text(
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n" + "\n".join(body) + "\n</body>\n</html>\n",
        encoding="utf-8",
    )
    return file


def _sections(result: Fitted) -> Iterator[str]:
    yield f"<pre>{escape(summary(result))}</pre>"
    yield from (f'<p class="warning">{escape(x)}</p>' for x in result.warnings)
    yield "<h2>Fit by joint</h2>"
    yield html_table(*_fit_table(result))
    yield _image(efforts(result, None), "measured and predicted efforts")
    yield "<h2>Residuals</h2>"
    yield _image(spectra(result), "spectra of residuals")
    yield "<h2>Contribution of each group of columns</h2>"
    yield _image(contributions(result), "efforts by group of columns")
    yield "<h2>Base parameters with 95 % intervals</h2>"
    yield f"<p>Standard deviations: {escape(result.covariance.method)}.</p>"
    yield html_table(*_base_table(result))
    yield "<h2>Bodies</h2><p>Consistent values; single values that are not identifiable come from the prior.</p>"
    yield html_table(*_body_table(result))
    yield "<h2>Friction</h2>"
    yield html_table(*_friction_table(result))
    yield "<h2>Not identifiable</h2>"
    yield f"<p>Without effect on the efforts: {escape(', '.join(result.not_identifiable) or 'none')}.</p>"
    yield f"<p>Identifiable only in sums: {escape(', '.join(result.base.combined) or 'none')}.</p>"
    yield f"<p>Essential base parameters: {len(result.essential)} of {result.base.rank}.</p>"
    yield "<h2>Correlation</h2>"
    yield _image(correlation(result), "correlation of base parameters")
    yield "<h2>How it was done</h2><ul>"
    yield from (f"<li>{escape(x)}</li>" for x in result.notes)
    yield "</ul>"
    if result.choice.tried:
        tried = sorted(result.choice.tried.items(), key=lambda x: x[1])
        yield "<p>Error of cross-validation by friction terms:</p>"
        yield html_table(["terms", "error"], [[name, f"{e:.2%}"] for name, e in tried])


def _fit_table(result: Fitted) -> tuple[list[str], list[list[str]]]:
    heads, columns = ["joint"], [[*result.joints, "all"]]
    kinds: list[tuple[str, Score]] = [("fit", result.fit)]
    if result.validated:
        kinds.append(("validation", result.validated))
    for name, score in kinds:
        heads += [f"{name}: RMS [N m]", f"{name}: relative"]
        columns += [
            [*(f"{x:.4g}" for x in score.rms), ""],
            [*(f"{x:.2%}" for x in score.relative), f"{score.total:.2%}"],
        ]
    return heads, [list(x) for x in zip(*columns, strict=True)]


def _base_table(result: Fitted) -> tuple[list[str], list[list[str]]]:
    heads = ["base parameter", "estimate", "95 % interval", "consistent", "file", "unit"]
    return heads, [
        [
            x.label,
            f"{x.estimate:.4g}",
            f"{x.low:.4g} … {x.high:.4g}",
            f"{x.consistent:.4g}",
            f"{x.file:.4g}",
            x.unit,
        ]
        for x in result.intervals
    ]


def _body_table(result: Fitted) -> tuple[list[str], list[list[str]]]:
    heads = ["body", "mass [kg]", "file", "centre [m]", "file", "principal moments [kg m²]", "file"]
    names = [*result.layout.bodies, *["payload"] * (result.layout.payload is not None)]
    rows: list[list[str]] = []
    for name, at in zip(names, result.layout.bodies_of_ten, strict=True):
        cells = [name]
        both = [body_numbers(x[at]) if x[at[0]] > 0 else None for x in (result.theta, result.file)]
        for key in ("mass", "centre", "inertia"):
            cells += [_cell(key, x) for x in both]
        rows.append(cells)
    return heads, rows


def _cell(key: str, numbers: dict[str, Any] | None) -> str:
    if numbers is None:
        return "none"
    value = numbers[key]
    if key == "inertia":
        value = np.linalg.eigvalsh(value)
    return f"{value:.4g}" if key == "mass" else ", ".join(f"{x:.3g}" for x in value)


def _friction_table(result: Fitted) -> tuple[list[str], list[list[str]]]:
    terms = result.layout.terms
    heads = [
        "joint",
        *(x.name for x in terms),
        *["rotor inertia"] * result.layout.rotors,
        "law of the description",
    ]
    by_name, rows = result.parameters, list[list[str]]()
    for k in result.layout.driven:
        name = result.joints[k]
        values = {x: by_name[f"{name}: {x.name}"] for x in terms}
        laws = laws_of(values, offset_is_friction=not result.layout.offsets_measured)
        written = "; ".join(
            f"{x.law} " + ", ".join(f"{key} {v[0]:.4g}" for key, v in x.fixed.items() if v[0]) for x in laws
        )
        rotor = [f"{by_name.get(f'{name}: rotor inertia', 0.0):.4g}"] * result.layout.rotors
        rows.append([name, *(f"{v:.4g}" for v in values.values()), *rotor, written])
    return heads, rows


def _image(figure: Any, text: str) -> str:
    data = BytesIO()
    figure.savefig(data, format="png", dpi=DPI)
    return (
        f'<p><img alt="{escape(text)}" src="data:image/png;base64,{b64encode(data.getvalue()).decode()}"></p>'
    )


@final
@dataclass(frozen=True, eq=False, repr=False)
class Identification(Fitted):
    """Identified parameters of a mechanism, with files and pictures of them."""

    @property
    def description(self) -> Description:
        """The description with identified masses, inertias, rotors and friction."""
        return fitted.described(self.layout, self.theta)

    def toml(self, path: str | os.PathLike[str]) -> Path:
        """Write the new description as TOML."""
        return fitted.write_toml_file(self, path)

    def urdf(self, path: str | os.PathLike[str]) -> Path:
        """Write the URDF file of the mechanism with <inertial> and <dynamics> replaced and all else unchanged."""
        return fitted.write_urdf_file(self, path)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw measured and predicted efforts of each joint and what remains; write the figure to a file."""
        return efforts(self, path)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write one page of HTML: fit, residual spectra, parameters with intervals, correlation, contributions."""
        return write(self, path)

    def __str__(self) -> str:
        return summary(self)

    def __repr__(self) -> str:
        return f"<Identification of {self.mechanism.name!r}: {self.base.rank} base parameters, {self.stage}>"
