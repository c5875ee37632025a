"""Is a program well formed? Asked once after each stage that makes one."""

from __future__ import annotations

from kinpair.compiler.operations import OPERATIONS
from kinpair.compiler.program import Program
from kinpair.errors import TraceError


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
