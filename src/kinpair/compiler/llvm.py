"""Whole modules of LLVM text: for one state, and for as many states at once as the machine has lanes.

In a batch the rows of a block are copied into lane order (`lanes.py`), computed and copied back. Code that is longer
than the instruction cache would be read from the next cache for every block, at some 12 to 17 bytes a cycle, which
takes longer than its arithmetic. So it is cut into pieces, and a piece serves several blocks, a group, before the next
piece.

A scheduled program is straight-line text: one function a piece, and one that calls them in turn. LLVM compares every
store of a basic block with every other before it orders the instructions: the time for a matrix of n² entries grows
with n⁴. So a long piece is cut into blocks by branches that are never taken. LLVM would join blocks that follow each
other without a condition; the one here cannot be decided when compiling, and costs an instruction in hundreds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kinpair.compiler.graph import Expr
from kinpair.compiler.instructions import Instructions, Places, support
from kinpair.compiler.schedule import Piece, Plan
from kinpair.compiler.target import ATTRIBUTES, Form, Real

METADATA = '!0 = !{}\n!1 = !{!"branch_weights", i32 1, i32 1000000}'
CLEAR = "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)"


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Core of a module: the code that computes one block of states.

    `arrays` are `in0`, `in1`, ..., `out0`, ... with their entries, `carried` the values kept in scratch
    memory, `used` the operations, `data` the bytes that the code reads, by symbol. `text` writes `@block.<lanes>`,
    which takes a pointer for each array and one to the scratch memory, all in lane order. The functions `pieces`,
    called in turn, do the same; in a batch each serves a group of blocks. `cleared` are results whose zeros the code
    does not write, with the entries known to be zero.
    """

    arrays: dict[str, int]
    carried: int
    used: Collection[str]
    text: Callable[[Form], str]
    cleared: Mapping[str, Collection[int]] = field(default_factory=dict[str, Collection[int]])
    pieces: tuple[str, ...] = ("block",)
    data: Callable[[Real], Mapping[str, bytes]] = lambda _: {}


# blocks that go through a piece in turn (measured: with more their numbers leave the second cache's share, too)
GROUPS, GROUP_BYTES = (2, 4), 160 << 10


def parameters(arrays: Iterable[str], attributes: bool = True) -> str:
    """The parameters of a block."""
    notes = {"in": " noalias readonly", "ou": " noalias", "sc": " noalias"} if attributes else {}
    return ", ".join(f"ptr{notes.get(name[:2], '')} %{name}" for name in (*arrays, "scratch"))


def one_module(blocks: Blocks, real: Real, lanes: int) -> str:
    """`@one` for a single state; sines and cosines of its angles as many at once as there are lanes."""
    form = Form(real, 1, turning=lanes)
    text = blocks.text(form)
    helped = form if f"@sincos.{lanes}(" in text else Form(real, 1)
    return "\n".join([METADATA, CLEAR, *support(blocks.used, helped), text, _one(blocks, form)])


def batch_module(blocks: Blocks, real: Real, lanes: int) -> str:
    """`@batch` for many states."""
    from kinpair.compiler.lanes import layout_functions  # here and below: where there is a batch

    form = Form(real, lanes)
    parts = [METADATA, CLEAR, *support(blocks.used, form), blocks.text(form)]
    return "\n".join([*parts, layout_functions(real, lanes), _batch(blocks, form)])


