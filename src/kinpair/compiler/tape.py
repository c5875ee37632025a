"""Records walks over items that pass values along a tree, as loops.

`each`, `outward` and `inward` take a step, a function of nested arrays, and the fields it reads for its item; they
return a field. A step sees values of its own item and what the parent (outward) or the children (inward) hand to it.
So walks in the same direction need no loops of their own: they share one, and only what a later loop or the parent
reads is stored.

What the parent hands on may be the same for all items, or the same number several times: zeros of a planar mechanism,
the two halves of a symmetric matrix. The tape begins with the assumption that all entries stay what they are on the
ground and traces the step until no assumption is contradicted.

The file is long because it is one tape: its walks share the assumption and the loops.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from operator import add
from typing import Any, TypeAlias

import numpy as np

from kinpair.algebra.arrays import same_objects
from kinpair.compiler.graph import Expr, Graph
from kinpair.compiler.program import SINGLE, Leaf, Shape, Structure, flatten, rebuild
from kinpair.compiler.rolled import Rolled
from kinpair.compiler.tape_layout import ITEM, PARENT, Layout
from kinpair.compiler.trace import as_array, no_collection, output
from kinpair.errors import TraceError

Source: TypeAlias = tuple[Any, ...]
Combine: TypeAlias = Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A value for each item: nested arrays as `structures` and `shapes` say for its kind.

    `entries` of each kind: numbers, places of given arrays, or nodes of the loop number `loop`.
    """

    loop: int
    structures: tuple[Structure, ...]
    shapes: tuple[tuple[Shape, ...], ...]
    entries: tuple[tuple[Any, ...], ...]
    walk: int = -1  # the outward walk whose values it has


@dataclass(frozen=True, slots=True, eq=False)
class ByKind:
    """A value for each kind of item that steps see as it is, such as a choice of what they do."""

    values: tuple[Any, ...]
    loop: int = -1


@dataclass(slots=True, eq=False)
class OpenLoop:
    """A loop that walks can join: a graph for each kind, and where the symbols of each come from."""

    direction: int
    graphs: list[Graph]
    symbols: list[dict[Source, Expr]]
    sources: list[dict[int, Source]]


@dataclass(slots=True, eq=False)
class Walk:
    """Values handed from item to item: values on the ground, and nodes by kind; entries of one label are equal."""

    loop: int
    source: str
    start: list[float]
    handed: list[list[Expr]]
    labels: list[Hashable]
    structure: Structure
    shapes: list[Shape]


@dataclass(slots=True, eq=False)
class Total:
    """A sum, or a least or greatest, over all items: how it starts, and its next value by kind."""

    loop: int
    start: float
    nodes: list[Expr]


