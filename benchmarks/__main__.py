"""`make bench`: operation counts beside published ones, and times against Pinocchio in the same run."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import operations, timing

SIZES = (5, 6, 10, 20, 40)
OUT = Path("build/bench.json")


def main() -> None:
    console = Console()
    counts = operations.rows(SIZES)
    table = Table(
        title="multiplications / additions of folded recursions, n revolute joints, general DH parameters"
    )
    for heading in ("quantity", "formulation", *(f"n = {n}" for n in SIZES)):
        table.add_column(heading, justify="left" if heading in ("quantity", "formulation") else "right")
    for quantity, who, cells in counts:
        table.add_row(quantity, who, *(f"{m} / {a}" for m, a in cells))
    console.print(table)

    times = list(timing.rows(console))
    table = Table(
        title="time a state, kinpair (NumPy, no compiler) over Pinocchio; batch 4096, best of 5, one run"
    )
    for heading in ("robot", "quantity", "kinpair batch [µs]", "Pinocchio loop in Python [µs]", "ratio"):
        table.add_column(heading, justify="left" if heading in ("robot", "quantity") else "right")
    for row in times:
        table.add_row(
            row.robot, row.quantity, f"{row.ours:.2f}", f"{row.theirs:.2f}", f"{row.theirs / row.ours:.2f}"
        )
    console.print(table)
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps({"operations": counts, "times": [row._asdict() for row in times]}, indent=1))
    console.print(f"written to {OUT}")


if __name__ == "__main__":
    main()
