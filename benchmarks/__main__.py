"""`make bench`: kinpair next to its peers in one run, as ratios.

`--quick` takes three robots and fewer turns; names of sections take these alone. What is measured is written after each
section; a section that ends by an error is reported, and the next one begins.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console

from benchmarks.timing import wall_time

OUT = Path("build")
PACKAGES = ("kinpair", "numpy", "scipy", "llvmlite")
PEERS = ("pin", "mujoco", "drake", "exudyn", "casadi", "heyoka", "CyRK", "adam-robotics", "brax", "frax")
TURNS, QUICK_TURNS = 20, 6
Sections = dict[str, tuple[str, Callable[[], Iterable[Any]]]]


def main() -> int:
    """Measure, print, write; 1 where a section failed."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="three robots, fewer turns")
    parser.add_argument("sections", nargs="*", metavar="SECTION", help="measure these alone")
    given = parser.parse_args()
    OUT.mkdir(exist_ok=True)
    with TemporaryDirectory() as cache:
        os.environ.setdefault("KINPAIR_CACHE", cache)
        known = sections(given.quick)
        if unknown := [name for name in given.sections if name not in known]:
            parser.error(f"no section {', '.join(unknown)}; there are {', '.join(known)}")
        return run(Console(), {name: x for name, x in known.items() if name in (given.sections or known)})


def run(console: Console, chosen: Sections) -> int:
    """Measure the sections one after the other; all files are written after each of them."""
    from benchmarks import busy, machine, markdown, picture, report
    from benchmarks.results import Results

    before = busy.look()
    console.print(f"before: {busy.Watch(before, before)}")
    results = Results(
        machine=machine.description(),
        commit=_commit(),
        versions={name: _version(name) for name in (*PACKAGES, *PEERS)},
        instructions=machine.instruction_sets(),
    )
    for name, (kind, rows) in chosen.items():
        results = _with_section(results, console, name, kind, rows)
        results = replace(results, watch=busy.Watch(before, busy.look(own=1)))
        (OUT / "bench.json").write_text(results.as_json(), encoding="utf-8")
        (OUT / "bench.md").write_text(markdown.written(results), encoding="utf-8")
    for table in report.tables(results):
        console.print(table)
    if results.batches and results.singles:
        picture.draw(results, OUT / "bench.png")
    console.print(f"{results.watch}")
    console.print(f"{results.machine}; written to {OUT}/bench.json, {OUT}/bench.md and {OUT}/bench.png")
    return 1 if results.failed else 0


def _with_section(results: Any, console: Console, name: str, kind: str, rows: Callable[[], Iterable[Any]]):
    """The results with those of one section."""
    found: list[Any] = []
    failed = results.failed
    began = _processor_time(), wall_time()
    try:
        for row in rows():
            found.append(row)  # what is there before an error counts
    except Exception as error:
        traceback.print_exc()
        failed = failed | {name: f"{type(error).__name__}: {error}"}
    spent = _processor_time() - began[0], wall_time() - began[1]
    console.print(f"{name}: {len(found)} rows, {spent[0]:.0f} s of CPU, {spent[1]:.0f} s by the clock")
    every = {kind: [*getattr(results, kind), *found], "failed": failed}
    return replace(results, **every, seconds=results.seconds | {name: spent})


def sections(quick: bool) -> Sections:
    """Of each section the kind of its rows, a field of `Results`, and the measurement."""
    from benchmarks import (
        actuators,
        batches,
        casadi_gcc,
        compile_time,
        constrained,
        constrained_lcaba,
        constrained_row,
        constrained_solvers,
        every_method,
        friction,
        humanoids,
        linear,
        load_friction,
        long_mechanisms,
        long_models,
        long_rivals,
        machine,
        methods,
        operations,
        optimise,
        planning,
        simulation,
        single,
        startup,
        sweep,
        threads,
    )
    from benchmarks.robots import chosen

    turns = QUICK_TURNS if quick else TURNS
    robots, instructions = chosen(quick), machine.instruction_sets()
    counted = (methods.QUICK, methods.TIMED_QUICK) if quick else (methods.ROBOTS, methods.TIMED)
    lengths = constrained_row.QUICK if quick else constrained_row.SIZES
    bars = constrained_lcaba.SIZES[: 3 if quick else None]
    return {
        "batches": ("batches", lambda: batches.rows(robots, instructions, turns)),
        "one-state": ("singles", lambda: single.rows(robots, turns)),
        "humanoids": ("humanoids", lambda: humanoids.rows(turns, "G1" if quick else "")),
        "motions": ("motions", lambda: simulation.rows(instructions, turns)),
        "loops": ("loops", lambda: constrained.rows(instructions, turns)),
        "lcaba": ("loops", lambda: constrained_lcaba.rows(instructions, turns, bars)),
        "load-friction": ("loops", lambda: load_friction.rows(turns)),
        "solvers": ("solvers", lambda: constrained_solvers.rows(turns)),
        "row": ("growth", lambda: [constrained_row.growth(lengths, turns)]),
        "every-method": ("every", lambda: every_method.rows(turns)),
        "compiled-c": ("gcc", lambda: casadi_gcc.rows(turns)),
        "formulations": ("methods", lambda: methods.rows(*counted)),
        "operations": ("operations", operations.rows),
        "startup": ("started", startup.rows),
        "first-use": ("used", lambda: compile_time.rows(quick)),
        "thousand-links": ("figures", compile_time.chain_rows),
        "long": ("figures", lambda: long_mechanisms.figures(quick)),
        "long-models": ("figures", lambda: long_models.figures(quick)),
        "long-rivals": ("figures", lambda: long_rivals.figures(quick)),
        "drift": ("figures", simulation.drift_rows),
        "friction": ("figures", lambda: friction.rows(turns)),
        "actuators": ("figures", actuators.rows),
        "linear": ("figures", lambda: linear.rows(turns)),
        "planning": ("figures", lambda: planning.rows(quick=quick)),
        "optimise": ("figures", lambda: optimise.rows(quick=quick)),
        "threads": ("shared", lambda: threads.rows(turns)),
        "sweeps": ("sweeps", sweep.rows),
    }


def _processor_time() -> float:
    every = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(x.ru_utime + x.ru_stime for x in every)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _commit() -> str:
    asked = ["git", "rev-parse", "--short=7", "HEAD"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


if __name__ == "__main__":
    sys.exit(main())
