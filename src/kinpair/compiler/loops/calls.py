"""Calls in a loop function: other loop functions, functions of the C library, and Python's own."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import llvmlite.ir as ir

from kinpair.compiler.loops.kinds import (
    DOUBLE,
    INTEGER,
    MATRIX,
    REAL,
    TRUTH,
    VECTOR,
    WORD,
    AnyKind,
    Record,
    Signature,
    Value,
    record_of,
)

if TYPE_CHECKING:
    from kinpair.compiler.loops.expressions import Expressions

INTRINSICS = {math.sqrt: "llvm.sqrt", math.copysign: "llvm.copysign", abs: "llvm.fabs"}
LIBRARY = {f: f.__name__ for f in (math.exp, math.log, math.sin, math.cos, math.atan2, math.hypot)}


def called(writer: Expressions, node: ast.Call) -> tuple[Value, ...]:
    """Write a call and return its results."""
    if node.keywords:
        raise writer.place.error(node, f"{ast.unparse(node)!r}: arguments of calls are positional")
    match node.func:
        case ast.Attribute(value=array, attr="reshape"):
            return (_reshaped(writer, array, node),)
        case ast.Name(id=name) if name in writer.variables:
            return _function(writer, writer.value(node.func), node)
        case _:
            function = writer.python(node.func)
    if function is None and isinstance(node.func, ast.Name):
        function = BUILTINS.get(node.func.id)
    if function in SPECIAL:
        return (SPECIAL[function](writer, node),)
    if function in INTRINSICS or function in LIBRARY:
        return (_library(writer, function, [writer.real(x) for x in node.args]),)
    if record := record_of(function):
        return (_record(writer, record, node),)
    if not callable(function) or isinstance(function, type):
        raise writer.place.error(node, f"{ast.unparse(node.func)!r} has no translation")
    linked, signature = writer.link(function)
    return _function(writer, Value(signature, (linked,)), node)


def _function(writer: Expressions, function: Value, node: ast.Call) -> tuple[Value, ...]:
    """Write a call of another loop function, or of an argument that is one."""
    signature = function.kind
    if not isinstance(signature, Signature) or len(signature.arguments) != len(node.args):
        raise writer.place.error(
            node, f"{ast.unparse(node)!r} does not fit the arguments of {ast.unparse(node.func)!r}"
        )
    arguments = [
        part
        for kind, argument in zip(signature.arguments, node.args, strict=True)
        for part in _argument(writer, argument, kind).parts
    ]
    target = function.one if isinstance(function.one, ir.Function) else _Pointer(function.one, signature.type)
    result = writer.builder.call(target, arguments)
    if len(signature.results) < 2:
        return tuple(Value(kind, (result,)) for kind in signature.results)
    parts = enumerate(signature.results)
    return tuple(Value(kind, (writer.builder.extract_value(result, k),)) for k, kind in parts)


def _argument(writer: Expressions, node: ast.expr, kind: AnyKind) -> Value:
    """Write an argument of a call; a function is passed on by its name."""
    if not isinstance(kind, Signature) or (isinstance(node, ast.Name) and node.id in writer.variables):
        return writer.converted(writer.value(node), kind, node)
    function = writer.python(node)
    if not callable(function):
        raise writer.place.error(node, f"{ast.unparse(node)!r} is not a function")
    linked, signature = writer.link(function)
    if signature != kind:
        raise writer.place.error(
            node, f"{ast.unparse(node)!r} has other arguments or results than the annotation names"
        )
    return Value(kind, (linked,))


def _record(writer: Expressions, record: Record, node: ast.Call) -> Value:
    """Write a record made of its fields."""
    if len(node.args) != len(record.fields):
        raise writer.place.error(node, f"{record.word} has {len(record.fields)} fields, not {len(node.args)}")
    values = [
        writer.converted(writer.value(x), kind, x)
        for x, (_, kind) in zip(node.args, record.fields, strict=True)
    ]
    return Value(record, tuple(part for value in values for part in value.parts))


def _library(writer: Expressions, function: Any, arguments: list[Any]) -> Value:
    """Write a call of a function of the C library, or an instruction of the processor."""
    kinds = ir.FunctionType(DOUBLE, [DOUBLE] * len(arguments))
    module = writer.builder.module
    if function in INTRINSICS:
        target = module.declare_intrinsic(INTRINSICS[function], [DOUBLE], kinds)
    else:
        name = LIBRARY[function]
        target = module.globals.get(name) or ir.Function(module, kinds, name)
    return Value(REAL, (writer.builder.call(target, arguments),))


def _reshaped(writer: Expressions, array: ast.expr, node: ast.Call) -> Value:
    """Write a vector as a matrix of (rows, columns)."""
    pointer, _ = writer.converted(writer.value(array), VECTOR, array).parts
    rows, columns = (writer.whole(x) for x in node.args)
    return Value(MATRIX, (pointer, rows, columns, columns))


def _length(writer: Expressions, node: ast.Call) -> Value:
    return Value(INTEGER, (writer.sizes(node.args[0])[0],))


def _magnitude(writer: Expressions, node: ast.Call) -> Value:
    value, builder = writer.value(node.args[0]), writer.builder
    if value.kind == INTEGER:
        negative = builder.icmp_signed("<", value.one, ir.Constant(WORD, 0))
        return Value(INTEGER, (builder.select(negative, builder.neg(value.one), value.one),))
    return _library(writer, abs, [writer.converted(value, REAL, node.args[0]).one])


def _smallest(writer: Expressions, node: ast.Call) -> Value:
    return _extreme(writer, node, "<")


def _largest(writer: Expressions, node: ast.Call) -> Value:
    return _extreme(writer, node, ">")


def _extreme(writer: Expressions, node: ast.Call, how: str) -> Value:
    """Write Python's min or max: the first argument, unless a later one is smaller or larger."""
    values = [writer.value(x) for x in node.args]
    kind = INTEGER if all(x.kind == INTEGER for x in values) else REAL
    best, *others = (writer.converted(x, kind, node).one for x in values)
    compare = writer.builder.icmp_signed if kind == INTEGER else writer.builder.fcmp_ordered
    for other in others:
        best = writer.builder.select(compare(how, other, best), other, best)
    return Value(kind, (best,))


