"""Loops over items that pass values along a tree, instead of one formula for all of them.

A straight program grows with every item. Where a recursion takes the same step for each item, the step is
recorded once for each kind of item (`tape.py`), and the machine code is a loop: the code does not grow, the work does.

A step is a small program. What it reads and writes are *places*: for each turn of its loop one entry of an array,
found by an index. Items have a record each in the work array, one behind the other, so that a loop streams through
memory; the record in front of all others is that of the ground.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kinpair.compiler.operations import COLUMNS
from kinpair.compiler.program import Program, Shape
from kinpair.compiler.structure import Structure, rebuild

WORK = "work"  # the array of records, behind the totals


class Place(NamedTuple):
    """Entry `offset + stride · indices[by][item]` of an array; entry `offset` where `by` is empty."""

    array: str
    by: str
    stride: int
    offset: int


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A program of one input and one output, and the place of each of their entries."""

    program: Program
    loads: tuple[Place, ...]
    stores: tuple[Place, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """Turns over all items, from the first (`direction` 1) or from the last (−1); or a single turn (0).

    `steps`: one for each kind of item.
    """

    direction: int
    steps: tuple[Step, ...]


@dataclass(frozen=True, eq=False)
class Rolled:
    """Loops one after the other over items of several kinds.

    `indices`: numbers by item, `numbers`: arrays of constants, `work`: entries of the work array.
    """

    name: str
    input_shapes: dict[str, Shape]
    output_shapes: dict[str, Shape]
    structure: Structure
    kinds: np.ndarray
    indices: dict[str, np.ndarray]
    numbers: dict[str, np.ndarray]
    work: int
    loops: tuple[Loop, ...]
    note: str = ""
    cleared: tuple[str, ...] = ()  # outputs whose entries are zero where no loop writes them

    @cached_property
    def count(self) -> dict[str, int]:
        """Operations by kind, of all turns."""
        total: dict[str, int] = dict.fromkeys((*COLUMNS, "total"), 0)
        items = Counter(self.kinds.tolist())
        for loop in self.loops:
            for kind, step in enumerate(loop.steps):
                for column, n in step.program.count.items():
                    total[column] += n * (items[kind] if loop.direction else 1)
        return total

    def turns(self, loop: Loop) -> range:
        """Items in the order in which a loop visits them."""
        n = len(self.kinds)
        return range(1) if not loop.direction else range(n) if loop.direction > 0 else range(n - 1, -1, -1)


def interpret_rolled(rolled: Rolled, *arguments: Any) -> Any:
    """Evaluate a rolled program turn by turn in Python; what machine code is judged by."""
    from kinpair.compiler.program import values

    arrays: dict[str, list[float]] = {WORK: [0.0] * rolled.work}
    arrays |= {name: x.tolist() for name, x in rolled.numbers.items()}
    for name, argument in zip(rolled.input_shapes, arguments, strict=True):
        arrays[f"in:{name}"] = np.asarray(argument, dtype=float).reshape(-1).tolist()
    for name, shape in rolled.output_shapes.items():
        arrays[f"out:{name}"] = [0.0] * int(np.prod(shape))

    def entry(place: Place, item: int) -> int:
        return place.offset + (place.stride * int(rolled.indices[place.by][item]) if place.by else 0)

    for loop in rolled.loops:
        for item in rolled.turns(loop):
            step = loop.steps[rolled.kinds[item] if loop.direction else 0]
            read = [arrays[place.array][entry(place, item)] for place in step.loads]
            for place, x in zip(step.stores, values(step.program, [read])[0], strict=True):
                arrays[place.array][entry(place, item)] = x
    results: Iterator[Any] = (
        np.array(arrays[f"out:{name}"]).reshape(shape) if shape else arrays[f"out:{name}"][0]
        for name, shape in rolled.output_shapes.items()
    )
    return rebuild(rolled.structure, results)
