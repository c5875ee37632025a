"""Rewrites applied while a node is built: one line each, one test each (tests/unit/compiler/test_rules.py).

They make the formula of one mechanism out of a general one: what is multiplied by nothing disappears.
`0·x → 0`, `0/x → 0`, `x − x → 0` and `x·(1/x) → 1` assume finite (for the quotients, non-zero) operands; see
docs/compiler.md.
`a` and `b` are the values of constant operands, None of others.
"""

# one rule, one line:
# fmt: off
# ruff: noqa: E501, E701

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from kinpair.compiler.operations import OPERATIONS

if TYPE_CHECKING:
    from kinpair.compiler.graph import Expr


def add(x: Expr, y: Expr) -> Expr:
    """x + y."""
    a, b, g = x.value, y.value, x.graph
    if a is not None:
        if b is not None: return g.const(a + b)  # fold
        if a == 0.0: return y  # 0 + y
        if y.op == "add" and (c := y.args[0].value) is not None: return add(g.const(a + c), y.args[1])  # a + (c + z)
        if y.op == "sub" and (c := y.args[0].value) is not None: return sub(g.const(a + c), y.args[1])  # a + (c − z)
    elif b is not None:
        return add(y, x)  # constant first
    if y.op == "neg": return sub(x, y.args[0])  # x + (−y)
    if y.op == "mul" and (c := y.args[0].value) is not None and c < 0.0: return sub(x, mul(g.const(-c), y.args[1]))  # x + (−c z)
    if x.op == "neg": return sub(y, x.args[0])  # (−x) + y
    if a is None and x.id > y.id: return g.node("add", y, x)  # one order for x + y and y + x
    return g.node("add", x, y)


def sub(x: Expr, y: Expr) -> Expr:
    """x − y."""
    a, b, g = x.value, y.value, x.graph
    if b is not None:
        if a is not None: return g.const(a - b)  # fold
        return add(g.const(-b), x)  # x − b
    if a == 0.0: return neg(y)  # 0 − y
    if x is y: return g.const(0.0)  # x − x
    if y.op == "neg": return add(x, y.args[0])  # x − (−y)
    if y.op == "mul" and (c := y.args[0].value) is not None and c < 0.0: return add(x, mul(g.const(-c), y.args[1]))  # x − (−c z)
    if x.op == "neg": return neg(add(x.args[0], y))  # (−x) − y
    if x.op == "mul" and (c := x.args[0].value) is not None and c < 0.0: return neg(add(mul(g.const(-c), x.args[1]), y))  # (−c z) − y
    if (turned := g.known("sub", y, x)) is not None: return neg(turned)  # x − y when y − x exists
    return g.node("sub", x, y)


def mul(x: Expr, y: Expr) -> Expr:
    """x · y."""
    a, b, g = x.value, y.value, x.graph
    if a is not None:
        if b is not None: return g.const(a * b)  # fold
        if a == 0.0: return x  # 0 · y
        if a == 1.0: return y  # 1 · y
        if a == -1.0: return neg(y)  # −1 · y
        if y.op == "mul" and (c := y.args[0].value) is not None: return mul(g.const(a * c), y.args[1])  # a · (c z)
        if y.op == "neg": return mul(g.const(-a), y.args[0])  # a · (−y)
        return g.node("mul", x, y)
    if b is not None: return mul(y, x)  # constant first
    if y.op == "neg": return neg(mul(x, y.args[0]))  # x · (−y)
    if x.op == "neg": return neg(mul(x.args[0], y))  # (−x) · y
    if x.op == "where" and (c := _masked(x, y)) is not None: return c  # where(p, x, 0) · y
    if y.op == "where" and (c := _masked(y, x)) is not None: return c  # x · where(p, y, 0)
    if y.op == "div" and y.args[1] is x and y.args[0].value == 1.0: return y.args[0]  # x · (1/x)
    if x.op == "div" and x.args[1] is y and x.args[0].value == 1.0: return x.args[0]  # (1/y) · y
    if x.id > y.id: return g.node("mul", y, x)  # one order for x · y and y · x
    return g.node("mul", x, y)


