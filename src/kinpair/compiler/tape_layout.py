"""Conversion of a tape to loops: what must be computed and stored, where it is stored, and the steps.

A record of an item has the entries that its children or its parent read and write, in the same place for items of all
kinds, and behind them those that only its own later steps read. Totals come before the records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.compiler.graph import Expr, Graph
from kinpair.compiler.program import Leaf, Program
from kinpair.compiler.rolled import WORK, Loop, Place, Step
from kinpair.compiler.trace import verify

if TYPE_CHECKING:
    from kinpair.compiler.tape import Tape

ITEM, PARENT = "item", "parent"
Stores = dict[Place, Expr]


class Layout:
    """Places of everything that a tape has recorded and that its results need."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._seen: set[tuple[int, int, int]] = set()
        self._given: set[tuple[str, int]] = set()
        self._handed: dict[tuple[int, Any], int] = {}  # walk and label → place in every record
        self._own: list[dict[tuple[int, int], int]] = [{} for _ in range(tape.kinds)]
        self._live_totals: set[int] = set()
        self._indices: set[str] = set()
        self._find_needed()
        self._share_places()
        self._columns = {
            name: sorted(k for array, k in self._given if array == name) for name in tape.numbers
        }
        common, own = len(self._handed), max(map(len, self._own), default=0)
        self._width = common + own
        self.work = len(tape.totals) + self._width * (len(tape.parent) + 1)

    @property
    def used_indices(self) -> list[str]:
        """Names of the indices that places have."""
        return sorted(self._indices)

    @property
    def numbers(self) -> dict[str, np.ndarray]:
        """Arrays of the constants that are read, by name; flat."""
        return {
            name: np.ascontiguousarray(table[:, self._columns[name]]).reshape(-1)
            for name, table in self._tape.numbers.items()
            if self._columns[name]
        }

    # what is needed

    def _find_needed(self) -> None:
        tape = self._tape
        for _, value, _, _ in tape.writes:
            if isinstance(value, Leaf):
                self._need_totals(value)
                continue
            for kind, entries in enumerate(value.entries):
                for x in entries:
                    self._need(value.loop, kind, x)

    def _need_totals(self, leaf: Leaf) -> None:
        program = Program("after", self._tape.after, (), (leaf,))
        for x in program.nodes:
            number = self._tape.total_symbols.get(x.id)
            if x.op == "symbol" and number is not None and number not in self._live_totals:
                self._live_totals.add(number)
                total = self._tape.totals[number]
                for kind, node in enumerate(total.nodes):
                    self._need(total.loop, kind, node)

    def _need(self, loop: int, kind: int, node: Expr) -> None:
        """Mark a node and all that it depends on, in its own loop and in others."""
        stack = [(loop, kind, node)]
        while stack:
            loop, kind, x = stack.pop()
            if (loop, kind, x.id) in self._seen:
                continue
            self._seen.add((loop, kind, x.id))
            stack += [(loop, kind, y) for y in x.args]
            if x.op == "symbol":
                stack += self._behind(kind, self._tape.loops[loop].sources[kind][x.id])

    def _behind(self, kind: int, source: tuple[Any, ...]) -> list[tuple[int, int, Expr]]:
        """The nodes whose value a symbol has; its place is settled here."""
        match source:
            case ("given", array, _, _, offset):
                self._given.add((array, offset))
                return []
            case ("own", other, number):
                self._own[kind].setdefault((other, number), len(self._own[kind]))
                return [(other, kind, self._tape.loops[other].graphs[kind].nodes[number])]
            case ("total", _):
                return []
            case (_, walk, label) | ("other", walk, label, _):
                self._handed.setdefault((walk, label), len(self._handed))
                found = self._tape.walks[walk]
                return [(found.loop, k, row[label[0]]) for k, row in enumerate(found.handed)]
            case _:
                raise AssertionError(source)

    def _share_places(self) -> None:
        """Let later steps of an item read what it stores for its children in their place."""
        self._shared: list[dict[tuple[int, int], int]] = [{} for _ in self._own]
        for (walk, label), offset in self._handed.items():
            x = self._tape.walks[walk]
            if x.source == "parent":
                for kind, row in enumerate(x.handed):
                    self._shared[kind].setdefault((x.loop, row[label[0]].id), offset)
        for kind, own in enumerate(self._own):
            alone = [key for key in own if key not in self._shared[kind]]
            self._own[kind] = {key: k for k, key in enumerate(alone)}

    # where it is

    def _record(self, index: str, offset: int) -> Place:
        if not index:
            return Place(WORK, "", 0, len(self._tape.totals) + offset)
        return Place(WORK, index, self._width, len(self._tape.totals) + offset)

    def _own_place(self, kind: int, loop: int, number: int) -> Place:
        shared = self._shared[kind].get((loop, number))
        offset = len(self._handed) + self._own[kind][loop, number] if shared is None else shared
        return self._record(ITEM, offset)

    def _place(self, kind: int, source: tuple[Any, ...]) -> Place:
        match source:
            case ("given", array, index, stride, offset):
                if array in self._columns:
                    columns = self._columns[array]
                    return Place(array, index, len(columns), columns.index(offset))
                return Place(array, index, stride, offset)
            case ("own", loop, number):
                return self._own_place(kind, loop, number)
            case ("total", number):
                return Place(WORK, "", 0, number)
            case ("parent", walk, label):
                return self._record(PARENT, self._handed[walk, label])
            case ("other", walk, label, index):
                return self._record(index, self._handed[walk, label])
            case (_, walk, label):
                return self._record(ITEM, self._handed[walk, label])
            case _:
                raise AssertionError(source)

    # loops

    def loops(self) -> tuple[Loop, ...]:
        """All loops: values on the ground and starts of totals, the walks, and results made of totals."""
        tape = self._tape
        stores = [[self._stores(k, kind) for kind in range(tape.kinds)] for k in range(len(tape.loops))]
        before = [Stores() for _ in range(tape.kinds)]
        graphs = [Graph() for _ in range(tape.kinds)]
        for (walk, label), offset in self._handed.items():
            x = tape.walks[walk]
            if x.source != "sum":
                continue
            for kind in range(tape.kinds):
                target, graph = (
                    (stores[x.loop - 1][kind], tape.loops[x.loop - 1].graphs[kind])
                    if x.loop
                    else (before[kind], graphs[kind])
                )
                target[self._record(ITEM, offset)] = graph.const(x.start[label[0]])
        loops = [self._start()]
        if any(before):
            steps = zip(graphs, before, strict=True)
            loops.append(Loop(1, tuple(self._step(kind, None, *x) for kind, x in enumerate(steps))))
        for k, (loop, own) in enumerate(zip(tape.loops, stores, strict=True)):
            steps = tuple(self._step(kind, k, loop.graphs[kind], own[kind]) for kind in range(tape.kinds))
            loops.append(Loop(loop.direction or 1, steps))
        loops.append(self._end())
        return tuple(x for x in loops if any(step.stores for step in x.steps))

    def _stores(self, k: int, kind: int) -> Stores:
        """Stores of a step: for later loops, for parent or children, totals, results."""
        tape, stores = self._tape, Stores()
        nodes = tape.loops[k].graphs[kind].nodes
        for loop, number in self._own[kind]:
            if loop == k:
                stores[self._own_place(kind, loop, number)] = nodes[number]
        for (walk, label), offset in self._handed.items():
            x = tape.walks[walk]
            if x.loop != k:
                continue
            node = x.handed[kind][label[0]]
            if x.source == "parent":
                stores[self._record(ITEM, offset)] = node
            elif node.value != 0.0:
                place = self._record(PARENT, offset)
                stores[place] = tape.symbol(k, kind, ("sum of the parent", walk, label)) + node
        for number in self._live_totals:
            if tape.totals[number].loop == k:
                stores[Place(WORK, "", 0, number)] = tape.totals[number].nodes[kind]
        for name, value, index, _ in tape.writes:
            if not isinstance(value, Leaf) and value.loop == k:
                for offset, x in enumerate(value.entries[kind]):
                    stores[Place(f"out:{name}", index, 1, offset)] = x
        return stores

    def _step(self, kind: int, k: int | None, graph: Graph, stores: Stores) -> Step:
        outputs = Leaf("stores", (len(stores),), tuple(stores.values()))
        needed = Program("step", graph, (), (outputs,)).nodes
        symbols = [x for x in needed if x.op == "symbol"]
        sources = self._tape.loops[k].sources[kind] if k is not None else {}
        loads = tuple(self._load(kind, sources[x.id]) for x in symbols)
        program = Program("step", graph, (Leaf("loads", (len(symbols),), tuple(symbols)),), (outputs,))
        verify(program)
        return self._made(program, loads, tuple(stores))

    def _load(self, kind: int, source: tuple[Any, ...]) -> Place:
        if source[0] == "sum of the parent":
            return self._record(PARENT, self._handed[source[1], source[2]])
        return self._place(kind, source)

    def _made(self, program: Program, loads: tuple[Place, ...], stores: tuple[Place, ...]) -> Step:
        self._indices |= {place.by for place in (*loads, *stores) if place.by}
        return Step(program, loads, stores)

    def _start(self) -> Loop:
        """Write what the ground hands on, and the starts of totals."""
        graph, stores = Graph(), Stores()
        for (walk, label), offset in self._handed.items():
            stores[self._record("", offset)] = graph.const(self._tape.walks[walk].start[label[0]])
        for number in self._live_totals:
            stores[Place(WORK, "", 0, number)] = graph.const(self._tape.totals[number].start)
        return Loop(0, (self._step(0, None, graph, stores),))

    def _end(self) -> Loop:
        """Write results made of totals."""
        graph, stores = self._tape.after, Stores()
        for name, value, _, start in self._tape.writes:
            if isinstance(value, Leaf):
                for offset, x in enumerate(value.entries, start):
                    stores[Place(f"out:{name}", "", 0, offset)] = x
        outputs = Leaf("stores", (len(stores),), tuple(stores.values()))
        symbols = [x for x in Program("end", graph, (), (outputs,)).nodes if x.op == "symbol"]
        loads = tuple(self._end_place(x) for x in symbols)
        program = Program("end", graph, (Leaf("loads", (len(symbols),), tuple(symbols)),), (outputs,))
        return Loop(0, (self._made(program, loads, tuple(stores)),))

    def _end_place(self, symbol: Expr) -> Place:
        array, offset = self._tape.end_symbols.get(symbol.id) or (WORK, self._tape.total_symbols[symbol.id])
        return Place(array, "", 0, offset)
