"""What a program means, slowly and obviously. Compiled code is judged by this."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinpair.compiler.operations import OPERATIONS
from kinpair.compiler.program import Program
from kinpair.compiler.structure import rebuild


def interpret(program: Program, *arguments: Any) -> Any:
    """The result of the program for one set of arguments, node by node in Python floats."""
    value: dict[int, Any] = {}
    for leaf, given in zip(program.inputs, arguments, strict=True):
        for symbol, x in zip(leaf.entries, np.asarray(given, dtype=float).reshape(-1).tolist(), strict=True):
            value[symbol.id] = x
    for node in program.nodes:
        if node.op == "const":
            value[node.id] = node.value
        elif node.op != "symbol":
            value[node.id] = OPERATIONS[node.op].meaning(*[value[x.id] for x in node.args])
    leaves = [np.array([value[x.id] for x in leaf.entries]).reshape(leaf.shape) for leaf in program.outputs]
    return rebuild(program.structure, iter(x if x.shape else float(x) for x in leaves))
