"""What a program means, slowly and obviously. Compiled code is judged by this."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinpair.compiler.operations import OPERATIONS
from kinpair.compiler.program import Program
from kinpair.compiler.structure import rebuild


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
