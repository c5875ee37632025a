"""A program as expressions of heyoka, which makes Taylor series of them (Biscani & Izzo 2021)."""

from __future__ import annotations

from typing import Any

from kinpair.compiler.export.names import smooth_forms
from kinpair.compiler.program import Program
from kinpair.errors import InputError, MissingExtraError, installs


def import_heyoka() -> Any:
    """The library, or which extra to install."""
    try:
        import heyoka
    except ImportError as missing:
        raise MissingExtraError(f"integrator 'taylor' needs heyoka; {installs('stiff')}") from missing
    return heyoka


def to_heyoka(program: Program, values: dict[str, list[Any]]) -> list[Any]:
    """Expressions of the results of a program, given those of its inputs by name."""
    hy = import_heyoka()
    forms = smooth_forms(hy)
    value: dict[int, Any] = {}
    for leaf in program.inputs:
        for x, expression in zip(leaf.entries, values[leaf.name], strict=True):
            value[x.id] = expression
    for x in program.nodes:
        if x.op == "const":
            value[x.id] = hy.expression(float(x.value))
        elif x.op != "symbol":
            if x.op not in forms:
                raise InputError(
                    f"integrator 'taylor' needs a motion without kinks, and this one contains {x.op!r} (friction, "
                    "limits, or a choice in a torque); 'dop853' and 'cvode' take it",
                    operation=x.op,
                )
            value[x.id] = forms[x.op](*[value[y.id] for y in x.args])
    return [value[x.id] for leaf in program.outputs for x in leaf.entries]
