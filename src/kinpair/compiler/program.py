"""A recorded function: named, shaped inputs and outputs, and the nodes between them in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from kinpair.compiler.graph import Expr, Graph
from kinpair.compiler.operations import COLUMNS, OPERATIONS
from kinpair.compiler.structure import SINGLE, Structure

Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Leaf:
    """One array going in or out, its entries in C order."""

    name: str
    shape: Shape
    entries: tuple[Expr, ...]

    @property
    def size(self) -> int:
        """Number of entries."""
        return len(self.entries)


@dataclass(frozen=True, eq=False)
class Program:
    """Inputs and outputs in one graph; `structure` says how the outputs were nested, `note` what a user of exported
    code must know."""

    name: str
    graph: Graph
    inputs: tuple[Leaf, ...]
    outputs: tuple[Leaf, ...]
    structure: Structure = field(default=SINGLE)
    note: str = ""

    @cached_property
    def nodes(self) -> list[Expr]:
        """What the outputs need, arguments before uses, in the order in which it was recorded."""
        return needed(x for leaf in self.outputs for x in leaf.entries)

    @property
    def input_shapes(self) -> dict[str, Shape]:
        """Name → shape."""
        return {leaf.name: leaf.shape for leaf in self.inputs}

    @property
    def output_shapes(self) -> dict[str, Shape]:
        """Name → shape."""
        return {leaf.name: leaf.shape for leaf in self.outputs}

    @cached_property
    def count(self) -> dict[str, int]:
        """Operations by kind, and their total."""
        counts = Counter(OPERATIONS[x.op].counts for x in self.nodes)
        table = {column: counts[column] for column in COLUMNS}
        return table | {"total": sum(table.values())}

    def __str__(self) -> str:
        from kinpair.compiler.show import listing

        return listing(self)


def needed(roots: Iterable[Expr]) -> list[Expr]:
    """All nodes the roots depend on, sorted by their place in the graph."""
    seen: dict[int, Expr] = {}
    stack = list(roots)
    while stack:
        x = stack.pop()
        if x.id not in seen:
            seen[x.id] = x
            stack.extend(x.args)
    return [seen[k] for k in sorted(seen)]
