"""A scheduled program as straight-line LLVM text: one function a piece, and one that calls them in turn.

LLVM compares every store of a basic block with every other before it orders the instructions: the time for a matrix
of n² entries grows with n⁴. So a long piece is cut into blocks by branches that are never taken. LLVM would join blocks
that follow each other without a condition; the one here cannot be decided when compiling, and costs an instruction
in hundreds.
"""

from __future__ import annotations

from collections.abc import Iterator

from kinpair.compiler.form import ATTRIBUTES, Form
from kinpair.compiler.graph import Expr
from kinpair.compiler.instructions import Instructions, Places
from kinpair.compiler.llvm import Blocks, parameters
from kinpair.compiler.schedule import Piece, Plan

STORES = 64  # of a basic block (measured: as fast as one block or faster, and much sooner made)


def straight_blocks(plan: Plan) -> Blocks:
    """The code of a plan."""
    used = {x.op for piece in plan.pieces for x in piece.nodes}
    return Blocks(plan.arrays, plan.carried, used, lambda form: _text(plan, form), plan.cleared)


def _text(plan: Plan, form: Form) -> str:
    parts: list[str] = []
    calls: list[str] = []
    for k, piece in enumerate(plan.pieces):
        lines = _in_blocks(Instructions(plan.places, form), piece)
        name = f"@piece{k}.{form.lanes}"
        head = f"define internal void {name}({parameters(plan.arrays)}) {ATTRIBUTES} noinline {{"
        parts += [head, *lines, "  ret void", "}"]
        calls.append(f"  call void {name}({parameters(plan.arrays, attributes=False)})")
    head = f"define internal void @block.{form.lanes}({parameters(plan.arrays)}) {ATTRIBUTES} {{"
    return "\n".join([*parts, head, *calls, "  ret void", "}"])


def _in_blocks(writer: Instructions, piece: Piece) -> list[str]:
    """The lines of a piece up to its return, cut into basic blocks if it has many results."""
    blocks = list(_blocks(writer.places, piece))
    if len(blocks) == 1:
        return writer.lines(piece.nodes, piece.carried_out)
    writer.text.append("  %never = icmp eq ptr %scratch, null")
    for k, nodes in enumerate(blocks):
        writer.lines(nodes, piece.carried_out)
        writer.text += [f"  br i1 %never, label %end, label %block{k}", f"block{k}:"]
    return [*writer.text, "  br label %end", "end:"]


def _blocks(places: Places, piece: Piece) -> Iterator[list[Expr]]:
    """The nodes of a piece, in runs of STORES stores."""
    block, stores = list[Expr](), 0
    for x in piece.nodes:
        block.append(x)
        stores += len(places.stores.get(x.id, ())) + (x.id in piece.carried_out)
        if stores >= STORES:
            yield block
            block, stores = [], 0
    yield block
