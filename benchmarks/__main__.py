"""`make bench`: kinpair beside its peers in one run, as ratios; `--quick` for a look."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

from rich.console import Console

OUT = Path("build")
PACKAGES = ("kinpair", "pin", "mujoco", "casadi", "numpy", "llvmlite")
TURNS, QUICK_TURNS = 20, 6
T = TypeVar("T")


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="three robots, a few minutes")
    quick = parser.parse_args().quick
    OUT.mkdir(exist_ok=True)
    os.environ.setdefault("KINPAIR_CACHE", str(OUT.absolute() / "bench-cache"))
    from benchmarks import busy, markdown, picture, report

    console = Console()
    before = busy.look()
    console.print(f"before: {busy.Watch(before, before)}")
    results = replace(measure(console, quick), watch=(watch := busy.Watch(before, busy.look(own=1))))
    (OUT / "bench.json").write_text(results.as_json())
    console.print(f"{watch}")
    for table in report.tables(results):
        console.print(table)
    (OUT / "bench.md").write_text(markdown.written(results))
    picture.draw(results, OUT / "bench.png")
    console.print(f"{watch}")
    console.print(f"{results.machine}; written to {OUT}/bench.json, {OUT}/bench.md and {OUT}/bench.png")


def measure(console: Console, quick: bool):
    """Every measurement, one after the other."""
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
    from benchmarks.results import Results
    from benchmarks.robots import chosen

    turns = QUICK_TURNS if quick else TURNS
    robots, instructions = chosen(quick), machine.instruction_sets()
    with console.status("measuring") as status:

        def followed(what: str, rows: Iterable[T], name: Callable[[T], str]) -> list[T]:
            result: list[T] = []
            for row in rows:
                result.append(row)
                status.update(f"{what}: {name(row)} done")
            return result

        return Results(
            machine=machine.description(),
            versions={name: version(name) for name in PACKAGES},
            instructions=instructions,
            batches=followed(
                "batch", batches.rows(robots, instructions, turns), lambda r: f"{r.robot}, {r.quantity}"
            ),
            singles=followed("one state", single.rows(robots, turns), lambda r: r.robot),
            humanoids=followed(
                "humanoids",
                humanoids.rows(turns, "G1" if quick else ""),
                lambda r: f"{r.robot}, {r.quantity}",
            ),
            motions=followed(
                "motion", simulation.rows(instructions, turns), lambda r: f"{r.robot}, {r.quantity}"
            ),
            drift=simulation.drift(),
            loops=followed(
                "loops", constrained.rows(instructions, turns), lambda r: f"{r.robot}, {r.quantity}"
            )
            + followed(
                "loops",
                constrained_lcaba.rows(instructions, turns, constrained_lcaba.SIZES[: 3 if quick else None]),
                lambda r: f"{r.robot}, {r.quantity}",
            )
            + followed("friction", load_friction.rows(turns), lambda r: r.quantity),
            solvers=followed("solvers", constrained_solvers.rows(turns), lambda r: r.name),
            growth=constrained_row.growth(constrained_row.QUICK if quick else constrained_row.SIZES, turns),
            shared=followed("threads", threads.rows(turns), lambda r: f"{r.robot}, {r.quantity}"),
            used=followed(
                "first use", compile_time.rows(quick), lambda r: f"{r.case.robot}, {r.case.quantity}"
            ),
            chain=compile_time.chain(),
            methods=followed(
                "methods",
                methods.rows(methods.QUICK, methods.TIMED_QUICK)
                if quick
                else methods.rows(methods.ROBOTS, methods.TIMED),
                lambda r: f"{r.robot}, {r.quantity}",
            ),
            operations=operations.rows(),
            sweeps=followed("sweep", sweep.rows(), lambda r: r.method),
            started=followed("start", startup.rows(), lambda r: r.what),
            figures=followed("friction", friction.rows(turns), lambda r: r.what)
            + followed("actuators", actuators.rows(), lambda r: r.what)
            + followed("linear models", linear.model_rows(turns), lambda r: r.what)
            + followed("planning", planning.rows(quick=quick), lambda r: r.what)
            + followed("optimal motion", optimise.rows(quick=quick), lambda r: r.what),
            every=followed("methods", every_method.rows(turns), lambda r: f"{r.robot}, {r.method}"),
            gcc=followed("compiled C", casadi_gcc.rows(turns), lambda r: r.quantity),
        )


if __name__ == "__main__":
    main()