def _masked(chosen: Expr, y: Expr) -> Expr | None:
    """where(p, x, 0) · y → where(p, x · y, 0): an infinite y that was not chosen stays out."""
    p, first, second = chosen.args
    if second.value == 0.0: return where(p, mul(first, y), second)
    if first.value == 0.0: return where(p, first, mul(second, y))
    return None


def div(x: Expr, y: Expr) -> Expr:
    """x / y."""
    a, b, g = x.value, y.value, x.graph
    if b is not None and b != 0.0 and math.isfinite(1.0 / b): return mul(g.const(1.0 / b), x)  # x / b
    if a == 0.0 and b is None: return x  # 0 / y
    if x.op == "neg": return neg(div(x.args[0], y))  # (−x) / y
    if y.op == "neg": return neg(div(x, y.args[0]))  # x / (−y)
    return g.node("div", x, y)


def neg(x: Expr) -> Expr:
    """Negate x with folding."""
    if x.value is not None: return x.graph.const(-x.value)  # fold
    if x.op == "neg": return x.args[0]  # −(−x)
    if x.op == "sub" and (turned := x.graph.known("sub", x.args[1], x.args[0])) is not None: return turned  # −(x − y)
    if x.op == "mul" and (c := x.args[0].value) is not None: return mul(x.graph.const(-c), x.args[1])  # −(c z)
    return x.graph.node("neg", x)


def sin(x: Expr) -> Expr:
    """sin x, odd."""
    return neg(sin(x.args[0])) if x.op == "neg" else _plain("sin", x)


def cos(x: Expr) -> Expr:
    """cos x, even."""
    return cos(x.args[0]) if x.op == "neg" else _plain("cos", x)


def tanh(x: Expr) -> Expr:
    """tanh x, odd."""
    return neg(tanh(x.args[0])) if x.op == "neg" else _plain("tanh", x)


def absolute(x: Expr) -> Expr:
    """Absolute value |x|, even."""
    return x if x.op == "abs" else absolute(x.args[0]) if x.op == "neg" else _plain("abs", x)


def extreme(op: str, x: Expr, y: Expr) -> Expr:
    """The smaller or the larger of two."""
    return x if x is y else _plain(op, x, y)


def negation(x: Expr) -> Expr:
    """Logical negation of x."""
    return x.args[0] if x.op == "not" else _plain("not", x)


def where(condition: Expr, x: Expr, y: Expr) -> Expr:
    """x where the condition holds, else y."""
    if condition.value is not None: return x if condition.value else y  # a condition known already
    if x is y: return x  # both the same
    if condition.op == "not": return where(condition.args[0], y, x)  # not p
    return condition.graph.node("where", condition, x, y)


def power(x: Expr, n: int) -> Expr:
    """x to a whole number, by squaring."""
    if n < 0: return div(x.graph.const(1.0), power(x, -n))
    if n == 0: return x.graph.const(1.0)
    if n == 1: return x
    half = power(x, n // 2)
    square = mul(half, half)
    return mul(square, x) if n % 2 else square


def _plain(op: str, *args: Expr) -> Expr:
    """The node itself, or its value when all arguments are known."""
    values = [x.value for x in args]
    if None not in values: return args[0].graph.const(OPERATIONS[op].meaning(*values))  # fold
    return args[0].graph.node(op, *args)


def plain(op: str) -> Callable[..., Expr]:
    """The builder of an operation that has no rule of its own but folding."""
    return lambda *args: _plain(op, *args)


RULES: dict[str, Callable[..., Expr]] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "div": div,
    "neg": neg,
    "sin": sin,
    "cos": cos,
    "tanh": tanh,
    "abs": absolute,
    "min": lambda x, y: extreme("min", x, y),
    "max": lambda x, y: extreme("max", x, y),
    "not": negation,
    "where": where,
} | {op: plain(op) for op in ("sqrt", "atan2", "exp", "log", "sign", "floor", "lt", "le", "eq", "and", "or")}