class Tape:
    """Records loops over items numbered 0, 1, ...; parent[i] < i is the item before i on the tree, or −1."""

    def __init__(
        self, parent: Sequence[int] | np.ndarray, kind: Sequence[int] | np.ndarray | None = None
    ) -> None:
        self.parent = np.asarray(parent, dtype=np.int64)
        n = len(self.parent)
        self.kind = np.zeros(n, np.int64) if kind is None else np.asarray(kind, dtype=np.int64)
        self.kinds = int(self.kind.max(initial=-1)) + 1
        self.first = [int(np.argmax(self.kind == k)) for k in range(self.kinds)]
        self._inputs: dict[str, Shape] = {}
        self.outputs: dict[str, Shape] = {}
        self.writes: list[tuple[str, Field | Leaf, str, int]] = []
        self._indices: dict[str, np.ndarray] = {ITEM: np.arange(1, n + 1), PARENT: self.parent + 1}
        self._named: dict[bytes, str] = {}
        self.numbers: dict[str, np.ndarray] = {}
        self.loops: list[OpenLoop] = []
        self.walks: list[Walk] = []
        self.totals: list[Total] = []
        self.after = Graph()
        self.total_symbols: dict[int, int] = {}
        self.end_symbols: dict[int, tuple[str, int]] = {}

    # fields that are given

    def constants(self, values: Sequence[Any]) -> Field:
        """Numbers, nested arrays of them, for each item; of one structure for all items of a kind."""
        which, chosen = same_objects(values)
        apart = {i: flatten(values[i]) for i in (*chosen, *self.first)}
        rows = [np.concatenate([np.ravel(x) for _, x in apart[i][1]] or [np.zeros(0)]) for i in chosen]
        table = np.zeros((len(rows), max(map(len, rows), default=0)))
        for k, row in enumerate(rows):
            table[k, : len(row)] = row
        return self.rows([apart[i] for i in self.first], table, which)

    def rows(
        self,
        examples: Sequence[tuple[Structure, list[tuple[str, Any]]]],
        table: np.ndarray,
        which: np.ndarray,
    ) -> Field:
        """Numbers for each item: row `which` of a table; `examples` of each kind have structure and shapes."""
        name, index, width = f"numbers{len(self.numbers)}", self._index(which), table.shape[1]
        self.numbers[name] = table
        shapes = tuple(tuple(np.shape(x) for _, x in leaves) for _, leaves in examples)
        entries: list[tuple[Any, ...]] = []
        for kind, own in enumerate(shapes):
            used = table[np.flatnonzero(np.bincount(which[self.kind == kind], minlength=len(table)))]
            same = (used == used[0]).all(0)
            places = range(sum(int(np.prod(shape)) for shape in own))
            entries.append(
                tuple(float(used[0, k]) if same[k] else ("given", name, index, width, k) for k in places)
            )
        return Field(-1, tuple(structure for structure, _ in examples), shapes, tuple(entries))

    def input(self, name: str, size: int, starts: Sequence[int] | np.ndarray, widths: Sequence[int]) -> Field:
        """Entries of an input vector: item i has `widths[kind]` of them from `starts[i]` on."""
        self._inputs[name] = (size,)
        index = self._index(np.asarray(starts, dtype=np.int64))
        entries = tuple(tuple(("given", f"in:{name}", index, 1, k) for k in range(width)) for width in widths)
        return Field(-1, (SINGLE,) * self.kinds, tuple(((width,),) for width in widths), entries)

    def scalar(self, name: str, entry: int = 0, size: int = 0) -> Field:
        """An entry of an input of that size (0: a number) as one number for all items."""
        self._inputs[name] = (size,) if size else ()
        source = "given", f"in:{name}", "", 0, entry
        return Field(-1, (SINGLE,) * self.kinds, (((),),) * self.kinds, ((source,),) * self.kinds)

    def at_end(self, name: str, entry: int, size: int) -> Expr:
        """An entry of an input of that size (0: a number) as results made of totals read it."""
        self._inputs[name] = (size,) if size else ()
        symbol = self.after.symbol(f"{name}[{entry}]")
        self.end_symbols[symbol.id] = f"in:{name}", entry
        return symbol

    def _index(self, numbers: np.ndarray) -> str:
        key = numbers.tobytes()
        if key not in self._named:
            self._named[key] = f"index{len(self._named)}"
            self._indices[self._named[key]] = numbers
        return self._named[key]

    # walks

    def each(self, step: Callable[..., Any], *fields: Field | ByKind) -> Field:
        """x_i = step(given_i...), items on their own."""
        loop = self._loop_for(fields, 0)
        results = [flatten(step(*self._values(loop, kind, fields))) for kind in range(self.kinds)]
        return self._field(loop, results)

    def outward(self, step: Callable[..., Any], ground: Any, *fields: Field | ByKind) -> Field:
        """x_i = step(x_parent, given_i...), from the root outward; x = ground before the first.

        An array of the ground without entries stands for one that no item reads of its parent.
        """
        loop = self._loop_for(fields, 1)
        structure, leaves = flatten(ground)
        shapes = [np.shape(x) for _, x in leaves]

        def take(kind: int, parent: Any) -> tuple[Any, list[Expr]]:
            result = flatten(step(parent, *self._values(loop, kind, fields)))
            found = [np.shape(x) for _, x in result[1]]
            if len(found) != len(shapes) or any(
                a != b for a, b in zip(found, shapes, strict=True) if np.prod(b) > 0
            ):
                raise TraceError(
                    f"the step of kind {kind} returns arrays of shapes {tuple(found)}, the ground has "
                    f"{tuple(shapes)}; a value is handed on as it was received"
                )
            handed = [x for x, shape in zip(result[1], shapes, strict=True) if np.prod(shape) > 0]
            return result, self._nodes(loop, kind, handed)

        results = self._settled(loop, "parent", take, structure, leaves)
        return replace(self._field(loop, results), walk=len(self.walks) - 1)

    def others(self, field: Field, numbers: np.ndarray) -> Field:
        """x_i = the value of item numbers[i], of an outward walk that is complete; −1: its value on the ground."""
        walk, index = self.walks[field.walk], self._index(np.asarray(numbers, dtype=np.int64) + 1)
        entries = tuple(x if isinstance(x, float) else ("other", field.walk, x, index) for x in walk.labels)
        every = self.kinds
        return Field(
            walk.loop + 1, (walk.structure,) * every, (tuple(walk.shapes),) * every, (entries,) * every
        )

    def inward(self, step: Callable[..., Any], nothing: Any, *fields: Field | ByKind) -> Field:
        """x_i, y_i = step(Σ y_child, given_i...), from the tips inward; the sum starts with nothing."""
        loop = self._loop_for(fields, -1)
        structure, leaves = flatten(nothing)

        def take(kind: int, gathered: Any) -> tuple[Any, list[Expr]]:
            kept, handed = step(gathered, *self._values(loop, kind, fields))
            return flatten(kept), self._nodes(loop, kind, flatten(handed)[1])

        return self._field(loop, self._settled(loop, "sum", take, structure, leaves))

    def total(
        self, step: Callable[..., Any], start: Any, *fields: Field | ByKind, combine: Combine = add
    ) -> Any:
        """Combine step(given_i...) of all items, from `start` on: nested arrays of symbols of the end of the program.

        A number where nothing is added to it.
        """
        loop = self._loop_for(fields, 0)
        results = [flatten(step(*self._values(loop, kind, fields))) for kind in range(self.kinds)]
        structure, leaves = flatten(start)
        starts = np.concatenate([np.ravel(x) for _, x in leaves])
        nodes = [self._nodes(loop, kind, results[kind][1]) for kind in range(self.kinds)]
        entries: list[Any] = []
        for k, value in enumerate(starts.tolist()):
            if combine is add and all(row[k].value == 0.0 for row in nodes):
                entries.append(value)
                continue
            number = len(self.totals)
            later = [
                combine(self.symbol(loop, kind, ("total", number)), row[k]) for kind, row in enumerate(nodes)
            ]
            self.totals.append(Total(loop, value, later))
            symbol = self.after.symbol(f"total{number}")
            self.total_symbols[symbol.id] = number
            entries.append(symbol)
        return _nested(structure, [np.shape(x) for _, x in leaves], entries)

    # results

    def output(self, name: str, size: int | Shape, value: Field, starts: Sequence[int] | np.ndarray) -> None:
        """Entries of an output: those of item i from `starts[i]` on. Several fields may be parts of one output."""
        self.outputs[name] = (size,) if isinstance(size, int) else size
        written = value if value.loop >= 0 else self.each(lambda x: x, value)
        self.writes.append((name, written, self._index(np.asarray(starts, dtype=np.int64)), 0))

    def result(self, name: str, value: Any, *, size: int | None = None, start: int = 0) -> None:
        """An output made of totals and numbers, or a part of one of that size, from entry `start` on."""
        leaf = output(self.after, name, value)
        self.outputs[name] = leaf.shape if size is None else (size,)
        self.writes.append((name, leaf, "", start))

    def finish(self, name: str = "rolled", structure: Structure | None = None) -> Rolled:
        """The recorded loops."""
        if structure is None:
            names = list(self.outputs)
            structure = names[0] if len(names) == 1 else ["tuple", list(range(len(names))), names]
        with no_collection():
            layout = Layout(self)
            loops = layout.loops()
        return Rolled(
            name,
            self._inputs,
            self.outputs,
            structure,
            self.kind,
            {key: self._indices[key] for key in layout.used_indices},
            layout.numbers,
            layout.work,
            loops,
        )

    # how

    def _loop_for(self, fields: Sequence[Field | ByKind], direction: int) -> int:
        """The first loop in which the fields are known, and that goes in the direction; 0: in any."""
        first = max((f.loop for f in fields), default=-1)
        if direction == 0 and first < 0:
            first = len(self.loops) - 1
        for k in range(max(first, 0), len(self.loops)):
            loop = self.loops[k]
            if direction == 0 or loop.direction in (0, direction):
                loop.direction = loop.direction or direction
                return k
        every = range(self.kinds)
        self.loops.append(
            OpenLoop(direction, [Graph() for _ in every], [{} for _ in every], [{} for _ in every])
        )
        return len(self.loops) - 1

    def symbol(self, loop: int, kind: int, source: Source) -> Expr:
        """The symbol of a place in a loop. Sines and cosines of an input that an earlier loop has are its own."""
        here = self.loops[loop]
        symbols, graph = here.symbols[kind], here.graphs[kind]
        if source not in symbols:
            symbols[source] = graph.symbol(f"{source[0]}{len(symbols)}")
            here.sources[kind][symbols[source].id] = source
            for k, other in enumerate(self.loops[:loop]):
                angle = other.symbols[kind].get(source)
                for op in ("sin", "cos"):
                    node = other.graphs[kind].table.get((op, angle.id)) if angle is not None else None
                    key = (op, symbols[source].id)
                    if node is not None and key not in graph.table:
                        graph.table[key] = self._known(loop, kind, k, node)
        return symbols[source]

    def _known(self, loop: int, kind: int, other: int, node: Expr) -> Any:
        """A node of another loop, as a later one reads it."""
        if node.op == "const":
            return node.value
        if node.op == "symbol" and self.loops[other].sources[kind][node.id][0] in ("given", "own"):
            return self.symbol(loop, kind, self.loops[other].sources[kind][node.id])
        return self.symbol(loop, kind, ("own", other, node.id))

    def _values(self, loop: int, kind: int, fields: Sequence[Field | ByKind]) -> list[Any]:
        """The values of an item of a kind as a step in a loop sees them."""
        values: list[Any] = []
        for f in fields:
            if isinstance(f, ByKind):
                values.append(f.values[kind])
                continue
            entries: list[Any] = []
            for x in f.entries[kind]:
                if isinstance(x, tuple):
                    x = self.symbol(loop, kind, x)
                elif isinstance(x, Expr) and f.loop != loop:
                    x = self._known(loop, kind, f.loop, x)
                entries.append(x)
            values.append(_nested(f.structures[kind], f.shapes[kind], entries))
        return values

    def _nodes(self, loop: int, kind: int, leaves: Sequence[tuple[str, Any]]) -> list[Expr]:
        graph = self.loops[loop].graphs[kind]
        return [x for path, leaf in leaves for x in output(graph, path, leaf).entries]

    def _field(self, loop: int, results: Sequence[tuple[Structure, list[tuple[str, Any]]]]) -> Field:
        return Field(
            loop,
            tuple(structure for structure, _ in results),
            tuple(tuple(np.shape(x) for _, x in leaves) for _, leaves in results),
            tuple(tuple(self._nodes(loop, kind, leaves)) for kind, (_, leaves) in enumerate(results)),
        )

    def _settled(
        self,
        loop: int,
        source: str,
        take: Callable[[int, Any], tuple[Any, list[Expr]]],
        structure: Structure,
        leaves: Sequence[tuple[str, Any]],
    ) -> list[Any]:
        """Trace the step until what is handed on has the labels that were assumed of it; what it keeps, by kind."""
        shapes = [np.shape(x) for _, x in leaves]
        start: list[float] = [float(x) for _, leaf in leaves for x in np.ravel(leaf)]
        labels: list[Hashable] = list(start)  # a number: an entry that is this number for all items
        walk = len(self.walks)
        while True:
            results: list[Any] = []
            handed: list[list[Expr]] = []
            for kind in range(self.kinds):
                entries = [
                    x if isinstance(x, float) else self.symbol(loop, kind, (source, walk, x)) for x in labels
                ]
                result, nodes = take(kind, _nested(structure, shapes, entries))
                results.append(result)
                handed.append(nodes)
            refined = _refined(labels, start, handed, source)
            if refined == labels:
                self.walks.append(Walk(loop, source, start, handed, labels, structure, shapes))
                return results
            labels = refined


def _refined(
    labels: list[Hashable], start: list[float], handed: list[list[Expr]], source: str
) -> list[Hashable]:
    """Labels of entries that were equal and are handed on as equal; a number stays where it is handed on as such."""
    first: dict[Hashable, tuple[int]] = {}
    refined: list[Hashable] = []
    for k, label in enumerate(labels):
        nodes = [row[k] for row in handed]
        unchanged = 0.0 if source == "sum" else label
        if isinstance(label, float) and all(x.op == "const" and x.value == unchanged for x in nodes):
            refined.append(label)
        else:
            same = (label, start[k], *(x.id for x in nodes))
            refined.append(first.setdefault(same, (k,)))
    return refined


def _nested(structure: Structure, shapes: Sequence[Shape], entries: Sequence[Any]) -> Any:
    """Nested arrays of the entries."""
    leaves: list[Any] = []
    start = 0
    for shape in shapes:
        size = int(np.prod(shape))
        part = entries[start : start + size]
        if any(isinstance(x, Expr) for x in part):
            leaves.append(as_array(Leaf("", shape, tuple(part))))
        else:
            leaves.append(np.array(part, dtype=float).reshape(shape) if shape else part[0])
        start += size
    return rebuild(structure, iter(leaves))
