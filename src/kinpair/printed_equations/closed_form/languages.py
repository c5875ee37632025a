"""Formulas as a program again, for numbers, C and CasADi; and as SymPy expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import add, mul
from typing import Any

import numpy as np

from kinpair.compiler.export.sympy import SymbolicEquations, forms, import_sympy
from kinpair.compiler.graph import Graph
from kinpair.compiler.program import Leaf, Program
from kinpair.compiler.rules import RULES
from kinpair.compiler.trace import verify
from kinpair.printed_equations.closed_form.formula import (
    Call,
    Formula,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
    Trig,
)

Inputs = Mapping[str, Mapping[str, str]]  # name of an array → its entries, symbol → what it is called
Definitions = Sequence[tuple[str, Formula]]
Results = Mapping[str, np.ndarray]
WHOLE_PARTS = 8  # a number that is a multiple of 1/8 stays exact in SymPy


def calculated(
    x: Formula, known: Mapping[str, Any], number: Callable[[float], Any], calls: Mapping[str, Any]
) -> Any:
    """A formula in any arithmetic: its symbols, its numbers, its functions."""

    def value(y: Formula) -> Any:
        return calculated(y, known, number, calls)

    match x:
        case Number(constant):
            return number(constant)
        case Symbol(name):
            return known[name]
        case Trig(kind, angle):
            return calls[kind](reduce(add, [k * known[name] for name, k in angle]))
        case Power(of, exponent):
            return value(of) ** exponent
        case Product(factors):
            return reduce(mul, map(value, factors))
        case Sum(terms):
            return reduce(add, map(value, terms))
        case Call(op, arguments):
            return calls[op](*map(value, arguments))


def to_program(name: str, inputs: Inputs, definitions: Definitions, results: Results) -> Program:
    """The formulas as a program that returns a dict of arrays."""
    graph = Graph()
    leaves = {
        what: {key: graph.symbol(called) for key, called in entries.items()}
        for what, entries in inputs.items()
    }
    known = {key: symbol for entries in leaves.values() for key, symbol in entries.items()}
    for each, meaning in definitions:
        known[each] = calculated(meaning, known, graph.const, RULES)
    taken = [Leaf(what, (len(entries),), tuple(entries.values())) for what, entries in leaves.items()]
    outputs = [
        Leaf(what, x.shape, tuple(calculated(y, known, graph.const, RULES) for y in x.flat))
        for what, x in results.items()
    ]
    program = Program(name, graph, tuple(taken), tuple(outputs), ["dict", list(results), list(results)])
    verify(program)
    return program


def to_sympy(inputs: Inputs, definitions: Definitions, results: Results) -> SymbolicEquations:
    """The formulas as SymPy expressions; `parts` are the definitions."""
    sp = import_sympy()
    calls = forms(sp)

    def number(value: float) -> Any:
        parts = value * WHOLE_PARTS
        return sp.Rational(int(parts), WHOLE_PARTS) if parts == int(parts) else sp.Float(value, 17)

    def symbol(name: str) -> Any:
        return sp.Symbol(name, real=True)

    named = {what: {key: symbol(called) for key, called in keys.items()} for what, keys in inputs.items()}
    known = {key: x for entries in named.values() for key, x in entries.items()}
    known |= {name: symbol(name) for name, _ in definitions}

    def each(x: np.ndarray) -> np.ndarray:
        symbols = np.empty(x.size, dtype=object)
        symbols[:] = [calculated(y, known, number, calls) for y in x.flat]
        return symbols.reshape(x.shape)

    return SymbolicEquations(
        {what: np.array(list(entries.values()), dtype=object) for what, entries in named.items()},
        [(known[name], calculated(x, known, number, calls)) for name, x in definitions],
        {what: each(x) for what, x in results.items()},
    )
