"""Whole modules of LLVM text: for one state, and for as many states at once as the machine has lanes.

A batch is C-ordered: row after row. The code of a block wants entry k of all its rows side by side. `gather`
copies `rows` rows into that order by small transposes, `scatter` copies the results back. With fewer rows
than lanes, `gather` repeats the last row and `scatter` writes only the rows there are, so a remainder runs
the same code as everything else. A stride of zero repeats one row: so a parameter is shared by a batch.

A scheduled program is straight-line text: one function a piece, and one that calls them in turn. LLVM compares every
store of a basic block with every other before it orders the instructions: the time for a matrix of n² entries grows
with n⁴. So a long piece is cut into blocks by branches that are never taken. LLVM would join blocks that follow each
other without a condition; the one here cannot be decided when compiling, and costs an instruction in hundreds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from kinpair.compiler.graph import Expr
from kinpair.compiler.instructions import Instructions, Places, support
from kinpair.compiler.schedule import Piece, Plan
from kinpair.compiler.target import ATTRIBUTES, Form, Real


def columns(entries: int, lanes: int) -> int:
    """Room for `entries` in lane order: whole tiles."""
    return -(-entries // lanes) * lanes


def layout_functions(real: Real, lanes: int) -> str:
    """LLVM text of `@gather(source, stride, rows, entries, lanes*)` and `@scatter`, the reverse."""
    mask = f"<{lanes} x i1>"
    vector = f"<{lanes} x {real.llvm}>"
    kind = f"v{lanes}{real.suffix}.p0"
    declared = (
        f"declare {vector} @llvm.masked.load.{kind}(ptr, i32, {mask}, {vector})\n"
        f"declare void @llvm.masked.store.{kind}({vector}, ptr, i32, {mask})\n"
        "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)\n"
    )
    return declared + _gather(real, lanes) + _scatter(real, lanes)


def _network(vector: str, lanes: int, names: list[str]) -> tuple[list[str], list[str]]:
    """Lines that transpose `lanes` vectors by log₂(lanes) rounds of shuffles, and the resulting names."""
    lines: list[str] = []
    span = 1
    while span < lanes:
        wires = list(names)
        for i in range(lanes):
            if i & span:
                continue
            j = i + span
            for target, half in ((i, 0), (j, span)):
                pick = [_source(k, span, half, lanes) for k in range(lanes)]
                name = f"%{names[target][1:].split('.')[0]}.{span}"
                shuffle = f"<{lanes} x i32> <{', '.join(f'i32 {p}' for p in pick)}>"
                lines.append(f"  {name} = shufflevector {vector} {names[i]}, {vector} {names[j]}, {shuffle}")
                wires[target] = name
        names = wires
        span *= 2
    return lines, names


def _source(k: int, span: int, half: int, lanes: int) -> int:
    """Source of place k in (a, b): runs of `span`, alternately of a and of b."""
    block, place = k // (2 * span) * 2 * span, k % span
    return block + half + place + (lanes if k & span else 0)


def _rows(lanes: int, clamp: bool) -> list[str]:
    """Addresses %p0, %p1, ... of the rows; those past the end are the last one again if `clamp`."""
    lines = ["  %last = sub i64 %rows, 1"]
    for k in range(lanes):
        row = f"{k}"
        if clamp:
            lines.append(f"  %row{k} = call i64 @llvm.umin.i64(i64 {k}, i64 %last)")
            row = f"%row{k}"
        lines.append(f"  %off{k} = mul i64 %stride, {row}")
        lines.append(f"  %p{k} = getelementptr i8, ptr %array, i64 %off{k}")
    return lines


def _gather(real: Real, lanes: int) -> str:
    vector = f"<{lanes} x {real.llvm}>"
    full: list[str] = []
    edge: list[str] = []
    for k in range(lanes):
        full.append(f"  %a{k} = getelementptr {real.llvm}, ptr %p{k}, i64 %k")
        full.append(f"  %x{k} = load {vector}, ptr %a{k}, align {real.size}")
        edge.append(f"  %b{k} = getelementptr {real.llvm}, ptr %p{k}, i64 %k")
        edge.append(
            f"  %y{k} = call {vector} @llvm.masked.load.v{lanes}{real.suffix}.p0"
            f"(ptr %b{k}, i32 {real.size}, <{lanes} x i1> %inside, {vector} zeroinitializer)"
        )
    for lines, letter in ((full, "x"), (edge, "y")):
        shuffles, names = _network(vector, lanes, [f"%{letter}{k}" for k in range(lanes)])
        lines += shuffles
        for k, name in enumerate(names):
            lines.append(f"  %{letter}c{k} = add i64 %k, {k}")
            lines.append(f"  %{letter}d{k} = getelementptr {vector}, ptr %lanes, i64 %{letter}c{k}")
            lines.append(f"  store {vector} {name}, ptr %{letter}d{k}, align {lanes * real.size}")
    return _walk("gather", lanes, _rows(lanes, clamp=True), full, edge)


def _scatter(real: Real, lanes: int) -> str:
    vector = f"<{lanes} x {real.llvm}>"
    full: list[str] = []
    edge: list[str] = []
    for lines, letter in ((full, "x"), (edge, "y")):
        for k in range(lanes):
            lines.append(f"  %{letter}c{k} = add i64 %k, {k}")
            lines.append(f"  %{letter}d{k} = getelementptr {vector}, ptr %lanes, i64 %{letter}c{k}")
            lines.append(f"  %{letter}{k} = load {vector}, ptr %{letter}d{k}, align {lanes * real.size}")
        shuffles, names = _network(vector, lanes, [f"%{letter}{k}" for k in range(lanes)])
        lines += shuffles
        for k, name in enumerate(names):
            lines.append(f"  %{letter}a{k} = getelementptr {real.llvm}, ptr %p{k}, i64 %k")
            if letter == "x":
                lines.append(f"  store {vector} {name}, ptr %xa{k}, align {real.size}")
                lines.append(f"  %n{k} = getelementptr i8, ptr %xa{k}, i64 %ahead")
                lines.append(f"  call void @llvm.prefetch.p0(ptr %n{k}, i32 1, i32 3, i32 1)")
                continue
            lines.append(f"  %here{k} = icmp ugt i64 %rows, {k}")
            lines.append(
                f"  %m{k} = select i1 %here{k}, <{lanes} x i1> %inside, <{lanes} x i1> zeroinitializer"
            )
            lines.append(
                f"  call void @llvm.masked.store.v{lanes}{real.suffix}.p0"
                f"({vector} {name}, ptr %ya{k}, i32 {real.size}, <{lanes} x i1> %m{k})"
            )
    ahead = (
        f"  %ahead = mul i64 %stride, {lanes}"  # the same place in the next block: it will be written soon
    )
    return _walk("scatter", lanes, [*_rows(lanes, clamp=False), ahead], full, edge)


def _walk(name: str, lanes: int, head: list[str], full: list[str], edge: list[str]) -> str:
    """A loop over tiles: `full` while a whole tile of whole rows is there, `edge` for what is left."""
    whole = f"icmp eq i64 %rows, {lanes}" if name == "scatter" else "icmp ne i64 %rows, 0"
    steps = f"<{', '.join(f'i64 {k}' for k in range(lanes))}>"
    nl = "\n"
    return f"""
