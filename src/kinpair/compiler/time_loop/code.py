"""Writing the LLVM text of a function that has loops: names, branches and whole vectors at a time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import Any

from kinpair.compiler.loops.functions import signature_of
from kinpair.compiler.target import ATTRIBUTES, Form

UNROLLED = 16  # entries that are worth no loop


@dataclass(frozen=True, slots=True)
class OpenLoop:
    """A loop being written; `leave` ends it where a condition holds."""

    code: Code
    end: str

    def leave(self, condition: str) -> None:
        """End the loop if the condition holds."""
        stay = self.code.new("stay")[1:]
        self.code.do(f"br i1 {condition}, label %{self.end}, label %{stay}")
        self.code.label(stay)


class Code:
    """Lines of one function. A value is a name; `wide` is the vector in which whole arrays are worked on."""

    def __init__(self, form: Form, width: int) -> None:
        self.form, self.lanes = form, form.lanes
        self.width = form.lanes if form.lanes > 1 else width
        self.number = form.real.llvm
        self.wide = f"<{self.width} x {self.number}>"
        self.suffix = f"v{self.width}{form.real.suffix}"
        self.lines: list[str] = []
        self.here = "start"
        self.loops: list[Callable[..., Any]] = []
        self._count = 0

    def function(self, name: str, parameters: Sequence[str]) -> str:
        """The finished text."""
        head = f"define internal void @{name}({', '.join(parameters)}) {ATTRIBUTES} noinline {{"
        return "\n".join([head, "start:", *self.lines, "  ret void", "}"])

    # lines

    def new(self, hint: str = "x") -> str:
        """A name not used before."""
        self._count += 1
        return f"%{hint}.{self._count}"

    def do(self, line: str) -> None:
        """An instruction without result."""
        self.lines.append(f"  {line}")

    def op(self, text: str, hint: str = "x") -> str:
        """An instruction with a result, whose name is returned."""
        name = self.new(hint)
        self.do(f"{name} = {text}")
        return name

    def label(self, name: str) -> None:
        """A place to jump to."""
        self.lines.append(f"{name}:")
        self.here = name

    # branches

    @contextmanager
    def loop(self, count: str | int) -> Generator[str]:
        """Write a loop for i = 0, 1, ... below count."""
        head, body, end = (self.new(x)[1:] for x in ("head", "body", "end"))
        before = self.here
        self.do(f"br label %{head}")
        self.label(head)
        i, after = self.new("i"), self.new("next")
        at = len(self.lines)
        self.lines.append("")
        more = self.op(f"icmp slt i64 {i}, {count}")
        self.do(f"br i1 {more}, label %{body}, label %{end}")
        self.label(body)
        yield i
        self.do(f"{after} = add i64 {i}, 1")
        self.lines[at] = f"  {i} = phi i64 [ 0, %{before} ], [ {after}, %{self.here} ]"
        self.do(f"br label %{head}")
        self.label(end)

    @contextmanager
    def forever(self) -> Generator[OpenLoop]:
        """Again and again, until `leave`."""
        head, end = self.new("again")[1:], self.new("done")[1:]
        self.do(f"br label %{head}")
        self.label(head)
        yield OpenLoop(self, end)
        self.do(f"br label %{head}")
        self.label(end)

    @contextmanager
    def when(self, condition: str) -> Generator[None]:
        """Only if the condition holds."""
        then, end = self.new("then")[1:], self.new("end")[1:]
        self.do(f"br i1 {condition}, label %{then}, label %{end}")
        self.label(then)
        yield
        self.do(f"br label %{end}")
        self.label(end)

    # plain numbers

    def real(self, value: float) -> str:
        """Write a constant number."""
        return self.form.real.literal(value)

    def float(self, operation: str, a: str, b: str) -> str:
        """A sum, product, ... of two numbers."""
        return self.op(f"{operation} contract {self.number} {a}, {b}")

    def at(self, array: str, place: str | int) -> str:
        """Pointer to entry `place` of an array of numbers."""
        return self.op(f"getelementptr {self.number}, ptr {array}, i64 {place}", "at")

    def get(self, array: str, place: str | int) -> str:
        """Entry `place` of an array of numbers."""
        return self.op(f"load {self.number}, ptr {self.at(array, place)}")

    def set(self, value: str, array: str, place: str | int) -> None:
        """Write entry `place` of an array of numbers."""
        self.do(f"store {self.number} {value}, ptr {self.at(array, place)}")

    def integer(self, value: str) -> str:
        """A number as a whole one."""
        return self.op(f"fptosi {self.number} {value} to i64")

    def whole(self, value: str) -> str:
        """A whole number as a number."""
        return self.op(f"sitofp i64 {value} to {self.number}")

    def smaller(self, a: str, b: str) -> str:
        """The smaller of two numbers."""
        less = self.op(f"fcmp olt {self.number} {a}, {b}")
        return self.op(f"select i1 {less}, {self.number} {a}, {self.number} {b}")

    def larger(self, a: str, b: str) -> str:
        """The larger of two numbers."""
        less = self.op(f"fcmp olt {self.number} {a}, {b}")
        return self.op(f"select i1 {less}, {self.number} {b}, {self.number} {a}")

    # conditions

    def compare(self, how: str, a: str, b: str | float = 0.0) -> str:
        """A condition on two numbers."""
        other = self.real(b) if isinstance(b, float) else b
        return self.op(f"fcmp {how} {self.number} {a}, {other}")

    def both(self, *conditions: str) -> str:
        """Write whether all conditions are true."""
        return reduce(lambda a, b: self.op(f"and i1 {a}, {b}"), conditions)

    def either(self, *conditions: str) -> str:
        """Write whether one condition is true."""
        return reduce(lambda a, b: self.op(f"or i1 {a}, {b}"), conditions)

    def no(self, condition: str) -> str:
        """Write whether a condition is false."""
        return self.op(f"xor i1 {condition}, true")

    def choice(self, condition: str, a: str, b: str) -> str:
        """Choose one of two numbers."""
        return self.op(f"select i1 {condition}, {self.number} {a}, {self.number} {b}")

    # loop functions

    def view(self, array: str, size: int) -> str:
        """Return an array as an argument of a loop function."""
        return f"ptr {array}, i64 {size}"

    def run(self, function: Callable[..., Any], *arguments: str) -> str:
        """Write a call of a loop function; return its result if it has one."""
        if function not in self.loops:
            self.loops.append(function)
        signature = signature_of(function)
        call = f"call {signature.type.return_type} @{function.__name__}({', '.join(arguments)})"
        if signature.results:
            return self.op(call)
        self.do(call)
        return ""

    @property
    def declared_loops(self) -> list[str]:
        """Declarations of the loop functions that are called; they are linked with the module."""
        types = {x.__name__: signature_of(x).type for x in self.loops}
        return [
            f"declare {x.return_type} @{name}({', '.join(map(str, x.args))})" for name, x in types.items()
        ]

    # whole vectors

    def vectors(self, size: int) -> int:
        """Number of wide vectors of an array of `size` values."""
        return size if self.lanes > 1 else -(-size // self.width)

    def over(self, size: int) -> Iterator[str]:
        """Each wide vector of an array of `size` values: a few one after the other, many in a loop."""
        count = self.vectors(size)
        if self.lanes == 1 and count * self.width <= UNROLLED:
            yield from map(str, range(count))
            return
        with self.loop(count) as k:
            yield k

    def splat(self, value: str) -> str:
        """A number in every place of a wide vector."""
        one = self.op(f"insertelement {self.wide} undef, {self.number} {value}, i32 0")
        zeros = f"<{self.width} x i32> zeroinitializer"
        return self.op(f"shufflevector {self.wide} {one}, {self.wide} undef, {zeros}")

    def load(self, array: str, k: str | int) -> str:
        """Wide vector k of an array."""
        at = self.op(f"getelementptr {self.wide}, ptr {array}, i64 {k}", "at")
        return self.op(f"load {self.wide}, ptr {at}, align {self.width * self.form.real.size}")

    def store(self, value: str, array: str, k: str | int) -> None:
        """Write wide vector k of an array."""
        at = self.op(f"getelementptr {self.wide}, ptr {array}, i64 {k}", "at")
        self.do(f"store {self.wide} {value}, ptr {at}, align {self.width * self.form.real.size}")

    def each(self, operation: str, a: str, b: str) -> str:
        """A sum, product, ... of two wide vectors."""
        return self.op(f"{operation} contract {self.wide} {a}, {b}")

    def total(self, vector: str) -> str:
        """The sum of a wide vector's entries, in a fixed order."""
        first = f"{self.number} {self.real(0.0)}"
        reduce = f"@llvm.vector.reduce.fadd.{self.suffix}"
        return self.op(f"call {self.number} {reduce}({first}, {self.wide} {vector})")

    def copy(self, source: str, target: str, size: int) -> None:
        """A whole array."""
        for k in self.over(size):
            self.store(self.load(source, k), target, k)
