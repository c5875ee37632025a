"""An expression of a loop function as LLVM instructions, with the meaning that Python gives it.

Numbers are IEEE doubles, never contracted or reordered, so compiled code gives the bits of the reference. `and`, `or`
and `a if b else c` evaluate what Python evaluates. Indices are in range and not negative, but for a constant −1.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite.ir as ir

from kinpair.compiler.loops.calls import called
from kinpair.compiler.loops.kinds import (
    BIT,
    DOUBLE,
    INTEGER,
    INTEGERS,
    MATRIX,
    REAL,
    TRUTH,
    VECTOR,
    WORD,
    AnyKind,
    Kind,
    Place,
    Record,
    Signature,
    Value,
)

COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
ARITHMETIC = {ast.Add: ("fadd", "add"), ast.Sub: ("fsub", "sub"), ast.Mult: ("fmul", "mul")}
BITWISE = {ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor", ast.LShift: "shl", ast.RShift: "ashr"}


@dataclass(frozen=True, slots=True, eq=False)
class Variable:
    """A local name: its kind and the memory of its parts, or the parts themselves where they never change."""

    kind: AnyKind
    slots: tuple[Any, ...]
    constant: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Expressions:
    """Writes expressions of one function at the end of its current block."""

    place: Place
    names: Mapping[str, Any]
    builder: ir.IRBuilder
    variables: dict[str, Variable]
    link: Callable[[Callable[..., Any]], tuple[ir.Function, Signature]]

    def value(self, node: ast.expr) -> Value:
        """Write an expression and return its value."""
        write = WRITERS.get(type(node))
        if write is None:
            raise self.place.error(
                node, f"{ast.unparse(node)!r} has no translation; see docs/compiler.md for what has one"
            )
        return write(self, node)

    # scalars of a kind

    def real(self, node: ast.expr) -> Any:
        """Write an expression and return its value as a double; whole numbers are converted."""
        return self.converted(self.value(node), REAL, node).one

    def whole(self, node: ast.expr) -> Any:
        """Write an expression that is a whole number and return its value."""
        return self.converted(self.value(node), INTEGER, node).one

    def truth(self, node: ast.expr) -> Any:
        """Write a condition and return its value."""
        return self.converted(self.value(node), TRUTH, node).one

    def converted(self, value: Value, kind: AnyKind, node: ast.AST) -> Value:
        """Convert a value to a kind; only a whole number becomes a double without a call."""
        if value.kind == kind:
            return value
        if value.kind == INTEGER and kind == REAL:
            return Value(REAL, (self.builder.sitofp(value.one, DOUBLE),))
        expected, found = (getattr(x, "word", "Callable") for x in (kind, value.kind))
        raise self.place.error(node, f"{ast.unparse(node)!r} is of kind {found}; expected {expected}")

    # leaves

    def constant(self, node: ast.Constant) -> Value:
        return self.literal(node.value, node)

    def literal(self, number: Any, node: ast.AST) -> Value:
        """Write a constant of Python."""
        for kind, python in ((TRUTH, bool), (INTEGER, int), (REAL, float)):
            if isinstance(number, python):
                return Value(kind, (ir.Constant(kind.parts[0], python(number)),))
        raise self.place.error(
            node, f"{ast.unparse(node)!r} is a {type(number).__name__}; only numbers are constants"
        )

    def name(self, node: ast.Name) -> Value:
        variable = self.variables.get(node.id)
        if variable is not None:
            return self._read(variable, variable.kind, slice(None))
        if node.id not in self.names:
            raise self.place.error(node, f"{node.id!r} is used before it is assigned")
        return self.literal(self.names[node.id], node)

    def attribute(self, node: ast.Attribute) -> Value:
        known = self.python(node)
        if known is not None:
            return self.literal(known, node)
        variable = self.variables.get(node.value.id) if isinstance(node.value, ast.Name) else None
        record = variable.kind if variable is not None else None
        if variable is not None and isinstance(record, Record) and (field := record.field(node.attr)):
            return self._read(variable, *field)
        if node.attr == "size":
            return Value(INTEGER, (self.sizes(node.value)[0],))
        raise self.place.error(
            node, f"{ast.unparse(node)!r} has no translation; arrays have .size and .shape[k]"
        )

    def _read(self, variable: Variable, kind: AnyKind, which: slice) -> Value:
        """Return a local name, or the parts of one that make a field."""
        slots = variable.slots[which]
        if variable.constant:
            return Value(kind, slots)
        parts = zip(slots, kind.parts, strict=True)
        return Value(kind, tuple(self.builder.load(slot, typ=part) for slot, part in parts))

    def python(self, node: ast.expr) -> Any:
        """Return the object of Python that a global name or an attribute of one stands for, or None."""
        match node:
            case ast.Name(id=name) if name not in self.variables:
                return self.names.get(name)
            case ast.Attribute(value=owner, attr=attribute):
                return getattr(self.python(owner), attribute, None)
            case _:
                return None

    # operations

    def binary(self, node: ast.BinOp) -> Value:
        left, right, how = self.value(node.left), self.value(node.right), type(node.op)
        both_whole = left.kind == right.kind == INTEGER
        if how in ARITHMETIC:
            real, whole = ARITHMETIC[how]
            if both_whole:
                return Value(INTEGER, (getattr(self.builder, whole)(left.one, right.one),))
            return Value(REAL, (getattr(self.builder, real)(*self._reals(node, left, right)),))
        if how is ast.Div:
            return Value(REAL, (self.builder.fdiv(*self._reals(node, left, right)),))
        if both_whole and how in (ast.FloorDiv, ast.Mod):
            return Value(INTEGER, (self._floor(how, left.one, right.one),))
        if both_whole and how in BITWISE:
            return Value(INTEGER, (getattr(self.builder, BITWISE[how])(left.one, right.one),))
        raise self.place.error(node, f"{ast.unparse(node)!r} has no translation; write powers as products")

    def _reals(self, node: ast.BinOp, left: Value, right: Value) -> tuple[Any, Any]:
        return self.converted(left, REAL, node.left).one, self.converted(right, REAL, node.right).one

    def _floor(self, how: type[ast.operator], a: Any, b: Any) -> Any:
        """Write a // b or a % b with Python's signs: the quotient is rounded down."""
        builder, zero = self.builder, ir.Constant(WORD, 0)
        quotient, rest = builder.sdiv(a, b), builder.srem(a, b)
        opposite = builder.icmp_signed("<", builder.xor(rest, b), zero)
        down = builder.and_(builder.icmp_signed("!=", rest, zero), opposite)
        if how is ast.Mod:
            return builder.select(down, builder.add(rest, b), rest)
        return builder.sub(quotient, builder.zext(down, WORD))

    def unary(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return Value(TRUTH, (self.builder.not_(self.truth(node.operand)),))
        value = self.value(node.operand)
        if isinstance(node.op, ast.USub) and value.kind in (REAL, INTEGER):
            negate = self.builder.fneg if value.kind == REAL else self.builder.neg
            return Value(value.kind, (negate(value.one),))
        raise self.place.error(node, f"{ast.unparse(node)!r} has no translation")

    def comparison(self, node: ast.Compare) -> Value:
        operands = [self.value(x) for x in (node.left, *node.comparators)]
        result: Any = None
        for how, left, right in zip(node.ops, operands, operands[1:], strict=False):
            if type(how) not in COMPARISONS:
                raise self.place.error(node, f"{ast.unparse(node)!r} has no translation; compare numbers")
            holds = self._compare(COMPARISONS[type(how)], left, right, node)
            result = holds if result is None else self.builder.and_(result, holds)
        return Value(TRUTH, (result,))

    def _compare(self, how: str, left: Value, right: Value, node: ast.Compare) -> Any:
        if left.kind == right.kind and left.kind in (INTEGER, TRUTH):
            return self.builder.icmp_signed(how, left.one, right.one)
        a, b = (self.converted(x, REAL, node).one for x in (left, right))
        compare = self.builder.fcmp_unordered if how == "!=" else self.builder.fcmp_ordered
        return compare(how, a, b)

    def logical(self, node: ast.BoolOp) -> Value:
        first, *others = node.values
        value = self.truth(first)
        stops = isinstance(node.op, ast.Or)  # the value at which the other conditions are not evaluated
        for other in others:
            before, more, end = self.builder.block, self._block(), self._block()
            self.builder.cbranch(value, *((end, more) if stops else (more, end)))
            self.builder.position_at_end(more)
            last = self.truth(other)
            branches = [(before, (ir.Constant(BIT, stops),)), (self.builder.block, (last,))]
            (value,) = self._joined(end, (BIT,), branches)
        return Value(TRUTH, (value,))

    def choice(self, node: ast.IfExp) -> Value:
        yes, no, end = (self._block() for _ in range(3))
        self.builder.cbranch(self.truth(node.test), yes, no)
        branches: list[tuple[Any, Value]] = []
        for block, expression in ((yes, node.body), (no, node.orelse)):
            self.builder.position_at_end(block)
            value = self.value(expression)
            branches.append((self.builder.block, value))
        kind = branches[0][1].kind if branches[0][1].kind == branches[1][1].kind else REAL
        converted: list[tuple[Any, Sequence[Any]]] = []
        for block, value in branches:
            self.builder.position_at_end(block)
            converted.append((block, self.converted(value, kind, node).parts))
        return Value(kind, self._joined(end, kind.parts, converted))

    def _joined(
        self, end: Any, kinds: Sequence[ir.Type], branches: Sequence[tuple[Any, Sequence[Any]]]
    ) -> tuple[Any, ...]:
        """Return the parts of whichever branch was taken, in the block where they join."""
        for block, _ in branches:
            if not block.is_terminated:
                self.builder.position_at_end(block)
                self.builder.branch(end)
        self.builder.position_at_end(end)
        phis = tuple(self.builder.phi(kind) for kind in kinds)
        for block, parts in branches:
            for phi, part in zip(phis, parts, strict=True):
                phi.add_incoming(part, block)
        return phis

    def _block(self) -> Any:
        return self.builder.append_basic_block()

    # arrays

    def sizes(self, node: ast.expr) -> tuple[Any, ...]:
        """Return the sizes of an array."""
        value = self.value(node)
        if value.kind not in (VECTOR, MATRIX, INTEGERS):
            raise self.place.error(node, f"{ast.unparse(node)!r} is not an array")
        return value.parts[1:3] if value.kind == MATRIX else value.parts[1:]

    def subscript(self, node: ast.Subscript) -> Value:
        match node.value, node.slice:
            case ast.Attribute(value=array, attr="shape"), ast.Constant(value=int(k)):
                return Value(INTEGER, (self.sizes(array)[k],))
            case _:
                view = self.view(node)
        if isinstance(view, Value):
            return view
        address, kind = view
        scalar = REAL if kind == DOUBLE else INTEGER
        return Value(scalar, (self.builder.load(address, typ=kind),))

    def view(self, node: ast.Subscript) -> Value | tuple[Any, ir.Type]:
        """Write a subscript: return a view, or the address and type of one entry."""
        array = self.value(node.value)
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if array.kind in (VECTOR, INTEGERS) and len(indices) == 1:
            return self._of_vector(array, indices[0])
        if array.kind == MATRIX and len(indices) <= 2:
            return self._of_matrix(array, [*indices, ast.Slice()][:2])
        raise self.place.error(node, f"{ast.unparse(node)!r} does not select entries of an array")

    def _of_vector(self, array: Value, index: ast.expr) -> Value | tuple[Any, ir.Type]:
        pointer, size = array.parts
        assert isinstance(array.kind, Kind)
        assert array.kind.entry is not None
        if isinstance(index, ast.Slice):
            first, count = self._range(index, size)
            return Value(array.kind, (self._at(pointer, first, array.kind.entry), count))
        return self._at(pointer, self.index(index, size), array.kind.entry), array.kind.entry

    def _of_matrix(self, array: Value, indices: Sequence[ast.expr]) -> Value | tuple[Any, ir.Type]:
        pointer, rows, columns, stride = array.parts
        row, column = indices
        top, height = self._range(row, rows) if isinstance(row, ast.Slice) else (self.index(row, rows), None)
        left, width = (
            self._range(column, columns)
            if isinstance(column, ast.Slice)
            else (self.index(column, columns), None)
        )
        corner = self.builder.add(self.builder.mul(top, stride), left)
        address = self._at(pointer, corner, DOUBLE)
        if height is not None and width is not None:
            return Value(MATRIX, (address, height, width, stride))
        if height is not None:
            raise self.place.error(column, "a column of a matrix is not contiguous; use a loop over its rows")
        return (address, DOUBLE) if width is None else Value(VECTOR, (address, width))

    def _at(self, pointer: Any, index: Any, entry: ir.Type) -> Any:
        return self.builder.gep(pointer, [index], source_etype=entry)

    def index(self, node: ast.expr, size: Any) -> Any:
        """Write an index; −1 is the last entry."""
        match node:
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(k))):
                return self.builder.sub(size, ir.Constant(WORD, k))
            case _:
                return self.whole(node)

    def _range(self, node: ast.Slice, size: Any) -> tuple[Any, Any]:
        """Return the first index and the number of entries of a slice."""
        if node.step is not None:
            raise self.place.error(node, "a slice with a step is not contiguous; use a loop")
        first = ir.Constant(WORD, 0) if node.lower is None else self.index(node.lower, size)
        last = size if node.upper is None else self.index(node.upper, size)
        return first, self.builder.sub(last, first)

    # calls

    def call(self, node: ast.Call) -> Value:
        results = called(self, node)
        if len(results) != 1:
            raise self.place.error(node, f"{ast.unparse(node)!r} returns {len(results)} values; expected 1")
        return results[0]


WRITERS: Mapping[type[ast.expr], Callable[[Expressions, Any], Value]] = {
    ast.Constant: Expressions.constant,
    ast.Name: Expressions.name,
    ast.Attribute: Expressions.attribute,
    ast.BinOp: Expressions.binary,
    ast.UnaryOp: Expressions.unary,
    ast.Compare: Expressions.comparison,
    ast.BoolOp: Expressions.logical,
    ast.IfExp: Expressions.choice,
    ast.Subscript: Expressions.subscript,
    ast.Call: Expressions.call,
}