def _finite(writer: Expressions, node: ast.Call) -> Value:
    number = writer.real(node.args[0])
    difference = writer.builder.fsub(number, number)
    return Value(TRUTH, (writer.builder.fcmp_ordered("==", difference, ir.Constant(DOUBLE, 0.0)),))


def _not_a_number(writer: Expressions, node: ast.Call) -> Value:
    number = writer.real(node.args[0])
    return Value(TRUTH, (writer.builder.fcmp_unordered("!=", number, number),))


def _to_real(writer: Expressions, node: ast.Call) -> Value:
    return Value(REAL, (writer.real(node.args[0]),))


def _to_integer(writer: Expressions, node: ast.Call) -> Value:
    value, builder = writer.value(node.args[0]), writer.builder
    if value.kind == TRUTH:
        return Value(INTEGER, (builder.zext(value.one, WORD),))
    return value if value.kind == INTEGER else Value(INTEGER, (builder.fptosi(value.one, WORD),))


@dataclass(frozen=True, slots=True)
class _Pointer:
    """A function known by its address, as llvmlite's call expects it."""

    value: Any
    function_type: ir.FunctionType

    def get_reference(self) -> str:
        """Return the name of the address in LLVM text."""
        return self.value.get_reference()


BUILTINS: Mapping[str, Any] = {f.__name__: f for f in (len, abs, min, max, float, int)}
SPECIAL: Mapping[Any, Callable[[Expressions, ast.Call], Value]] = {
    len: _length,
    abs: _magnitude,
    min: _smallest,
    max: _largest,
    float: _to_real,
    int: _to_integer,
    math.isfinite: _finite,
    math.isnan: _not_a_number,
}