define internal void @{name}(ptr %array, i64 %stride, i64 %rows, i64 %entries, ptr noalias %lanes) {ATTRIBUTES} {{
{nl.join(head)}
  %whole = {whole}
  br label %next
next:
  %k = phi i64 [ 0, %0 ], [ %after, %tile ], [ %after, %rim ]
  %after = add i64 %k, {lanes}
  %more = icmp ult i64 %k, %entries
  br i1 %more, label %test, label %end
test:
  %fits = icmp ule i64 %after, %entries
  %plain = and i1 %fits, %whole
  br i1 %plain, label %tile, label %rim
tile:
{nl.join(full)}
  br label %next
rim:
  %left = sub i64 %entries, %k
  %left1 = insertelement <{lanes} x i64> undef, i64 %left, i32 0
  %lefts = shufflevector <{lanes} x i64> %left1, <{lanes} x i64> undef, <{lanes} x i32> zeroinitializer
  %inside = icmp ult <{lanes} x i64> {steps}, %lefts
{nl.join(edge)}
  br label %next
end:
  ret void
}}
"""


METADATA = '!0 = !{}\n!1 = !{!"branch_weights", i32 1, i32 1000000}'
CLEAR = "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)"


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Core of a module: the code that computes one block of states.

    `arrays` are `in0`, `in1`, ..., `out0`, ... with their entries, `carried` the values kept in scratch
    memory, `used` the operations, `data` the bytes that the code reads, by symbol. `text` writes `@block.<lanes>`,
    which takes a pointer for each array and one to the scratch memory, all in lane order.
    """

    arrays: dict[str, int]
    carried: int
    used: Collection[str]
    text: Callable[[Form], str]
    cleared: tuple[str, ...] = ()  # arrays of results whose zeros the code does not write
    data: Callable[[Real], Mapping[str, bytes]] = lambda _: {}


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
    form = Form(real, lanes)
    parts = [METADATA, CLEAR, *support(blocks.used, form), blocks.text(form)]
    return "\n".join([*parts, layout_functions(real, lanes), _batch(blocks, form)])


