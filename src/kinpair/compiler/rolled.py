"""Loops over items that pass values along a tree, instead of one formula for all of them.

A straight program grows with every item. Where a recursion takes the same step for each item, the step is
traced once for each kind of item, and the machine code is a loop: the code does not grow, the work does.

An item's own numbers, its share of the inputs and what earlier loops found for it are *fields*: for each item
some entries of an array. A loop is a list of turns; a turn takes a step, which reads entries of arrays from
where its tables say and writes (or adds) entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinpair.compiler.graph import Graph
from kinpair.compiler.program import Leaf, Program, Shape
from kinpair.compiler.structure import SINGLE, Structure, flatten, rebuild
from kinpair.compiler.trace import as_array, output, symbols
from kinpair.compiler.verify import verify
from kinpair.errors import TraceError

NUMBERS = "numbers"  # the array of constants


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """For each turn, the first entry of an array that a step reads, writes, or `add`s to."""

    array: str
    starts: tuple[int, ...]
    add: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A small program, and where its inputs come from and its outputs go, turn by turn."""

    program: Program
    reads: tuple[Access, ...]
    writes: tuple[Access, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """Turns in order: which step each takes."""

    kinds: tuple[int, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Rolled:
    """Loops one after the other; `work` are the arrays between them, `numbers` the constants."""

    name: str
    input_shapes: dict[str, Shape]
    output_shapes: dict[str, Shape]
    structure: Structure
    work: dict[str, int]
    numbers: np.ndarray
    loops: tuple[Loop, ...]

    @property
    def count(self) -> dict[str, int]:
        """Operations by kind, of all turns."""
        total: dict[str, int] = {}
        for loop in self.loops:
            for kind in loop.kinds:
                for column, n in loop.steps[kind].program.count.items():
                    total[column] = total.get(column, 0) + n
        return total


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A value for each item: nested arrays as `structures` and `shapes` say for its kind.

    Of the entries, those in `known` are the same number for all items of the kind.
    """

    array: str
    starts: tuple[int, ...]
    structures: tuple[Structure, ...]
    shapes: tuple[tuple[Shape, ...], ...]
    known: tuple[dict[int, float], ...]

    def value(self, kind: int, entries: Sequence[Any]) -> Any:
        """The nested arrays of an item of a kind, from its entries."""
        leaves: list[Any] = []
        start = 0
        for shape in self.shapes[kind]:
            size = int(np.prod(shape))
            leaves.append(as_array(Leaf("", shape, tuple(entries[start : start + size]))))
            start += size
        return rebuild(self.structures[kind], iter(leaves))

    def width(self, kind: int) -> int:
        """Entries of an item of a kind."""
        return sum(int(np.prod(shape)) for shape in self.shapes[kind])


class Tape:
    """Records loops over items numbered 0, 1, ...; parent[i] < i is the item before i on the tree, or −1.

    `each`, `outward` and `inward` take a step, a function of nested arrays, and the fields it reads for its
    item; they return a field.
    """

    def __init__(self, parent: Sequence[int], kind: Sequence[int] | None = None) -> None:
        self.parent = tuple(parent)
        self.kind = tuple(kind) if kind is not None else (0,) * len(self.parent)
        self.kinds = max(self.kind, default=-1) + 1
        self._inputs: dict[str, Shape] = {}
        self._outputs: dict[str, Shape] = {}
        self._work: dict[str, int] = {}
        self._numbers: list[float] = []
        self._loops: list[Loop] = []

    # fields that are given

    def constants(self, values: Sequence[Any]) -> Field:
        """Numbers, nested arrays of them, for each item; of one structure for all items of a kind."""
        apart = [flatten(value) for value in values]
        rows = [np.concatenate([np.ravel(x) for _, x in leaves] or [np.zeros(0)]) for _, leaves in apart]
        starts: list[int] = []
        for row in rows:
            starts.append(len(self._numbers))
            self._numbers += row.tolist()
        first = [self.kind.index(k) for k in range(self.kinds)]
        return Field(
            NUMBERS,
            tuple(starts),
            tuple(apart[i][0] for i in first),
            tuple(tuple(np.shape(x) for _, x in apart[i][1]) for i in first),
            tuple(
                _common([row for row, k in zip(rows, self.kind, strict=True) if k == kind])
                for kind in range(self.kinds)
            ),
        )

    def input(self, name: str, size: int, starts: Sequence[int], widths: Sequence[int]) -> Field:
        """Entries of an input vector: item i has `widths[kind]` of them from `starts[i]` on."""
        self._inputs[name] = (size,)
        shapes = tuple(((width,),) for width in widths)
        return Field(f"in:{name}", tuple(starts), (SINGLE,) * self.kinds, shapes, ({},) * self.kinds)

    def output(self, name: str, size: int, field: Field, starts: Sequence[int]) -> None:
        """Entries of an output vector: those of item i from `starts[i]` on."""
        self._outputs[name] = (size,)
        self._loop(lambda x: x, (field,), self._turns(), [Access(f"out:{name}", tuple(starts))])

    # walks

    def each(self, step: Callable[..., Any], *fields: Field) -> Field:
        """x_i = step(given_i...), items on their own."""
        field, access = self._new_field()
        return self._shaped(field, self._loop(step, fields, self._turns(), [access]))

    def outward(self, step: Callable[..., Any], ground: Any, *fields: Field) -> Field:
        """x_i = step(x_parent, given_i...), from the root outward; x = ground before the first."""
        field, _ = self._new_field()
        structure, leaves = flatten(ground)
        shapes = tuple(np.shape(x) for _, x in leaves)
        width = self._fill(field, leaves, 1)
        before = self._uniform(field, [width * (j + 1) for j in self.parent], structure, shapes)
        after = Access(field, tuple(width * (i + 1) for i in range(len(self.parent))))
        for kind, (_, results) in enumerate(self._loop(step, (before, *fields), self._turns(), [after])):
            if results != shapes:
                raise TraceError(
                    f"the step of kind {kind} returns arrays of shapes {results}, the ground has {shapes}; "
                    "a value is handed on as it was received"
                )
        self._work[field] = width * (len(self.parent) + 1)
        return self._uniform(field, after.starts, structure, shapes)

    def inward(self, step: Callable[..., Any], nothing: Any, *fields: Field) -> Field:
        """x_i, y_i = step(Σ y_child, given_i...), from the tips inward; the sum starts with nothing."""
        sums, _ = self._new_field()
        field, access = self._new_field()
        structure, leaves = flatten(nothing)
        shapes = tuple(np.shape(x) for _, x in leaves)
        width = self._fill(sums, leaves, len(self.parent) + 1)
        gathered = self._uniform(sums, [width * (i + 1) for i in range(len(self.parent))], structure, shapes)
        handed = Access(sums, tuple(width * (j + 1) for j in self.parent), add=True)
        kept = self._loop(step, (gathered, *fields), self._turns()[::-1], [access, handed])
        return self._shaped(field, kept)

    def finish(self, name: str = "rolled") -> Rolled:
        """What was recorded."""
        names = list(self._outputs)
        structure = names[0] if len(names) == 1 else ["tuple", list(range(len(names))), names]
        numbers = np.array(self._numbers)
        return Rolled(name, self._inputs, self._outputs, structure, self._work, numbers, tuple(self._loops))

    # how

    def _turns(self) -> range:
        return range(len(self.parent))

    def _new_field(self) -> tuple[str, Access]:
        """A work array whose size is known once its step is traced."""
        field = f"work{len(self._work)}"
        self._work[field] = 0
        return field, Access(field, ())

    def _uniform(
        self, array: str, starts: Sequence[int], structure: Structure, shapes: tuple[Shape, ...]
    ) -> Field:
        n = self.kinds
        return Field(array, tuple(starts), (structure,) * n, (shapes,) * n, ({},) * n)

    def _fill(self, array: str, leaves: Sequence[tuple[str, Any]], times: int) -> int:
        """Write numbers to the beginning of an array, some times over; the entries once."""
        graph = Graph()
        outputs = tuple(output(graph, name, x) for name, x in leaves)
        width = sum(leaf.size for leaf in outputs)
        joined = Leaf(SINGLE, (width,), tuple(x for leaf in outputs for x in leaf.entries))
        program = Program("fill", graph, (), (joined,))
        access = Access(array, tuple(width * k for k in range(times)))
        self._loops.append(Loop((0,) * times, (Step(program, (), (access,)),)))
        self._work[array] = width * times
        return width

    def _loop(
        self,
        step: Callable[..., Any],
        fields: Sequence[Field],
        turns: Sequence[int],
        writes: Sequence[Access],
    ) -> list[tuple[Structure, tuple[Shape, ...]]]:
        """Trace the step for each kind, record the loop; structure and shapes of what is kept, by kind."""
        traced = [_traced(step, fields, kind, len(writes)) for kind in range(self.kinds)]
        reads = tuple(Access(f.array, tuple(f.starts[i] for i in turns)) for f in fields)
        width = max((program.outputs[0].size for program, _, _ in traced), default=0)
        placed: list[Access] = []
        for access in writes:
            starts = access.starts or tuple(width * i for i in range(len(self.parent)))
            placed.append(Access(access.array, tuple(starts[i] for i in turns), access.add))
            if not access.starts:
                self._work[access.array] = width * len(self.parent)
        steps = tuple(Step(program, reads, tuple(placed)) for program, _, _ in traced)
        self._loops.append(Loop(tuple(self.kind[i] for i in turns), steps))
        return [(structure, shapes) for _, structure, shapes in traced]

    def _shaped(self, array: str, kept: list[tuple[Structure, tuple[Shape, ...]]]) -> Field:
        width = max((sum(int(np.prod(s)) for s in shapes) for _, shapes in kept), default=0)
        starts = tuple(width * i for i in range(len(self.parent)))
        return Field(array, starts, tuple(s for s, _ in kept), tuple(s for _, s in kept), ({},) * self.kinds)


def _common(rows: Sequence[np.ndarray]) -> dict[int, float]:
    """Entries that are the same in all rows."""
    first = rows[0]
    same = np.all([row == first for row in rows], axis=0)
    return {k: float(first[k]) for k in np.flatnonzero(same).tolist()}


def _traced(
    step: Callable[..., Any], fields: Sequence[Field], kind: int, parts: int
) -> tuple[Program, Structure, tuple[Shape, ...]]:
    """The program of a step for one kind; what it keeps is its first output, each flat."""
    graph = Graph()
    inputs = tuple(symbols(graph, f"x{k}", (field.width(kind),)) for k, field in enumerate(fields))
    arguments: list[Any] = []
    for field, leaf in zip(fields, inputs, strict=True):
        known = field.known[kind]
        arguments.append(field.value(kind, [known.get(k, x) for k, x in enumerate(leaf.entries)]))
    result = step(*arguments)
    produced: list[Leaf] = []
    kept: list[tuple[Structure, tuple[Shape, ...]]] = []
    for name, part in zip(("kept", "handed"), result if parts == 2 else (result,), strict=False):
        structure, leaves = flatten(part)
        outputs = [output(graph, path, x) for path, x in leaves]
        entries = tuple(x for leaf in outputs for x in leaf.entries)
        produced.append(Leaf(name, (len(entries),), entries))
        kept.append((structure, tuple(leaf.shape for leaf in outputs)))
    program = Program("step", graph, inputs, tuple(produced))
    verify(program)
    return program, *kept[0]


def interpret_rolled(rolled: Rolled, *arguments: Any) -> Any:
    """What it means: the arrays as Python lists, turn after turn by the interpreter."""
    from kinpair.compiler.interpret import values

    arrays: dict[str, list[float]] = {name: [0.0] * size for name, size in rolled.work.items()}
    arrays[NUMBERS] = rolled.numbers.tolist()
    for name, argument in zip(rolled.input_shapes, arguments, strict=True):
        arrays[f"in:{name}"] = np.asarray(argument, dtype=float).tolist()
    for name, (size,) in rolled.output_shapes.items():
        arrays[f"out:{name}"] = [0.0] * size
    for loop in rolled.loops:
        for turn, kind in enumerate(loop.kinds):
            step = loop.steps[kind]
            read = [
                arrays[a.array][a.starts[turn] : a.starts[turn] + leaf.size]
                for a, leaf in zip(step.reads, step.program.inputs, strict=True)
            ]
            for a, row in zip(step.writes, values(step.program, read), strict=True):
                for k, x in enumerate(row, a.starts[turn]):
                    arrays[a.array][k] = arrays[a.array][k] + x if a.add else x
    results: Iterator[Any] = (np.array(arrays[f"out:{name}"]) for name in rolled.output_shapes)
    return rebuild(rolled.structure, results)
