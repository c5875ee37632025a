"""Kinds of values in a loop function, and the LLVM types of their parts.

A view is a pointer with its sizes; a matrix also has its stride, the number of entries from one row to the next. Rows
are contiguous.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import llvmlite.ir as ir
import numpy as np

from kinpair.errors import TraceError

Vector = np.ndarray
Matrix = np.ndarray
Integers = np.ndarray

DOUBLE, WORD, BIT, POINTER = ir.DoubleType(), ir.IntType(64), ir.IntType(1), ir.PointerType()


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value: the word of its annotation, its LLVM parts, and the type of the entries of a view."""

    word: str
    parts: tuple[ir.Type, ...]
    entry: ir.Type | None = None


REAL = Kind("float", (DOUBLE,))
INTEGER = Kind("int", (WORD,))
TRUTH = Kind("bool", (BIT,))
VECTOR = Kind("Vector", (POINTER, WORD), DOUBLE)
MATRIX = Kind("Matrix", (POINTER, WORD, WORD, WORD), DOUBLE)
INTEGERS = Kind("Integers", (POINTER, WORD), WORD)
NOTHING = Kind("None", ())
SCALARS = (REAL, INTEGER, TRUTH)
KINDS: Mapping[str, Kind] = {kind.word: kind for kind in (*SCALARS, VECTOR, MATRIX, INTEGERS, NOTHING)}


@dataclass(frozen=True, slots=True)
class Record:
    """Several values under names: a NamedTuple whose fields are annotated with kinds."""

    word: str
    fields: tuple[tuple[str, Kind], ...]

    @property
    def parts(self) -> tuple[ir.Type, ...]:
        """LLVM types of all fields, in order."""
        return tuple(part for _, kind in self.fields for part in kind.parts)

    def field(self, name: str) -> tuple[Kind, slice] | None:
        """Return the kind of a field and which parts it has."""
        first = 0
        for own, kind in self.fields:
            if own == name:
                return kind, slice(first, first + len(kind.parts))
            first += len(kind.parts)
        return None


@dataclass(frozen=True, slots=True)
class Signature:
    """Kinds of the arguments and of the results of a function; it is the kind of an argument that is called, too."""

    arguments: tuple[AnyKind, ...]
    results: tuple[Kind, ...]

    @property
    def parts(self) -> tuple[ir.Type, ...]:
        """LLVM types of the value itself, where a function is an argument."""
        return (POINTER,)

    @property
    def type(self) -> ir.FunctionType:
        """The LLVM type of the function."""
        taken = [part for kind in self.arguments for part in kind.parts]
        return ir.FunctionType(returned(self.results), taken)


AnyKind: TypeAlias = Kind | Record | Signature


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a kind: LLVM values of its parts."""

    kind: AnyKind
    parts: tuple[Any, ...]

    @property
    def one(self) -> Any:
        """The LLVM value of a scalar."""
        (part,) = self.parts
        return part


def returned(results: tuple[Kind, ...]) -> ir.Type:
    """Return the LLVM type of what a function returns: nothing, a scalar, or several scalars."""
    types = [kind.parts[0] for kind in results]
    if not types:
        return ir.VoidType()
    return types[0] if len(types) == 1 else ir.LiteralStructType(types)


@dataclass(frozen=True, slots=True)
class Place:
    """Place where a function is written, for messages."""

    function: Callable[..., Any]
    first_line: int

    def error(self, node: ast.AST, problem: str) -> TraceError:
        """Return an error that names function, line and problem."""
        line = self.first_line + getattr(node, "lineno", 1) - 1
        name = f"{self.function.__module__}.{self.function.__qualname__}"
        return TraceError(f"loop function {name}, line {line}: {problem}", function=name, line=line)


def record_of(python: Any) -> Record | None:
    """Return the kind of a NamedTuple whose fields are scalars and views; None of anything else."""
    notes = getattr(python, "__annotations__", {})
    names = [getattr(note, "__forward_arg__", note) for note in notes.values()]
    if not (isinstance(python, type) and issubclass(python, tuple) and names and set(names) <= set(KINDS)):
        return None
    return Record(
        python.__name__, tuple((name, KINDS[word]) for name, word in zip(notes, names, strict=True))
    )


def kind_of(annotation: ast.expr | None, place: Place, node: ast.AST) -> AnyKind:
    """Return the kind that an annotation names: a scalar, a view, a NamedTuple of these, or Callable[[...], ...]."""
    match annotation:
        case ast.Name(id=word) if word in KINDS:
            return KINDS[word]
        case ast.Name(id=word) if record := record_of(place.function.__globals__.get(word)):
            return record
        case ast.Subscript(
            value=ast.Name(id="Callable"), slice=ast.Tuple(elts=[ast.List(elts=taken), given])
        ):
            return Signature(tuple(kind_of(x, place, node) for x in taken), results_of(given, place, node))
        case _:
            text = "no annotation" if annotation is None else f"the annotation {ast.unparse(annotation)}"
            kinds = f"{', '.join(KINDS)}, a NamedTuple of them or Callable[[...], ...]"
            raise place.error(node, f"{text}; use one of {kinds}")


def results_of(annotation: ast.expr | None, place: Place, node: ast.AST) -> tuple[Kind, ...]:
    """Return the kinds of the results: none, one scalar, or a tuple of scalars."""
    match annotation:
        case ast.Constant(value=None):
            return ()
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=elements)):
            kinds = tuple(kind_of(x, place, node) for x in elements)
        case _:
            kinds = (kind_of(annotation, place, node),)
    for kind in kinds:
        if kind not in SCALARS:
            raise place.error(
                node, "a function returns None, a scalar or a tuple of scalars; write arrays into arguments"
            )
    return tuple(kind for kind in kinds if isinstance(kind, Kind))
