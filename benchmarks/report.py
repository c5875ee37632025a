"""What was found, as tables on the screen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.markup import escape
from rich.table import Table

from benchmarks import constrained_motion, simulation_adaptive, targets
from benchmarks.batches import Row
from benchmarks.compile_time import Used
from benchmarks.constrained_row import Growth
from benchmarks.constrained_solvers import CLAIMED, EMBEDDING, PROJECTION, Compared
from benchmarks.every_method import Timed
from benchmarks.methods import Counted
from benchmarks.operations import SIZES
from benchmarks.ours import STATES
from benchmarks.planning import Row as Figure
from benchmarks.results import Results, Verdict
from benchmarks.startup import Started
from benchmarks.threads import Shared

SHORT = {"Pinocchio, results dropped": "dropping results"}


def tables(results: Results) -> Iterator[Table]:
    """Every table of the sections that were measured, in the order of the docs."""
    for quantity in dict.fromkeys(row.quantity for row in results.batches):
        yield _ratios(
            f"{quantity}, batch {STATES[quantity]}", [r for r in results.batches if r.quantity == quantity]
        )
    others = [*results.singles, *results.humanoids, *results.motions, *results.loops, *results.gcc]
    whole = (simulation_adaptive.QUANTITY, constrained_motion.QUANTITY)
    for quantity in dict.fromkeys(row.quantity for row in others):
        of_a = ", a step" if quantity in {row.quantity for row in results.motions}.difference(whole) else ""
        yield _ratios(f"{quantity}{of_a}", [r for r in others if r.quantity == quantity])
    yield from plain_tables(results)
    if results.methods:
        yield _methods(results.methods)
        yield _method_ratios([row for row in results.methods if row.compile])
    if results.operations:
        yield _published(results.operations)
    yield missed(list(results.verdicts()))


def plain_tables(results: Results) -> Iterator[Table]:
    """Tables of what is not a race against peers."""
    kinds = (
        (every_method, results.every),
        (_solvers, results.solvers),
        *((_growth, growth) for growth in results.growth),
        (_threads, results.shared),
        (_started, results.started),
        (_first_use, results.used),
        (_figures, results.figures),
    )
    yield from (table(rows) for table, rows in kinds if rows)
    yield _sections(results)


def _table(title: str, left: Sequence[str], right: Iterable[str]) -> Table:
    table = Table(title=title, title_justify="left")
    for heading in left:
        table.add_column(heading)
    for heading in right:
        table.add_column(escape(heading), justify="right")
    return table


def _ratios(title: str, rows: Sequence[Row]) -> Table:
    ours = [f"kinpair {name} [ns]" for name in rows[0].ours]
    fresh = [f"{name}, fresh memory [ns]" for name in rows[0].fresh]
    peers = list(dict.fromkeys(peer for row in rows for peer in row.peers))
    theirs = [heading for peer in peers for heading in (f"{SHORT.get(peer, peer)} [ns]", "times slower")]
    table = _table(title, ("robot",), ("DoF", *ours, *fresh, *theirs))
    for row in rows:
        own = [f"{ns:.0f}" for ns in (*row.ours.values(), *row.fresh.values())]
        table.add_row(row.robot, str(row.nv), *own, *(cell for peer in peers for cell in _cells(row, peer)))
    return table


def _cells(row: Row, peer: str) -> tuple[str, str]:
    """The peer's time; its ratio to each of ours, and the ratio demanded of the first."""
    if peer not in row.peers:
        return "", ""
    ratios = [row.ratio(peer, name) for name in row.ours]
    text = " · ".join(f"{ratio:.1f}" for ratio in ratios)
    if demanded := row.targets.get(peer):
        text = f"{text}  {_mark(ratios[0] >= demanded)} ≥ {demanded:g}"
    return f"{row.peers[peer]:.0f}", text


