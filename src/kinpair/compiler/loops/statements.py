"""The body of a loop function as LLVM instructions.

A local name has one kind, that of its first assignment. Its memory begins as zero; LLVM turns it into registers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import llvmlite.ir as ir

from kinpair.compiler.loops.calls import called
from kinpair.compiler.loops.expressions import Expressions, Variable
from kinpair.compiler.loops.kinds import (
    DOUBLE,
    INTEGER,
    INTEGERS,
    MATRIX,
    REAL,
    WORD,
    AnyKind,
    Kind,
    Value,
)


@dataclass(frozen=True, slots=True, eq=False)
class Statements:
    """Writes the statements of one function."""

    expressions: Expressions
    results: tuple[Kind, ...]
    entry: ir.IRBuilder
    loops: list[tuple[Any, Any]] = field(default_factory=list[tuple[Any, Any]])
    """For each loop around a statement: where `continue` goes, where `break` goes."""

    @property
    def builder(self) -> ir.IRBuilder:
        """The end of the code written so far."""
        return self.expressions.builder

    @property
    def ended(self) -> bool:
        """True if the current block ends with a jump."""
        return bool(self.builder.block and self.builder.block.is_terminated)

    def all(self, body: Sequence[ast.stmt]) -> None:
        """Write statements; what follows a jump in the same block is never reached."""
        for node in body:
            if self.ended:
                return
            write = WRITERS.get(type(node))
            if write is None:
                raise self.expressions.place.error(
                    node, f"the statement {ast.unparse(node).splitlines()[0]!r} has no translation"
                )
            write(self, node)

    # assignments

    def assign(self, node: ast.Assign) -> None:
        if len(node.targets) != 1:
            raise self.expressions.place.error(node, "assign one target at a time")
        target = node.targets[0]
        if not isinstance(target, ast.Tuple):
            self._store(target, self.expressions.value(node.value))
            return
        for one, value in zip(target.elts, self._several(node.value, len(target.elts)), strict=True):
            self._store(one, value)

    def _several(self, node: ast.expr, count: int) -> Sequence[Value]:
        """Write the values of a tuple, or the results of a call."""
        values: Sequence[Value] = ()
        if isinstance(node, ast.Tuple):
            values = [self.expressions.value(x) for x in node.elts]
        elif isinstance(node, ast.Call):
            values = called(self.expressions, node)
        if len(values) != count:
            raise self.expressions.place.error(node, f"{ast.unparse(node)!r} does not give {count} values")
        return values

    def add_to(self, node: ast.AugAssign) -> None:
        read: Any = ast.parse(ast.unparse(node.target), mode="eval").body
        value = ast.BinOp(left=read, op=node.op, right=node.value)
        ast.copy_location(value, node)
        self._store(node.target, self.expressions.value(ast.fix_missing_locations(value)))

    def declare(self, node: ast.AnnAssign) -> None:
        if node.value is None:
            raise self.expressions.place.error(node, "a name is declared with its first value")
        self._store(node.target, self.expressions.value(node.value))

    def _store(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name():
                self.set(target, value)
            case ast.Subscript():
                self._store_entries(target, value)
            case _:
                raise self.expressions.place.error(target, f"{ast.unparse(target)!r} cannot be assigned")

    def set(self, target: ast.Name, value: Value) -> None:
        """Write a local name, made at its first assignment."""
        variables = self.expressions.variables
        if target.id not in variables:
            variables[target.id] = self.new(value.kind)
        variable = variables[target.id]
        if variable.kind == INTEGER and value.kind == REAL:
            raise self.expressions.place.error(
                target, f"{target.id!r} is a whole number; begin with a float, such as 0.0"
            )
        value = self.expressions.converted(value, variable.kind, target)
        for part, slot in zip(value.parts, variable.slots, strict=True):
            self.builder.store(part, slot)

    def new(self, kind: AnyKind) -> Variable:
        """Reserve the memory of a local name, at the beginning of the function."""
        slots: list[Any] = []
        for part in kind.parts:
            slot = self.entry.alloca(part)
            self.entry.store(ir.Constant(part, None), slot)
            slots.append(slot)
        return Variable(kind, tuple(slots))

    def _store_entries(self, target: ast.Subscript, value: Value) -> None:
        view = self.expressions.view(target)
        if not isinstance(view, Value):
            address, entry = view
            kind = REAL if entry == DOUBLE else INTEGER
            self.builder.store(self.expressions.converted(value, kind, target).one, address)
            return
        if value.kind == view.kind:
            self._copy(view, value)
            return
        kind = INTEGER if view.kind == INTEGERS else REAL
        self._fill(view, self.expressions.converted(value, kind, target).one)

    def _fill(self, view: Value, number: Any) -> None:
        self._each(view, lambda pointers: self.builder.store(number, pointers[0]))

    def _copy(self, view: Value, source: Value) -> None:
        entry = WORD if view.kind == INTEGERS else DOUBLE
        self._each(
            view,
            lambda pointers: self.builder.store(self.builder.load(pointers[1], typ=entry), pointers[0]),
            source,
        )

    def _each(self, view: Value, write: Callable[[list[Any]], Any], *sources: Value) -> None:
        """Visit every entry of a view, with the same entry of the sources."""
        entry = WORD if view.kind == INTEGERS else DOUBLE
        zero = ir.Constant(WORD, 0)
        matrix = view.kind == MATRIX
        rows, columns = view.parts[1:3] if matrix else (ir.Constant(WORD, 1), view.parts[1])

        def visit(i: Any, j: Any) -> None:
            offsets = [
                self.builder.add(self.builder.mul(i, x.parts[3]), j) if matrix else j
                for x in (view, *sources)
            ]
            pairs = zip((view, *sources), offsets, strict=True)
            write([self.builder.gep(x.parts[0], [k], source_etype=entry) for x, k in pairs])

        self.count(zero, rows, 1, lambda i: self.count(zero, columns, 1, lambda j: visit(i, j)))

    # branches

    def branch(self, node: ast.If) -> None:
        yes, no, end = (self.builder.append_basic_block() for _ in range(3))
        self.builder.cbranch(self.expressions.truth(node.test), yes, no)
        for block, body in ((yes, node.body), (no, node.orelse)):
            self.builder.position_at_end(block)
            self.all(body)
            self._to(end)
        self.builder.position_at_end(end)

    def _to(self, block: Any) -> None:
        if not self.ended:
            self.builder.branch(block)

    # loops

    def repeat(self, node: ast.While) -> None:
        if node.orelse:
            raise self.expressions.place.error(node, "`while ... else` has no translation")
        head, body, end = (self.builder.append_basic_block() for _ in range(3))
        self.builder.branch(head)
        self.builder.position_at_end(head)
        self.builder.cbranch(self.expressions.truth(node.test), body, end)
        self._body(body, head, end, node.body)

    def _body(self, body: Any, again: Any, end: Any, statements: Sequence[ast.stmt]) -> None:
        self.builder.position_at_end(body)
        self.loops.append((again, end))
        self.all(statements)
        self.loops.pop()
        self._to(again)
        self.builder.position_at_end(end)

    def iterate(self, node: ast.For) -> None:
        match node:
            case ast.For(
                target=ast.Name() as name, iter=ast.Call(func=ast.Name(id="range"), args=bounds), orelse=[]
            ):
                pass
            case _:
                raise self.expressions.place.error(node, "only `for NAME in range(...)` has a translation")
        step = 1
        if len(bounds) == 3:
            step = self._step(bounds[2])
        values = [self.expressions.whole(x) for x in bounds[:2]]
        first, last = values if len(values) == 2 else (ir.Constant(WORD, 0), values[0])
        again, end = (self.builder.append_basic_block() for _ in range(2))

        def body(i: Any) -> None:
            self.set(name, Value(INTEGER, (i,)))
            self.loops.append((again, end))
            self.all(node.body)
            self.loops.pop()

        self.count(first, last, step, body, again, end)

    def _step(self, node: ast.expr) -> int:
        try:
            step = ast.literal_eval(node)
        except ValueError:
            step = 0
        if not isinstance(step, int) or step == 0:
            raise self.expressions.place.error(node, "the step of a range is a whole number written out")
        return step

    def count(
        self,
        first: Any,
        last: Any,
        step: int,
        body: Callable[[Any], None],
        again: Any = None,
        end: Any = None,
    ) -> None:
        """Call `body` for first, first + step, ... before last."""
        head, inside = (self.builder.append_basic_block() for _ in range(2))
        again, end = (x or self.builder.append_basic_block() for x in (again, end))
        counter = self.new(INTEGER).slots[0]
        self.builder.store(first, counter)
        self.builder.branch(head)
        self.builder.position_at_end(head)
        i = self.builder.load(counter, typ=WORD)
        self.builder.cbranch(self.builder.icmp_signed("<" if step > 0 else ">", i, last), inside, end)
        self.builder.position_at_end(inside)
        body(i)
        self._to(again)
        self.builder.position_at_end(again)
        self.builder.store(self.builder.add(i, ir.Constant(WORD, step)), counter)
        self.builder.branch(head)
        self.builder.position_at_end(end)

    def leave(self, node: ast.Break) -> None:
        self.builder.branch(self.loops[-1][1])

    def next(self, node: ast.Continue) -> None:
        self.builder.branch(self.loops[-1][0])

    # the end

    def give(self, node: ast.Return) -> None:
        if node.value is None or not self.results:
            if node.value is not None or self.results:
                raise self.expressions.place.error(node, f"the function returns {len(self.results)} values")
            self.builder.ret_void()
            return
        values = (
            [self.expressions.value(node.value)]
            if len(self.results) == 1
            else self._several(node.value, len(self.results))
        )
        parts = [
            self.expressions.converted(x, kind, node).one
            for x, kind in zip(values, self.results, strict=True)
        ]
        if len(parts) == 1:
            self.builder.ret(parts[0])
            return
        result: Any = ir.Constant(self.builder.function.ftype.return_type, ir.Undefined)
        for k, part in enumerate(parts):
            result = self.builder.insert_value(result, part, k)
        self.builder.ret(result)

    def evaluate(self, node: ast.Expr) -> None:
        """Write a call for its effect, or skip a docstring."""
        if isinstance(node.value, ast.Call):
            called(self.expressions, node.value)
        elif not isinstance(node.value, ast.Constant):
            raise self.expressions.place.error(node, f"{ast.unparse(node)!r} has no effect")

    def nothing(self, node: ast.Pass) -> None:
        pass


WRITERS: Mapping[type[ast.stmt], Callable[[Statements, Any], None]] = {
    ast.Assign: Statements.assign,
    ast.AugAssign: Statements.add_to,
    ast.AnnAssign: Statements.declare,
    ast.If: Statements.branch,
    ast.While: Statements.repeat,
    ast.For: Statements.iterate,
    ast.Break: Statements.leave,
    ast.Continue: Statements.next,
    ast.Return: Statements.give,
    ast.Expr: Statements.evaluate,
    ast.Pass: Statements.nothing,
}
