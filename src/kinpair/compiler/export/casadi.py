"""A program as a CasADi `Function`."""

from __future__ import annotations

from math import prod
from typing import Any

from kinpair.compiler.export.names import identifier, identifiers, smooth_forms
from kinpair.compiler.program import Leaf, Program, Shape
from kinpair.errors import MissingExtraError, installs


def import_casadi() -> Any:
    """The library, or which extra to install."""
    try:
        import casadi
    except ImportError as missing:
        raise MissingExtraError(f"CasADi is not installed; {installs('symbolic')}") from missing
    return casadi


def _forms(ca: Any) -> dict[str, Any]:
    """Notation of each operation."""
    return {
        **smooth_forms(ca),
        "abs": ca.fabs,
        "sign": ca.sign,
        "floor": ca.floor,
        "min": ca.fmin,
        "max": ca.fmax,
        "lt": ca.lt,
        "le": ca.le,
        "eq": ca.eq,
        "and": ca.logic_and,
        "or": ca.logic_or,
        "not": ca.logic_not,
        "where": ca.if_else,
    }


def to_casadi(program: Program) -> Any:
    """Convert to CasADi with equal arguments and results; a vector is a column, of more than two axes the later ones
    are joined."""
    ca = import_casadi()
    forms = _forms(ca)
    names = identifiers([leaf.name for leaf in (*program.inputs, *program.outputs)])
    value: dict[int, Any] = {}
    inputs: list[Any] = []
    for name, leaf in zip(names, program.inputs, strict=False):
        rows, columns = _matrix(leaf.shape)
        symbol = ca.SX.sym(name, rows, columns)
        inputs.append(symbol)
        for k, x in enumerate(leaf.entries):
            value[x.id] = symbol[k // columns, k % columns]
    for x in program.nodes:
        if x.op == "const":
            value[x.id] = ca.SX(float(x.value))
        elif x.op != "symbol":
            value[x.id] = forms[x.op](*[value[y.id] for y in x.args])
    outputs = [_filled(ca, leaf, value) for leaf in program.outputs]
    split = len(program.inputs)
    return ca.Function(identifier(program.name), inputs, outputs, names[:split], names[split:])


def _matrix(shape: Shape) -> tuple[int, int]:
    return (shape[0] if shape else 1), prod(shape[1:])


def _filled(ca: Any, leaf: Leaf, value: dict[int, Any]) -> Any:
    rows, columns = _matrix(leaf.shape)
    if not leaf.entries:
        return ca.SX(rows, columns)
    flat = ca.vertcat(*[value[x.id] for x in leaf.entries])
    return ca.reshape(flat, columns, rows).T