def every_method(rows: Sequence[Timed]) -> Table:
    """Calls of all methods of a mechanism; `limit` is what the operations take at the rate of the machine."""
    table = _table(
        "every method of a mechanism, as a user calls it: one state, and a state of a batch of 1024",
        ("robot", "method"),
        (
            "one [ns]",
            "Pinocchio [ns]",
            "times slower",
            "batch [ns]",
            "operations",
            "limit [ns]",
            "over the limit",
            "",
        ),
    )
    for row in rows:
        theirs = row.peers.get("Pinocchio")
        verdicts = [f"{_mark(met)} {escape(what)}" for what, _, _, met in row.verdicts()]
        table.add_row(
            row.robot,
            row.method,
            f"{row.one:.0f}",
            "" if theirs is None else f"{theirs:.0f}",
            "" if theirs is None else f"{theirs / row.one:.1f}",
            "" if row.batch is None else f"{row.batch:.1f}",
            "" if row.operations is None else str(row.operations),
            "" if row.limit is None else f"{row.limit:.1f}",
            "" if row.over_limit is None else f"{row.over_limit:.1f}",
            ", ".join(verdicts),
        )
    return table


def _mark(met: bool) -> str:
    return "[green]✓[/]" if met else "[red]✗[/]"


def _solvers(rows: Sequence[Compared]) -> Table:
    whats = ("operations", "solve", "literal", "whole")
    low, high = CLAIMED
    title = f"Udwadia–Kalaba to Rosenberg, who is said to be {low:g} to {high:g} times faster"
    headings = ("solve, operations", "compiled [ns]", "NumPy [ns]", "all of forward dynamics [ns]")
    table = _table(title, ("mechanism", "n, rows"), headings)
    for row in rows:
        cells = [f"{(x := getattr(row, what))[PROJECTION]:.0f} / {x[EMBEDDING]:.0f}" for what in whats]
        ratios = [f"{row.ratio(what):.2f}" for what in whats]
        both = (f"{cell} = {ratio}" for cell, ratio in zip(cells, ratios, strict=True))
        table.add_row(row.name, f"{row.n}, {row.rows}", *both)
    return table


def _growth(x: Growth) -> Table:
    limit = targets.LOOP_EXPONENT
    table = _table(
        "a row of N four-bars that share cranks", ("",), (*(f"N = {n}" for n in x.loops), "exponent")
    )
    for of, unit in (("operations", ""), ("time", " [ns]"), ("first", " use [s]")):
        values = [f"{v:.2f}" if of == "first" else f"{v:.0f}" for v in getattr(x, of)]
        exponent = x.exponent(of)
        judged = "" if of == "first" else f"  {_mark(exponent <= limit)} ≤ {limit:g}"
        table.add_row(escape(f"{of}{unit}"), *values, f"{exponent:.2f}{judged}")
    return table


def _threads(rows: Sequence[Shared]) -> Table:
    table = _table(
        "two threads, batch 65 536",
        ("robot", "quantity"),
        ("one [ns]", "two [ns]", "times faster", "hashing, as control"),
    )
    for row in rows:
        mark = _mark(row.ratio >= targets.THREADS) if row.judged else "cores are busy,"
        text = f"{row.ratio:.2f}  {mark} ≥ {targets.THREADS}"
        table.add_row(row.robot, row.quantity, f"{row.one:.0f}", f"{row.two:.0f}", text, f"{row.control:.2f}")
    return table


def _started(rows: Sequence[Started]) -> Table:
    table = _table("a fresh process from start to end", ("what",), ("seconds",))
    for row in rows:
        demanded = "" if row.limit is None else f"  {_mark(row.seconds <= row.limit)} ≤ {row.limit:g}"
        table.add_row(row.what, f"{row.seconds:.2f}{demanded}")
    return table


def _first_use(rows: Sequence[Used]) -> Table:
    headings = ("first answer [s]", "machine code [s] later", "from disk [ms]", "imports [ms]", "peak [MiB]")
    table = _table(
        "from the mechanism to the first result, fresh process", ("robot", "quantity", "of"), headings
    )
    for row in rows:
        limit, cached, answer = row.case.limit, targets.CACHED_SECONDS, targets.ANSWER_SECONDS
        table.add_row(
            row.case.robot,
            row.case.quantity.replace("_", " "),
            "one state" if row.form == "one" else "a batch",
            f"{row.first:.2f}  {_mark(row.first <= answer)} ≤ {answer:g}",
            f"{row.later:.2f}  {_mark(row.later <= limit)} ≤ {limit:g}",
            f"{row.cached * 1e3:.0f}  {_mark(row.cached <= cached)} ≤ {cached * 1e3:.0f}",
            f"{row.imports * 1e3:.0f}",
            f"{row.peak:.0f}  {_mark(row.peak < targets.PEAK_MIB)} < {targets.PEAK_MIB:.0f}",
        )
    return table


