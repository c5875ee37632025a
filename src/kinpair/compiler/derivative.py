"""Derivatives of recorded expressions, as expressions of the same graph.

Forward: every node carries its derivatives with respect to the inputs that reach it, and no others, so what
is zero costs nothing. Reverse: one sweep back for each result, for few results of many inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinpair.compiler.graph import Expr, Graph
from kinpair.compiler.program import Leaf, Program, needed
from kinpair.compiler.rules import RULES
from kinpair.compiler.trace import filled, no_collection
from kinpair.errors import InputError, listed, nearest

Tangent = dict[int, Expr]  # column → derivative; what is missing is zero

add, sub, mul, div, neg, where, less = (
    RULES[op] for op in ("add", "sub", "mul", "div", "neg", "where", "lt")
)


def _over(y: Expr) -> Expr:
    return div(y.graph.const(1.0), y)


def _square(x: Expr) -> Expr:
    return mul(x, x)


def _radius(x: Expr) -> Expr:
    """1 / (x₀² + x₁²) of the arguments of atan2."""
    return _over(add(_square(x.args[0]), _square(x.args[1])))


PARTIALS: dict[str, Callable[[Expr], tuple[Expr, ...]]] = {  # ∂node/∂argument, one for each argument
    "add": lambda x: (x.graph.const(1.0),) * 2,
    "sub": lambda x: (x.graph.const(1.0), x.graph.const(-1.0)),
    "mul": lambda x: (x.args[1], x.args[0]),
    "div": lambda x: (_over(x.args[1]), neg(mul(x, _over(x.args[1])))),
    "neg": lambda x: (x.graph.const(-1.0),),
    "sqrt": lambda x: (div(x.graph.const(0.5), x),),
    "sin": lambda x: (RULES["cos"](x.args[0]),),
    "cos": lambda x: (neg(RULES["sin"](x.args[0])),),
    "atan2": lambda x: (mul(x.args[1], _radius(x)), neg(mul(x.args[0], _radius(x)))),
    "exp": lambda x: (x,),
    "log": lambda x: (_over(x.args[0]),),
    "tanh": lambda x: (sub(x.graph.const(1.0), _square(x)),),
    "abs": lambda x: (RULES["sign"](x.args[0]),),
    "sign": lambda x: (x.graph.const(0.0),),
    "floor": lambda x: (x.graph.const(0.0),),
}
CHOICES: dict[
    str, Callable[[Expr], tuple[Expr, int, int]]
] = {  # condition, argument if it holds, argument if not
    "where": lambda x: (x.args[0], 1, 2),
    "min": lambda x: (less(x.args[0], x.args[1]), 0, 1),
    "max": lambda x: (less(x.args[1], x.args[0]), 0, 1),
}


def tangents(roots: Sequence[Expr], seeds: Mapping[int, Tangent]) -> list[Tangent]:
    """Forward mode: the derivatives of the roots, given those of the inputs (by node id)."""
    slopes: dict[int, Tangent] = dict(seeds)
    for x in needed(roots):
        if x.id not in slopes:
            slopes[x.id] = _chosen(x, slopes) if x.op in CHOICES else _chained(x, slopes)
    return [slopes[x.id] for x in roots]


def _chained(x: Expr, slopes: dict[int, Tangent]) -> Tangent:
    """Σ ∂x/∂y · dy over the arguments y."""
    total: Tangent = {}
    if x.op not in PARTIALS or not any(slopes[y.id] for y in x.args):
        return total
    for y, partial in zip(x.args, PARTIALS[x.op](x), strict=True):
        for k, dy in slopes[y.id].items():
            term = mul(partial, dy)
            total[k] = add(total[k], term) if k in total else term
    return {k: d for k, d in total.items() if d.value != 0.0}


def _chosen(x: Expr, slopes: dict[int, Tangent]) -> Tangent:
    """The derivative of the argument that is chosen."""
    condition, first, second = CHOICES[x.op](x)
    a, b, zero = slopes[x.args[first].id], slopes[x.args[second].id], x.graph.const(0.0)
    return {k: where(condition, a.get(k, zero), b.get(k, zero)) for k in a | b}


def gradient(root: Expr, inputs: Sequence[Expr]) -> list[Expr]:
    """Reverse mode: the derivatives of one root with respect to the inputs."""
    return adjoints([root], [root.graph.const(1.0)], inputs)


def adjoints(roots: Sequence[Expr], bars: Sequence[Expr], inputs: Sequence[Expr]) -> list[Expr]:
    """Reverse mode: Σ bar · ∂root/∂input over the roots, of each input."""
    adjoint: Tangent = {}
    for root, bar in zip(roots, bars, strict=True):
        adjoint[root.id] = add(adjoint[root.id], bar) if root.id in adjoint else bar
    for x in reversed(needed(roots)):
        bar = adjoint.get(x.id)
        if bar is not None:
            for y, term in _shares(x, bar):
                adjoint[y.id] = add(adjoint[y.id], term) if y.id in adjoint else term
    return [adjoint[x.id] if x.id in adjoint else x.graph.const(0.0) for x in inputs]


def _shares(x: Expr, bar: Expr) -> list[tuple[Expr, Expr]]:
    """Shares that the adjoint of a node adds to those of its arguments."""
    if x.op in CHOICES:
        condition, first, second = CHOICES[x.op](x)
        zero = x.graph.const(0.0)
        return [(x.args[first], where(condition, bar, zero)), (x.args[second], where(condition, zero, bar))]
    if x.op not in PARTIALS:
        return []
    return [(y, mul(bar, partial)) for y, partial in zip(x.args, PARTIALS[x.op](x), strict=True)]


def jacobian(of: Any, wrt: Any, *, mode: str = "auto") -> np.ndarray:
    """∂of/∂wrt of two arrays of symbols, shape of.shape + wrt.shape; usable inside a traced function."""
    roots, inputs = np.asarray(of, dtype=object), np.asarray(wrt, dtype=object)
    columns: list[Expr] = list(inputs.reshape(-1))
    if not columns or not roots.size:
        return np.zeros((*roots.shape, *inputs.shape))
    graph = columns[0].graph
    nodes = [x if isinstance(x, Expr) else graph.const(float(x)) for x in roots.reshape(-1)]
    entries = ROADS[mode](nodes, columns)
    return filled([x for row in entries for x in row]).reshape(*roots.shape, *inputs.shape)


def operations(arrays: Sequence[np.ndarray]) -> int:
    """Return how many operations arrays of expressions take together."""
    roots = (x for array in arrays for x in array.reshape(-1) if isinstance(x, Expr))
    return sum(bool(x.args) for x in needed(roots))


def like_symbols(name: str, others: np.ndarray) -> np.ndarray:
    """New symbols in the graph of others, one for each: derivatives see them as constants; see `at`."""
    return filled([x.graph.symbol(f"{name}[{k}]") for k, x in enumerate(others)])


def _nodes(graph: Graph, entries: np.ndarray) -> list[Expr]:
    return [
        x if isinstance(x, Expr) else graph.coerce(x) for x in np.asarray(entries, dtype=object).reshape(-1)
    ]


def at(of: np.ndarray, symbols: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Expressions with the values in the place of symbols."""
    graph = symbols[0].graph
    known = dict(zip((x.id for x in symbols), _nodes(graph, values), strict=True))
    roots = _nodes(graph, of)
    with no_collection():
        for x in needed(roots):
            if x.id not in known:
                known[x.id] = RULES[x.op](*(known[y.id] for y in x.args)) if x.args else x
    return filled([known[x.id] for x in roots]).reshape(of.shape)


