"""The ratios as a table for the docs."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.batches import Row
from benchmarks.results import Results

PEERS = ("Pinocchio", "MuJoCo", "CasADi")


def written(results: Results) -> str:
    """A table a quantity: nanoseconds a state, and how many times slower the peers are."""
    rows = [*results.batches, *results.singles, *results.loops]
    return "\n".join(
        _table(quantity, [row for row in rows if row.quantity == quantity])
        for quantity in dict.fromkeys(row.quantity for row in rows)
    )


def _table(quantity: str, rows: Sequence[Row]) -> str:
    headings = ("robot", "DoF", *(f"{name} [ns]" for name in rows[0].ours), *PEERS)
    lines = [f"### {quantity}", "", _line(headings), _line("---" for _ in headings)]
    for row in rows:
        ours = [f"{ns:.0f}" for ns in row.ours.values()]
        lines.append(_line((row.robot, str(row.nv), *ours, *(_ratio(row, peer) for peer in PEERS))))
    return "\n".join([*lines, ""])


def _line(cells) -> str:
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
