"""A scheduled program as straight-line LLVM text: one function a piece, and one that calls them in turn."""

from __future__ import annotations

from kinpair.compiler.form import ATTRIBUTES, Form
from kinpair.compiler.instructions import Instructions
from kinpair.compiler.llvm import Blocks, parameters
from kinpair.compiler.schedule import Plan


def straight_blocks(plan: Plan) -> Blocks:
    """The code of a plan."""
    used = {x.op for piece in plan.pieces for x in piece.nodes}
    return Blocks(plan.arrays, plan.carried, used, lambda form: _text(plan, form), plan.cleared)


def _text(plan: Plan, form: Form) -> str:
    parts: list[str] = []
    calls: list[str] = []
    for k, piece in enumerate(plan.pieces):
        lines = Instructions(plan.places, form).lines(piece.nodes, piece.carried_out)
        name = f"@piece{k}.{form.lanes}"
        head = f"define internal void {name}({parameters(plan.arrays)}) {ATTRIBUTES} noinline {{"
        parts += [head, *lines, "  ret void", "}"]
        calls.append(f"  call void {name}({parameters(plan.arrays, attributes=False)})")
    head = f"define internal void @block.{form.lanes}({parameters(plan.arrays)}) {ATTRIBUTES} {{"
    return "\n".join([*parts, head, *calls, "  ret void", "}"])