def _forward(nodes: list[Expr], columns: list[Expr]) -> list[list[Expr]]:
    one, zero = columns[0].graph.const(1.0), columns[0].graph.const(0.0)
    slopes = tangents(nodes, {x.id: {k: one} for k, x in enumerate(columns)})
    return [[row.get(k, zero) for k in range(len(columns))] for row in slopes]


def _reverse(nodes: list[Expr], columns: list[Expr]) -> list[list[Expr]]:
    return [gradient(x, columns) for x in nodes]


def _either(nodes: list[Expr], columns: list[Expr]) -> list[list[Expr]]:
    """Reverse unless there are more results than inputs: it leaves fewer operations."""
    return _forward(nodes, columns) if len(nodes) > len(columns) else _reverse(nodes, columns)


ROADS = {"auto": _either, "forward": _forward, "reverse": _reverse}


def differentiate(program: Program, wrt: Sequence[str], *, mode: str = "auto") -> Program:
    """The program of the Jacobians ∂result/∂input for each named input, as a tuple (results outermost)."""
    for name in wrt:
        if name not in program.input_shapes:
            names = list(program.input_shapes)
            raise InputError(
                f"{program.name} has no input {name!r}; {nearest(name, names)}Inputs: {listed(names)}",
                input=name,
            )
    if mode not in ROADS:
        raise InputError(f"mode={mode!r}; derivatives go 'forward', 'reverse' or 'auto'", mode=mode)
    inputs = [leaf for leaf in program.inputs if leaf.name in wrt]
    columns = [x for leaf in inputs for x in leaf.entries]
    outputs: list[Leaf] = []
    for leaf in program.outputs:
        with no_collection():
            rows = ROADS[mode](list(leaf.entries), columns)
        start = 0
        for source in inputs:
            entries = tuple(x for row in rows for x in row[start : start + source.size])
            outputs.append(Leaf(f"d{leaf.name}/d{source.name}", leaf.shape + source.shape, entries))
            start += source.size
    names = [leaf.name for leaf in outputs]
    structure = names[0] if len(names) == 1 else ["tuple", list(range(len(names))), names]
    return replace(program, name=f"{program.name}_derivatives", outputs=tuple(outputs), structure=structure)
