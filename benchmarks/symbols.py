"""Work with symbols: `python -m benchmarks.symbols` times recording of operations and expansion of equations."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.timing import processor_time

OPERATIONS = 100_000
ARM = "kr5"
TURNS = 3


def record(operations: int) -> int:
    """Record y ← x y + c again and again; the number of nodes of the graph."""
    from kinpair.compiler.graph import Graph

    graph = Graph()
    x = y = graph.symbol("x")
    for k in range(operations // 2):
        y = y * x + (1.5 + k)
    return len(graph.nodes)


def expand(name: str) -> Any:
    """Closed equations of motion with letters for masses and lengths."""
    import kinpair as kp

    return kp.equations(kp.example(name), form="closed")


def seconds(call: Callable[[], object]) -> float:
    """Of the fastest of a few calls."""
    results: list[float] = []
    for _ in range(TURNS):
        start = processor_time()
        call()
        results.append(processor_time() - start)
    return min(results)


def main() -> None:
    """Measure and print."""
    print(f"{seconds(partial(record, OPERATIONS)):.2f} s: {OPERATIONS} operations recorded")
    print(f"{seconds(partial(expand, ARM)):.2f} s: closed equations of motion of {ARM}")


if __name__ == "__main__":
    main()
