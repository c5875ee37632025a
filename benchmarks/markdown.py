"""The ratios as tables for the docs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.batches import Row
from benchmarks.methods import Counted
from benchmarks.results import Results

PEERS = ("Pinocchio", "MuJoCo", "CasADi")


def written(results: Results) -> str:
    """A table a quantity: nanoseconds a state, and how many times slower the peers are."""
    rows = [*results.batches, *results.singles, *results.loops]
    tables = [
        _table(quantity, [row for row in rows if row.quantity == quantity])
        for quantity in dict.fromkeys(row.quantity for row in rows)
    ]
    watch = [f"{results.watch}.", ""] if results.watch is not None else []
    return "\n".join([*watch, *tables, formulations([row for row in results.methods if row.compile])])


def formulations(rows: Sequence[Counted]) -> str:
    """A column a formulation: of the default its operations, time and compile time, of the others those over these."""
    methods = list(dict.fromkeys(method for row in rows for method in row.compile))
    headings = ("quantity", "robot", *(f"`{method}`" for method in methods))
    lines = ["### formulations", "", _line(headings), _line("---" for _ in headings)]
    for row in rows:
        cells = [_beside_default(row, method) for method in methods]
        lines.append(_line((row.quantity.replace("_", " "), row.robot, *cells)))
    return "\n".join([*lines, ""])


def _beside_default(row: Counted, method: str) -> str:
    if method not in row.compile:
        return ""
    if method == next(iter(row.compile)):
        ns, ms = 1e9 * row.batch[method], 1e3 * row.compile[method]
        return f"{row.operations[method]} · {ns:.0f} ns · {ms:.0f} ms"
    return " · ".join(f"{ratio:.1f}" for ratio in row.ratios(method))


def _table(quantity: str, rows: Sequence[Row]) -> str:
    headings = ("robot", "DoF", *(f"{name} [ns]" for name in rows[0].ours), *PEERS)
    lines = [f"### {quantity}", "", _line(headings), _line("---" for _ in headings)]
    for row in rows:
        ours = [f"{ns:.0f}" for ns in row.ours.values()]
        lines.append(_line((row.robot, str(row.nv), *ours, *(_ratio(row, peer) for peer in PEERS))))
    return "\n".join([*lines, ""])


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _ratio(row: Row, peer: str) -> str:
    if peer not in row.peers:
        return ""
    ratios = [row.ratio(peer, name) for name in row.ours]
    text = " · ".join(f"{ratio:.1f}" for ratio in ratios)
    demanded = row.targets.get(peer)
    if demanded is None:
        return text
    return f"{text} (≥ {demanded:g}{'' if ratios[0] >= demanded else ', not met'})"
