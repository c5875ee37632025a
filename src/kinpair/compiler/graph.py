"""Scalar expressions that share: two equal expressions of one graph are one object.

`Expr` objects live in NumPy arrays of dtype object. NumPy calls `x + y` or `x.sin()` on the entries, so the
function being traced is ordinary NumPy code. A number that meets an `Expr` joins that expression's graph.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, NoReturn

import numpy as np

from kinpair.compiler import rules
from kinpair.compiler.operations import OPERATIONS
from kinpair.errors import LengthError, TraceError


class Graph:
    """The table of all nodes of one trace. Arguments of a node come before it in `nodes`; `room` for so many."""

    __slots__ = ("constants", "names", "nodes", "room", "table")

    def __init__(self, room: float = inf) -> None:
        self.room = room
        self.nodes: list[Expr] = []
        self.table: dict[tuple[Any, ...], Expr] = {}
        self.constants: dict[object, Expr] = {}
        self.names: dict[int, str] = {}

    def symbol(self, name: str) -> Expr:
        """A new input."""
        expr = self._append("symbol", ())
        self.names[expr.id] = name
        return expr

    def const(self, value: float) -> Expr:
        """A number or a truth value; −0 is taken as 0."""
        key = value if value.__class__ is float else repr(value)  # True == 1.0, but is something else
        expr = self.constants.get(key)
        if expr is None:
            expr = self._append("const", (), value + 0.0 if key is value else value)
            self.constants[key] = expr
        return expr

    def node(self, op: str, x: Expr, y: Expr | None = None, z: Expr | None = None) -> Expr:
        """An operation on nodes of this graph, as it stands; `rules` has decided before."""
        if y is None:
            key, args = (op, x.id), (x,)
        elif z is None:
            key, args = (op, x.id, y.id), (x, y)
        else:
            key, args = (op, x.id, y.id, z.id), (x, y, z)
        expr = self.table.get(key)
        if expr is None:
            nodes = self.nodes
            if len(nodes) >= self.room:
                raise LengthError(f"more than {self.room} operations", room=self.room)
            expr = self.table[key] = Expr(self, len(nodes), op, args, None)
            nodes.append(expr)
        return expr

    def known(self, op: str, x: Expr, y: Expr) -> Expr | None:
        """The node, if there is one."""
        return self.table.get((op, x.id, y.id))

    def _append(self, op: str, args: tuple[Expr, ...], value: Any = None) -> Expr:
        expr = Expr(self, len(self.nodes), op, args, value)
        self.nodes.append(expr)
        return expr

    def coerce(self, other: object) -> Any:
        """`other` as a node of this graph, or NotImplemented if it is no scalar."""
        kind = other.__class__
        if kind is float or kind is int or isinstance(other, (np.floating, np.integer, float, int, np.bool_)):
            return self.const(bool(other) if isinstance(other, (bool, np.bool_)) else float(other))  # type: ignore[arg-type]
        if isinstance(other, Expr):
            raise TraceError(
                f"{other}: a value of another trace; a function may use its own arguments and plain numbers"
            )
        if isinstance(other, (complex, np.complexfloating)):
            raise TraceError(f"{other}: complex numbers are not recorded; give real and imaginary part apart")
        return NotImplemented


def _binary(rule: Callable[[Any, Any], Any], swapped: bool = False) -> Any:
    """A method `x ∘ y` that lets numbers join the graph of x."""

    def operate(self: Expr, other: Any) -> Any:
        if other.__class__ is not Expr or other.graph is not self.graph:
            other = self.graph.coerce(other)
            if other is NotImplemented:
                return other
        return rule(other, self) if swapped else rule(self, other)

    return operate


def _unary(rule: Callable[[Any], Any]) -> Any:
    return lambda self: rule(self)


def _power(x: Expr, y: Expr) -> Expr:
    n = y.value
    if n is not None and n == int(n) and abs(n) <= 64:
        return rules.power(x, int(n))
    if n is not None and 2 * n == int(2 * n) and abs(n) <= 64:
        return rules.mul(rules.power(x, int(n - 0.5)), R["sqrt"](x))
    raise TraceError(
        f"{x} ** {y}: only whole and half powers up to 64 are recorded; use exp(p * log(x)) for others"
    )


R = rules.RULES


def _arcsin(x: Expr) -> Expr:
    return (x).arctan2(((1.0 - x) * (1.0 + x)).sqrt())


def _arccos(x: Expr) -> Expr:
    return ((1.0 - x) * (1.0 + x)).sqrt().arctan2(x)


def _sinh(x: Expr) -> Expr:
    """(eˣ − e⁻ˣ)/2 without overflow in between; the series where the difference would lose digits."""
    up, down, xx = (0.5 * x).exp(), (-0.5 * x).exp(), x * x
    series = x.graph.const(1.0)
    for n in (272.0, 210.0, 156.0, 110.0, 72.0, 42.0, 20.0, 6.0):
        series = 1.0 + xx * series / n
    return (abs(x) < 1.0).where(x * series, (0.5 * up) * up - (0.5 * down) * down)


def _cosh(x: Expr) -> Expr:
    up, down = (0.5 * x).exp(), (-0.5 * x).exp()
    return (0.5 * up) * up + (0.5 * down) * down


def _hypot(x: Expr, y: Expr) -> Expr:
    """√(x² + y²), the squares of numbers near one."""
    large, small = abs(x).maximum(abs(y)), abs(x).minimum(abs(y))
    ratio = small / large
    return (large == 0.0).where(large, large * (1.0 + ratio * ratio).sqrt())


class Expr:
    """A scalar expression. `op` is a row of OPERATIONS; `value` is set for constants only."""

    __slots__ = ("args", "graph", "id", "op", "value")
    __array_priority__ = -1.0  # above NumPy's scalars, below its arrays: either lets the right one act

    def __init__(self, graph: Graph, id: int, op: str, args: tuple[Expr, ...], value: Any) -> None:
        self.graph = graph
        self.id = id
        self.op = op
        self.args = args
        self.value = value

    __add__ = _binary(R["add"])
    __radd__ = _binary(R["add"], swapped=True)
    __sub__ = _binary(R["sub"])
    __rsub__ = _binary(R["sub"], swapped=True)
    __mul__ = _binary(R["mul"])
    __rmul__ = _binary(R["mul"], swapped=True)
    __truediv__ = _binary(R["div"])
    __rtruediv__ = _binary(R["div"], swapped=True)
    __pow__ = _binary(_power)
    __rpow__ = _binary(_power, swapped=True)
    __lt__ = _binary(R["lt"])
    __le__ = _binary(R["le"])
    __gt__ = _binary(R["lt"], swapped=True)
    __ge__ = _binary(R["le"], swapped=True)
    __eq__ = _binary(R["eq"])
    __ne__ = _binary(lambda x, y: R["not"](R["eq"](x, y)))
    __and__ = _binary(R["and"])
    __rand__ = _binary(R["and"])
    __or__ = _binary(R["or"])
    __ror__ = _binary(R["or"])
    __invert__ = _unary(R["not"])
    __neg__ = _unary(R["neg"])
    __pos__ = _unary(lambda x: x)
    __abs__ = _unary(R["abs"])
    __hash__ = object.__hash__

    # what NumPy calls on the entries of an array
    sin = _unary(R["sin"])
    cos = _unary(R["cos"])
    tan = _unary(lambda x: x.sin() / x.cos())
    arcsin = _unary(_arcsin)
    arccos = _unary(_arccos)
    arctan = _unary(lambda x: R["atan2"](x, x.graph.const(1.0)))
    arctan2 = _binary(R["atan2"])
    sqrt = _unary(R["sqrt"])
    exp = _unary(R["exp"])
    log = _unary(R["log"])
    tanh = _unary(R["tanh"])
    sinh = _unary(_sinh)
    cosh = _unary(_cosh)
    hypot = _binary(_hypot)
    fabs = _unary(R["abs"])
    __floor__ = floor = _unary(R["floor"])
    __ceil__ = _unary(lambda x: -(-x).floor())
    conjugate = _unary(lambda x: x)

    # what `kinpair.algebra.choice` calls
    sign = _unary(R["sign"])
    minimum = _binary(R["min"])
    maximum = _binary(R["max"])

    def where(self, x: Any, y: Any) -> Expr:
        """x where this condition holds, else y."""
        g = self.graph
        a, b = (z if isinstance(z, Expr) and z.graph is g else g.coerce(z) for z in (x, y))
        return rules.where(self, a, b)

    @property
    def is_condition(self) -> bool:
        """True for a comparison or a truth value."""
        return isinstance(self.value, bool) or OPERATIONS[self.op].gives == "b"

    def truth(self) -> Expr:
        """True unless it is zero, as a condition."""
        return self if self.is_condition else R["not"](R["eq"](self, self.graph.const(0.0)))

    def __bool__(self) -> bool:
        if self.value is not None:
            return bool(self.value)
        raise TraceError(
            f"{self}: `if`, `and`, `or` and `not` need a truth value, and this value is only known at run time; use "
            "np.where(condition, a, b), and & | ~ between conditions",
            needs="bool",
        )

    def __float__(self) -> float:
        if self.value is not None:
            return float(self.value)
        raise TraceError(
            f"{self}: a plain number is needed here, and this value is only known at run time; leave out float() and "
            "int(), use functions of NumPy, and put such values into an array by np.array([...])",
            needs="float",
        )

    def __int__(self) -> int:
        return int(float(self))

    def __repr__(self) -> str:
        from kinpair.compiler.program import formula

        return formula(self)


UNRECORDED = """arccosh arcsinh arctanh cbrt deg2rad degrees exp2 expm1 isfinite isinf isnan log10 log1p log2
logaddexp rad2deg radians rint spacing trunc"""


def _teach(name: str) -> Any:
    def refuse(self: Expr, *_: object) -> NoReturn:
        raise TraceError(f"np.{name} of {self} cannot be recorded; {RECORDED}", function=name)

    return refuse


RECORDED = (
    "recorded are + - * / **, abs, sqrt, sin, cos, tan, arcsin, arccos, arctan, arctan2, exp, log, "
    "sinh, cosh, tanh, hypot, floor, ceil, comparisons, "
    "and where, sign, minimum, maximum of kinpair.algebra.choice; functions of a user may use more, see "
    "docs/compiler.md"
)
for _name in UNRECORDED.split():
    setattr(Expr, _name, _teach(_name))
