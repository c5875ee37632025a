"""Expressions and programs as text a person can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinpair.compiler.graph import Expr
    from kinpair.compiler.program import Program

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
    """One line a node, in order, then the outputs."""
    lines = [f"{name}{list(shape)}" for name, shape in program.input_shapes.items()]
    lines = [f"inputs   {', '.join(lines)}"]
    for x in program.nodes:
        what = [x.graph.names[x.id]] if x.op == "symbol" else [repr(x.value)] if x.op == "const" else []
        lines.append(f"%{x.id:<6} {x.op:<6} " + " ".join(what + [f"%{y.id}" for y in x.args]))
    for leaf in program.outputs:
        lines.append(f"{leaf.name}{list(leaf.shape)} = " + " ".join(f"%{x.id}" for x in leaf.entries))
    return "\n".join(lines)