def columns(entries: int, lanes: int) -> int:
    """Room for `entries` in lane order: whole tiles."""
    return -(-entries // lanes) * lanes


def scratch_bytes(blocks: Blocks, form: Form) -> int:
    """Room `@batch` needs: every array in lane order, and the values carried, of each block of a group."""
    return _block_bytes(blocks, form) * group(blocks, form)


def group(blocks: Blocks, form: Form) -> int:
    """Number of blocks of a batch that go through a piece before the next one."""
    if form.lanes == 1 or len(blocks.pieces) == 1:
        return 1
    fewest, most = GROUPS
    return max(fewest, min(most, GROUP_BYTES // _block_bytes(blocks, form)))


def _block_bytes(blocks: Blocks, form: Form) -> int:
    return form.bytes * (sum(columns(size, form.lanes) for size in blocks.arrays.values()) + blocks.carried)


def _one(blocks: Blocks, form: Form) -> str:
    """`@one(pointers*, scratch)`: one state; the pointers are those of the arrays themselves."""
    names = list(blocks.arrays)
    lines = _unpack(names, "pointers")
    lines += [_cleared(f"%{name}", form.bytes * blocks.arrays[name]) for name in blocks.cleared]
    arguments = ", ".join(f"ptr %{name}" for name in [*names, "scratch"])
    call = f"  call void @block.{form.lanes}({arguments})"
    return "\n".join(
        [f"define void @one(ptr %pointers, ptr %scratch) {ATTRIBUTES} {{", *lines, call, "  ret void", "}"]
    )


def _unpack(names: Iterable[str], table: str) -> list[str]:
    """Load the entries of a table of pointers."""
    lines: list[str] = []
    for k, name in enumerate(names):
        lines.append(f"  %{name}.at = getelementptr ptr, ptr %{table}, i64 {k}")
        lines.append(f"  %{name} = load ptr, ptr %{name}.at")
    return lines


def _cleared(pointer: str, size: int) -> str:
    return f"  call void @llvm.memset.p0.i64(ptr {pointer}, i8 0, i64 {size}, i1 false)"


def _batch(blocks: Blocks, form: Form) -> str:
    """`@batch(pointers*, strides*, rows, scratch)`: gather a group of blocks, compute, scatter; strides in bytes."""
    from kinpair.compiler.lanes import tiles

    lanes, size, together = form.lanes, _block_bytes(blocks, form), group(blocks, form)
    head, places, offset = _unpack(blocks.arrays, "pointers"), dict[str, int](), 0
    tables, spread = list[str](), dict[str, str]()
    for k, (name, entries) in enumerate(blocks.arrays.items()):
        head += [
            f"  %{name}.s = getelementptr i64, ptr %strides, i64 {k}",
            f"  %{name}.stride = load i64, ptr %{name}.s",
        ]
        places[name] = offset
        offset += form.bytes * columns(entries, lanes)
    for name, zeros in blocks.cleared.items():
        for k in range(together):  # once: no block writes there
            at = f"%{name}.zeros{k}"
            head.append(f"  {at} = getelementptr i8, ptr %scratch, i64 {places[name] + k * size}")
            head.append(_cleared(at, form.bytes * blocks.arrays[name]))
        if zeros:
            filled, blank = tiles(zeros, blocks.arrays[name], lanes)
            count, numbers = len(filled) + len(blank), ", ".join(f"i32 {k}" for k in filled + blank)
            tables.append(f"@tiles.{name} = internal constant [{count} x i32] [{numbers}]")
            spread[name] = f", ptr @tiles.{name}, i64 {len(filled)}, i64 {count}"
    body, before = list[str](), "work"
    for name in blocks.pieces:
        lines = _moved(blocks, places, lanes, "gather", name, spread) if before == "work" else []
        lines += _called(blocks, places, lanes, name, offset)
        if name == blocks.pieces[-1]:  # next to arithmetic: writing takes as long as that of a mass matrix
            lines += _moved(blocks, places, lanes, "scatter", name, spread)
        body += _over_blocks(name, before, lines, lanes, size)
        before = f"{name}.done"
    return "\n".join(
        [
            *tables,
            f"define void @batch(ptr %pointers, ptr %strides, i64 %rows, ptr %scratch) {ATTRIBUTES} {{",
            *head,
            "  br label %next",
            "next:",
            f"  %row = phi i64 [ 0, %0 ], [ %after, %{before} ]",
            "  %left = sub i64 %rows, %row",
            "  %more = icmp sgt i64 %left, 0",
            "  br i1 %more, label %work, label %end",
            "work:",
            f"  %after = add i64 %row, {lanes * together}",
            "  %stop = call i64 @llvm.umin.i64(i64 %after, i64 %rows)",
            *body,
            "  br label %next",
            "end:",
            "  ret void",
            "}",
        ]
    )


def _over_blocks(name: str, before: str, lines: list[str], lanes: int, size: int) -> list[str]:
    """Lines for every block of a group: `%<name>.row` is its first row, `%<name>.base` where its memory begins."""
    return [
        f"  br label %{name}.next",
        f"{name}.next:",
        f"  %{name}.row = phi i64 [ %row, %{before} ], [ %{name}.after, %{name}.next ]",
        f"  %{name}.base = phi ptr [ %scratch, %{before} ], [ %{name}.ahead, %{name}.next ]",
        *lines,
        f"  %{name}.after = add i64 %{name}.row, {lanes}",
        f"  %{name}.ahead = getelementptr i8, ptr %{name}.base, i64 {size}",
        f"  %{name}.more = icmp ult i64 %{name}.after, %stop",
        f"  br i1 %{name}.more, label %{name}.next, label %{name}.done",
        f"{name}.done:",
    ]


def _moved(
    blocks: Blocks, places: Mapping[str, int], lanes: int, way: str, loop: str, spread: Mapping[str, str]
) -> list[str]:
    """Lines that copy the arrays of a block to lane order or back; `spread`: tables of results, as arguments."""
    lines = [
        f"  %{way}.left = sub i64 %rows, %{loop}.row",
        f"  %{way}.here = call i64 @llvm.umin.i64(i64 %{way}.left, i64 {lanes})",
    ]
    for name in (x for x in blocks.arrays if x.startswith("in") == (way == "gather")):
        lines += [
            f"  %{name}.off = mul i64 %{loop}.row, %{name}.stride",
            f"  %{name}.now = getelementptr i8, ptr %{name}, i64 %{name}.off",
            f"  %{name}.{way} = getelementptr i8, ptr %{loop}.base, i64 {places[name]}",
        ]
        function, table = ("spread", spread[name]) if name in spread else (way, "")
        lines.append(
            f"  call void @{function}(ptr %{name}.now, i64 %{name}.stride, i64 %{way}.here, "
            f"i64 {blocks.arrays[name]}, ptr %{name}.{way}{table})"
        )
    return lines


def _called(blocks: Blocks, places: Mapping[str, int], lanes: int, piece: str, carried: int) -> list[str]:
    """Lines that compute a piece of a block."""
    lines, arguments = list[str](), list[str]()
    for name, place in (*places.items(), ("scratch", carried)):
        lines.append(f"  %{piece}.{name} = getelementptr i8, ptr %{piece}.base, i64 {place}")
        arguments.append(f"ptr %{piece}.{name}")
    return [*lines, f"  call void @{piece}.{lanes}({', '.join(arguments)})"]


STORES = 64  # of a basic block (measured: as fast as one block or faster, and much sooner made)


def straight_blocks(plan: Plan) -> Blocks:
    """The code of a plan."""
    used = {x.op for piece in plan.pieces for x in piece.nodes}
    pieces = tuple(f"piece{k}" for k in range(len(plan.pieces)))
    return Blocks(plan.arrays, plan.carried, used, lambda form: _text(plan, form), plan.cleared, pieces)


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