def scratch_bytes(blocks: Blocks, form: Form) -> int:
    """Room `@batch` needs: every array in lane order, and the values carried."""
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
    """`@batch(pointers*, strides*, rows, scratch)`: gather a block, compute, scatter; strides in bytes."""
    lanes = form.lanes
    head, ins, outs, arguments, offset = list[str](), list[str](), list[str](), list[str](), 0
    head += _unpack(blocks.arrays, "pointers")
    for k, (name, size) in enumerate(blocks.arrays.items()):
        head += [
            f"  %{name}.s = getelementptr i64, ptr %strides, i64 {k}",
            f"  %{name}.stride = load i64, ptr %{name}.s",
            f"  %{name}.lanes = getelementptr i8, ptr %scratch, i64 {offset}",
        ]
        offset += form.bytes * columns(size, lanes)
        if name in blocks.cleared:  # once: no block writes there
            head.append(_cleared(f"%{name}.lanes", form.bytes * size))
        move = [
            f"  %{name}.off = mul i64 %row, %{name}.stride",
            f"  %{name}.now = getelementptr i8, ptr %{name}, i64 %{name}.off",
            f"  call void @{'gather' if name.startswith('in') else 'scatter'}(ptr %{name}.now, "
            f"i64 %{name}.stride, i64 %here, i64 {size}, ptr %{name}.lanes)",
        ]
        (ins if name.startswith("in") else outs).extend(move)
        arguments.append(f"ptr %{name}.lanes")
    head.append(f"  %carried = getelementptr i8, ptr %scratch, i64 {offset}")
    call = f"  call void @block.{lanes}({', '.join([*arguments, 'ptr %carried'])})"
    return "\n".join(
        [
            f"define void @batch(ptr %pointers, ptr %strides, i64 %rows, ptr %scratch) {ATTRIBUTES} {{",
            *head,
            "  br label %next",
            "next:",
            "  %row = phi i64 [ 0, %0 ], [ %after, %work ]",
            "  %left = sub i64 %rows, %row",
            "  %more = icmp sgt i64 %left, 0",
            "  br i1 %more, label %work, label %end",
            "work:",
            f"  %here = call i64 @llvm.umin.i64(i64 %left, i64 {lanes})",
            *ins,
            call,
            *outs,
            f"  %after = add i64 %row, {lanes}",
            "  br label %next",
            "end:",
            "  ret void",
            "}",
        ]
    )


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
