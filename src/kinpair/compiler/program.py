"""A recorded function: named, shaped inputs and outputs, and the nodes between them in order; its text and meaning.

`interpret` gives the meaning slowly and obviously. Compiled code is judged by it.

Results may be nested in tuples, lists, dicts and named tuples of arrays. A structure says how, as plain data (it goes
into the cache as JSON): a leaf is its name, anything else [kind, keys, members].
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from kinpair.compiler.graph import Expr, Graph
from kinpair.compiler.operations import COLUMNS, OPERATIONS
from kinpair.errors import TraceError

Structure: TypeAlias = Any
SINGLE: Structure = "result"
PARTS = {"tuple": tuple, "list": list}


def flatten(value: Any, name: str = SINGLE) -> tuple[Structure, list[tuple[str, Any]]]:
    """The structure of a result, and its leaves with names such as `pose.R` or `1`."""
    leaves: list[tuple[str, Any]] = []
    return _take_apart(value, "" if name == SINGLE else name, leaves), leaves


def _take_apart(value: Any, path: str, leaves: list[tuple[str, Any]]) -> Structure:
    kind, keys, members = _open(value)
    if kind == "leaf":
        if value is None or isinstance(value, str):
            raise TraceError(
                f"result {path or SINGLE!r} is {value!r}; a traced function returns numbers or arrays"
            )
        leaves.append((path or SINGLE, value))
        return path or SINGLE
    joined = [
        _take_apart(v, f"{path}.{k}" if path else str(k), leaves) for k, v in zip(keys, members, strict=True)
    ]
    return [kind, keys, joined]


def _open(value: Any) -> tuple[str, list[Any], list[Any]]:
    if isinstance(value, dict):
        return "dict", list(value), list(value.values())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        kind = type(value)
        return f"{kind.__module__}:{kind.__qualname__}", list(kind._fields), list(value)  # type: ignore[attr-defined]
    if isinstance(value, tuple | list):
        return type(value).__name__, list(range(len(value))), list(value)
    return "leaf", [], []


def rebuild(structure: Structure, leaves: Iterator[Any]) -> Any:
    """The result as the function returned it, with `leaves` in place, in order."""
    if isinstance(structure, str):
        return next(leaves)
    kind, keys, members = structure
    values = [rebuild(member, leaves) for member in members]
    if kind == "dict":
        return dict(zip(keys, values, strict=True))
    if kind in PARTS:
        return PARTS[kind](values)
    return named_tuple(kind)(*values)


def named_tuple(kind: str) -> Any:
    """The class `module:Name`, if it is a named tuple that can be found again."""
    module, _, path = kind.partition(":")
    value: Any = importlib.import_module(module)
    for part in path.split("."):
        value = getattr(value, part)
    if not (isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")):
        raise TypeError(f"{kind} is not a named tuple")
    return value


Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Leaf:
    """An array going in or out, its entries in C order."""

    name: str
    shape: Shape
    entries: tuple[Expr, ...]

    @property
    def size(self) -> int:
        """Number of entries."""
        return len(self.entries)


@dataclass(frozen=True, eq=False)
class Program:
    """Inputs and outputs in one graph; `structure` says how the outputs were nested, `note` what a user of exported
    code must know."""

    name: str
    graph: Graph
    inputs: tuple[Leaf, ...]
    outputs: tuple[Leaf, ...]
    structure: Structure = field(default=SINGLE)
    note: str = ""

    @cached_property
    def nodes(self) -> list[Expr]:
        """Nodes that the outputs need, arguments before uses, in the order in which it was recorded."""
        return needed(x for leaf in self.outputs for x in leaf.entries)

    @property
    def input_shapes(self) -> dict[str, Shape]:
        """Name → shape."""
        return {leaf.name: leaf.shape for leaf in self.inputs}

    @property
    def output_shapes(self) -> dict[str, Shape]:
        """Name → shape."""
        return {leaf.name: leaf.shape for leaf in self.outputs}

    @cached_property
    def count(self) -> dict[str, int]:
        """Operations by kind, and their total."""
        counts = Counter(OPERATIONS[x.op].counts for x in self.nodes)
        table = {column: counts[column] for column in COLUMNS}
        return table | {"total": sum(table.values())}

    def __str__(self) -> str:
        return listing(self)


def needed(roots: Iterable[Expr]) -> list[Expr]:
    """All nodes the roots depend on, sorted by their place in the graph."""
    seen: dict[int, Expr] = {}
    stack = list(roots)
    while stack:
        x = stack.pop()
        if x.id not in seen:
            seen[x.id] = x
            stack.extend(x.args)
    return [seen[k] for k in sorted(seen)]


def values(program: Program, arguments: Sequence[Sequence[float]]) -> list[list[float]]:
    """The entries of the outputs, from those of the inputs: node by node in Python floats."""
    value: dict[int, Any] = {}
    for leaf, entries in zip(program.inputs, arguments, strict=True):
        for symbol, x in zip(leaf.entries, entries, strict=True):
            value[symbol.id] = x
    for node in program.nodes:
        if node.op == "const":
            value[node.id] = node.value
        elif node.op != "symbol":
            value[node.id] = OPERATIONS[node.op].meaning(*[value[x.id] for x in node.args])
    return [[value[x.id] for x in leaf.entries] for leaf in program.outputs]


def interpret(program: Program, *arguments: Any) -> Any:
    """The result of the program for one set of arguments."""
    results = values(program, [np.asarray(x, dtype=float).reshape(-1).tolist() for x in arguments])
    arrays = [np.array(x).reshape(leaf.shape) for x, leaf in zip(results, program.outputs, strict=True)]
    return rebuild(program.structure, iter(x if x.shape else float(x) for x in arrays))


INFIX = {
    "add": ("+", 1),
    "sub": ("-", 1),
    "mul": ("*", 2),
    "div": ("/", 2),
    "lt": ("<", 0),
    "le": ("<=", 0),
    "eq": ("==", 0),
    "and": ("and", -1),
    "or": ("or", -2),
}


def formula(x: Expr, depth: int = 4, above: int = -9) -> str:
    """`x` as a formula, `...` where it goes on deeper than `depth`."""
    if x.op == "const":
        return f"{x.value:.6g}" if isinstance(x.value, float) else str(x.value)
    if x.op == "symbol":
        return x.graph.names[x.id]
    if depth == 0:
        return "..."
    if x.op in INFIX:
        sign, rank = INFIX[x.op]
        left, right = formula(x.args[0], depth - 1, rank), formula(x.args[1], depth - 1, rank + 1)
        return f"({left} {sign} {right})" if rank < above else f"{left} {sign} {right}"
    if x.op == "neg":
        return f"-{formula(x.args[0], depth - 1, 3)}"
    return f"{x.op}({', '.join(formula(y, depth - 1) for y in x.args)})"


def listing(program: Program) -> str:
    """Write one line for each node, in order, then the outputs."""
    lines = [f"{name}{list(shape)}" for name, shape in program.input_shapes.items()]
    lines = [f"inputs   {', '.join(lines)}"]
    for x in program.nodes:
        what = [x.graph.names[x.id]] if x.op == "symbol" else [repr(x.value)] if x.op == "const" else []
        lines.append(f"%{x.id:<6} {x.op:<6} " + " ".join(what + [f"%{y.id}" for y in x.args]))
    for leaf in program.outputs:
        lines.append(f"{leaf.name}{list(leaf.shape)} = " + " ".join(f"%{x.id}" for x in leaf.entries))
    return "\n".join(lines)
