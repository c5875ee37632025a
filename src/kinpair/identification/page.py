"""An identification as text, and as one page of HTML that is complete in itself."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterator
from html import escape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.errors import listed
from kinpair.identification import pictures
from kinpair.identification.friction_terms import laws_of
from kinpair.identification.inertia_space import body_numbers
from kinpair.notebook import html_table

if TYPE_CHECKING:
    from kinpair.identification.fitted import Fitted, Score

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
    yield _image(pictures.efforts(result, None), "measured and predicted efforts")
    yield "<h2>Residuals</h2>"
    yield _image(pictures.spectra(result), "spectra of residuals")
    yield "<h2>Contribution of each group of columns</h2>"
    yield _image(pictures.contributions(result), "efforts by group of columns")
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
    yield _image(pictures.correlation(result), "correlation of base parameters")
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