def _figures(rows: Sequence[Figure]) -> Table:
    table = _table("single figures", ("what",), ("found", "demanded"))
    for row in rows:
        demanded = f"{_mark(row.met)} {'≥' if row.above else '≤'} {row.demanded:g}" if row.demanded else ""
        table.add_row(escape(row.what), f"{row.found:.3g} {row.unit}", demanded)
    return table


def _methods(rows: Sequence[Counted]) -> Table:
    robots = list(dict.fromkeys(row.robot for row in rows))
    table = _table(
        "operations after folding and sharing; the default first",
        ("quantity", "method"),
        (*robots, "default"),
    )
    for quantity in dict.fromkeys(row.quantity for row in rows):
        mine = [row for row in rows if row.quantity == quantity]
        for k, method in enumerate(dict.fromkeys(m for row in mine for m in row.operations)):
            counts = [str(row.operations.get(method, "")) for row in mine]
            leanest = mine[0].chosen or _mark(all(row.default_is_leanest for row in mine))
            verdict = leanest if k == 0 else ""
            table.add_row(quantity.replace("_", " ") if k == 0 else "", method, *counts, verdict)
    return table


def _method_ratios(rows: Sequence[Counted]) -> Table:
    robots = list(dict.fromkeys(row.robot for row in rows))
    headings = [f"{robot}: {what}" for robot in robots for what in ("operations", "time", "compiling")]
    table = _table("methods of arms, times the default: batch of 1024", ("quantity", "method"), headings)
    for quantity in dict.fromkeys(row.quantity for row in rows):
        mine = [row for row in rows if row.quantity == quantity]
        for method in list(dict.fromkeys(m for row in mine for m in row.compile))[1:]:
            cells = [cell for row in mine for cell in _method_cells(row, method)]
            table.add_row(quantity.replace("_", " "), method, *cells)
    return table


def _method_cells(row: Counted, method: str) -> tuple[str, str, str]:
    if method not in row.compile:
        return "", "", ""
    operations, time, compiling = row.ratios(method)
    mark = _mark(compiling <= targets.COMPILE_RATIO)
    return f"{operations:.1f}", f"{time:.1f}", f"{compiling:.1f}  {mark} ≤ {targets.COMPILE_RATIO:g}"


def _published(rows: Sequence[tuple[str, str, list[tuple[int, int]]]]) -> Table:
    title = "multiplications / additions of folded recursions, nothing shared; n revolute joints, general DH"
    table = _table(title, ("quantity", "formulation"), (f"n = {n}" for n in SIZES))
    for quantity, who, cells in rows:
        table.add_row(quantity, who, *(f"{m} / {a}" for m, a in cells))
    return table


def missed(verdicts: Sequence[Verdict]) -> Table:
    """Return the demands that are not met, each with its reason."""
    met = sum(v.met is True for v in verdicts)
    title = f"{met} of {len(verdicts)} demands met; the others"
    table = _table(title, ("what", "why, and what was tried"), ("found", "demanded"))
    for v in verdicts:
        if not v.met:
            why = "not judged: cores were busy" if v.met is None else targets.reason(v.what)
            table.add_row(escape(v.what), escape(why), f"{v.found:.3g}", f"{v.demanded:g}")
    return table


def _sections(results: Results) -> Table:
    table = _table("sections of this run", ("section",), ("CPU [s]", "clock [s]", ""))
    for name, (processor, clock) in results.seconds.items():
        table.add_row(name, f"{processor:.0f}", f"{clock:.0f}", escape(results.failed.get(name, "")))
    return table
