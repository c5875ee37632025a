"""A comparison as tables of plain text, for `print` and for other ways to show them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from kinpair.analysis.comparison import Comparison, Row

TITLES = {
    "inverse_dynamics": "Inverse dynamics",
    "forward_dynamics": "Forward dynamics",
    "mass_matrix": "Mass matrix H",
    "coriolis_matrix": "Coriolis matrix C",
    "bias_forces": "Bias forces",
    "gravity_forces": "Gravity forces",
    "reactions": "Reactions",
    "inverse_dynamics_derivatives": "Derivatives of the inverse dynamics",
    "forward_dynamics_derivatives": "Derivatives of the forward dynamics",
}
NOTHING = "-"
Cell: TypeAlias = "Callable[[Row], str]"


@dataclass(frozen=True, slots=True)
class Part:
    """One quantity: a heading, a table, and lines below it."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[str, ...]


def _scaled(field: str, factor: float, digits: int) -> Cell:
    def cell(row: Row) -> str:
        seconds = getattr(row, field)
        return NOTHING if seconds is None else f"{seconds * factor:.{digits}f}"

    return cell


def _counted(field: str) -> Cell:
    return lambda row: str(getattr(row, field))


def _error(row: Row) -> str:
    size = f"{row.error:.0e}" if row.error else "0"
    return size if row.agrees else f"{size} !"


CELLS: dict[str, Cell] = {
    "method": lambda row: row.method,
    "error": _error,
    "skew": lambda row: NOTHING if row.skewness is None else f"{row.skewness:.0e}",
    "mult": _counted("multiplications"),
    "add": _counted("additions"),
    "other": _counted("others"),
    "one [ns]": _scaled("one", 1e9, 0),
    "batch [ns]": _scaled("batch", 1e9, 1),
    "compile [ms]": _scaled("compile", 1e3, 0),
}


def head(comparison: Comparison) -> str:
    """Of what mechanism, in which states, on which machine."""
    c = comparison
    opened = f"; {c.constraints} of its constraints beyond the joints left open" if c.constraints else ""
    stopped = "" if c.complete else f"; {c.status}"
    return (
        f"{c.mechanism}: {c.nv} degree{'s' * (c.nv > 1)} of freedom, {c.states} random "
        f"state{'s' * (c.states > 1)} (seed {c.seed}), processor {c.machine}{opened}{stopped}"
    )


LEGEND = (
    "error: worst relative error against the default formulation run without the compiler",
    "mult, add, other: operations after folding and sharing; divisions count as multiplications",
    "one: a call of the method for one state; batch: a state in a batch of 1024; compile: for both, no cache",
    "springs, dampers and friction are left out",
)


def parts(comparison: Comparison) -> Iterator[Part]:
    """A part a quantity; a column that is empty for all is left out."""
    for quantity in comparison.quantities:
        rows = comparison.of(quantity)
        complete = [row for row in rows if not row.reason]
        columns = {heading: [cell(row) for row in complete] for heading, cell in CELLS.items()}
        used = {h: cells for h, cells in columns.items() if any(cell != NOTHING for cell in cells)}
        yield Part(
            TITLES.get(quantity, quantity),
            tuple(used),
            tuple(zip(*used.values(), strict=True)),
            (*_verdicts(comparison, quantity), *_refusals(rows)),
        )


NOTES = {
    "coriolis_matrix": "compared is C qd, with the bias forces of no gravity: C itself may differ; "
    "skew: how far dH/dt - 2C is from skew-symmetric",
}


def _verdicts(comparison: Comparison, quantity: str) -> Iterator[str]:
    best = {
        "cheapest": comparison.cheapest.get(quantity),
        "fastest in a batch": comparison.fastest.get(quantity),
    }
    named = ", ".join(f"{what}: {method}" for what, method in best.items() if method)
    if named:
        yield named
    if quantity in NOTES:
        yield NOTES[quantity]
    apart = [row.method for row in comparison.of(quantity) if row.agrees is False]
    if apart:
        yield f"! beyond what rounding explains: {', '.join(apart)}"


def _refusals(rows: Sequence[Row]) -> Iterator[str]:
    """A line a reason, with all that have it."""
    reasons = dict.fromkeys(row.reason for row in rows if row.reason)
    return (_refusal(reason, [row.method for row in rows if row.reason == reason]) for reason in reasons)


def _refusal(reason: str, methods: Sequence[str]) -> str:
    named = len(methods) == 1 and repr(methods[0]) in reason
    return reason if named else f"{', '.join(methods)}: {reason}"


def text(comparison: Comparison) -> str:
    """All of it in lines."""
    blocks = ["\n".join([part.title, *_aligned(part), *part.lines]) for part in parts(comparison)]
    return "\n\n".join(["\n".join([head(comparison), *LEGEND]), *blocks])


def _aligned(part: Part) -> list[str]:
    """The first column to the left, numbers to the right."""
    if not part.rows:
        return []
    cells: Sequence[Sequence[str]] = [part.headings, *part.rows]
    widths = [max(len(row[k]) for row in cells) for k in range(len(part.headings))]
    first, *others = zip(*cells, strict=True)
    columns = [[x.ljust(widths[0]) for x in first]]
    columns += [[x.rjust(w) for x in column] for column, w in zip(others, widths[1:], strict=True)]
    lines = ["  ".join(row) for row in zip(*columns, strict=True)]
    return [lines[0], "  ".join("-" * w for w in widths), *lines[1:]]
