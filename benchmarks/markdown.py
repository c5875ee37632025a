"""The results of a run as a part of a page: what it ran on, the demands that are not met, a table a quantity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.table import Table
from rich.text import Text

from benchmarks import report
from benchmarks.batches import Row
from benchmarks.methods import Counted
from benchmarks.results import Results

PEERS = ("Pinocchio", "MuJoCo", "CasADi")


def written(results: Results) -> str:
    """The whole part: races as nanoseconds a state and times slower of each peer, then all other tables."""
    rows = [
        *results.batches,
        *results.singles,
        *results.loops,
        *results.humanoids,
        *results.motions,
        *results.gcc,
    ]
    races = [
        race(quantity, [row for row in rows if row.quantity == quantity])
        for quantity in dict.fromkeys(row.quantity for row in rows)
    ]
    tables = [of_table(table) for table in report.plain_tables(results)]
    timed = [row for row in results.methods if row.compile]
    head = [*_head(results), of_table(report.missed(list(results.verdicts())))]
    return "\n".join([*head, *races, *tables, *([formulations(timed)] if timed else [])])


def _head(results: Results) -> Iterator[str]:
    there = ", ".join(f"{name} {number}" for name, number in results.versions.items() if number)
    absent = ", ".join(name for name, number in results.versions.items() if not number)
    yield f"Figures of `python -m benchmarks` at commit `{results.commit}` on {results.machine}, one thread."
    yield f"Versions: {there}. Not installed: {absent or 'none'}."
    if results.watch is not None:
        yield f"Of the machine: {results.watch}."
    yield from (f"Section `{name}` failed: {error}." for name, error in results.failed.items())
    yield ""


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


def race(quantity: str, rows: Sequence[Row]) -> str:
    """One column for all instruction sets of ours, one for each peer; tables with CasADi have the same first ones."""
    found = dict.fromkeys(peer for row in rows for peer in row.peers)
    peers = list(dict.fromkeys((*(PEERS if "CasADi" in found else ()), *found)))
    ours = f"{' · '.join(rows[0].ours)} [ns]".strip()
    headings = ("robot", "DoF", ours, *peers)
    lines = [f"### {quantity}", "", _line(headings), _line("---" for _ in headings)]
    for row in rows:
        own = " · ".join(f"{ns:.0f}" for ns in row.ours.values())
        lines.append(_line((row.robot, str(row.nv), own, *(_ratio(row, peer) for peer in peers))))
    return "\n".join([*lines, ""])


def of_table(table: Table) -> str:
    """A table of the screen as Markdown, without colours."""
    lines = [f"### {table.title}", "", _line(_plain(x.header) for x in table.columns)]
    lines.append(_line("---" for _ in table.columns))
    cells = [[_plain(cell) for cell in column.cells] for column in table.columns]
    return "\n".join([*lines, *(_line(row) for row in zip(*cells, strict=True)), ""])


def _plain(cell: object) -> str:
    return Text.from_markup(str(cell)).plain


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '¦') for cell in cells)} |"


def _ratio(row: Row, peer: str) -> str:
    if peer not in row.peers:
        return ""
    ratios = [row.ratio(peer, name) for name in row.ours]
    text = " · ".join(f"{ratio:.1f}" for ratio in ratios)
    demanded = row.targets.get(peer)
    if demanded is None:
        return text
    return f"{text} (≥ {demanded:g}{'' if ratios[0] >= demanded else ', not met'})"
