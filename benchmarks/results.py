"""All that one run has found, and what was demanded of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any

from benchmarks import targets
from benchmarks.batches import Row
from benchmarks.busy import Watch
from benchmarks.compile_time import Used
from benchmarks.constrained_row import Growth
from benchmarks.constrained_solvers import Compared
from benchmarks.every_method import Timed
from benchmarks.methods import Counted
from benchmarks.planning import Row as Figure
from benchmarks.startup import Started
from benchmarks.sweep import LIMIT, Swept
from benchmarks.threads import Shared


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found against what was demanded."""

    what: str
    found: float
    demanded: float
    met: bool | None
    """None where the machine was too busy to tell."""


@dataclass(frozen=True, slots=True)
class Results:
    """One run: what it ran on, and the rows of each kind; none of sections that were not asked for or failed."""

    machine: str
    commit: str
    versions: dict[str, str]
    """Of packages by name; empty of those that are not installed."""
    instructions: tuple[str, ...]
    batches: list[Row] = field(default_factory=list)
    singles: list[Row] = field(default_factory=list)
    humanoids: list[Row] = field(default_factory=list)
    motions: list[Row] = field(default_factory=list)
    loops: list[Row] = field(default_factory=list)
    solvers: list[Compared] = field(default_factory=list)
    growth: list[Growth] = field(default_factory=list)
    shared: list[Shared] = field(default_factory=list)
    used: list[Used] = field(default_factory=list)
    methods: list[Counted] = field(default_factory=list)
    operations: list[Any] = field(default_factory=list)
    sweeps: list[Swept] = field(default_factory=list)
    started: list[Started] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    every: list[Timed] = field(default_factory=list)
    gcc: list[Row] = field(default_factory=list)
    seconds: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Of each section: processor time, and by the clock on the wall."""
    failed: dict[str, str] = field(default_factory=dict)
    """The error of each section that ended by one."""
    watch: Watch | None = None
    """Was the machine free?"""

    def verdicts(self) -> Iterator[Verdict]:
        """Every demand, in the order of the tables."""
        for timed in self.every:
            for what, found, demanded, met in timed.verdicts():
                yield Verdict(f"{timed.method}, {timed.robot}: {what}", found, demanded, met)
        for row in (*self.batches, *self.singles, *self.humanoids, *self.motions, *self.loops, *self.gcc):
            for peer, demanded in row.targets.items():
                result = row.ratio(peer, next(iter(row.ours)))
                what = f"{row.quantity}, {row.robot}, times {peer}"
                yield Verdict(what, result, demanded, result >= demanded)
        for of, growth in product(("operations", "time"), self.growth):
            result, limit = growth.exponent(of), targets.LOOP_EXPONENT
            yield Verdict(f"{of} of N loops, exponent", result, limit, result <= limit)
        for s in self.shared:
            what = f"two threads, {s.quantity}, {s.robot}, times one"
            met = s.ratio >= targets.THREADS if s.judged else None
            yield Verdict(what, s.ratio, targets.THREADS, met)
        for u in self.used:
            what = f"{u.case.robot}, {u.case.quantity}, {u.form}"
            answer = targets.ANSWER_SECONDS
            yield Verdict(f"first answer [s], {what}", u.first, answer, u.first <= answer)
            yield Verdict(
                f"machine code in use [s] later, {what}", u.later, u.case.limit, u.later <= u.case.limit
            )
            limit = targets.CACHED_SECONDS
            yield Verdict(f"from disk [s], {what}", u.cached, limit, u.cached <= limit)
            yield Verdict(f"memory [MiB], {what}", u.peak, targets.PEAK_MIB, u.peak < targets.PEAK_MIB)
        for row in (r for r in self.methods if r.compile):
            for method in list(row.compile)[1:]:
                result, limit = row.ratios(method)[2], targets.COMPILE_RATIO
                what = f"compiling, {row.quantity}, {row.robot}, {method}, times the default"
                yield Verdict(what, result, limit, result <= limit)
        for s in self.sweeps:
            what = f"sweep of 10 000 cases, {s.method}, beyond the simulation [s a case]"
            yield Verdict(what, s.overhead, LIMIT, s.met)
        for s in self.started:
            if s.limit is not None:
                yield Verdict(f"{s.what} [s]", s.seconds, s.limit, s.seconds <= s.limit)
        for x in self.figures:
            if x.demanded is not None:
                yield Verdict(f"{x.what} [{x.unit}]" if x.unit else x.what, x.found, x.demanded, x.met)

    def as_json(self) -> str:
        """All of it as JSON; numbers of NumPy as plain ones."""
        verdicts = [asdict(verdict) for verdict in self.verdicts()]
        plain = asdict(self) | {"verdicts": verdicts}
        return json.dumps(plain, indent=1, ensure_ascii=False, default=lambda x: x.item())
