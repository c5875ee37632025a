"""A program as SymPy expressions, shared parts named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinpair.compiler.export.names import shared, smooth_forms
from kinpair.compiler.program import Program
from kinpair.errors import MissingExtraError, installs


@dataclass(frozen=True, slots=True, eq=False)
class SymbolicEquations:
    """`inputs` and `results` by name, in arrays; `parts` are (name, meaning) in order of need."""

    inputs: dict[str, np.ndarray]
    parts: list[tuple[Any, Any]]
    results: dict[str, np.ndarray]

    def expanded(self) -> dict[str, np.ndarray]:
        """The results with every part put in place. Grows quickly: for small mechanisms."""
        whole: dict[Any, Any] = {}
        for name, meaning in self.parts:
            whole[name] = meaning.xreplace(whole)
        put = np.frompyfunc(lambda x: x.xreplace(whole), 1, 1)
        return {name: np.asarray(put(x), dtype=object) for name, x in self.results.items()}


def import_sympy() -> Any:
    """The library, or which extra to install."""
    try:
        import sympy
    except ImportError as missing:
        raise MissingExtraError(f"SymPy is not installed; {installs('symbolic')}") from missing
    return sympy


def forms(sp: Any) -> dict[str, Any]:
    """Notation of each operation."""
    return {
        **smooth_forms(sp),
        "abs": sp.Abs,
        "sign": sp.sign,
        "floor": sp.floor,
        "min": sp.Min,
        "max": sp.Max,
        "lt": sp.Lt,
        "le": sp.Le,
        "eq": sp.Eq,
        "and": sp.And,
        "or": sp.Or,
        "not": sp.Not,
        "where": lambda p, x, y: sp.Piecewise((x, p), (y, True)),
    }


def to_sympy(program: Program) -> SymbolicEquations:
    """The program; a constant with a whole value becomes a whole number."""
    sp = import_sympy()
    written, named = forms(sp), shared(program)
    meaning: dict[int, Any] = {}
    parts: list[tuple[Any, Any]] = []
    for leaf in program.inputs:
        for x in leaf.entries:
            meaning[x.id] = sp.Symbol(x.graph.names[x.id], real=True)
    for x in program.nodes:
        if x.op == "const":
            meaning[x.id] = (
                sp.sympify(x.value) if isinstance(x.value, bool) or x.value % 1 else sp.Integer(int(x.value))
            )
        elif x.op != "symbol":
            expression = written[x.op](*[meaning[y.id] for y in x.args])
            if x.id in named and expression.args:
                name = sp.Symbol(f"x{len(parts)}", real=True) if x.op not in ("lt", "le", "eq") else None
                if name is not None:
                    parts.append((name, expression))
                    expression = name
            meaning[x.id] = expression
    return SymbolicEquations(
        {leaf.name: _array([meaning[x.id] for x in leaf.entries], leaf.shape) for leaf in program.inputs},
        parts,
        {leaf.name: _array([meaning[x.id] for x in leaf.entries], leaf.shape) for leaf in program.outputs},
    )


def _array(entries: list[Any], shape: tuple[int, ...]) -> np.ndarray:
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array.reshape(shape)
