"""Running a Python function on symbols, so that it records itself; is the recorded program well formed?"""

from __future__ import annotations

import gc
import inspect
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from math import inf
from typing import Any

import numpy as np

from kinpair.compiler.graph import RECORDED, Expr, Graph
from kinpair.compiler.operations import OPERATIONS
from kinpair.compiler.patience import patience
from kinpair.compiler.program import Leaf, Program, Shape, flatten
from kinpair.errors import LengthError, TraceError


def verify(program: Program) -> None:
    """Arguments before uses and of the right kind, every symbol an input, every output a number."""
    symbols = {x.id for leaf in program.inputs for x in leaf.entries}
    for x in program.nodes:
        operation = OPERATIONS[x.op]
        if x.op == "symbol" and x.id not in symbols:
            raise TraceError(f"{x}: this symbol is not an input of {program.name!r}")
        if len(x.args) != len(operation.takes) or any(y.id >= x.id for y in x.args):
            raise TraceError(
                f"{x}: {x.op} has {len(x.args)} arguments, or one that comes later; this is a bug"
            )
        for y, kind in zip(x.args, operation.takes, strict=True):
            _check_kind(y, kind, x.op)
    for leaf in program.outputs:
        for x in leaf.entries:
            _check_kind(x, "n", f"result {leaf.name!r}")


def _check_kind(x: object, kind: str, user: str) -> None:
    if kind_of(x) == kind:
        return
    if kind == "n":
        raise TraceError(f"{x}: {user} needs a number and gets a comparison; use where(comparison, 1.0, 0.0)")
    raise TraceError(f"{x}: {user} needs a comparison and gets a number; compare it with something")


def kind_of(x: object) -> str:
    """`b` of a comparison or truth value, `n` of a number."""
    return "b" if isinstance(getattr(x, "value", None), bool) else OPERATIONS[getattr(x, "op", "const")].gives


def trace(
    function: Callable[..., Any], shapes: Mapping[str, Shape], *, name: str = "", room: float = inf
) -> Program:
    """The program of `function(*arrays)`, arrays of symbols named and shaped as `shapes` says, in that order.

    A shape () gives a bare symbol: a parameter by its own name. The function may return an array, a number,
    or tuples, lists, dicts and named tuples of them, nested. LengthError where it has not `room` enough operations.
    """
    graph = Graph(room)
    inputs = tuple(symbols(graph, name, shape) for name, shape in shapes.items())
    name = name or name_of(function)
    with patience(f"recording {name}"), no_collection():
        structure, leaves = flatten(_run(function, [as_array(leaf) for leaf in inputs]))
    outputs = tuple(output(graph, name, value) for name, value in leaves)
    program = Program(name, graph, inputs, outputs, structure)
    verify(program)
    return program


def is_longer(function: Callable[..., Any], shapes: Mapping[str, Shape], most: int) -> bool:
    """True where the program of a function has more than `most` operations, or more than 2 `most` are recorded."""
    try:
        return trace(function, shapes, room=2 * most).count["total"] > most
    except LengthError:
        return True


def name_of(function: Callable[..., Any]) -> str:
    """Return the name of a function, `function` if it has none."""
    return getattr(function, "__name__", "function").strip("<>") or "function"


@contextmanager
def no_collection() -> Generator[None]:
    """Let Python not look for cycles among the many nodes just made: there are none, and it takes half the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def symbols(graph: Graph, name: str, shape: Shape) -> Leaf:
    """Make one symbol for each entry: `q[0]`, `q[1]`, ..., or `m` itself."""
    places = product(*(range(n) for n in shape))
    names = [f"{name}[{','.join(map(str, place))}]" if shape else name for place in places]
    return Leaf(name, tuple(shape), tuple(graph.symbol(each) for each in names))


def as_array(leaf: Leaf) -> Any:
    """The entries as an object array, or the bare symbol of a scalar."""
    if leaf.shape == ():
        return leaf.entries[0]
    return filled(leaf.entries).reshape(leaf.shape)


def filled(entries: Sequence[Any]) -> np.ndarray:
    """An object vector of the entries."""
    array = np.empty(len(entries), dtype=object)
    for k, x in enumerate(entries):
        array[k] = x
    return array


def output(graph: Graph, name: str, value: Any) -> Leaf:
    """A returned array, numbers in it made constants."""
    array = np.asarray(value) if not isinstance(value, Expr) else filled([value]).reshape(())
    entries: list[Expr] = []
    for x in array.reshape(-1).tolist():
        node = x if isinstance(x, Expr) and x.graph is graph else graph.coerce(x)
        if node is NotImplemented:
            raise TraceError(
                f"result {name!r} holds {x!r}; a traced function returns numbers or arrays of numbers"
            )
        entries.append(node)
    return Leaf(name, array.shape, tuple(entries))


def _run(function: Callable[..., Any], arguments: list[Any]) -> Any:
    try:
        return function(*arguments)
    except TypeError as refused:
        if isinstance(refused, TraceError) or not type(refused).__module__.startswith("numpy"):
            raise
        raise TraceError(f"NumPy cannot do this with symbols ({refused}); {RECORDED}") from refused


def shapes_of(function: Callable[..., Any], examples: Sequence[Any]) -> dict[str, Shape]:
    """Names from the signature, shapes from example arguments."""
    names = list(inspect.signature(function).parameters)
    if any(p.kind is p.VAR_POSITIONAL for p in inspect.signature(function).parameters.values()):
        names = [f"x{k}" for k in range(len(examples))]
    if len(names) < len(examples):
        raise TraceError(f"{len(examples)} example arguments, but the function takes {len(names)}")
    return {name: np.shape(example) for name, example in zip(names, examples, strict=False)}
