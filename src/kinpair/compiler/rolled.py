"""Loops over items that pass values along a tree, instead of one formula for all of them.

A straight program grows with every item. Where a recursion takes the same step for each item, the step is
recorded once for each kind of item (`tape.py`), and the machine code is a loop: the code does not grow, the work does.

A step is a small program. What it reads and writes are *places*: for each turn of its loop one entry of an array,
found by an index. Items have a record each in the work array, one behind the other, so that a loop streams through
memory; the record in front of all others is that of the ground.

In LLVM text there is a function for each step and loop. Constants and indices are no part of it: they are one block of
data, which the code finds by a symbol that is bound when it is loaded. So the text is as short for a million items as
for ten.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kinpair.compiler.instructions import Instructions, Places
from kinpair.compiler.llvm import Blocks, parameters
from kinpair.compiler.operations import COLUMNS
from kinpair.compiler.program import Program, Shape, Structure, rebuild
from kinpair.compiler.schedule import ordered
from kinpair.compiler.target import ATTRIBUTES, Form, Real

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
        items = np.bincount(self.kinds).tolist()
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


ALIGNMENT = 64
KINDS = "kinds"


def rolled_blocks(rolled: Rolled) -> Blocks:
    """The code of a rolled program."""
    arrays = {f"in{k}": _size(shape) for k, shape in enumerate(rolled.input_shapes.values())}
    arrays |= {f"out{k}": _size(shape) for k, shape in enumerate(rolled.output_shapes.values())}
    used = {x.op for loop in rolled.loops for step in loop.steps for x in step.program.nodes}
    return Blocks(
        arrays,
        rolled.work,
        used,
        lambda form: _Writer(rolled, arrays, form).text(),
        cleared={f"out{k}": () for k, name in enumerate(rolled.output_shapes) if name in rolled.cleared},
        data=lambda real: _Data(rolled, real).named,
    )


def _size(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape))


class _Data:
    """Constants, and the indices that are no straight lines, in one block of bytes."""

    def __init__(self, rolled: Rolled, real: Real) -> None:
        self.places: dict[str, int] = {}
        self.lines: dict[str, tuple[int, int]] = {}
        parts: list[bytes] = []
        tables = {KINDS: rolled.kinds, **rolled.indices}
        for name, numbers in tables.items():
            if line := _line(numbers):
                self.lines[name] = line
            else:
                self._add(parts, name, numbers.astype(np.int32).tobytes())
        for name, numbers in rolled.numbers.items():
            self._add(parts, name, numbers.astype(real.dtype).tobytes())
        self._content = b"".join(parts)
        key = hashlib.sha256(f"{rolled.name} {rolled.output_shapes}".encode() + self._content)
        self.symbol = f"data.{key.hexdigest()[:24]}" if parts else ""

    def _add(self, parts: list[bytes], name: str, content: bytes) -> None:
        self.places[name] = sum(map(len, parts))
        parts.append(content + bytes(-len(content) % ALIGNMENT))

    @property
    def named(self) -> Mapping[str, bytes]:
        """The data by their symbol; nothing where there are none."""
        return {self.symbol: self._content} if self.symbol else {}


def _line(numbers: np.ndarray) -> tuple[int, int] | None:
    """a, b of numbers a + b i; None where they are not on a line."""
    by = int(numbers[1] - numbers[0]) if len(numbers) > 1 else 0
    straight = (np.diff(numbers) == by).all()
    return (int(numbers[0]), by) if len(numbers) and straight else None


class _Writer:
    def __init__(self, rolled: Rolled, arrays: dict[str, int], form: Form) -> None:
        self.rolled, self.arrays, self.form = rolled, arrays, form
        self.data = _Data(rolled, form.real)
        self.bases = {f"in:{name}": f"%in{k}" for k, name in enumerate(rolled.input_shapes)}
        self.bases |= {f"out:{name}": f"%out{k}" for k, name in enumerate(rolled.output_shapes)}
        self.bases[WORK] = "%scratch"

    def text(self) -> str:
        """`@block`: the loops in turn."""
        parts = [f"@{self.data.symbol} = external global i8"] if self.data.symbol else []
        calls: list[str] = []
        for k, loop in enumerate(self.rolled.loops):
            parts += [self.step(step, f"loop{k}.step{s}") for s, step in enumerate(loop.steps)]
            parts.append(self.loop(loop, f"loop{k}"))
            calls.append(f"  call void @loop{k}({parameters(self.arrays, attributes=False)})")
        head = f"define internal void @block.{self.form.lanes}({parameters(self.arrays)}) {ATTRIBUTES} {{"
        return "\n".join([*parts, head, *calls, "  ret void", "}"])

    def step(self, step: Step, name: str) -> str:
        """The function of one step: find the arrays of this turn, load, compute, store."""
        groups = list(dict.fromkeys((p.array, p.by, p.stride) for p in (*step.loads, *step.stores)))
        names = {group: f"a{k}" for k, group in enumerate(groups)}
        pointers = parameters(self.arrays, attributes=False)
        lines = [f"define internal void @{name}({pointers}, i64 %item) {ATTRIBUTES} {{"]
        for index in dict.fromkeys(index for _, index, _ in groups if index):
            lines += self.index(index)
        for (array, index, stride), pointer in names.items():
            lines += self.pointer(array, index, stride, pointer)

        def found(place: Place) -> tuple[str, int]:
            return names[place.array, place.by, place.stride], place.offset

        program = step.program
        stores: dict[int, list[tuple[str, int]]] = {}
        for place, x in zip(step.stores, program.outputs[0].entries, strict=True):
            stores.setdefault(x.id, []).append(found(place))
        loads = {x.id: found(place) for place, x in zip(step.loads, program.inputs[0].entries, strict=True)}
        numbers = frozenset(names[group] for group in groups if group[0] in self.rolled.numbers)
        writer = Instructions(Places(loads, stores, fixed=False, numbers=numbers), self.form)
        return "\n".join([*lines, *writer.lines(ordered(program)), "  ret void", "}"])

    def index(self, name: str) -> list[str]:
        """The number of this item in an index, as `%index.<name>`."""
        if name in self.data.lines:
            first, by = self.data.lines[name]
            return [
                f"  %index.{name}.by = mul i64 %item, {by}",
                f"  %index.{name} = add i64 %index.{name}.by, {first}",
            ]
        return [
            f"  %index.{name}.all = getelementptr i8, ptr @{self.data.symbol}, i64 {self.data.places[name]}",
            f"  %index.{name}.at = getelementptr i32, ptr %index.{name}.all, i64 %item",
            f"  %index.{name}.i32 = load i32, ptr %index.{name}.at",
            f"  %index.{name} = sext i32 %index.{name}.i32 to i64",
        ]

    def pointer(self, array: str, index: str, stride: int, name: str) -> list[str]:
        """Pointer to where the entries of this item begin in an array, as `%<name>`."""
        lines: list[str] = []
        base, kind = self.bases.get(array, ""), self.form.of(self.form.real.llvm)
        if not base:
            base, kind = f"%{name}.all", self.form.real.llvm
            place = self.data.places[array]
            lines.append(f"  {base} = getelementptr i8, ptr @{self.data.symbol}, i64 {place}")
        if not index:
            return [*lines, f"  %{name} = getelementptr i8, ptr {base}, i64 0"]
        return [
            *lines,
            f"  %{name}.start = mul i64 %index.{index}, {stride}",
            f"  %{name} = getelementptr {kind}, ptr {base}, i64 %{name}.start",
        ]

    def loop(self, loop: Loop, name: str) -> str:
        """Turn after turn, the step of its kind."""
        arguments, last = parameters(self.arrays, attributes=False), len(self.rolled.kinds) - 1
        head = f"define internal void @{name}({arguments}) {ATTRIBUTES} {{"
        if not loop.direction:
            return "\n".join([head, f"  call void @{name}.step0({arguments}, i64 0)", "  ret void", "}"])
        start, end = (0, last) if loop.direction > 0 else (last, 0)
        steps: list[str] = []
        for k in range(len(loop.steps)):
            steps += [f"step{k}:", f"  call void @{name}.step{k}({arguments}, i64 %item)", "  br label %done"]
        if len(loop.steps) == 1:
            choice = ["  br label %step0"]
        else:
            cases = " ".join(f"i64 {k}, label %step{k}" for k in range(len(loop.steps)))
            choice = [*self.index(KINDS), f"  switch i64 %index.{KINDS}, label %done [ {cases} ]"]
        return "\n".join(
            [
                head,
                "  br label %next",
                "next:",
                f"  %item = phi i64 [ {start}, %0 ], [ %after, %done ]",
                *choice,
                *steps,
                "done:",
                f"  %last = icmp eq i64 %item, {end}",
                f"  %after = add i64 %item, {loop.direction}",
                "  br i1 %last, label %end, label %next",
                "end:",
                "  ret void",
                "}",
            ]
        )
